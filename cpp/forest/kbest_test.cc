// K-best lists of states against all derivations of random graphs, without a language model or a search.
#include "forest/kbest.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <vector>

namespace forest = treeglot::forest;
using treeglot::TargetSymbol;

namespace {

using Words = std::vector<TargetSymbol>;

struct Way {
  double score;  // of the rule alone
  Words target;
  std::vector<std::uint32_t> tails;
};

struct Made {
  double score;
  Words words;
};

// Vertex v is the only state of node v; each of its ways is an edge with one option.
struct Example {
  forest::Forest forest;
  forest::StateGraph graph;
  std::deque<forest::RuleOption> options;
  std::deque<forest::OptionList> lists;
  std::vector<std::vector<Made>> all;  // by vertex

  void add_vertex(const std::vector<Way>& ways) {
    const forest::NodeId node = forest.add_node(forest::NodeKind::kSpan, 0, 0);
    forest::Vertex vertex{-INFINITY, forest::kNone, 0};
    all.emplace_back();
    for (const Way& way : ways) {
      options.emplace_back();
      options.back().target.assign(way.target.data(), way.target.data() + way.target.size());
      lists.push_back({&options.back()});
      forest.add_edge(node, &lists.back(), way.tails);
      forest::Hyperedge hyperedge{way.score,
                                  node,
                                  static_cast<std::uint32_t>(forest[node].edges.size() - 1),
                                  0,
                                  static_cast<std::uint32_t>(graph.tails.size()),
                                  static_cast<std::uint32_t>(way.tails.size()),
                                  forest::kNone};
      for (std::uint32_t tail : way.tails) {
        hyperedge.score += graph.vertices[tail].score;
        graph.tails.push_back(tail);
      }
      const std::uint32_t number = static_cast<std::uint32_t>(graph.hyperedges.size());
      if (hyperedge.score > vertex.score) {
        hyperedge.next = vertex.hyperedge;
        vertex.hyperedge = number;
        vertex.score = hyperedge.score;
      } else {
        hyperedge.next = graph.hyperedges[vertex.hyperedge].next;
        graph.hyperedges[vertex.hyperedge].next = number;
      }
      graph.hyperedges.push_back(hyperedge);

      std::vector<Made> partial{{way.score, {}}};
      for (TargetSymbol symbol : way.target) {
        std::vector<Made> longer;
        for (const Made& prefix : partial) {
          if (!treeglot::is_target_variable(symbol)) {
            longer.push_back(prefix);
            longer.back().words.push_back(symbol);
            continue;
          }
          for (const Made& part : all[way.tails[treeglot::variable_number(symbol)]]) {
            longer.push_back(prefix);
            longer.back().score += part.score;
            longer.back().words.insert(longer.back().words.end(), part.words.begin(), part.words.end());
          }
        }
        partial = std::move(longer);
      }
      all.back().insert(all.back().end(), partial.begin(), partial.end());
    }
    graph.vertices.push_back(vertex);
    std::stable_sort(all.back().begin(), all.back().end(),
                     [](const Made& a, const Made& b) { return a.score > b.score; });
  }

