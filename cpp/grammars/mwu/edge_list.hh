// The hyperedges of a forest of units, which are found head after head: those into a vertex lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "hypergraph/hypergraph.hh"

namespace treeglot::mwu {

using hypergraph::EdgeId;
using hypergraph::VertexId;

class EdgeList {
 public:
  void clear() {
    heads_.clear();
    tails_.clear();
    first_tail_.assign(1, 0);
    first_edge_.assign(1, 0);
  }
  // Heads come in the order of their numbers.
  void add(VertexId head, std::span<const VertexId> tails) {
    while (first_edge_.size() <= head) first_edge_.push_back(static_cast<EdgeId>(heads_.size()));
    tails_.insert(tails_.end(), tails.begin(), tails.end());
    first_tail_.push_back(static_cast<std::uint32_t>(tails_.size()));
    heads_.push_back(head);
  }
  // When all edges of so many vertices are there.
  void finish(std::size_t vertices) { first_edge_.resize(vertices + 1, static_cast<EdgeId>(heads_.size())); }

  std::size_t vertices() const { return first_edge_.size() - 1; }
  std::size_t size() const { return heads_.size(); }
  VertexId head(EdgeId edge) const { return heads_[edge]; }
  std::span<const VertexId> tails(EdgeId edge) const {
    return {tails_.data() + first_tail_[edge], tails_.data() + first_tail_[edge + 1]};
  }
  auto into(VertexId vertex) const { return std::views::iota(first_edge_[vertex], first_edge_[vertex + 1]); }

 private:
  std::vector<VertexId> heads_, tails_;
  std::vector<std::uint32_t> first_tail_ = {0};  // by edge, and the end
  std::vector<EdgeId> first_edge_ = {0};         // by vertex, and the end
};

}  // namespace treeglot::mwu
