// The forest of multi-word units over one dependency tree (paper "mwu-forest"; spec: mwu-forest, section 1). Its
// vertices are units, an edge into a unit says which units translate what is below it, and a dummy root v0 is above the
// units of the tree's root. Only what v0 reaches is there.
//
// A factored forest has all edges: an edge is a grouping of τ, less probable by half for every further group, and its
// tails are groups, which are vertices, too: the edges into a group are the units with these σ, by their size.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "grammars/mwu/edges.hh"
#include "grammars/mwu/units.hh"
#include "hypergraph/hypergraph.hh"
#include "hypergraph/prune.hh"

namespace treeglot::mwu {

using hypergraph::EdgeId;
using hypergraph::VertexId;

struct ForestOptions {
  int max_words = 6;
  int k = 10;     // edges into a unit
  int cap = 200;  // units with one first word of σ
  bool factored = false;
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
  // Of a factored forest: groupings of the τ of one unit, those with the fewest groups first.
  static constexpr std::size_t kMaxGroupings = 1024;
  std::size_t vertices() const { return graph_.vertices(); }
  std::size_t edges() const { return graph_.edges(); }
  const hypergraph::Hypergraph& graph() const { return graph_; }
  UnitId unit(VertexId vertex) const { return unit_of_[vertex]; }
  bool is_group(VertexId vertex) const { return vertex != kRoot && unit_of_[vertex] == kNoUnit; }
  // Of a unit or a group.
  void sigma(VertexId vertex, std::vector<Place>& out) const;
  std::uint64_t cuts() const { return cuts_; }  // units with more than kMaxGroupings, since this object was made
  std::span<const Place> words(VertexId vertex) const {
    return vertex == kRoot ? std::span<const Place>() : units_.words(unit_of_[vertex]);
  }
  // Whether pruning left it.
  bool kept(VertexId vertex) const { return kept_.vertices.empty() || kept_.vertices[vertex]; }
  bool kept_edge(EdgeId edge) const { return kept_.edges.empty() || kept_.edges[edge]; }
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
  VertexId group(std::span<const Place> sigma);
  void add_groupings(VertexId head, const GroupFilter& filter);
  void add_alternatives(VertexId group);
  void sum();
  void sum_whole();
  void prune();
  std::vector<double> paper_outside() const;

  ForestOptions options_;
  Units units_;
  BestEdges chart_;
  hypergraph::Hypergraph graph_;
  std::vector<UnitId> unit_of_;      // by vertex
  std::vector<VertexId> vertex_of_;  // by unit
  hypergraph::Selection kept_;       // empty: everything
  std::vector<double> p_, inside_, outside_, vertex_posteriors_, edge_posteriors_;
  std::map<std::vector<Place>, VertexId> group_of_;
  std::vector<const std::vector<Place>*> group_sigma_;  // by vertex; nullptr: no group
  std::uint64_t cuts_ = 0;
  std::vector<Place> tau_;
  std::vector<UnitId> tails_;
  std::vector<VertexId> tail_vertices_;
};

}  // namespace treeglot::mwu
