// What is left of a hypergraph when edges are taken out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hypergraph/hypergraph.hh"

namespace treeglot::hypergraph {

// Some vertices and edges: 1 for those that belong to it, by number.
struct Selection {
  std::vector<std::uint8_t> vertices, edges;
};

// What is in some derivation of the goal that uses edges with `keep` (by edge, 0: not kept) alone: a vertex that has
// lost its last edge goes with the edges that need it, and so on, and so does what the goal no longer reaches.
Selection useful(const Hypergraph& graph, VertexId goal, std::span<const std::uint8_t> keep);

// A part of a hypergraph, frozen. Vertices and edges keep their order.
struct Subgraph {
  Hypergraph graph;
  std::vector<VertexId> vertices;  // their old numbers
  std::vector<EdgeId> edges;
  std::vector<VertexId> vertex_of;  // by old number, or kNone
};

// The selected edges must have selected heads and tails (std::invalid_argument otherwise).
Subgraph subgraph(const Hypergraph& graph, const Selection& selection);

// The weights of edges, divided by their sum over the edges into the same vertex; zeros stay zeros.
std::vector<double> normalised(const Hypergraph& graph, std::span<const double> weights);

}  // namespace treeglot::hypergraph
