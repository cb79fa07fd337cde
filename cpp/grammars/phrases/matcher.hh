// Bilingual phrases in the forest (spec: tree-to-string, section 2): they translate single words, whole subtrees,
// constituents and groups, wherever the rules of other grammars ask for these. With `free_phrases` they are a grammar
// of their own beside the others: every HDR may also be translated from left to right, with phrases for any
// neighbouring members, for the price of a pseudo rule.
#pragma once

#include "forest/matcher.hh"

namespace treeglot::forest {

class PhraseMatcher : public Matcher {
 public:
  explicit PhraseMatcher(bool free_phrases) : free_phrases_(free_phrases) {}
  // After the other grammars: it fills the nodes that they made.
  void match(SentenceForest& forest) override;

 private:
  void match_members(SentenceForest& forest);

  bool free_phrases_;
};

}  // namespace treeglot::forest
