#include "forest/target_spans.hh"

#include "hypergraph/topological_order.hh"

namespace treeglot::forest {

namespace {

void sort_once(std::vector<TargetSpans::Span>& spans) {
  std::sort(spans.begin(), spans.end());
  spans.erase(std::unique(spans.begin(), spans.end()), spans.end());
}

}  // namespace

void TargetSpans::add(std::span<const TargetSymbol> side, std::span<const TargetSymbol> target,
                      std::span<const TargetSpans* const> filling) {
  const auto size = static_cast<std::uint32_t>(target.size());
  std::vector<Span> reached, next;
  bool first = true;
  for (TargetSymbol symbol : side) {
    if (is_target_node(symbol)) continue;
    next.clear();
    if (is_target_variable(symbol)) {
      const TargetSpans& inner = *filling[variable_number(symbol)];
      if (first) next.assign(inner.spans_.begin(), inner.spans_.end());
      for (const Span& span : reached) {
        for (const Span& part : inner.from(span.second)) next.emplace_back(span.first, part.second);
      }
      sort_once(next);
    } else if (first) {
      for (std::uint32_t i = 0; i < size; ++i) {
        if (target[i] == symbol) next.emplace_back(i, i + 1);
      }
    } else {
      for (const Span& span : reached) {
        if (span.second < size && target[span.second] == symbol) next.emplace_back(span.first, span.second + 1);
      }
    }
    reached.swap(next);
    first = false;
    if (reached.empty()) return;
  }
  if (first) {  // nothing stands for nothing, anywhere
    for (std::uint32_t i = 0; i <= size; ++i) reached.emplace_back(i, i);
  }
  spans_.insert(spans_.end(), reached.begin(), reached.end());
}

void TargetSpans::finish() { sort_once(spans_); }

bool makes(const Forest& forest, std::span<const TargetSymbol> target,
           const std::function<bool(std::uint16_t)>& allowed) {
  hypergraph::TopologicalOrder order;
  order.start(forest.size());
  order.add(
      forest.goal(), [&](NodeId node) { return forest[node].edges.size(); },
      [&](NodeId node, std::uint32_t edge) { return forest.tails(forest[node].edges[edge]); });
  std::vector<TargetSpans> spans(forest.size());
  std::vector<const TargetSpans*> filling;
  for (NodeId node : order.order()) {
    for (const Edge& edge : forest[node].edges) {
      if (!allowed(edge.origin)) continue;
      filling.clear();
      bool possible = true;
      for (NodeId tail : forest.tails(edge)) {
        filling.push_back(&spans[tail]);
        possible = possible && !spans[tail].empty();
      }
      if (!possible) continue;
      for (const RuleOption* option : *edge.options) spans[node].add(option->target, target, filling);
    }
    spans[node].finish();
  }
  return spans[forest.goal()].has(0, static_cast<std::uint32_t>(target.size()));
}

}  // namespace treeglot::forest
