// Tails before heads: the order in which everything in this room walks through a hypergraph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace treeglot::hypergraph {

using VertexId = std::uint32_t;
using EdgeId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

// A vertex is below itself.
class CycleError : public std::invalid_argument {
 public:
  explicit CycleError(VertexId vertex)
      : std::invalid_argument("the hypergraph has a cycle: vertex " + std::to_string(vertex) + " is below itself"),
        vertex_(vertex) {}
  VertexId vertex() const { return vertex_; }

 private:
  VertexId vertex_;
};

// Depth-first, with a stack of its own instead of recursion; keeps its buffers from graph to graph. Tails are visited
// in the order of edges and tails, so equal graphs have equal orders, and one whose tails all have smaller numbers than
// their heads keeps its numbering.
class TopologicalOrder {
 public:
  void start(std::size_t vertices) {
    colours_.assign(vertices, kWhite);
    order_.clear();
  }

  // Appends what the root needs and what is not there yet, the root last. `edge_count(v)`: how many edges lead into v;
  // `tails(v, i)`: a span with the tails of the i-th of them.
  template <class EdgeCount, class Tails>
  void add(VertexId root, EdgeCount edge_count, Tails tails) {
    if (colours_[root] == kDone) return;
    visits_.clear();
    visits_.push_back({root, 0, 0});
    colours_[root] = kOpen;
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const std::size_t edges = edge_count(visit.vertex);
      VertexId next = kNone;
      while (visit.edge < edges && next == kNone) {
        const std::span<const VertexId> below = tails(visit.vertex, visit.edge);
        if (visit.tail == below.size()) {
          ++visit.edge;
          visit.tail = 0;
          continue;
        }
        const VertexId tail = below[visit.tail++];
        if (colours_[tail] == kOpen) throw CycleError(tail);
        if (colours_[tail] == kWhite) next = tail;
      }
      if (next != kNone) {
        colours_[next] = kOpen;
        visits_.push_back({next, 0, 0});
      } else {
        colours_[visit.vertex] = kDone;
        order_.push_back(visit.vertex);
        visits_.pop_back();
      }
    }
  }

  const std::vector<VertexId>& order() const { return order_; }

 private:
  static constexpr std::uint8_t kWhite = 0, kOpen = 1, kDone = 2;
  struct Visit {
    VertexId vertex;
    std::uint32_t edge, tail;
  };
  std::vector<std::uint8_t> colours_;
  std::vector<Visit> visits_;
  std::vector<VertexId> order_;
};

}  // namespace treeglot::hypergraph
