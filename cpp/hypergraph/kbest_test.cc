// Lazy k-best lists against all derivations of random hypergraphs: values, order, ties, distinct lists.
#include "hypergraph/kbest.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "hypergraph/random_hypergraph_test.hh"
#include "hypergraph/viterbi.hh"

namespace hg = treeglot::hypergraph;
using treeglot::test::random_hypergraph;

namespace {

// A derivation by its edge and the ranks of its tails in their lists.
struct Entry {
  double value;
  hg::EdgeId edge;
  std::vector<std::uint32_t> ranks;
  std::multiset<int> signature;
};

// How often each label is in a derivation: a signature whose parts add up.
struct Labels {
  using Signature = std::uint64_t;
  std::vector<int> labels;           // by edge
  std::vector<std::uint32_t> tails;  // how many, by edge
  template <class Parts>
  Signature signature(hg::EdgeId edge, const Parts& parts) const {
    Signature sum = std::uint64_t{1} << (8 * labels[edge]);
    for (std::uint32_t i = 0; i < tails[edge]; ++i) sum += parts(i);
    return sum;
  }
  std::uint64_t key(const Signature& signature) const { return signature; }
};

// Edges 0 and 1 are words, the others hand on what is below them.
struct Words {
  using Signature = std::uint64_t;
  template <class Parts>
  Signature signature(hg::EdgeId edge, const Parts& parts) const {
    return edge < 2 ? edge : parts(0);
  }
  std::uint64_t key(const Signature& signature) const { return signature; }
};

// All lists, in the order that Ties::kByEdge promises; distinct ones without what has a signature that was there.
std::vector<std::vector<Entry>> all_lists(const hg::Hypergraph& graph, const std::vector<double>& weights,
                                          const std::vector<int>& labels, bool distinct) {
  std::vector<std::vector<Entry>> lists(graph.vertices());
  for (hg::VertexId vertex : graph.order()) {
    std::vector<Entry> all;
    for (hg::EdgeId edge : graph.incoming(vertex)) {
      if (weights[edge] == hg::kMinusInfinity) continue;
      std::vector<Entry> sofar{{weights[edge], edge, {}, {labels[edge]}}};
      for (hg::VertexId tail : graph.tails(edge)) {
        std::vector<Entry> longer;
        for (const Entry& entry : sofar) {
          for (std::uint32_t rank = 0; rank < lists[tail].size(); ++rank) {
            longer.push_back(entry);
            longer.back().value += lists[tail][rank].value;
            longer.back().ranks.push_back(rank);
            longer.back().signature.insert(lists[tail][rank].signature.begin(), lists[tail][rank].signature.end());
          }
        }
        sofar = std::move(longer);
      }
      all.insert(all.end(), sofar.begin(), sofar.end());
    }
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
      return std::tie(b.value, a.edge, a.ranks) < std::tie(a.value, b.edge, b.ranks);
    });
    std::set<std::multiset<int>> seen;
    for (Entry& entry : all) {
      if (!distinct || seen.insert(entry.signature).second) lists[vertex].push_back(std::move(entry));
    }
  }
  return lists;
}

}  // namespace

