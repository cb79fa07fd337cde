// A tree without its labels: what is under what. Words in the order in which a walk through the tree meets them form
// one block under every node, also under a discontinuous one, so spans of that order replace sets of words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treeglot::subtrees {

// Nodes: phrases 0, 1, ... in preorder, then the words in surface order.
struct TreeShape {
  int phrases = 0, words = 0;
  std::vector<std::int32_t> parent;        // -1 for the root
  std::vector<std::int32_t> enter, leave;  // ranks in preorder: k is below a if enter[a] < enter[k] < leave[a]
  std::vector<std::int32_t> low, high;     // the half-open block of words under the node, in the order of the walk
  std::vector<std::int32_t> walk;          // the words (surface numbers) in the order of the walk

  // `counts[n]` children of phrase n, one list after another in `children`: phrase n as n, word j as ~j. Throws
  // std::invalid_argument if this is no tree with phrases in preorder.
  TreeShape(int words, std::span<const std::int32_t> counts, std::span<const std::int32_t> children);

  int nodes() const { return phrases + words; }
  // A node as `children` has it: the number of a phrase, or ~j for word j.
  std::int32_t reference(std::int32_t node) const { return node < phrases ? node : ~(node - phrases); }
  int size(int node) const { return high[node] - low[node]; }
  bool below(int node, int other) const { return enter[node] < enter[other] && enter[other] < leave[node]; }
};

}  // namespace treeglot::subtrees
