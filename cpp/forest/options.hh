// The target sides that grammars put on the edges of a forest: made from table entries, scored with the weights,
// remembered from sentence to sentence and scored again for other weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "forest/forest.hh"
#include "grammars/registry.hh"
#include "lm/model.hh"
#include "search/phrase_cache.hh"
#include "search/target_vocabulary.hh"
#include "table/rule_table.hh"

namespace treeglot::forest {

// The features of a system: five of its own, then a block for each grammar: ln P(t|s), P(s|t), Plex(t|s), Plex(s|t),
// the number of rules, and what the grammar declares beside.
inline constexpr int kCopiedFeature = 2;               // copied words
inline constexpr int kPseudoFeature = 3;               // pseudo rules
inline constexpr int kGlueFeature = 4;                 // glue rules
inline constexpr int kFirstBlock = 5, kBlockSize = 5;  // of what every block has
inline constexpr float kLowestLog = -100;              // stands for ln 0

// A grammar in a decoder: the number of its block, its features and its target words in the decoder's numbering.
struct GrammarBlock {
  const Grammar* grammar = nullptr;
  int number = 0, first_feature = kFirstBlock;
  std::uint32_t first_word = 0;
  int unlinked_feature = -1;  // of source words without a link; -1: there is none
  unsigned use = 0;           // rules that are used in several ways have other features in each

  // The same for another use, whose five common features come `places` after the grammar's own.
  GrammarBlock for_use(unsigned other, int places) const {
    GrammarBlock result = *this;
    result.use = other;
    result.first_feature += places;
    return result;
  }
};

using search::TargetVocabulary;

// Completes options: language model ids, scores and the estimate by which a bundle is sorted.
class OptionScorer {
 public:
  OptionScorer(const TargetVocabulary& vocabulary, const std::vector<double>& weights)
      : vocabulary_(vocabulary), weights_(weights) {}

  // `option` has target and features.
  void complete(RuleOption& option) const;
  // The same with words that the vocabulary does not know: `lm_words` is set already.
  void complete_with_lm_words(RuleOption& option) const;
  // A complete option for other weights.
  void rescore(RuleOption& option) const;
  const TargetVocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  const TargetVocabulary& vocabulary_;
  const std::vector<double>& weights_;
};

struct TableLimits {
  // Rules of one source side, or of one node and by their scores where a grammar does that; 0: all.
  int rule_limit = 100;
  // Drop rules whose P(t|s), or whose weighted score's exponential, is below this share of the best; 0: none.
  double rule_threshold = 1e-3;
  int phrase_limit = 100;  // translations of one source phrase; 0: all
};

// Options with what is known of the rules they come from; `list` is what edges point to.
struct CachedOptions {
  std::vector<RuleOption> options;                      // all that were read; never resized once `list` exists
  OptionList list;                                      // the best of them, by estimate
  std::span<const std::vector<StructureLabel>> labels;  // parallel to `list`; empty without labels

  // Sorts, keeps the best `limit` (0: all) and fills `list`. Of equally good options the first stays first.
  void finish(std::vector<std::vector<StructureLabel>> labels_of_options, std::size_t limit);
  // The same once more after new weights, for options that are numbered by RuleOption::rule as they were read.
  void rescore(const OptionScorer& scorer);

 private:
  void sort(std::vector<std::uint32_t> order);

  std::vector<std::vector<StructureLabel>> all_labels_;  // parallel to `options`, or empty
  std::size_t limit_ = 0;
};

// The rules of a source side that have one category on the target side and want the same of their variables.
struct RuleGroup {
  std::uint32_t head = 0;                  // OptionCache::category_text
  std::unique_ptr<CachedOptions> options;  // made when they are asked for: most groups have tails that no sentence has
  std::uint64_t version = 0;               // of the weights that they were scored with
};
// Those of one source side, in the order of their best rules.
struct RuleGroups {
  std::vector<RuleGroup> groups;
  std::size_t variables = 0;            // of every group
  std::vector<std::uint32_t> tails;     // categories of the variables, group after group
  std::vector<std::uint32_t> group_of;  // by number of the rule as it is read
  std::span<const std::uint32_t> tails_of(std::size_t group) const {
    return {tails.data() + group * variables, variables};
  }
};

// One thread's memory of options; entries live until trim() finds too many of them.
class OptionCache {
 public:
  OptionCache(const OptionScorer& scorer, const TableLimits& limits, std::size_t capacity = 200000)
      : scorer_(scorer), limits_(limits), capacity_(capacity) {}

