// The hypergraph itself, its order, and what is left of it after pruning.
#include "hypergraph/hypergraph.hh"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "hypergraph/prune.hh"
#include "hypergraph/random_hypergraph_test.hh"

namespace hg = treeglot::hypergraph;
using treeglot::test::all_derivations;
using treeglot::test::EdgeList;
using treeglot::test::random_hypergraph;

BOOST_AUTO_TEST_CASE(hypergraph_lists_its_edges) {
  hg::Hypergraph graph;
  BOOST_TEST(graph.add_vertices(3) == 0u);
  BOOST_TEST(graph.add_vertex() == 3u);
  BOOST_TEST(graph.add_edge(0, {1, 2, 1}) == 0u);
  BOOST_TEST(graph.add_edge(2, {}) == 1u);
  BOOST_TEST(graph.add_edge(0, {2}) == 2u);
  BOOST_CHECK_THROW(graph.add_edge(4, {}), std::out_of_range);
  BOOST_CHECK_THROW(graph.add_edge(0, {1, 4}), std::out_of_range);
  BOOST_CHECK_THROW(graph.require_frozen(), std::logic_error);
  graph.freeze();
  graph.freeze();
  BOOST_CHECK_THROW(graph.add_edge(0, {}), std::logic_error);
  BOOST_CHECK_THROW(graph.add_vertex(), std::logic_error);
  BOOST_TEST(graph.vertices() == 4u);
  BOOST_TEST(graph.edges() == 3u);
  auto list = [](std::span<const std::uint32_t> span) { return std::vector<std::uint32_t>(span.begin(), span.end()); };
  using List = std::vector<std::uint32_t>;
  BOOST_TEST((list(graph.tails(0)) == List{1, 2, 1}));
  BOOST_TEST((list(graph.incoming(0)) == List{0, 2}));
  BOOST_TEST((list(graph.incoming(1)).empty()));
  BOOST_TEST((list(graph.outgoing(1)) == List{0}));
  BOOST_TEST((list(graph.outgoing(2)) == List{0, 2}));
  BOOST_TEST((list(graph.order()) == List{1, 2, 0, 3}));
  graph.clear();
  graph.freeze();
  BOOST_TEST(graph.order().empty());
}

BOOST_AUTO_TEST_CASE(hypergraph_order_has_tails_before_heads) {
  std::mt19937 random(1);
  hg::Hypergraph graph;
  for (int round = 0; round < 300; ++round) {
    random_hypergraph(graph, random);
    std::vector<std::size_t> place(graph.vertices(), graph.vertices());
    for (std::size_t i = 0; i < graph.order().size(); ++i) place[graph.order()[i]] = i;
    for (std::size_t p : place) BOOST_TEST(p < graph.vertices());
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
      for (hg::VertexId tail : graph.tails(e)) BOOST_TEST(place[tail] < place[graph.head(e)]);
    }
  }
}

BOOST_AUTO_TEST_CASE(hypergraph_names_a_vertex_of_a_cycle) {
  hg::Hypergraph graph;
  graph.add_vertices(5);
  graph.add_edge(0, {1});
  graph.add_edge(2, {4, 3});
  graph.add_edge(3, {2});
  try {
    graph.freeze();
    BOOST_FAIL("no exception");
  } catch (const hg::CycleError& error) {
    BOOST_TEST((error.vertex() == 2u || error.vertex() == 3u));
    BOOST_TEST(std::string(error.what()).find("vertex " + std::to_string(error.vertex())) != std::string::npos);
  }
  BOOST_TEST(!graph.frozen());
  graph.clear();
  graph.add_vertex();
  graph.add_edge(0, {0});
  BOOST_CHECK_THROW(graph.freeze(), hg::CycleError);
}

BOOST_AUTO_TEST_CASE(hypergraph_useful_is_what_derivations_use) {
  std::mt19937 random(2);
  hg::Hypergraph graph;
  int fewer = 0;
  for (int round = 0; round < 300; ++round) {
    random_hypergraph(graph, random);
    const hg::VertexId goal = random() % graph.vertices();
    std::vector<std::uint8_t> keep;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) keep.push_back(random() % 5 != 0);
    std::set<EdgeList> left;
    std::vector<std::uint8_t> vertices(graph.vertices(), 0), edges(graph.edges(), 0);
    const std::vector<EdgeList> derivations = all_derivations(graph)[goal];
    for (const EdgeList& derivation : derivations) {
      bool whole = true;
      for (hg::EdgeId e : derivation) whole = whole && keep[e];
      if (!whole) continue;
      left.insert(derivation);
      for (hg::EdgeId e : derivation) edges[e] = vertices[graph.head(e)] = 1;
    }
    const hg::Selection selection = hg::useful(graph, goal, keep);
    BOOST_TEST(selection.vertices == vertices);
    BOOST_TEST(selection.edges == edges);
    const hg::Subgraph sub = hg::subgraph(graph, selection);
    fewer += sub.graph.edges() < graph.edges();
    if (left.empty()) {
      BOOST_TEST(sub.graph.vertices() == 0u);
      continue;
    }
    std::set<EdgeList> again;
    const std::vector<EdgeList> after = all_derivations(sub.graph)[sub.vertex_of[goal]];
    for (EdgeList derivation : after) {
      for (hg::EdgeId& e : derivation) e = sub.edges[e];
      again.insert(derivation);
    }
    BOOST_TEST((again == left));
    for (hg::VertexId v = 0; v < sub.graph.vertices(); ++v) BOOST_TEST(sub.vertex_of[sub.vertices[v]] == v);
  }
  BOOST_TEST(fewer > 100);
}

BOOST_AUTO_TEST_CASE(hypergraph_selections_must_fit) {
  hg::Hypergraph graph;
  graph.add_vertices(2);
  graph.add_edge(0, {1});
  graph.freeze();
  const std::vector<std::uint8_t> none;
  BOOST_CHECK_THROW(hg::useful(graph, 0, none), std::invalid_argument);
  BOOST_CHECK_THROW(hg::subgraph(graph, {{1, 0}, {1}}), std::invalid_argument);
  BOOST_CHECK_THROW(hg::subgraph(graph, {{1}, {1}}), std::invalid_argument);
  BOOST_CHECK_THROW(hg::normalised(graph, {}), std::invalid_argument);
  const std::vector<std::uint8_t> all{1};
  BOOST_CHECK_THROW(hg::useful(graph, 2, all), std::out_of_range);
}
