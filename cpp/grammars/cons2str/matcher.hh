// Matching of GHKM rules (spec: tree-to-string, section 5): at every constituent and pre-terminal the input tree is
// walked top-down against the table's linearised fragments. A node below the root is read as a site or expanded with
// all its children; prefixes that the table does not have end a walk at once.
//
// Constituent sites are filled by their constituent nodes, pre-terminal sites by their word nodes, which bilingual
// phrases and copies fill too. Where no rule matches a constituent its children are translated from left to right by a
// pseudo rule. Work at one root is bounded by TableWalk::kMaxSteps symbols looked up.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/matcher.hh"
#include "forest/table_walk.hh"
#include "table/rule_table.hh"
#include "trees/constituency_nodes.hh"

namespace treeglot::forest {

class ConstituencyMatcher : public Matcher {
 public:
  ConstituencyMatcher(const RuleTable& table, const GrammarBlock& block, bool pseudo_always)
      : table_(table), block_(block), pseudo_always_(pseudo_always), walk_(table) {}

  // Nothing happens in a sentence without a constituency tree, unless it is one word.
  void match(SentenceForest& forest) override;

 private:
  struct Pending {
    std::uint32_t node;
    bool close;  // the bracket of the node
  };

  NodeId node(SentenceForest& forest, std::uint32_t n) const {
    return tree_.is_preterminal(n) ? forest.word(static_cast<int>(tree_.word(n)))
                                   : forest.constituent(static_cast<int>(n));
  }
  std::uint32_t label(std::uint32_t n) const {
    return tree_.is_preterminal(n) ? ids_.tags[tree_.word(n)] : ids_.labels[n];
  }
  bool match_root(SentenceForest& forest, std::uint32_t root);
  void expand(SentenceForest& forest, std::uint32_t n, WalkKey key);
  void step(SentenceForest& forest, WalkKey key, const RuleTable::Place& place);
  void take(SentenceForest& forest, const RuleTable::Place& place);

  const RuleTable& table_;
  const GrammarBlock block_;
  const bool pseudo_always_;  // pseudo rules also where rules match
  TableWalk walk_;
  ConstituencyNodes tree_;
  TableIds ids_;
  NodeId root_ = 0;
  bool matched_ = false;
  std::vector<Pending> pending_;  // the next one last
  std::vector<std::uint32_t> sites_;
  std::vector<NodeId> tails_;
};

}  // namespace treeglot::forest
