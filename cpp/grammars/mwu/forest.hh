// The forest of multi-word units of a sentence (spec: mwu-forest, section 1) over one dependency tree or several ones
// with weights, with its sums and posteriors.
//
// Several trees: the forest of each, put together under one v0. Vertices of two trees are one if their words, the heads
// inside, τ with its heads, and the yield are equal: then rules and what can stand below do not depend on the tree.
// Where trees share a vertex, an edge into it has the mean of its probabilities in their forests, by the weights of the
// trees.
//
// A factored forest has all groupings of τ as edges, less probable by half for every further group. Sums over them are
// one pass over τ; those with a posterior above δ are listed as edges here. Their tails are groups, which are vertices,
// too: the edges into a group are the units with these σ, by their size.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grammars/mwu/tree_forest.hh"
#include "hypergraph/hypergraph.hh"
#include "hypergraph/prune.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot::mwu {

// May these neighbours in τ be the σ of one tail, in this tree?
using TreeGroupFilter = std::function<bool(std::size_t tree, std::span<const Place>)>;

class Forest {
 public:
  explicit Forest(const ForestOptions& options) : options_(options) {}

  // Takes other trees: tree() is there.
  void start(const ParsedSentence& sentence);
  void start(std::span<const std::int32_t> heads);
  // Everything else. `filter`: which groups may be tails, if that leaves an edge; it may be empty.
  void build(const TreeGroupFilter& filter = {});

  std::size_t trees() const { return weights_.size(); }
  const Tree& tree(std::size_t number = 0) const { return trees_[number]->tree(); }

  // Vertex 0 is v0. A unit without τ has one edge without tails, which is no edge of the forest in the paper's sense.
  static constexpr VertexId kRoot = TreeForest::kRoot;
  // Of a factored forest without δ: groupings of a unit that are listed, those with the fewest groups first.
  static constexpr std::size_t kMaxListed = 1024;
  std::size_t vertices() const { return edges_.vertices(); }
  const EdgeList& edges() const { return edges_; }
  std::span<const VertexId> order() const { return order_; }  // all vertices, heads before tails
  // The first tree that has a vertex.
  std::size_t tree_of(VertexId vertex) const { return members_.empty() ? 0 : first_member(vertex).tree; }
  const Tree& tree_at(VertexId vertex) const { return tree(tree_of(vertex)); }
  bool is_group(VertexId vertex) const { return at(vertex).is_group(local(vertex)); }
  // Of a unit or a group.
  void sigma(VertexId vertex, std::vector<Place>& out) const { at(vertex).sigma(local(vertex), out); }
  void tau(VertexId unit, std::vector<Place>& out) const { at(unit).tau(local(unit), out); }
  std::span<const Place> words(VertexId vertex) const { return at(vertex).words(local(vertex)); }

  // Since this object was made: words whose units the cap cut; units of which kMaxListed left groupings out.
  std::uint64_t unit_cuts() const;
  std::uint64_t grouping_cuts() const { return cuts_; }
  // Whether pruning left it.
  bool kept(VertexId vertex) const { return kept_.vertices.empty() || kept_.vertices[vertex]; }
  bool kept_edge(EdgeId edge) const { return kept_.edges.empty() || kept_.edges[edge]; }
  double p(EdgeId edge) const { return p_[edge]; }
  double inside(VertexId vertex) const { return inside_[vertex]; }
  double outside(VertexId vertex) const { return outside_[vertex]; }
  double posterior(VertexId vertex) const { return vertex_posteriors_[vertex]; }
  double edge_posterior(EdgeId edge) const { return edge_posteriors_[edge]; }

  // One object, with what the specification's section 5 says; of several trees each vertex has a list of those that
  // have it.
  std::string json() const;

 private:
  // A vertex in the forest of one tree.
  struct Member {
    std::uint32_t tree;
    VertexId vertex;
  };
  const Member& first_member(VertexId vertex) const { return members_[member_starts_[vertex]]; }
  std::span<const Member> members(VertexId vertex) const {
    return {members_.data() + member_starts_[vertex], members_.data() + member_starts_[vertex + 1]};
  }
  const TreeForest& at(VertexId vertex) const { return *trees_[tree_of(vertex)]; }
  VertexId local(VertexId vertex) const { return members_.empty() ? vertex : first_member(vertex).vertex; }

  void take_trees(std::size_t count);
  void join_vertices();
  void join_edges(std::span<const EdgeList> edges, std::span<const std::vector<double>> p);
  void find_order(std::size_t vertices);
  void key_of(const TreeForest& forest, VertexId vertex, std::vector<std::uint32_t>& key) const;

  // forest_groupings.cc: of a factored forest.
  struct Groupings;
  void list_groupings();

  void sum();
  void sum_down();
  void sum_any();
  void prune(bool complete);
  void keep_best(std::vector<std::uint8_t>& keep);
  std::vector<double> paper_outside() const;

  const ForestOptions options_;
  std::vector<std::unique_ptr<TreeForest>> trees_;  // those of this sentence come first; kept for their buffers
  std::vector<double> weights_;                     // of the trees of this sentence; they add up to 1
  std::vector<Member> members_;                     // of all vertices; empty if there is one tree
  std::vector<std::uint32_t> member_starts_;
  std::vector<std::vector<VertexId>> joined_;  // by tree, vertex there
  std::size_t count_ = 0;                      // vertices
  EdgeList edges_;
  std::vector<VertexId> order_;
  hypergraph::Selection kept_;          // empty: everything
  std::vector<std::uint32_t> covered_;  // by vertex: twice the words of its yield, and 1 for a group
  std::vector<std::uint32_t> places_;
  std::vector<double> p_, inside_, outside_, vertex_posteriors_, edge_posteriors_;
  std::uint64_t cuts_ = 0;
};

}  // namespace treeglot::mwu
