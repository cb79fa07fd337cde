// What is added when all grammars have matched: joins between nodes of the same words, copies of words that nothing
// translates, and the goal. They see which nodes there are, not which grammar made them or in which order.
#pragma once

#include "forest/matcher.hh"

namespace treeglot::forest {

// What grammars of spans and of constituents know about the words of a node is a translation of that node.
class JoinMatcher : public Matcher {
 public:
  void match(SentenceForest& forest) override;
};

// A word that no rule and no phrase translates stays as it is.
class CopyMatcher : public Matcher {
 public:
  void match(SentenceForest& forest) override;
};

// The whole sentence: the dependency tree, the constituency tree, or what glue has put together.
class GoalMatcher : public Matcher {
 public:
  void match(SentenceForest& forest) override;
};

}  // namespace treeglot::forest
