// Sums over all derivations: inside (of a vertex), outside (of what is around it), and through it, over any semiring.
// One pass over the vertices in the graph's order, without recursion.
//
// `weights` of edges are anything with [edge], or a function of the edge.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hypergraph/hypergraph.hh"
#include "hypergraph/semiring.hh"

namespace treeglot::hypergraph {

template <class Weights>
decltype(auto) weight_of(const Weights& weights, EdgeId edge) {
  if constexpr (std::invocable<const Weights&, EdgeId>) {
    return weights(edge);
  } else {
    return weights[edge];
  }
}

// By vertex and by edge.
template <class Value>
struct Marginals {
  std::vector<Value> vertices, edges;
};

// An edge with the inside values of its tails.
template <Semiring S, class Weights>
typename S::Value edge_inside(const Hypergraph& graph, EdgeId edge, const Weights& weights,
                              const std::vector<typename S::Value>& inside, const S& semiring) {
  typename S::Value value = weight_of(weights, edge);
  for (VertexId tail : graph.tails(edge)) value = semiring.times(value, inside[tail]);
  return value;
}

// The sum over the derivations of each vertex; zero where there are none.
template <Semiring S, class Weights>
std::vector<typename S::Value> inside(const Hypergraph& graph, const Weights& weights, const S& semiring = {}) {
  graph.require_frozen();
  std::vector<typename S::Value> result(graph.vertices(), semiring.zero());
  for (VertexId vertex : graph.order()) {
    typename S::Value sum = semiring.zero();
    for (EdgeId edge : graph.incoming(vertex)) {
      sum = semiring.plus(sum, edge_inside(graph, edge, weights, result, semiring));
    }
    result[vertex] = std::move(sum);
  }
  return result;
}

// The sum over all derivations of the goal from which one use of the vertex is cut out; one for the goal, zero for what
// the goal does not reach. A derivation that uses a vertex several times counts for each use.
template <Semiring S, class Weights>
std::vector<typename S::Value> outside(const Hypergraph& graph, const Weights& weights, VertexId goal,
                                       const std::vector<typename S::Value>& inside, const S& semiring = {}) {
  using Value = typename S::Value;
  graph.require_frozen();
  graph.require_vertex(goal);
  std::vector<Value> result(graph.vertices(), semiring.zero());
  std::vector<std::uint8_t> reached(graph.vertices(), 0);
  std::vector<Value> after;  // the product of the tails behind each
  result[goal] = semiring.one();
  reached[goal] = 1;
  const std::span<const VertexId> order = graph.order();
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    if (!reached[*vertex]) continue;
    for (EdgeId edge : graph.incoming(*vertex)) {
      const std::span<const VertexId> tails = graph.tails(edge);
      if (tails.empty()) continue;
      after.assign(tails.size(), semiring.one());
      for (std::size_t i = tails.size() - 1; i > 0; --i) after[i - 1] = semiring.times(inside[tails[i]], after[i]);
      Value before = semiring.times(result[*vertex], weight_of(weights, edge));
      for (std::size_t i = 0; i < tails.size(); ++i) {
        result[tails[i]] = semiring.plus(result[tails[i]], semiring.times(before, after[i]));
        reached[tails[i]] = 1;
        if (i + 1 < tails.size()) before = semiring.times(before, inside[tails[i]]);
      }
    }
  }
  return result;
}

// The sum over the derivations of the goal through each vertex and each edge, one that uses it several times counted as
// often. For counts: how many derivations use it; for Viterbi: the best of them. `outside` may be any other view of
// what is around a vertex.
template <Semiring S, class Weights>
Marginals<typename S::Value> through(const Hypergraph& graph, const Weights& weights,
                                     const std::vector<typename S::Value>& inside,
                                     const std::vector<typename S::Value>& outside, const S& semiring = {}) {
  graph.require_frozen();
  Marginals<typename S::Value> result;
  result.vertices.reserve(graph.vertices());
  result.edges.reserve(graph.edges());
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    result.vertices.push_back(semiring.times(outside[v], inside[v]));
  }
  for (EdgeId e = 0; e < graph.edges(); ++e) {
    result.edges.push_back(semiring.times(outside[graph.head(e)], edge_inside(graph, e, weights, inside, semiring)));
  }
  return result;
}

// The same as shares of the inside value of the goal: how often a derivation is expected to use a vertex or an edge,
// which is the probability of its use where none uses it twice. All zero if the goal has no derivation.
template <DivisionSemiring S, class Weights>
Marginals<typename S::Value> posteriors(const Hypergraph& graph, const Weights& weights, VertexId goal,
                                        const std::vector<typename S::Value>& inside,
                                        const std::vector<typename S::Value>& outside, const S& semiring = {}) {
  graph.require_vertex(goal);
  Marginals<typename S::Value> result = through(graph, weights, inside, outside, semiring);
  const typename S::Value whole = inside[goal];
  for (auto& value : result.vertices) value = semiring.divide(value, whole);
  for (auto& value : result.edges) value = semiring.divide(value, whole);
  return result;
}

template <DivisionSemiring S, class Weights>
Marginals<typename S::Value> posteriors(const Hypergraph& graph, const Weights& weights, VertexId goal,
                                        const S& semiring = {}) {
  const auto below = inside(graph, weights, semiring);
  return posteriors(graph, weights, goal, below, outside(graph, weights, goal, below, semiring), semiring);
}

}  // namespace treeglot::hypergraph
