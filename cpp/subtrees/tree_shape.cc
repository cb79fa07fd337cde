#include "subtrees/tree_shape.hh"

#include <stdexcept>

namespace treeglot::subtrees {

TreeShape::TreeShape(int word_count, std::span<const std::int32_t> counts, std::span<const std::int32_t> children)
    : phrases(static_cast<int>(counts.size())), words(word_count) {
  if (words < 1 || (phrases == 0 && words != 1)) throw std::invalid_argument("words without a phrase above them");
  std::vector<std::size_t> start(counts.size() + 1, 0);
  for (int n = 0; n < phrases; ++n) {
    if (counts[n] < 1) throw std::invalid_argument("a phrase without children");
    start[n + 1] = start[n] + static_cast<std::size_t>(counts[n]);
  }
  if (start.back() != children.size() ||
      (phrases > 0 && children.size() != static_cast<std::size_t>(phrases) - 1 + static_cast<std::size_t>(words))) {
    throw std::invalid_argument("the children do not make a tree");
  }
  const std::size_t all = static_cast<std::size_t>(nodes());
  parent.assign(all, -1);
  enter.assign(all, -1);
  leave.assign(all, 0);
  low.assign(all, 0);
  high.assign(all, 0);
  walk.reserve(static_cast<std::size_t>(words));
  std::vector<std::pair<std::int32_t, std::size_t>> open;  // phrases that are not done, with the next child's place
  std::int32_t rank = 0;
  auto visit = [&](std::int32_t node, std::int32_t above) {
    if (enter[node] >= 0) throw std::invalid_argument("a node with two parents");
    parent[node] = above;
    enter[node] = rank++;
    low[node] = static_cast<std::int32_t>(walk.size());
    if (node >= phrases) {
      walk.push_back(node - phrases);
      high[node] = low[node] + 1;
      leave[node] = rank;
    } else {
      open.emplace_back(node, start[node]);
    }
  };
  visit(0, -1);
  while (!open.empty()) {
    auto& [node, next] = open.back();
    if (next == start[node + 1]) {
      high[node] = static_cast<std::int32_t>(walk.size());
      leave[node] = rank;
      open.pop_back();
      continue;
    }
    const std::int32_t child = children[next++];
    if (child >= 0 ? child >= phrases || child <= node : ~child >= words) {
      throw std::invalid_argument("a child that does not exist, or phrases not in preorder");
    }
    const std::int32_t number = child >= 0 ? child : phrases + ~child;
    visit(number, node);
  }
  if (rank != nodes()) throw std::invalid_argument("some nodes are not under the root");
}

}  // namespace treeglot::subtrees
