// A hypergraph, what forests of all kinds have in common: vertices are things to be made, a hyperedge says that its
// head can be made of its tails. A vertex that needs nothing has an edge without tails; one without edges cannot be
// made.
//
// Only the shape is kept here. Edges are numbered as they were added, and whatever an edge stands for (weights of any
// semiring, rules, features) is the caller's, by that number: one graph serves many questions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "hypergraph/topological_order.hh"

namespace treeglot::hypergraph {

class Hypergraph {
 public:
  VertexId add_vertex() { return add_vertices(1); }
  VertexId add_vertices(std::size_t count);  // the first of them
  // Tails may be any vertices that were added, also one several times. std::out_of_range if one was not,
  // std::logic_error after freeze().
  EdgeId add_edge(VertexId head, std::span<const VertexId> tails);
  EdgeId add_edge(VertexId head, std::initializer_list<VertexId> tails) {
    return add_edge(head, std::span<const VertexId>(tails.begin(), tails.size()));
  }
  // Ends the building: from here on there are lists of edges and an order. CycleError if a vertex is below itself.
  void freeze();
  bool frozen() const { return frozen_; }
  void clear();

  std::size_t vertices() const { return vertices_; }
  std::size_t edges() const { return heads_.size(); }
  VertexId head(EdgeId edge) const { return heads_[edge]; }
  std::span<const VertexId> tails(EdgeId edge) const {
    return {tails_.data() + first_tail_[edge], tails_.data() + first_tail_[edge + 1]};
  }

  // After freeze(). Edges are in the order of their numbers; an edge that has a vertex as several tails is once in its
  // outgoing list.
  std::span<const EdgeId> incoming(VertexId vertex) const { return incoming_.of(vertex); }
  std::span<const EdgeId> outgoing(VertexId vertex) const { return outgoing_.of(vertex); }
  std::span<const VertexId> order() const { return order_; }  // all vertices, tails before heads

  // What algorithms ask first: std::logic_error if it is not frozen, std::out_of_range if there is no such vertex.
  void require_frozen() const;
  void require_vertex(VertexId vertex) const;

 private:
  struct Lists {
    std::vector<std::uint32_t> starts;
    std::vector<EdgeId> edges;
    std::span<const EdgeId> of(VertexId vertex) const {
      return {edges.data() + starts[vertex], edges.data() + starts[vertex + 1]};
    }
  };

  std::size_t vertices_ = 0;
  std::vector<VertexId> heads_;
  std::vector<VertexId> tails_;
  std::vector<std::uint32_t> first_tail_ = {0};  // by edge, and the end
  Lists incoming_, outgoing_;
  std::vector<VertexId> order_;
  bool frozen_ = false;
};

}  // namespace treeglot::hypergraph
