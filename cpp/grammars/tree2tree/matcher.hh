// Matching of rules between sequences of trees (spec: tree-to-tree, section 4). Nodes are source spans with a target
// category (NP, DT·JJ); spans have covers of at most `max_trees` trees.
//
// At every span the trees of its cover are walked top-down against the table's source sides. A node is expanded, begins
// a variable, or is a further node of the last variable; prefixes that the table does not have end a walk at once. The
// nodes of a variable must be the cover of a span. `strict`: a variable takes translations of its target category;
// `fuzzy`: others too, for one `mismatch`.
//
// A word without a translation as it stands is translated as it was elsewhere in training, under other labels, for one
// `mismatch`, else copied; a larger constituent without one has its children in source order, category X. Glue joins
// translations of any category. Work at one span is bounded by TableWalk::kMaxSteps symbols looked up.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "forest/matcher.hh"
#include "forest/table_walk.hh"
#include "grammars/tree2tree/covers.hh"
#include "table/rule_table.hh"

namespace treeglot::forest {

class TreeToTreeMatcher : public Matcher {
 public:
  // `mismatch_feature` is the place of that feature among the grammar's own.
  TreeToTreeMatcher(const RuleTable& table, const GrammarBlock& block, int max_trees, bool fuzzy, int mismatch_feature);

  // A sentence without a constituency tree is glued from the translations that its words have elsewhere.
  void match(SentenceForest& forest) override;

 private:
  struct Pending {
    std::uint32_t node;
    bool close;  // the bracket of the node
  };
  // The translations of a span.
  struct Translations {
    std::vector<std::pair<std::uint32_t, NodeId>> typed;  // by category, as they came
    NodeId any = SentenceForest::kNoNode;
    std::vector<std::pair<std::uint32_t, NodeId>> wanted;  // fuzzy: what a variable of a category takes
  };

  static std::uint64_t key(WordSpan span) { return (std::uint64_t{span.begin} << 32) | span.end; }
  Translations* at(WordSpan span) {
    auto place = spans_.find(key(span));
    return place == spans_.end() ? nullptr : &place->second;
  }
  std::uint32_t label(std::uint32_t n) const {
    return covers_.tree().is_preterminal(n) ? ids_.tags[covers_.tree().word(n)] : ids_.labels[n];
  }
  NodeId typed(SentenceForest& forest, WordSpan span, std::uint32_t category);
  NodeId any(SentenceForest& forest, WordSpan span);
  // What a variable over a span takes; kNoNode: nothing fits.
  NodeId tail(SentenceForest& forest, WordSpan span, Translations* known, std::uint32_t category);

  void match_span(SentenceForest& forest, WordSpan span);
  void complete_span(SentenceForest& forest, WordSpan span);
  // The translations of a word under other labels, if there are any.
  bool translate_elsewhere(SentenceForest& forest, WordSpan span);
  // The labels that source sides begin with: one label, two, three. Made when a word first needs them.
  const std::vector<std::vector<Symbol>>& chains();
  void glue(SentenceForest& forest);
  void expand(SentenceForest& forest, std::uint32_t n, WalkKey key, bool open);
  void step(SentenceForest& forest, WalkKey key, const RuleTable::Place& place, bool open);
  void take(SentenceForest& forest, const RuleTable::Place& place);
  std::string_view copied_category(std::string_view word);

  const RuleTable& table_;
  const GrammarBlock block_;
  const int max_trees_;
  const bool fuzzy_;
  const int mismatch_feature_;  // of the whole system
  TableWalk walk_;
  TreeCovers covers_;
  TableIds ids_;
  std::unordered_map<std::uint64_t, Translations> spans_;
  std::vector<WordSpan> order_;  // spans, the shortest first
  WordSpan outer_;
  std::vector<Pending> pending_;  // the next one last
  std::vector<WordSpan> variables_;
  std::vector<std::uint32_t> variable_trees_;
  std::vector<Translations*> filled_;  // translations of the variables
  std::vector<std::uint32_t> cover_;
  std::vector<NodeId> tails_;
  std::vector<std::vector<Symbol>> chains_;
  std::vector<Symbol> side_;
  // Of every target word the pre-terminal it has most often in translations of single words; made when a word that the
  // target has is copied first.
  std::optional<std::vector<std::uint32_t>> target_tags_;
};

}  // namespace treeglot::forest