BOOST_AUTO_TEST_CASE(hypergraph_kbest_is_every_derivation_in_order) {
  std::mt19937 random(7);
  hg::Hypergraph graph;
  int ties = 0, dropped = 0;
  for (int round = 0; round < 600; ++round) {
    random_hypergraph(graph, random);
    std::vector<double> weights;
    Labels labels;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
      weights.push_back(random() % 12 ? -0.125 * static_cast<double>(random() % 8) : hg::kMinusInfinity);
      labels.labels.push_back(static_cast<int>(random() % 3));
      labels.tails.push_back(static_cast<std::uint32_t>(graph.tails(e).size()));
    }
    const hg::BestDerivations<hg::ViterbiSemiring, Labels> best(graph, weights, labels);
    hg::LazyKBest kbest(best);
    std::size_t every = 0;
    for (bool distinct : {false, true}) {
      const auto lists = all_lists(graph, weights, labels.labels, distinct);
      kbest.reset(distinct);
      std::vector<hg::VertexId> vertices(graph.vertices());
      std::iota(vertices.begin(), vertices.end(), 0);
      std::shuffle(vertices.begin(), vertices.end(), random);
      std::size_t total = 0;
      for (hg::VertexId vertex : vertices) {
        const std::vector<Entry>& wanted = lists[vertex];
        total += wanted.size();
        for (std::uint32_t rank = 0; rank < wanted.size(); ++rank) {
          BOOST_REQUIRE(kbest.has(vertex, rank));
          BOOST_TEST(kbest.value(vertex, rank) == wanted[rank].value);
          BOOST_TEST(kbest.edge(vertex, rank) == wanted[rank].edge);
          for (std::uint32_t t = 0; t < wanted[rank].ranks.size(); ++t) {
            BOOST_TEST(kbest.tail_rank(vertex, rank, t) == wanted[rank].ranks[t]);
          }
          ties += rank > 0 && wanted[rank].value == wanted[rank - 1].value;
        }
        BOOST_TEST(!kbest.has(vertex, static_cast<std::uint32_t>(wanted.size())));
        BOOST_TEST(!kbest.has(vertex, static_cast<std::uint32_t>(wanted.size()) + 5));
      }
      if (distinct) dropped += static_cast<int>(every - total);
      every = total;
    }
  }
  BOOST_TEST(ties > 1000);
  BOOST_TEST(dropped > 1000);
}

BOOST_AUTO_TEST_CASE(hypergraph_kbest_distinct_has_the_best_of_every_signature) {
  std::mt19937 random(8);
  hg::Hypergraph graph;
  for (int round = 0; round < 300; ++round) {
    random_hypergraph(graph, random);
    std::vector<double> weights;
    Labels labels;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
      weights.push_back(-0.125 * static_cast<double>(random() % 30));
      labels.labels.push_back(static_cast<int>(random() % 2));
      labels.tails.push_back(static_cast<std::uint32_t>(graph.tails(e).size()));
    }
    const hg::BestDerivations<hg::ViterbiSemiring, Labels> best(graph, weights, labels);
    hg::LazyKBest kbest(best);
    kbest.reset(true);
    const auto derivations = treeglot::test::all_derivations(graph);
    for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
      std::map<std::multiset<int>, double> wanted;
      for (const auto& derivation : derivations[v]) {
        double value = 0;
        std::multiset<int> signature;
        for (hg::EdgeId e : derivation) {
          value += weights[e];
          signature.insert(labels.labels[e]);
        }
        auto [place, fresh] = wanted.emplace(signature, value);
        if (!fresh) place->second = std::max(place->second, value);
      }
      std::vector<double> values;
      for (const auto& [signature, value] : wanted) values.push_back(value);
      std::sort(values.begin(), values.end(), std::greater<>());
      for (std::uint32_t rank = 0; rank < values.size(); ++rank) {
        BOOST_REQUIRE(kbest.has(v, rank));
        BOOST_TEST(kbest.value(v, rank) == values[rank]);
      }
      BOOST_TEST(!kbest.has(v, static_cast<std::uint32_t>(values.size())));
    }
  }
}

