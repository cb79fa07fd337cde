// Hierarchical rules on a sentence (Chiang 2007; spec: tree-to-string, section 6): a chart of dotted rules over the
// prefixes that the table knows, from the last word to the first, shorter spans before longer ones. Gaps and glue take
// any span that has a translation; a rule covers at most `span_limit` words, glue joins the rest from left
// to right. A word without a rule of its own is translated by the phrase table or copied, so every sentence has a
// translation.
//
// Work: dotted rules that begin at one word are bounded by kMostItems, those that would be found after them are left
// out.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "forest/matcher.hh"
#include "table/rule_table.hh"

namespace treeglot::forest {

class HierarchicalMatcher : public Matcher {
 public:
  static constexpr std::size_t kMostItems = 50000;

  HierarchicalMatcher(const RuleTable& table, const GrammarBlock& block, int span_limit)
      : table_(table), block_(block), span_limit_(span_limit) {}

  void match(SentenceForest& forest) override;

 private:
  static constexpr int kMostGaps = 8;  // of a rule; extraction makes at most 2

  // A dotted rule over words [start, end): a prefix of source sides and what fills its gaps.
  struct Item {
    WalkKey key;
    std::uint64_t rules;  // of the prefix as a whole source side; 0: none
    std::int32_t parent;  // the item without the last symbol; -1: no symbols
    Symbol last;
    std::uint16_t gap_begin, gap_end;  // if the last symbol is a gap
    std::uint16_t gaps;
    bool longer;  // source sides go on after it
  };

  void match_from(SentenceForest& forest, int start);
  void add(int end, const Item& item);
  void complete(SentenceForest& forest, int start, int end, const Item& item);
  bool derivable(int begin, int end) const {
    return derivable_[static_cast<std::size_t>(begin) * (width_ + 1) + (end - begin)];
  }
  // Is [begin, end) a node of another grammar, which sees to its translation?
  static bool is_foreign(SentenceForest& forest, int begin, int end);
  void cover_word(SentenceForest& forest, int j);
  void glue(SentenceForest& forest);

  const RuleTable& table_;
  const GrammarBlock block_;
  const int span_limit_;  // words under a rule
  int width_ = 0, size_ = 0;
  TableIds ids_;
  std::vector<bool> derivable_;                // by begin and length: has the span a translation?
  std::vector<Item> items_;                    // of one start
  std::vector<std::vector<std::int32_t>> at_;  // by length: items that end there
  std::vector<Symbol> source_;
  std::vector<NodeId> tails_;
};

}  // namespace treeglot::forest
