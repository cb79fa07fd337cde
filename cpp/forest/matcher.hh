// From a parsed sentence to its translation forest: the part that all grammars share. A grammar's matcher asks for
// nodes and adds edges; nodes with equal words and kind are one node, so grammars meet in them (spec: search and
// tuning, "The translation forest").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "forest/forest.hh"
#include "forest/options.hh"
#include "trees/head_dependents.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot::forest {

// Who made an edge: the number of a rule table (its feature block), or one of these.
enum Origin : std::uint16_t {
  kFromPhrases = 0xFF00,  // a bilingual phrase
  kFromCopy = 0xFF01,     // a word that no table knows
  kFromPseudo = 0xFF02,   // a pseudo rule: members in source order
  kFromGlue = 0xFF03,     // glue: parts put one after another
  kFromJoin = 0xFF04,     // one node is the translation of another: no words, no features
};

// A sentence's words, tags and labels in a rule table; RuleTable::kNone where the table does not know one.
struct TableIds {
  std::vector<std::uint32_t> words, tags, labels;  // labels: of the constituents
};

struct ForestOptions {
  int max_phrase_words = 7;       // of the bilingual phrases on nodes
  bool dependency_nodes = false;  // some grammar works on dependency subtrees
};

// The forest of one sentence while it is built; kept from sentence to sentence for its buffers.
class SentenceForest {
 public:
  // `phrases` (with its block) may be nullptr.
  SentenceForest(OptionCache& cache, const PhraseSource* phrases, const GrammarBlock& phrase_block,
                 const ForestOptions& options);

  void start(const ParsedCorpus& corpus, std::size_t n);

  const ParsedCorpus& corpus() const { return *corpus_; }
  const ParsedSentence& sentence() const { return sentence_; }
  int size() const { return static_cast<int>(sentence_.size()); }
  std::string_view word_text(int j) const { return corpus_->words.word(sentence_.words[j]); }
  std::string_view tag_text(int j) const { return corpus_->categories.word(sentence_.tags[j]); }
  std::string_view label_text(int phrase) const { return corpus_->categories.word(sentence_.phrases[phrase].label); }
  const ForestOptions& options() const { return options_; }
  OptionCache& cache() { return cache_; }

  // Looks the sentence up in a table's vocabularies.
  void ids(const RuleTable& table, TableIds& out) const;

  // Nodes, made when first asked for.
  NodeId word(int j) { return node(NodeKind::kWord, j, j + 1, 0); }
  NodeId subtree(int j);  // a leaf's is its word
  // The subtree with just these words; kNoNode if there is none.
  NodeId subtree_over(int begin, int end);
  NodeId group(int begin, int end) { return node(NodeKind::kGroup, begin, end, 0); }
  NodeId constituent(int n) {  // phrase n of the sentence
    return node(NodeKind::kConstituent, sentence_.phrases[n].begin, sentence_.phrases[n].end,
                static_cast<std::uint32_t>(n) + 1);
  }
  // A node of its own, for translations that are built step by step.
  NodeId helper(int begin, int end) { return forest_.add_node(NodeKind::kGroup, begin, end, ++helpers_); }
  // The same for some words with gaps between them, sorted.
  NodeId helper(std::vector<std::uint32_t> words) {
    const NodeId node = helper(static_cast<int>(words.front()), static_cast<int>(words.back()) + 1);
    scattered_.emplace(node, std::move(words));
    return node;
  }
  // The words of a node that has gaps; empty for others.
  std::span<const std::uint32_t> scattered(NodeId node) const {
    auto place = scattered_.find(node);
    return place == scattered_.end() ? std::span<const std::uint32_t>() : place->second;
  }
  // Where rules over any words [begin, end) go.
  NodeId span(int begin, int end) { return node(NodeKind::kSpan, begin, end, 0); }
  // What such a rule or glue takes for [begin, end): the dependency subtree with these words if a grammar works on
  // subtrees (the span is joined to it when all grammars are done), else the span.
  NodeId span_tail(int begin, int end);
  // Translations of [begin, end) that have a category of the target (OptionCache::category).
  NodeId typed(int begin, int end, std::uint32_t category) { return node(NodeKind::kTyped, begin, end, category); }
  NodeId glue(int end) { return node(NodeKind::kGlue, 0, end, 0); }
  NodeId find(NodeKind kind, int begin, int end, std::uint32_t detail = 0) const;  // kNoNode if it does not exist
  static constexpr NodeId kNoNode = 0xFFFFFFFF;

