// Tree kernels over the sub-structure spaces of Sun, Zhang and Tan (2010): SST, RdSST, RgSST and Root.
//
//   Delta(a, b) = 0 if the productions differ, decay at equal pre-terminals,
//                 else decay * prod over children (1 + Delta(a_k, b_k))
//   SST   = sum of Delta over all nodes of a and all nodes of b;   RdSST = SST if the root labels are equal, else 0
//   RgSST = Delta at the two roots;                                Root  = 1 if the root labels are equal, else 0
//
// Nodes are paired by production: the columns of a matrix are sorted by it, so a node meets only a contiguous run of
// others. Delta and the sums are built bottom-up over shared nodes; nothing recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/forest.hh"

namespace treeglot::kernels {

enum class Space { kSst, kRdSst, kRgSst, kRoot };

// The sub-trees that a matrix has as columns, with all sub-trees below them. Made once for many rows. It stays valid
// while the forest only grows, or is truncated to a mark not older than the columns.
class Columns {
 public:
  Columns(const Forest& forest, std::span<const NodeId> asked);

  std::size_t size() const { return asked_.size(); }

 private:
  friend class RowWorker;
  friend struct MatrixWork;
  std::vector<NodeId> ids_;                 // of `asked`, in its order
  std::vector<std::uint32_t> asked_;        // positions of the sub-trees that are columns
  std::vector<std::uint32_t> run_begin_;    // by production: its positions are [run_begin_[p], run_begin_[p + 1])
  std::vector<std::uint32_t> run_of_;       // production of each position
  std::vector<std::uint32_t> bottom_up_;    // all positions, children first
  std::vector<std::uint32_t> first_child_;  // by position, one more than there are
  std::vector<std::uint32_t> child_;        // positions of children
  std::vector<std::uint32_t> label_;        // by position
};

// K(x, x) of each sub-tree, without normalisation.
std::vector<double> self_kernels(const Forest& forest, std::span<const NodeId> nodes, Space space, double decay,
                                 int threads);

// Fills `out` (rows by columns, row after row). With `normalize` K(x, y) is divided by sqrt(K(x, x) K(y, y)). Returns
// false if a value is too large for Real. threads = 0 takes all cores; the result does not depend on their number.
template <class Real>
bool kernel_matrix(const Forest& forest, std::span<const NodeId> rows, const Columns& columns, Space space,
                   double decay, bool normalize, int threads, Real* out);

}  // namespace treeglot::kernels
