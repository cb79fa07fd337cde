// Sums over derivations against all derivations of random hypergraphs, in every semiring.
#include "hypergraph/inside_outside.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "hypergraph/prune.hh"
#include "hypergraph/random_hypergraph_test.hh"

namespace hg = treeglot::hypergraph;
using treeglot::test::all_contexts;
using treeglot::test::all_derivations;
using treeglot::test::EdgeList;
using treeglot::test::random_hypergraph;

namespace {

bool near(double a, double b) { return a == b || std::abs(a - b) < 1e-9 * (1 + std::abs(b)); }
bool near(bool a, bool b) { return a == b; }
bool near(std::uint64_t a, std::uint64_t b) { return a == b; }
bool near(const hg::ExpectationSemiring<>::Value& a, const hg::ExpectationSemiring<>::Value& b) {
  return near(a.log_probability, b.log_probability) && near(a.mean, b.mean);
}

// The sum of what `lists` multiply to.
template <class S, class Weights>
typename S::Value sum(const std::vector<EdgeList>& lists, const Weights& weights, const S& semiring) {
  typename S::Value total = semiring.zero();
  for (const EdgeList& list : lists) {
    typename S::Value product = semiring.one();
    for (hg::EdgeId edge : list) product = semiring.times(product, weights[edge]);
    total = semiring.plus(total, product);
  }
  return total;
}

// `random_weight()`: the value of an edge.
template <class S, class RandomWeight>
void compare(const S& semiring, std::mt19937& random, RandomWeight random_weight) {
  hg::Hypergraph graph;
  for (int round = 0; round < 200; ++round) {
    random_hypergraph(graph, random);
    std::vector<typename S::Value> weights;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) weights.push_back(random_weight());
    const auto derivations = all_derivations(graph);
    const auto inside = hg::inside(graph, weights, semiring);
    for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
      BOOST_TEST(near(inside[v], sum(derivations[v], weights, semiring)));
    }
    const hg::VertexId goal = random() % graph.vertices();
    const auto outside = hg::outside(graph, [&](hg::EdgeId e) { return weights[e]; }, goal, inside, semiring);
    const auto through = hg::through(graph, weights, inside, outside, semiring);
    for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
      BOOST_TEST(near(outside[v], sum(all_contexts(graph, goal, v, derivations), weights, semiring)));
      std::vector<EdgeList> uses;  // a derivation as often as it uses the vertex
      for (const EdgeList& list : derivations[goal]) {
        for (hg::EdgeId e : list) {
          if (graph.head(e) == v) uses.push_back(list);
        }
      }
      BOOST_TEST(near(through.vertices[v], sum(uses, weights, semiring)));
    }
    for (hg::EdgeId edge = 0; edge < graph.edges(); ++edge) {
      std::vector<EdgeList> uses;
      for (const EdgeList& list : derivations[goal]) {
        for (hg::EdgeId e : list) {
          if (e == edge) uses.push_back(list);
        }
      }
      BOOST_TEST(near(through.edges[edge], sum(uses, weights, semiring)));
    }
    if constexpr (hg::DivisionSemiring<S>) {
      const auto posteriors = hg::posteriors(graph, weights, goal, semiring);
      for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
        BOOST_TEST(near(posteriors.vertices[v], semiring.divide(through.vertices[v], inside[goal])));
      }
      for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
        BOOST_TEST(near(posteriors.edges[e], semiring.divide(through.edges[e], inside[goal])));
        BOOST_TEST(!std::isnan(posteriors.edges[e]));
      }
    }
  }
}

// Vertex i is made of i - 1 in one way or another.
void chain(hg::Hypergraph& graph, std::uint32_t length) {
  graph.add_vertices(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    for (int way = 0; way < 2; ++way) {
      i > 0 ? graph.add_edge(length - 1 - i, {length - i}) : graph.add_edge(length - 1, {});
    }
  }
  graph.freeze();
}

// Lines with slopes, each the best somewhere: what tuning on a hypergraph adds up (Kumar et al. 2009). The product
// depends on the order only in which of equal lines is kept.
struct EnvelopeSemiring {
  using Value = std::vector<std::pair<double, double>>;  // slope, height
  Value zero() const { return {}; }
  Value one() const { return {{0, 0}}; }
  Value plus(const Value& a, const Value& b) const {
    Value lines = a;
    lines.insert(lines.end(), b.begin(), b.end());
    return hull(std::move(lines));
  }
  Value times(const Value& a, const Value& b) const {
    Value lines;
    for (auto [slope, height] : a) {
      for (auto [slope_b, height_b] : b) lines.emplace_back(slope + slope_b, height + height_b);
    }
    return hull(std::move(lines));
  }
  static double at(const Value& lines, double x) {
    double best = hg::kMinusInfinity;
    for (auto [slope, height] : lines) best = std::max(best, slope * x + height);
    return best;
  }