  Words words(const forest::LazyKBest& kbest, std::uint32_t vertex, std::uint32_t rank) const {
    const forest::Hyperedge& hyperedge = kbest.hyperedge(vertex, rank);
    Words result;
    for (TargetSymbol symbol : (*forest[hyperedge.node].edges[hyperedge.edge].options)[hyperedge.option]->target) {
      if (!treeglot::is_target_variable(symbol)) {
        result.push_back(symbol);
        continue;
      }
      std::uint32_t tail = treeglot::variable_number(symbol);
      Words part = words(kbest, graph.tails_of(hyperedge)[tail], kbest.tail_rank(vertex, rank, tail));
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }
};

void random_example(Example& example, std::mt19937& random) {
  const int vertices = 1 + static_cast<int>(random() % 6);
  for (int v = 0; v < vertices; ++v) {
    std::vector<Way> ways;
    for (std::uint32_t w = 1 + random() % 3; w > 0; --w) {
      Way way{-0.125 * static_cast<double>(random() % 20), {}, {}};
      for (std::uint32_t t = random() % 4; v > 0 && t > 0; --t) {
        std::uint32_t tail = static_cast<std::uint32_t>(random() % v);
        if (example.all[tail].size() > 12) continue;
        way.target.push_back(treeglot::target_variable(static_cast<std::uint32_t>(way.tails.size())));
        way.tails.push_back(tail);
      }
      for (std::uint32_t n = random() % 3; n > 0; --n) way.target.push_back(random() % 2);
      std::shuffle(way.target.begin(), way.target.end(), random);
      ways.push_back(std::move(way));
    }
    example.add_vertex(ways);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(kbest_lists_every_derivation_in_order) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Example example;
    random_example(example, random);
    forest::LazyKBest kbest(example.graph);
    const std::uint32_t goal = static_cast<std::uint32_t>(example.graph.vertices.size() - 1);
    const std::vector<Made>& wanted = example.all[goal];
    for (int again = 0; again < 2; ++again) {
      kbest.reset(example.forest, false);
      std::map<Words, int> count;
      for (std::uint32_t rank = 0; rank < wanted.size(); ++rank) {
        BOOST_REQUIRE(kbest.has(goal, rank));
        BOOST_TEST(std::abs(kbest.score(goal, rank) - wanted[rank].score) < 1e-9);
        ++count[example.words(kbest, goal, rank)];
        --count[wanted[rank].words];
      }
      BOOST_TEST(!kbest.has(goal, static_cast<std::uint32_t>(wanted.size())));
      for (const auto& [words, difference] : count) BOOST_TEST(difference == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(kbest_distinct_has_the_best_of_every_string) {
  std::mt19937 random(2);
  int dropped = 0;
  for (int round = 0; round < 500; ++round) {
    Example example;
    random_example(example, random);
    forest::LazyKBest kbest(example.graph);
    kbest.reset(example.forest, true);
    const std::uint32_t goal = static_cast<std::uint32_t>(example.graph.vertices.size() - 1);
    std::map<Words, double> best;
    std::vector<double> scores;
    for (const Made& derivation : example.all[goal]) {
      if (best.emplace(derivation.words, derivation.score).second) scores.push_back(derivation.score);
    }
    dropped += static_cast<int>(example.all[goal].size() - scores.size());
    for (std::uint32_t rank = 0; rank < scores.size(); ++rank) {
      BOOST_REQUIRE(kbest.has(goal, rank));
      BOOST_TEST(std::abs(kbest.score(goal, rank) - scores[rank]) < 1e-9);
      Words words = example.words(kbest, goal, rank);
      BOOST_TEST(best.count(words) == 1u);
      best.erase(words);
    }
    BOOST_TEST(!kbest.has(goal, static_cast<std::uint32_t>(scores.size())));
  }
  BOOST_TEST(dropped > 1000);
}

// Derivations that differ in name only must not hide the others: 2^40 ways to say the same, and two words to choose.
BOOST_AUTO_TEST_CASE(kbest_distinct_survives_spurious_ambiguity) {
  Example example;
  example.add_vertex({{0, {1}, {}}, {-1, {2}, {}}});
  example.all.assign(1, {});
  for (std::uint32_t v = 1; v <= 40; ++v) {
    example.add_vertex(
        {{0, {treeglot::target_variable(0)}, {v - 1}}, {-0.001, {treeglot::target_variable(0)}, {v - 1}}});
  }
  forest::LazyKBest kbest(example.graph);
  kbest.reset(example.forest, true);
  BOOST_REQUIRE(kbest.has(40, 1));
  BOOST_TEST((example.words(kbest, 40, 1) == Words{2}));
  BOOST_TEST(!kbest.has(40, 2));
}
