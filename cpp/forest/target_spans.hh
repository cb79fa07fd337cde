// Which spans of a given target sentence parts of the source can be translated to: what a forced decoder needs (spec:
// mwu-forest, section 3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "forest/forest.hh"
#include "grammars/rule.hh"

namespace treeglot::forest {

// Spans [begin, end) of the target, sorted, each once.
class TargetSpans {
 public:
  using Span = std::pair<std::uint32_t, std::uint32_t>;

  bool empty() const { return spans_.empty(); }
  bool has(std::uint32_t begin, std::uint32_t end) const {
    return std::binary_search(spans_.begin(), spans_.end(), Span{begin, end});
  }
  // Those that begin at one place.
  std::span<const Span> from(std::uint32_t begin) const {
    auto first = std::lower_bound(spans_.begin(), spans_.end(), Span{begin, 0});
    auto last = std::lower_bound(first, spans_.end(), Span{begin + 1, 0});
    return {first, last};
  }
  std::span<const Span> all() const { return spans_; }

  // Adds what a target side can be: `filling` has the spans of each variable. finish() when all is added.
  void add(std::span<const TargetSymbol> side, std::span<const TargetSymbol> target,
           std::span<const TargetSpans* const> filling);
  void add(const TargetSpans& others) { spans_.insert(spans_.end(), others.spans_.begin(), others.spans_.end()); }
  void finish();

 private:
  std::vector<Span> spans_;
};

// Whether the goal of a forest can be translated to exactly these words (numbers of the decoder's vocabulary) by edges
// of allowed origin.
bool makes(const Forest& forest, std::span<const TargetSymbol> target,
           const std::function<bool(std::uint16_t)>& allowed);

}  // namespace treeglot::forest