  // `source` is the rule's source side, for explanations; it may be empty.
  void add_edge(NodeId head, const OptionList* options, std::span<const NodeId> tails, std::uint16_t origin,
                std::span<const Symbol> source = {});
  // Of the edges of a node from `first` on, keeps the rules whose weighted score is not below `least`.
  void keep_rules(NodeId node, std::size_t first, float least);
  bool has_edges(NodeId node) const { return !forest_[node].edges.empty(); }

  // Does the phrase table know these words?
  const CachedOptions* phrase(int begin, int end);
  // The word links of one of its options.
  std::span<const WordLink> phrase_links(int begin, int end, const RuleOption& option) {
    return cache_.links({phrase_ids_.data() + begin, phrase_ids_.data() + end}, option);
  }
  // Options that only put tails one after another, with a value for one feature (-1: none).
  const OptionList* sequence(std::size_t tails, int feature);
  // A pseudo rule: nodes in this order. Many nodes are joined step by step over helper nodes. However many grammars ask
  // for the same one, it is there once.
  void add_pseudo(NodeId head, std::span<const NodeId> parts);
  // One node is the translation of another.
  void join(NodeId head, NodeId tail);
  // Word j as it is, with its penalty.
  void copy_word(NodeId node, int j);
  // The head-dependents relations; only if the sentence has a dependency tree.
  HdrView& hdrs() { return hdrs_; }

  const Forest& forest() const { return forest_; }
  void set_goal(NodeId goal) { forest_.set_goal(goal); }
  NodeId goal() { return node(NodeKind::kGoal, 0, size(), 0); }
  std::span<const Symbol> source_side(const Edge& edge) const;
  // The text of a target symbol: of a table or a copied word.
  std::string_view target_text(TargetSymbol word) const;

 private:
  NodeId node(NodeKind kind, int begin, int end, std::uint32_t detail);
  static std::uint64_t key(NodeKind kind, int begin, int end, std::uint32_t detail) {
    return (std::uint64_t{detail} << 36) | (std::uint64_t{static_cast<std::uint8_t>(kind)} << 32) |
           (static_cast<std::uint64_t>(begin) << 16) | static_cast<std::uint64_t>(end);
  }
  OptionCache& cache_;
  const PhraseSource* phrases_;
  GrammarBlock phrase_block_;
  ForestOptions options_;

  const ParsedCorpus* corpus_ = nullptr;
  ParsedSentence sentence_;
  HdrView hdrs_;
  std::vector<int> subtree_at_;  // by begin: words whose subtree begins there, chained by next_subtree_
  std::vector<int> next_subtree_;
  Forest forest_;
  std::unordered_map<std::uint64_t, NodeId> nodes_;
  std::vector<WordId> phrase_ids_;
  std::vector<Symbol> sources_;
  std::vector<std::uint32_t> source_starts_;
  std::vector<std::unique_ptr<CachedOptions>> copies_;
  std::vector<std::unique_ptr<OptionList>> kept_;  // options of edges that lost some
  std::unordered_set<std::uint64_t> in_order_;     // pseudo rules that are there: a hash of head and parts
  std::uint32_t helpers_ = 0;
  std::unordered_map<NodeId, std::vector<std::uint32_t>> scattered_;
};

// What adds edges to the forest. Each thread has its own.
class Matcher {
 public:
  virtual ~Matcher() = default;
  virtual void match(SentenceForest& forest) = 0;
};

// What a grammar's matcher is made from.
struct MatcherSetup {
  const RuleTable* table;  // nullptr: the grammar has none
  GrammarBlock block;
  OptionValues options;
};

}  // namespace treeglot::forest
