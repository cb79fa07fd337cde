#include "trees/projective.hh"

#include <algorithm>

namespace treeglot {

// One pass, dependents before heads, in linear time. A finished word n owns a block: the longest contiguous run around
// n of words below n. The words below a head are the head and some unattached blocks; it takes the blocks that touch
// its own, left and right, until the neighbour is no descendant. What it cannot reach stays for an ancestor.
int Projectivizer::lift(std::span<int> heads) {
  const int size = static_cast<int>(heads.size());
  first_child_.assign(heads.size(), -1);
  next_sibling_.assign(heads.size(), -1);
  stack_.clear();
  for (int j = size; j-- > 0;) {
    if (heads[j] < 0) {
      stack_.push_back(j);
    } else {
      next_sibling_[j] = first_child_[heads[j]];
      first_child_[heads[j]] = j;
    }
  }
  // Words in preorder, backwards: a postorder.
  postorder_.clear();
  while (!stack_.empty()) {
    const int n = stack_.back();
    stack_.pop_back();
    postorder_.push_back(n);
    for (int child = first_child_[n]; child >= 0; child = next_sibling_[child]) stack_.push_back(child);
  }
  std::reverse(postorder_.begin(), postorder_.end());

  sizes_.assign(heads.size(), 1);
  place_.assign(heads.size(), 0);
  lifted_.assign(heads.size(), -1);
  block_ending_.assign(heads.size() + 1, -1);
  block_starting_.assign(heads.size() + 1, -1);
  low_.resize(heads.size());
  high_.resize(heads.size());
  for (int position = 0; position < static_cast<int>(postorder_.size()); ++position) {
    const int n = postorder_[position];
    place_[n] = position;
    if (heads[n] >= 0) sizes_[heads[n]] += sizes_[n];
    const int first = position - sizes_[n] + 1;
    int left = n, right = n + 1;
    for (int m; (m = block_ending_[left]) >= 0 && place_[m] >= first; left = low_[m]) lifted_[m] = n;
    for (int m; (m = block_starting_[right]) >= 0 && place_[m] >= first; right = high_[m]) lifted_[m] = n;
    low_[n] = left;
    high_[n] = right;
    block_ending_[right] = block_starting_[left] = n;
  }
  int moved = 0;
  for (int j = 0; j < size; ++j) {
    moved += lifted_[j] != heads[j];
    heads[j] = lifted_[j];
  }
  return moved;
}

}  // namespace treeglot
