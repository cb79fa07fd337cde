// Small random hypergraphs for the tests of this folder, and all their derivations one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "hypergraph/hypergraph.hh"

namespace treeglot::test {

using hypergraph::EdgeId;
using hypergraph::Hypergraph;
using hypergraph::VertexId;

// The edges of a derivation in preorder; which derivation it is follows from that.
using EdgeList = std::vector<EdgeId>;

inline void append(EdgeList& list, const EdgeList& more) { list.insert(list.end(), more.begin(), more.end()); }

// The edge with each way to make all of its tails but number `hole`.
inline std::vector<EdgeList> combined(const Hypergraph& graph, EdgeId edge,
                                      const std::vector<std::vector<EdgeList>>& derivations, std::size_t hole) {
  std::vector<EdgeList> result{{edge}};
  for (std::size_t i = 0; i < graph.tails(edge).size(); ++i) {
    if (i == hole) continue;
    std::vector<EdgeList> longer;
    for (const EdgeList& start : result) {
      for (const EdgeList& part : derivations[graph.tails(edge)[i]]) {
        longer.push_back(start);
        append(longer.back(), part);
      }
    }
    result = std::move(longer);
  }
  return result;
}

// By vertex.
inline std::vector<std::vector<EdgeList>> all_derivations(const Hypergraph& graph) {
  std::vector<std::vector<EdgeList>> result(graph.vertices());
  for (VertexId vertex : graph.order()) {
    for (EdgeId edge : graph.incoming(vertex)) {
      for (EdgeList& list : combined(graph, edge, result, graph.tails(edge).size())) {
        result[vertex].push_back(std::move(list));
      }
    }
  }
  return result;
}

// What is left of the derivations of `from` when one use of `vertex` is cut out of them.
inline std::vector<EdgeList> all_contexts(const Hypergraph& graph, VertexId from, VertexId vertex,
                                          const std::vector<std::vector<EdgeList>>& derivations) {
  if (from == vertex) return {{}};
  std::vector<EdgeList> result;
  for (EdgeId edge : graph.incoming(from)) {
    for (std::size_t i = 0; i < graph.tails(edge).size(); ++i) {
      for (const EdgeList& around : all_contexts(graph, graph.tails(edge)[i], vertex, derivations)) {
        for (EdgeList list : combined(graph, edge, derivations, i)) {
          append(list, around);
          result.push_back(std::move(list));
        }
      }
    }
  }
  return result;
}

// At most some hundred derivations of any vertex. Numbers are not in the order of tails and heads; there are vertices
// without edges and vertices that nothing needs, edges without tails, and tails that are there twice.
inline void random_hypergraph(Hypergraph& graph, std::mt19937& random) {
  graph.clear();
  const std::uint32_t size = 1 + random() % 7;
  graph.add_vertices(size);
  std::vector<VertexId> numbers;
  for (VertexId v = 0; v < size; ++v) numbers.push_back(v);
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::vector<double> counts;
  for (std::uint32_t v = 0; v < size; ++v) {
    double count = 0;
    for (std::uint32_t e = random() % 4; e > 0; --e) {
      std::vector<VertexId> tails;
      double product = 1;
      for (std::uint32_t t = random() % 4; v > 0 && t > 0; --t) {
        const std::uint32_t tail = random() % v;
        if (product * counts[tail] > 60) continue;
        product *= counts[tail];
        tails.push_back(numbers[tail]);
      }
      graph.add_edge(numbers[v], tails);
      count += product;
    }
    counts.push_back(count);
  }
  graph.freeze();
}

}  // namespace treeglot::test
