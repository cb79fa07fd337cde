// The translation options of a sentence: the best translations of each of its spans under the current weights, with
// everything that does not depend on their context computed once, and the estimate of what uncovered spans will cost.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lm/model.hh"
#include "search/features.hh"
#include "table/phrase_source.hh"

namespace treeglot::search {

inline constexpr double kLn10 = 2.302585092994045684;
inline constexpr double kNever = -std::numeric_limits<double>::infinity();

// A translation of one source phrase under given weights.
struct PhraseOption {
  std::vector<WordId> words;           // language model ids
  double fixed = 0;                    // weighted table scores, word and phrase penalty, unknown words
  double estimate = 0;                 // fixed + weighted language model score of the words by themselves
  double backward[3]{}, forward[3]{};  // weighted reordering scores by Orientation
  // lm_rest[i]: log10 of words i, i + 1, ... by themselves, for the first words.
  std::array<float, lm::kMaxOrder> lm_rest{};
  lm::State state;  // after the words by themselves
  // As in the table:
  std::string text;
  std::vector<WordLink> links;
  TableScores scores{};
  ReorderingScores reordering{};
  bool unknown = false;
};

// The options of one source phrase: by estimate, and by estimate + backward[o] for each Orientation o.
struct PhraseOptionList {
  std::vector<PhraseOption> options;
  std::array<std::vector<const PhraseOption*>, 3> order;
  double best() const { return options.front().estimate; }
};

// What scores a word sequence: shared, read-only.
class OptionBuilder {
 public:
  OptionBuilder(const PhraseSource& table, const lm::Model& model, const Weights& weights, int table_limit);

  // The best translations of a source phrase (nullptr if there is none). `buffer` is scratch space.
  std::unique_ptr<PhraseOptionList> look_up(std::span<const WordId> source, PhraseMatches& buffer) const;
  // A word that is copied.
  std::unique_ptr<PhraseOptionList> copy(std::string_view word) const;

  const PhraseSource& table() const { return table_; }

 private:
  lm::WordId lm_id(WordId target) const;
  double fixed_score(const PhraseOption& option) const;
  void complete(PhraseOption& option) const;
  static void sort(PhraseOptionList& list);

  const PhraseSource& table_;
  const lm::Model& model_;
  Weights weights_;
  std::size_t limit_;
  // The table's target words in the language model, found when first needed.
  mutable std::unique_ptr<std::atomic<lm::WordId>[]> lm_ids_;
};

// Remembers option lists between the sentences of one thread.
class OptionCache {
 public:
  explicit OptionCache(const OptionBuilder& builder, std::size_t capacity = 50000)
      : builder_(builder), capacity_(capacity) {}

  // Between sentences: makes room. Lists given out before are no longer valid if it did.
  void trim() {
    if (lists_.size() > capacity_) lists_.clear();
  }
  const PhraseOptionList* get(std::span<const WordId> source);

 private:
  struct Hash {
    std::size_t operator()(const std::u32string& words) const;
  };
  const OptionBuilder& builder_;
  std::size_t capacity_;
  std::unordered_map<std::u32string, std::unique_ptr<PhraseOptionList>, Hash> lists_;
  std::u32string key_;
  PhraseMatches buffer_;
};

// The spans of a sentence with their options, and future costs.
class SentenceOptions {
 public:
  // `longest`: words of the longest phrase to use; `reach`: longest gap between covered words (-1: any).
  void prepare(const std::vector<std::string_view>& words, const OptionBuilder& builder, OptionCache& cache,
               int longest, int reach);

  int size() const { return size_; }
  int longest() const { return longest_; }
  const PhraseOptionList* at(int begin, int end) const { return lists_[begin * longest_ + (end - begin - 1)]; }
  // The best that options can give for a span by themselves.
  double future(int begin, int end) const {
    if (end == size_) return tail_[begin];
    if (end - begin <= band_) return costs_[static_cast<std::size_t>(begin) * band_ + (end - begin - 1)];
    return tail_[begin] - tail_[end];
  }

 private:
  int size_ = 0, longest_ = 1, band_ = 0;
  std::vector<WordId> ids_;
  std::vector<const PhraseOptionList*> lists_;
  std::vector<std::unique_ptr<PhraseOptionList>> copied_;
  std::vector<double> costs_, tail_;
};

}  // namespace treeglot::search
