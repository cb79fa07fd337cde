// The forest of multi-word units over one dependency tree (paper "mwu-forest"; spec: mwu-forest, section 1). Its
// vertices are units, an edge into a unit says which units translate what is below it, and a dummy root v0 is above the
// units of the tree's root. Only what v0 reaches is there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grammars/mwu/edges.hh"
#include "grammars/mwu/units.hh"
#include "hypergraph/hypergraph.hh"

namespace treeglot::mwu {

using hypergraph::EdgeId;
using hypergraph::VertexId;

struct ForestOptions {
  int max_words = 6;
  int k = 10;                  // edges into a unit
  int cap = 200;               // units with one first word of σ
  bool any_siblings = false;   // "vertex": a group may have words of several heads in its σ
  bool paper_outside = false;  // the outside sums as the paper prints them
  double delta = 0;            // edges with no more posterior than this are taken out; 0: none
  bool renormalise = true;     // ... and the others get their probability
};

class Forest {
 public:
  explicit Forest(const ForestOptions& options)
      : options_(options), units_(options.max_words, options.cap), chart_(units_, options.any_siblings) {}

  // Takes another tree: tree() is there.
  void start(std::span<const std::int32_t> heads);
  // Everything else. `filter`: which groups may be tails, if that leaves an edge; it may be empty.
  void build(const GroupFilter& filter = {});

  const Units& units() const { return units_; }
  const Tree& tree() const { return units_.tree(); }

  // Vertex 0 is v0. A unit without τ has one edge without tails, which is no edge of the forest in the paper's sense.
  static constexpr VertexId kRoot = 0;
  std::size_t vertices() const { return graph_.vertices(); }
  std::size_t edges() const { return graph_.edges(); }
  const hypergraph::Hypergraph& graph() const { return graph_; }
  UnitId unit(VertexId vertex) const { return unit_of_[vertex]; }
  std::span<const Place> words(VertexId vertex) const {
    return vertex == kRoot ? std::span<const Place>() : units_.words(unit_of_[vertex]);
  }
  double p(EdgeId edge) const { return p_[edge]; }
  double inside(VertexId vertex) const { return inside_[vertex]; }
  double outside(VertexId vertex) const { return outside_[vertex]; }
  double posterior(VertexId vertex) const { return vertex_posteriors_[vertex]; }
  double edge_posterior(EdgeId edge) const { return edge_posteriors_[edge]; }

  // One object, with what the specification's section 5 says.
  std::string json() const;

 private:
  VertexId vertex(UnitId unit);
  void add_edges(VertexId head, const GroupFilter& filter);
  void sum();
  void prune();
  std::vector<double> paper_outside() const;

  ForestOptions options_;
  Units units_;
  BestEdges chart_;
  hypergraph::Hypergraph graph_;
  std::vector<UnitId> unit_of_;      // by vertex
  std::vector<VertexId> vertex_of_;  // by unit
  std::vector<double> p_, inside_, outside_, vertex_posteriors_, edge_posteriors_;
  std::vector<Place> tau_;
  std::vector<UnitId> tails_;
  std::vector<VertexId> tail_vertices_;
};

}  // namespace treeglot::mwu
