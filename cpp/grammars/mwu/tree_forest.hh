// The forest of multi-word units over one dependency tree (paper "mwu-forest"; spec: mwu-forest, section 1): its
// vertices are units, an edge into a unit says which units translate what is below it, and a dummy root v0 is above the
// units of the tree's root. Only what v0 reaches is there. `Forest` puts those of several trees together.
//
// In a factored forest the tails are groups of neighbours in τ, which are vertices, too. Its edges, all groupings of τ,
// are not listed here: each unit has the groups that some grouping uses.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "grammars/mwu/edge_list.hh"
#include "grammars/mwu/edges.hh"
#include "grammars/mwu/units.hh"

namespace treeglot::mwu {

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

class TreeForest {
 public:
  explicit TreeForest(const ForestOptions& options)
      : options_(options), units_(options.max_words, options.cap), chart_(units_, options.any_siblings) {}

  // Takes another tree.
  void start(std::span<const std::int32_t> heads) { units_.reset(heads); }
  // Finds vertices and edges, and puts the edges' probabilities into `p`. A unit without τ has one edge without tails.
  // `filter`: which groups may be tails, if that leaves an edge; it may be empty. Factored: vertices only.
  void build(const GroupFilter& filter, EdgeList& edges, std::vector<double>& p);

  const Units& units() const { return units_; }
  const Tree& tree() const { return units_.tree(); }
  std::size_t vertices() const { return unit_of_.size(); }
  UnitId unit(VertexId vertex) const { return unit_of_[vertex]; }  // kNoUnit: v0 or a group
  bool is_group(VertexId vertex) const { return vertex != kRoot && unit_of_[vertex] == kNoUnit; }
  std::span<const Place> words(VertexId vertex) const {
    return unit_of_[vertex] == kNoUnit ? std::span<const Place>() : units_.words(unit_of_[vertex]);
  }
  // Of a unit or a group.
  void sigma(VertexId vertex, std::vector<Place>& out) const;
  // Of a unit or v0.
  void tau(VertexId vertex, std::vector<Place>& out) const;
  static constexpr VertexId kRoot = 0;

  // Factored: neighbours [begin, end) in τ of a unit that are a group of some grouping, by begin, then by end.
  struct Part {
    std::uint32_t begin, end;
    VertexId group;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::span<const Part> parts(VertexId unit) const {
    return {parts_.data() + part_starts_[unit], parts_.data() + part_starts_[unit + 1]};
  }
  // Factored: the units of a group, the largest first.
  std::span<const VertexId> alternatives(VertexId group) const {
    return {alternatives_.data() + alternative_starts_[group], alternatives_.data() + alternative_starts_[group + 1]};
  }

 private:
  void add_edges(VertexId head, const GroupFilter& filter, EdgeList& edges, std::vector<double>& p);
  void find_parts(VertexId unit, const GroupFilter& filter);
  bool add_parts(const GroupFilter& filter);
  void find_alternatives(VertexId group);
  VertexId vertex(UnitId unit);
  VertexId group(std::span<const Place> sigma, bool siblings);
  VertexId add_vertex(UnitId unit, std::uint32_t sigma);

  const ForestOptions options_;
  Units units_;
  BestEdges chart_;
  std::vector<UnitId> unit_of_;      // by vertex
  std::vector<VertexId> vertex_of_;  // by unit
  std::vector<Place> tau_;
  std::vector<UnitId> tails_;
  std::vector<VertexId> tail_vertices_;

  // Of a factored forest.
  std::vector<std::vector<Place>> sigmas_;            // of groups
  std::vector<std::uint32_t> sigma_of_;               // by vertex, in sigmas_
  std::vector<VertexId> sibling_group_;               // by first word and number of words
  std::map<std::vector<Place>, VertexId> any_group_;  // groups with several heads
  std::vector<Part> parts_;
  std::vector<std::uint32_t> part_starts_;  // by vertex
  std::vector<VertexId> alternatives_;
  std::vector<std::uint32_t> alternative_starts_;  // by vertex
  struct Range {
    std::uint32_t begin, end;
    bool siblings;
  };
  std::vector<Range> ranges_;                          // that may be groups, by begin
  std::vector<std::uint8_t> from_start_, to_the_end_;  // by place in τ: some grouping of what is before, behind
};

}  // namespace treeglot::mwu