BOOST_AUTO_TEST_CASE(hypergraph_kbest_parts_multiply_to_the_value) {
  std::mt19937 random(9);
  hg::Hypergraph graph;
  for (int round = 0; round < 200; ++round) {
    random_hypergraph(graph, random);
    std::vector<double> weights;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) weights.push_back(-0.25 * static_cast<double>(random() % 30));
    const hg::BestDerivations<hg::ViterbiSemiring> best(graph, weights);
    hg::LazyKBest kbest(best);
    kbest.reset(false);
    for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
      for (std::uint32_t rank = 0; rank < 20 && kbest.has(v, rank); ++rank) {
        const std::vector<hg::DerivationPart> parts = hg::derivation_parts(kbest, v, rank);
        std::function<double(std::uint32_t, hg::VertexId)> value = [&](std::uint32_t number, hg::VertexId vertex) {
          const hg::DerivationPart& part = parts[number];
          BOOST_TEST(part.vertex == vertex);
          BOOST_TEST(graph.head(part.edge) == vertex);
          BOOST_REQUIRE(part.tails.size() == graph.tails(part.edge).size());
          double sum = weights[part.edge];
          for (std::size_t i = 0; i < part.tails.size(); ++i) {
            sum += value(part.tails[i], graph.tails(part.edge)[i]);
          }
          return sum;
        };
        BOOST_TEST(value(0, v) == kbest.value(v, rank));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(hypergraph_kbest_of_deep_and_bushy_graphs) {
  const std::uint32_t length = 200000;
  hg::Hypergraph graph;
  graph.add_vertices(length);
  for (std::uint32_t i = 0; i < length; ++i) {  // the goal is 0
    for (int way = 0; way < 2; ++way) {
      i + 1 < length ? graph.add_edge(i, {i + 1}) : graph.add_edge(i, {});
    }
  }
  graph.freeze();
  const hg::BestDerivations<hg::ViterbiSemiring> best(graph, [](hg::EdgeId e) { return e % 2 ? -1.0 : 0.0; });
  hg::LazyKBest kbest(best);
  kbest.reset(false);
  BOOST_REQUIRE(kbest.has(0, 3));
  BOOST_TEST(kbest.value(0, 0) == 0.0);
  BOOST_TEST(kbest.value(0, 3) == -1.0);
  BOOST_TEST(hg::derivation_parts(kbest, 0, 3).size() == length);
  // Everything twice: a derivation has 2^60 leaves, but few parts.
  hg::Hypergraph twice;
  twice.add_vertices(61);
  twice.add_edge(0, {});
  twice.add_edge(0, {});
  for (std::uint32_t i = 1; i <= 60; ++i) twice.add_edge(i, {i - 1, i - 1});
  twice.freeze();
  const hg::BestDerivations<hg::ViterbiSemiring> sums(twice, [](hg::EdgeId e) { return e == 1 ? -1.0 : 0.0; });
  hg::LazyKBest lists(sums);
  lists.reset(false);
  BOOST_REQUIRE(lists.has(60, 9));
  BOOST_TEST(lists.value(60, 9) == -1.0);
  BOOST_TEST(hg::derivation_parts(lists, 60, 0).size() == 61u);
  BOOST_TEST(hg::derivation_parts(lists, 60, 9).size() <= 122u);
}

// Derivations that differ in name only must not hide the others: 2^40 ways to say the same, and two words to choose.
BOOST_AUTO_TEST_CASE(hypergraph_kbest_distinct_survives_spurious_ambiguity) {
  hg::Hypergraph graph;
  graph.add_vertices(41);
  graph.add_edge(0, {});
  graph.add_edge(0, {});
  for (std::uint32_t v = 1; v <= 40; ++v) {
    graph.add_edge(v, {v - 1});
    graph.add_edge(v, {v - 1});
  }
  graph.freeze();
  auto weights = [](hg::EdgeId e) { return e == 1 ? -1 : e % 2 ? -0.001 : 0.0; };
  const hg::BestDerivations<hg::ViterbiSemiring, Words> best(graph, weights);
  hg::LazyKBest kbest(best);
  kbest.reset(true);
  BOOST_REQUIRE(kbest.has(40, 1));
  BOOST_TEST(kbest.value(40, 1) == -1.0);
  BOOST_TEST(!kbest.has(40, 2));
  kbest.reset(true, 1);  // only as many are looked at as are wanted
  BOOST_TEST(!kbest.has(40, 1));
}

// The best groupings of siblings for each number of groups (spec: multi-word-unit forests, "Hyperedges"): c = the mean
// size of the units; of equally good ones fewer tails first, then the smaller units, in the order of the siblings.
BOOST_AUTO_TEST_CASE(hypergraph_kbest_serves_groupings_of_siblings) {
  struct Unit {
    std::uint32_t begin, end;  // siblings
    int size;                  // words
  };
  using Grouping = std::vector<std::uint32_t>;  // units in the order of siblings; numbers are in the order of words
  std::mt19937 random(10);
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t siblings = 1 + random() % 5, k = 1 + random() % 6;
    std::vector<Unit> units;
    for (std::uint32_t i = 0; i < siblings; ++i) {
      for (std::uint32_t u = 1 + random() % 3; u > 0; --u) {
        const std::uint32_t end = std::min(siblings, i + 1 + static_cast<std::uint32_t>(random() % 3));
        units.push_back({i, end, static_cast<int>(end - i + random() % 3)});
      }
    }
    auto precedes = [](const std::pair<double, Grouping>& a, const std::pair<double, Grouping>& b) {
      if (a.first != b.first) return a.first > b.first;
      if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
      return a.second < b.second;
    };
    auto scored = [&](const Grouping& grouping) {
      int sum = 0;
      for (std::uint32_t unit : grouping) sum += units[unit].size;
      return std::pair(static_cast<double>(sum) / static_cast<double>(grouping.size()), grouping);
    };
    std::vector<std::pair<double, Grouping>> wanted;
    std::function<void(std::uint32_t, Grouping&)> extend = [&](std::uint32_t at, Grouping& grouping) {
      if (at == siblings) wanted.push_back(scored(grouping));
      for (std::uint32_t u = 0; u < units.size(); ++u) {
        if (units[u].begin != at) continue;
        grouping.push_back(u);
        extend(units[u].end, grouping);
        grouping.pop_back();
      }
    };
    Grouping empty;
    extend(0, empty);
    std::sort(wanted.begin(), wanted.end(), precedes);
    if (wanted.size() > k) wanted.resize(k);

    // Vertex (i, a): the siblings from i on in a groups. Edges are added in the order of units.
    hg::Hypergraph graph;
    graph.add_vertices((siblings + 1) * (siblings + 1));
    auto vertex = [&](std::uint32_t i, std::uint32_t groups) { return i * (siblings + 1) + groups; };
    std::vector<std::uint32_t> unit_of;
    std::vector<double> sizes;
    graph.add_edge(vertex(siblings, 0), {});
    unit_of.push_back(hg::kNone);
    sizes.push_back(0);
    for (std::uint32_t u = 0; u < units.size(); ++u) {
      for (std::uint32_t groups = 1; groups <= siblings; ++groups) {
        graph.add_edge(vertex(units[u].begin, groups), {vertex(units[u].end, groups - 1)});
        unit_of.push_back(u);
        sizes.push_back(units[u].size);
      }
    }
    graph.freeze();
    const hg::BestDerivations<hg::ViterbiSemiring> best(graph, sizes);
    hg::LazyKBest kbest(best);
    kbest.reset(false);
    std::vector<std::pair<double, Grouping>> result;
    for (std::uint32_t groups = 1; groups <= siblings; ++groups) {
      for (std::uint32_t rank = 0; rank < k && kbest.has(vertex(0, groups), rank); ++rank) {
        Grouping grouping;
        for (const hg::DerivationPart& part : hg::derivation_parts(kbest, vertex(0, groups), rank)) {
          if (unit_of[part.edge] != hg::kNone) grouping.push_back(unit_of[part.edge]);
        }
        result.push_back(scored(grouping));
      }
    }
    std::sort(result.begin(), result.end(), precedes);
    if (result.size() > k) result.resize(k);
    BOOST_TEST((result == wanted));
  }
}
