// Making dependency trees projective (treeglot.trees.projectivity): every word whose arc crosses others hangs on its
// nearest ancestor whose arc to it is projective in the given tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treeglot {

// Keeps its buffers from tree to tree.
class Projectivizer {
 public:
  // Changes the heads (-1: the root) of a tree, which must have one root and no cycle; returns how many arcs were
  // lifted.
  int lift(std::span<int> heads);

 private:
  std::vector<int> first_child_, next_sibling_, sizes_, place_, postorder_, stack_;
  std::vector<int> block_ending_, block_starting_, low_, high_, lifted_;
};

}  // namespace treeglot
