// The best derivation of every vertex of a hypergraph with weights, and the way from there to the next best ones:
//
//   BestDerivations<ViterbiSemiring> best(graph, weights);
//   LazyKBest kbest(best);
//   kbest.reset(false);
//   for (std::uint32_t rank = 0; rank < k && kbest.has(goal, rank); ++rank) ... kbest.value(goal, rank) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hypergraph/hypergraph.hh"
#include "hypergraph/inside_outside.hh"
#include "hypergraph/kbest.hh"
#include "hypergraph/semiring.hh"

namespace treeglot::hypergraph {

// All derivations count as different: for lists that are not distinct.
struct NoYields {
  struct Signature {};
  template <class Parts>
  Signature signature(EdgeId, const Parts&) const {
    return {};
  }
  std::uint64_t key(const Signature&) const { return 0; }
};

// A source of k-best lists. Values are products of the edge and its tails from left to right, never differences: so
// they are in order to the last bit, and infinite weights do no harm. A derivation whose value is zero is none. Of
// equally good ones those of edges with smaller numbers come first (Ties::kByEdge).
//
// `yields` has a Signature, signature(edge, parts) and key(signature) as LazyKBest wants them.
template <OrderedSemiring S, class Yields = NoYields>
class BestDerivations {
 public:
  using Value = typename S::Value;
  using Signature = typename Yields::Signature;
  static constexpr Ties kTies = Ties::kByEdge;

  // The graph must be frozen and outlive this.
  template <class Weights>
  BestDerivations(const Hypergraph& graph, const Weights& weights, Yields yields = {}, S semiring = {})
      : graph_(graph), yields_(std::move(yields)), semiring_(std::move(semiring)) {
    graph.require_frozen();
    weights_.reserve(graph.edges());
    for (EdgeId e = 0; e < graph.edges(); ++e) weights_.push_back(weight_of(weights, e));
    values_.assign(graph.edges(), semiring_.zero());
    best_.assign(graph.vertices(), kNone);
    for (VertexId vertex : graph.order()) {
      for (EdgeId edge : graph.incoming(vertex)) {
        bool derivable = true;
        for (VertexId tail : graph.tails(edge)) derivable = derivable && best_[tail] != kNone;
        if (!derivable) continue;
        values_[edge] =
            product(edge, [&](std::uint32_t i) -> const Value& { return values_[best_[graph.tails(edge)[i]]]; });
        if (values_[edge] == semiring_.zero()) continue;
        if (best_[vertex] == kNone || semiring_.better(values_[edge], values_[best_[vertex]])) best_[vertex] = edge;
      }
    }
  }

  std::size_t vertices() const { return graph_.vertices(); }
  VertexId in_order(std::size_t i) const { return graph_.order()[i]; }
  EdgeId best_edge(VertexId vertex) const { return best_[vertex]; }
  bool single(VertexId vertex) const {
    return graph_.incoming(vertex).size() == 1 && graph_.tails(graph_.incoming(vertex)[0]).empty();
  }
  std::span<const VertexId> tails(EdgeId edge) const { return graph_.tails(edge); }
  const Value& best_value(EdgeId edge) const { return values_[edge]; }
  void edges_into(VertexId vertex, std::vector<EdgeId>& list) const {
    list.push_back(best_[vertex]);
    for (EdgeId edge : graph_.incoming(vertex)) {
      if (edge != best_[vertex] && !(values_[edge] == semiring_.zero())) list.push_back(edge);
    }
  }
  bool better(const Value& a, const Value& b) const { return semiring_.better(a, b); }
  template <class Parts>
  Value replaced(EdgeId edge, const Value&, const Value&, const Value&, const Parts& parts) const {
    return product(edge, parts);
  }
  template <class Parts>
  Signature signature(EdgeId edge, const Parts& parts) const {
    return yields_.signature(edge, parts);
  }
  std::uint64_t key(const Signature& signature) const { return yields_.key(signature); }

 private:
  template <class Parts>
  Value product(EdgeId edge, const Parts& parts) const {
    Value value = weights_[edge];
    const std::size_t tails = graph_.tails(edge).size();
    for (std::uint32_t i = 0; i < tails; ++i) value = semiring_.times(value, parts(i));
    return value;
  }

  const Hypergraph& graph_;
  Yields yields_;
  S semiring_;
  std::vector<Value> weights_;
  std::vector<Value> values_;  // by edge, with the best derivations of its tails; zero: it has none
  std::vector<EdgeId> best_;   // by vertex, or kNone
};

}  // namespace treeglot::hypergraph
