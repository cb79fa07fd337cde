// A walk of a matcher along the source sides of a rule table, symbol by symbol: what the table has no prefix of is not
// walked. Work from one start is bounded by kMaxSteps symbols looked up.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "table/rule_table.hh"

namespace treeglot::forest {

class TableWalk {
 public:
  static constexpr int kMaxSteps = 20000;

  explicit TableWalk(const RuleTable& table) : table_(table), longest_(table.longest_source()) {}

  void start() {
    symbols_.clear();
    steps_ = 0;
  }
  // Calls `go_on` with one more symbol if the table has such a prefix, and leaves everything as it was. Calls nest as
  // deep as source sides have symbols.
  template <class Next>
  void with(WalkKey key, Symbol next, Next&& go_on) {
    if (symbols_.size() >= longest_ || ++steps_ > kMaxSteps) return;
    const WalkKey longer = walk_step(key, next);
    const RuleTable::Place place = table_.find(longer);
    if (!place.prefix) return;
    symbols_.push_back(next);
    go_on(longer, place);
    symbols_.pop_back();
  }

  std::span<const Symbol> symbols() const { return symbols_; }  // so far
  std::size_t longest() const { return longest_; }              // symbols of a source side

 private:
  const RuleTable& table_;
  const std::size_t longest_;
  int steps_ = 0;
  std::vector<Symbol> symbols_;
};

}  // namespace treeglot::forest
