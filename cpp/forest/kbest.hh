// What the search has kept of a forest, a graph of states, and its best derivations one after the other. The algorithm
// is hypergraph/kbest.hh; here is what it has to know about states and words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest.hh"
#include "hypergraph/kbest.hh"
#include "hypergraph/yield.hh"

namespace treeglot::forest {

using hypergraph::kNone;

// Of distinct lists: how many derivations are looked at for each one wanted.
inline constexpr std::uint32_t kLookedAt = 50;

// One way to make a state: an option of an edge, and a state for each of its tails.
struct Hyperedge {
  double score;  // with the best derivations of the tails
  NodeId node;
  std::uint32_t edge, option;       // of the node, of the edge
  std::uint32_t first_tail, tails;  // in StateGraph::tails
  std::uint32_t next;               // another way to make the same state, or kNone
};

// A state of a node that was kept.
struct Vertex {
  double score;             // of its best hyperedge
  std::uint32_t hyperedge;  // the best, head of the list of all
  std::uint32_t state;      // the search's business
};

// Tails come before their heads.
struct StateGraph {
  std::vector<Vertex> vertices;
  std::vector<Hyperedge> hyperedges;
  std::vector<std::uint32_t> tails;  // vertices

  std::span<const std::uint32_t> tails_of(const Hyperedge& hyperedge) const {
    return {tails.data() + hyperedge.first_tail, hyperedge.tails};
  }
  void clear() {
    vertices.clear();
    hyperedges.clear();
    tails.clear();
  }
};

// The states as a source of k-best lists. The search has combined the tails of a hyperedge with a language model, so a
// derivation with other ones changes the score by what it is worse than they are. Signatures are the words.
class StateDerivations {
 public:
  using Value = double;
  using Signature = hypergraph::Yield;
  static constexpr hypergraph::Ties kTies = hypergraph::Ties::kFirstFound;

  explicit StateDerivations(const StateGraph& graph) : graph_(graph) {}
  void set_forest(const Forest& forest) { forest_ = &forest; }

  std::size_t vertices() const { return graph_.vertices.size(); }
  std::uint32_t in_order(std::size_t i) const { return static_cast<std::uint32_t>(i); }
  std::uint32_t best_edge(std::uint32_t vertex) const { return graph_.vertices[vertex].hyperedge; }
  // The cheap answer for most vertices: leaves that were reached in one way.
  bool single(std::uint32_t vertex) const {
    const Hyperedge& best = graph_.hyperedges[best_edge(vertex)];
    return best.tails == 0 && best.next == kNone;
  }
  std::span<const std::uint32_t> tails(std::uint32_t edge) const { return graph_.tails_of(graph_.hyperedges[edge]); }
  const double& best_value(std::uint32_t edge) const { return graph_.hyperedges[edge].score; }
  void edges_into(std::uint32_t vertex, std::vector<std::uint32_t>& list) const {
    for (std::uint32_t way = best_edge(vertex); way != kNone; way = graph_.hyperedges[way].next) list.push_back(way);
  }
  bool better(double a, double b) const { return a > b; }
  template <class Parts>
  double replaced(std::uint32_t, double score, double old, double now, const Parts&) const {
    return score - old + now;
  }
  template <class Parts>
  Signature signature(std::uint32_t edge, const Parts& parts) const {
    const Hyperedge& hyperedge = graph_.hyperedges[edge];
    Signature words;
    for (TargetSymbol symbol : (*(*forest_)[hyperedge.node].edges[hyperedge.edge].options)[hyperedge.option]->target) {
      words.append(is_target_variable(symbol) ? parts(variable_number(symbol)) : Signature::of_word(symbol));
    }
    return words;
  }
  std::uint64_t key(const Signature& words) const { return words.value; }

 private:
  const StateGraph& graph_;
  const Forest* forest_ = nullptr;
};

// The derivations of states; see hypergraph::LazyKBest for what ranks are.
class LazyKBest {
 public:
  // The graph must outlive this.
  explicit LazyKBest(const StateGraph& graph) : graph_(graph), source_(graph), lists_(source_) {}
  LazyKBest(const LazyKBest&) = delete;

  // Forgets everything: the graph has changed. Distinct lists have no two derivations with the same words.
  void reset(const Forest& forest, bool distinct) {
    source_.set_forest(forest);
    lists_.reset(distinct, kLookedAt);
  }

  // Whether a vertex has a derivation of that rank; makes it if need be. All functions below want ranks that exist.
  bool has(std::uint32_t vertex, std::uint32_t rank) { return lists_.has(vertex, rank); }
  double score(std::uint32_t vertex, std::uint32_t rank) const { return lists_.value(vertex, rank); }
  const Hyperedge& hyperedge(std::uint32_t vertex, std::uint32_t rank) const {
    return graph_.hyperedges[lists_.edge(vertex, rank)];
  }
  // The rank that a derivation uses of a tail.
  std::uint32_t tail_rank(std::uint32_t vertex, std::uint32_t rank, std::uint32_t tail) const {
    return lists_.tail_rank(vertex, rank, tail);
  }

 private:
  const StateGraph& graph_;
  StateDerivations source_;
  hypergraph::LazyKBest<StateDerivations> lists_;
};

}  // namespace treeglot::forest
