// Matching of rules of multi-word units (spec: mwu-forest, section 4). The forest of units of the sentence is made as
// in extraction; what a unit covers is a subtree or a group of neighbouring subtrees, which are nodes that other
// grammars use, too. With several dependency trees, what is a subtree of the first one by its words has its node, and
// what is none has one of its own. Edges whose tails have equal σ (and cover the same words) ask for the same rule and
// are one edge here; the logarithm of their probability is a feature.
//
// A unit without τ is translated by its lexical rule. A unit whose edges match no rule has its lexical rule with its
// tails in source order around it, as a pseudo rule; where no unit has anything, a word and its dependents stand in
// source order.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "forest/matcher.hh"
#include "grammars/mwu/forest.hh"
#include "grammars/mwu/source_side.hh"
#include "table/rule_table.hh"

namespace treeglot::mwu {

struct MatchOptions {
  ForestOptions forest;
  bool word_labels = false;
  bool unaligned_source = false;  // rules may have whole tails as words
};

class UnitMatcher : public forest::Matcher {
 public:
  // `forest_feature` is the place of that feature among the grammar's own.
  UnitMatcher(const RuleTable& table, const forest::GrammarBlock& block, const MatchOptions& options,
              int forest_feature);

  // A sentence without a dependency tree gets nothing.
  void match(forest::SentenceForest& forest) override;

 private:
  static constexpr std::size_t kMaxDeleted = 6;  // tails that are tried as words of a rule, the first ones
  using Sigma = std::vector<Place>;
  // Some σ in a tree, and the node of what they cover.
  struct Cover {
    Sigma sigma;
    std::size_t tree;  // the first in which they cover this
    forest::NodeId node;
    bool translated = false;  // some unit gave it an edge
  };

  Cover& cover(forest::SentenceForest& forest, const Sigma& sigma, std::size_t tree);
  forest::NodeId node_of(forest::SentenceForest& forest, const std::vector<std::uint32_t>& spans);
  void match_unit(forest::SentenceForest& forest, VertexId vertex);
  bool match_tails(forest::SentenceForest& forest, VertexId unit, Cover& head, const std::vector<Cover*>& tails,
                   double p);
  // The rules of the source side that was put together; their options go to `list`.
  bool find_rules(forest::SentenceForest& forest, double p, const forest::OptionList*& list);
  void add_in_order(forest::SentenceForest& forest, VertexId unit, Cover& head, const std::vector<Cover*>& tails);
  bool translate_word(forest::SentenceForest& forest, Place word);
  void complete(forest::SentenceForest& forest, Cover& whole);

  const RuleTable& table_;
  const forest::GrammarBlock block_;
  const MatchOptions options_;
  const int feature_;  // of the whole system
  Forest units_;
  forest::TableIds ids_;
  std::vector<std::uint32_t> labels_;                               // by word, in the table
  std::map<std::vector<std::uint32_t>, Cover> covers_;              // by σ and what they cover
  std::map<std::vector<std::uint32_t>, forest::NodeId> scattered_;  // of several trees, by spans
  std::vector<Cover*> asked_;                                       // in the order they were asked for
  enum WordState : std::uint8_t { kNotYet, kNoRule, kTranslated };
  std::vector<WordState> word_done_;  // by word: whether its lexical rule was looked for
  SourceSide side_;
  std::vector<Symbol> symbols_;
  std::vector<Place> tau_;
  std::vector<forest::NodeId> nodes_;
};

}  // namespace treeglot::mwu