 private:
  static Value hull(Value lines) {
    std::sort(lines.begin(), lines.end());
    Value kept;
    for (const auto& line : lines) {
      if (!kept.empty() && kept.back().first == line.first) kept.pop_back();
      while (kept.size() >= 2) {
        const auto &b = kept.back(), &a = kept[kept.size() - 2];
        if ((line.second - a.second) * (b.first - a.first) < (b.second - a.second) * (line.first - a.first)) break;
        kept.pop_back();
      }
      kept.push_back(line);
    }
    return kept;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(inside_and_outside_are_sums_over_derivations) {
  std::mt19937 random(3);
  auto uniform = [&] { return static_cast<double>(random() % 1000) / 1000; };
  compare(hg::LogSemiring(), random, [&] { return random() % 8 ? std::log(uniform()) : hg::kMinusInfinity; });
  compare(hg::ViterbiSemiring(), random, [&] { return -0.125 * static_cast<double>(random() % 30); });
  compare(hg::ProbabilitySemiring(), random, [&] { return random() % 8 ? uniform() : 0.0; });
  compare(hg::CountSemiring(), random, [&] { return std::uint64_t{random() % 3}; });
  compare(hg::BooleanSemiring(), random, [&] { return random() % 4 != 0; });
  compare(hg::ExpectationSemiring<>(), random, [&] {
    return hg::ExpectationSemiring<>::Value{std::log(uniform() + 0.001), static_cast<double>(random() % 7) - 3};
  });
}

BOOST_AUTO_TEST_CASE(expectations_are_posteriors_times_amounts) {
  std::mt19937 random(4);
  hg::Hypergraph graph;
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    random_hypergraph(graph, random);
    using Expectation = hg::ExpectationSemiring<std::vector<double>>;
    std::vector<Expectation::Value> weights;
    std::vector<double> logs;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
      logs.push_back(-0.01 * static_cast<double>(random() % 300));
      weights.push_back({logs.back(), {}});
      if (random() % 3) weights.back().mean = {1, static_cast<double>(random() % 5), -0.5};
    }
    const auto expected = hg::inside<Expectation>(graph, weights);
    for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
      if (expected[v].log_probability == hg::kMinusInfinity) continue;
      ++compared;
      const auto posteriors = hg::posteriors<hg::LogSemiring>(graph, logs, v);
      for (std::size_t i = 0; i < expected[v].mean.size(); ++i) {
        double mean = 0;
        for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
          if (!weights[e].mean.empty()) mean += std::exp(posteriors.edges[e]) * weights[e].mean[i];
        }
        BOOST_TEST(near(expected[v].mean[i], mean));
      }
    }
  }
  BOOST_TEST(compared > 200);
}