  // Between sentences: makes room. What was given out before is no longer valid if it did.
  void trim();
  // Between sentences: the scorer has other weights. What was given out before is no longer valid.
  void weights_changed();

  // The rules of a source side of `table`. nullptr if there are none. `per_node`: the grammar applies the limits to all
  // rules of a node together; here only twice as many are read as a node may have.
  const CachedOptions* rules(const RuleTable& table, const GrammarBlock& block, const RuleTable::Place& place,
                             std::span<const Symbol> source, bool per_node = false);
  // The same by target categories.
  RuleGroups& groups(const RuleTable& table, const GrammarBlock& block, const RuleTable::Place& place,
                     std::span<const Symbol> source);
  // The options of one of these groups.
  const CachedOptions& options(RuleGroups& groups, std::size_t number, const RuleTable& table,
                               const GrammarBlock& block, const RuleTable::Place& place,
                               std::span<const Symbol> source);
  // Target categories: the labels of a tree or of several, DT·JJ. Their numbers stay as long as the cache; 0 is none.
  std::uint32_t category(std::string_view text);
  std::string_view category_text(std::uint32_t id) const { return *category_texts_[id]; }
  // The translations of a phrase, nullptr if there are none.
  const CachedOptions* phrase(const PhraseSource& phrases, const GrammarBlock& block, std::span<const WordId> words);
  // Anything else by key; `make` fills a new entry. nullptr if it left the entry empty.
  template <class Make>
  const CachedOptions* other(std::uint64_t key, Make&& make) {
    auto [place, fresh] = others_.try_emplace(key);
    if (fresh) {
      auto cached = std::make_unique<CachedOptions>();
      make(*cached);
      if (!cached->list.empty()) {
        place->second = std::move(cached);
        count_ += place->second->list.size();
      }
    }
    return place->second.get();
  }

  const OptionScorer& scorer() const { return scorer_; }
  const TableLimits& limits() const { return limits_; }

  // The number of a word that some table has, else `other`.
  TargetSymbol canonical(std::string_view word, TargetSymbol other) const {
    const TargetSymbol known = scorer_.vocabulary().find(word);
    return known == scorer_.vocabulary().size() ? other : known;
  }
  // The links of a phrase that `phrase` gave an option for.
  std::span<const WordLink> links(std::span<const WordId> words, const RuleOption& option);

 private:
  using Phrases = search::PhraseCache<CachedOptions>;
  using GroupMap = std::unordered_map<std::uint64_t, RuleGroups>;
  static std::size_t size_of(const RuleGroups& groups);
  // What was read of a source side, and the version of the weights that it was scored with.
  template <class Options>
  struct Read {
    Options options{};
    std::uint64_t version = 0;
  };
  template <class Options>
  using ReadMap = std::unordered_map<std::uint64_t, Read<Options>>;
  // The category with one more label of a table; `category` 0 is none.
  std::uint32_t longer_category(const RuleTable& table, const GrammarBlock& block, std::uint32_t category,
                                std::uint32_t label);
  // Reads the rules of a source side to `entries_`, unless they are there.
  void read_grouped(const RuleTable& table, const GrammarBlock& block, const RuleTable::Place& place,
                    std::span<const Symbol> source);
  // Adds an option for a rule.
  void add(CachedOptions& to, const GrammarBlock& block, std::span<const Symbol> source, const RuleEntry& entry);

  const OptionScorer& scorer_;
  TableLimits limits_;
  std::size_t capacity_, count_ = 0;
  std::uint64_t version_ = 1;
  std::vector<ReadMap<std::unique_ptr<CachedOptions>>> rules_;  // by block
  // By block. Groups that were used since the last trim() that made room, and those before: what is used again stays.
  std::vector<GroupMap> groups_, old_groups_;
  std::size_t group_count_ = 0;                                                      // of `groups_`
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> longer_categories_;  // by block
  std::unordered_map<std::uint64_t, std::unique_ptr<CachedOptions>> others_;
  std::optional<Phrases> phrases_;  // of the one phrase table that a decoder has
  std::unordered_map<std::string, std::uint32_t> categories_{{"", 0}};
  std::vector<const std::string*> category_texts_{&categories_.begin()->first};
  std::vector<RuleEntry> entries_, grouped_;
  std::optional<std::pair<int, std::uint64_t>> grouped_place_;  // block and place of `grouped_`
  std::vector<std::uint32_t> numbers_, nodes_, tails_;          // of the rule that is grouped
};

}  // namespace treeglot::forest
