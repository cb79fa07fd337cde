#include "hypergraph/prune.hh"

#include <stdexcept>
#include <string>

#include "hypergraph/inside_outside.hh"

namespace treeglot::hypergraph {

Selection useful(const Hypergraph& graph, VertexId goal, std::span<const std::uint8_t> keep) {
  if (keep.size() != graph.edges()) throw std::invalid_argument("keep must say something about every edge");
  const auto kept = [&](EdgeId edge) { return keep[edge] != 0; };
  const std::vector<bool> below = inside<BooleanSemiring>(graph, kept);
  const std::vector<bool> above = outside<BooleanSemiring>(graph, kept, goal, below);
  const Marginals<bool> used = through<BooleanSemiring>(graph, kept, below, above);
  return {{used.vertices.begin(), used.vertices.end()}, {used.edges.begin(), used.edges.end()}};
}

Subgraph subgraph(const Hypergraph& graph, const Selection& selection) {
  if (selection.vertices.size() != graph.vertices() || selection.edges.size() != graph.edges()) {
    throw std::invalid_argument("a selection must say something about every vertex and every edge");
  }
  Subgraph result;
  result.vertex_of.assign(graph.vertices(), kNone);
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    if (!selection.vertices[v]) continue;
    result.vertex_of[v] = result.graph.add_vertex();
    result.vertices.push_back(v);
  }
  auto number = [&](VertexId vertex, EdgeId edge) {
    if (result.vertex_of[vertex] != kNone) return result.vertex_of[vertex];
    throw std::invalid_argument("edge " + std::to_string(edge) + " is selected without its vertex " +
                                std::to_string(vertex));
  };
  std::vector<VertexId> tails;
  for (EdgeId e = 0; e < graph.edges(); ++e) {
    if (!selection.edges[e]) continue;
    tails.clear();
    for (VertexId tail : graph.tails(e)) tails.push_back(number(tail, e));
    result.graph.add_edge(number(graph.head(e), e), tails);
    result.edges.push_back(e);
  }
  result.graph.freeze();
  return result;
}

std::vector<double> normalised(const Hypergraph& graph, std::span<const double> weights) {
  if (weights.size() != graph.edges()) throw std::invalid_argument("there must be one weight for every edge");
  std::vector<double> sums(graph.vertices(), 0.0), result(weights.begin(), weights.end());
  for (EdgeId e = 0; e < graph.edges(); ++e) sums[graph.head(e)] += weights[e];
  for (EdgeId e = 0; e < graph.edges(); ++e) {
    if (result[e] != 0) result[e] /= sums[graph.head(e)];
  }
  return result;
}

}  // namespace treeglot::hypergraph