BOOST_AUTO_TEST_CASE(inside_takes_semirings_of_callers) {
  std::mt19937 random(5);
  hg::Hypergraph graph;
  for (int round = 0; round < 100; ++round) {
    random_hypergraph(graph, random);
    std::vector<EnvelopeSemiring::Value> lines;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
      lines.push_back({{static_cast<double>(random() % 9) - 4, static_cast<double>(random() % 9)}});
    }
    const auto envelopes = hg::inside<EnvelopeSemiring>(graph, lines);
    for (double x : {-3.0, -0.5, 0.0, 0.25, 2.0}) {
      const auto best = hg::inside<hg::ViterbiSemiring>(
          graph, [&](hg::EdgeId e) { return lines[e][0].first * x + lines[e][0].second; });
      for (hg::VertexId v = 0; v < graph.vertices(); ++v) {
        BOOST_TEST(near(EnvelopeSemiring::at(envelopes[v], x), best[v]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(inside_and_outside_of_deep_and_bushy_graphs) {
  const std::uint32_t length = 200000;
  hg::Hypergraph graph;
  chain(graph, length);
  const std::vector<double> weights(graph.edges(), std::log(0.5));
  const auto posteriors = hg::posteriors<hg::LogSemiring>(graph, weights, 0);
  BOOST_TEST(near(posteriors.vertices[length - 1], 0.0));
  BOOST_TEST(near(posteriors.edges[0], std::log(0.5)));
  const std::vector<std::uint64_t> ones(graph.edges(), 1);
  const auto counts = hg::inside<hg::CountSemiring>(graph, ones);
  BOOST_TEST(counts[length - 60] == std::uint64_t{1} << 60);
  BOOST_TEST(counts[0] == hg::CountSemiring::kMany);
  // Everything twice: 2^100 uses of the leaf.
  hg::Hypergraph twice;
  twice.add_vertices(101);
  twice.add_edge(0, {});
  for (std::uint32_t i = 1; i <= 100; ++i) twice.add_edge(i, {i - 1, i - 1});
  twice.freeze();
  const auto uses = hg::posteriors<hg::LogSemiring>(twice, std::vector<double>(101, -1e-30), 100);
  BOOST_TEST(near(uses.vertices[0], 100 * std::log(2.0)));
  BOOST_TEST(near(uses.edges[100], 0.0));
}

BOOST_AUTO_TEST_CASE(inside_and_outside_refuse_what_makes_no_sense) {
  hg::Hypergraph graph;
  graph.add_vertex();
  const std::vector<double> none;
  BOOST_CHECK_THROW(hg::inside<hg::LogSemiring>(graph, none), std::logic_error);
  graph.freeze();
  BOOST_CHECK_THROW(hg::posteriors<hg::LogSemiring>(graph, none, 1), std::out_of_range);
  BOOST_TEST(hg::posteriors<hg::LogSemiring>(graph, none, 0).vertices[0] == hg::kMinusInfinity);
}

// What forests of multi-word units ask (spec: multi-word-unit forests, section 1), on graphs with probabilities.
BOOST_AUTO_TEST_CASE(inside_and_outside_serve_forests_of_units) {
  using Real = hg::ProbabilitySemiring;
  std::mt19937 random(6);
  hg::Hypergraph whole;
  int pruned_some = 0;
  for (int round = 0; round < 300; ++round) {
    random_hypergraph(whole, random);
    const std::vector<std::uint8_t> all(whole.edges(), 1);
    const hg::Subgraph reached = hg::subgraph(whole, hg::useful(whole, whole.order().back(), all));
    const hg::Hypergraph& graph = reached.graph;
    if (graph.vertices() == 0) continue;
    const hg::VertexId top = reached.vertex_of[whole.order().back()];
    std::vector<double> sizes;
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) sizes.push_back(1.0 + static_cast<double>(random() % 6));
    const std::vector<double> p = hg::normalised(graph, sizes);
    const auto inside = hg::inside<Real>(graph, p);
    for (double value : inside) BOOST_TEST(near(value, 1.0));
    const auto posteriors = hg::posteriors<Real>(graph, p, top);

    // outside = "paper": every vertex has the posterior 1 as long as nothing is pruned.
    std::vector<double> printed(graph.vertices(), 1.0);
    for (std::size_t i = graph.vertices(); i-- > 0;) {
      const hg::VertexId v = graph.order()[i];
      const auto out = graph.outgoing(v);
      double sum = out.empty() ? 1 : 0;
      for (hg::EdgeId h : out) {
        for (hg::EdgeId e : graph.incoming(graph.head(h))) {
          double product = printed[graph.head(h)] * p[e] / static_cast<double>(out.size());
          for (hg::VertexId tail : graph.tails(e)) product *= tail == v ? 1 : inside[tail];
          sum += product;
        }
      }
      printed[v] = sum;
    }
    const auto other = hg::posteriors<Real>(graph, p, top, inside, printed);
    for (double value : other.vertices) BOOST_TEST(near(value, 1.0));
    for (hg::EdgeId e = 0; e < graph.edges(); ++e) BOOST_TEST(near(other.edges[e], p[e]));

    // Pruning: posteriors are relative to what is left, with new probabilities or with the old ones.
    std::vector<std::uint8_t> keep;
    for (double value : posteriors.edges) keep.push_back(value > 0.2);
    const hg::Subgraph left = hg::subgraph(graph, hg::useful(graph, top, keep));
    if (left.graph.vertices() == 0) continue;
    pruned_some += left.graph.edges() < graph.edges();
    std::vector<double> old;
    for (hg::EdgeId e : left.edges) old.push_back(p[e]);
    const hg::VertexId root = left.vertex_of[top];
    BOOST_TEST(near(hg::inside<Real>(left.graph, hg::normalised(left.graph, old))[root], 1.0));
    BOOST_TEST(hg::inside<Real>(left.graph, old)[root] < 1 + 1e-9);
    const auto relative = hg::posteriors<Real>(left.graph, old, root);
    BOOST_TEST(near(relative.vertices[root], 1.0));
    double into_root = 0;
    for (hg::EdgeId e : left.graph.incoming(root)) into_root += relative.edges[e];
    BOOST_TEST(near(into_root, 1.0));
  }
  BOOST_TEST(pruned_some > 50);
}
