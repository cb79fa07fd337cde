// The search against exhaustive enumeration on random forests, and its behaviour at the edges.
#include "forest/cube_pruning.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <deque>
#include <numbers>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "forest/random_model_test.hh"

namespace forest = treeglot::forest;
namespace lm = treeglot::lm;
using treeglot::TargetSymbol;
using treeglot::test::random_arpa;
using treeglot::test::TemporaryModel;

namespace {

const forest::SearchLimits kNoLimits{0, 0, 0};

// A forest that owns its options. Words are those of the model.
struct OwnForest {
  explicit OwnForest(const lm::Model& model_, const std::vector<double>& weights_) : model(model_), weights(weights_) {}

  void add(forest::NodeId head, std::vector<forest::RuleOption> rules, std::vector<forest::NodeId> tails) {
    forest::OptionList list;
    for (forest::RuleOption& rule : rules) {
      for (TargetSymbol symbol : rule.target) {
        rule.lm_words.push_back(treeglot::is_target_variable(symbol) ? 0 : symbol);
      }
      forest::prepare_option(model, weights, rule);
      options.push_back(std::move(rule));
      list.push_back(&options.back());
    }
    std::stable_sort(list.begin(), list.end(), [](auto* a, auto* b) { return a->estimate > b->estimate; });
    lists.push_back(std::move(list));
    forest.add_edge(head, &lists.back(), tails);
  }

  const lm::Model& model;
  const std::vector<double> weights;
  forest::Forest forest;
  std::deque<forest::RuleOption> options;
  std::deque<forest::OptionList> lists;
};

forest::RuleOption rule(std::vector<TargetSymbol> target, float value) {
  forest::RuleOption result;
  result.target.assign(target.data(), target.data() + target.size());
  result.features.push_back({2, value});
  return result;
}

struct Yield {
  std::vector<TargetSymbol> words;
  double score;  // without the language model
};

// The number of derivations of the last node; tails are below their heads.
double count(const OwnForest& own) {
  std::vector<double> counts;
  for (forest::NodeId node = 0; node < own.forest.size(); ++node) {
    counts.push_back(0);
    for (const forest::Edge& edge : own.forest[node].edges) {
      double product = static_cast<double>(edge.options->size());
      for (forest::NodeId tail : own.forest.tails(edge)) product *= counts[tail];
      counts.back() += product;
    }
  }
  return counts.back();
}

// All derivations of a node, without regard to anything that the search does.
std::vector<Yield> enumerate(const OwnForest& own, forest::NodeId node) {
  std::vector<Yield> result;
  for (const forest::Edge& edge : own.forest[node].edges) {
    std::vector<std::vector<Yield>> below;
    for (forest::NodeId tail : own.forest.tails(edge)) below.push_back(enumerate(own, tail));
    for (const forest::RuleOption* option : *edge.options) {
      std::vector<Yield> sofar{{{}, option->score}};
      for (TargetSymbol symbol : option->target) {
        std::vector<Yield> longer;
        for (const Yield& yield : sofar) {
          if (!treeglot::is_target_variable(symbol)) {
            longer.push_back(yield);
            longer.back().words.push_back(symbol);
            continue;
          }
          for (const Yield& part : below[treeglot::variable_number(symbol)]) {
            longer.push_back(yield);
            longer.back().words.insert(longer.back().words.end(), part.words.begin(), part.words.end());
            longer.back().score += part.score;
          }
        }
        sofar = std::move(longer);
      }
      result.insert(result.end(), sofar.begin(), sofar.end());
    }
  }
  return result;
}

double language_model(const lm::Model& model, const std::vector<TargetSymbol>& words) {
  lm::State state = model.begin_state(), next;
  double total = 0;
  for (TargetSymbol word : words) {
    total += model.score(state, word, next).log10;
    state = next;
  }
  return std::numbers::ln10 * (total + model.score(state, lm::kEnd, next).log10);
}

void random_forest(OwnForest& own, std::mt19937& random) {
  int nodes = 2 + static_cast<int>(random() % 4);
  for (int n = 0; n < nodes; ++n) {
    own.forest.add_node(forest::NodeKind::kSpan, 0, 0);
    int edges = 1 + static_cast<int>(random() % 2);
    for (int e = 0; e < edges; ++e) {
      std::vector<forest::NodeId> tails;
      for (std::uint32_t t = random() % 3; n > 0 && t > 0; --t)
        tails.push_back(static_cast<std::uint32_t>(random() % n));
      std::vector<forest::RuleOption> rules;
      for (std::uint32_t r = 1 + random() % 3; r > 0; --r) {
        std::vector<TargetSymbol> target;
        for (std::uint32_t t = 0; t < tails.size(); ++t) target.push_back(treeglot::target_variable(t));
        for (std::uint32_t w = random() % 3; w > 0; --w) target.push_back(random() % 4 ? 3 + random() % 3 : 0);
        std::shuffle(target.begin(), target.end(), random);
        rules.push_back(rule(std::move(target), -0.25f * static_cast<float>(random() % 9)));
      }
      own.add(static_cast<forest::NodeId>(n), std::move(rules), std::move(tails));
    }
  }
  own.forest.set_goal(static_cast<forest::NodeId>(nodes - 1));
}

// Nodes (span, category) over three words: all spans have all categories, so many nodes have the same words. The edges
// of one source side, "two parts side by side", go to several heads and have tails of several categories; a category
// may also be made of the one before it over the same words.
void random_category_forest(OwnForest& own, std::mt19937& random) {
  constexpr std::uint32_t categories = 3;
  constexpr int length = 3;
  auto options = [&](std::vector<TargetSymbol> target, std::uint32_t words) {
    std::vector<forest::RuleOption> rules;
    for (std::uint32_t r = 1 + random() % 2; r > 0; --r) {
      std::vector<TargetSymbol> symbols = target;
      for (std::uint32_t w = 0; w < words; ++w) symbols.push_back(3 + random() % 3);
      std::shuffle(symbols.begin(), symbols.end(), random);
      rules.push_back(rule(std::move(symbols), -0.25f * static_cast<float>(random() % 9)));
    }
    return rules;
  };
  const TargetSymbol x = treeglot::target_variable(0), y = treeglot::target_variable(1);
  std::vector<forest::NodeId> nodes[length + 1][length + 1];
  for (int size = 1; size <= length; ++size) {
    for (int begin = 0; begin + size <= length; ++begin) {
      const int end = begin + size;
      for (std::uint32_t category = 0; category < categories; ++category) {
        const forest::NodeId node = own.forest.add_node(forest::NodeKind::kSpan, begin, end, category);
        if (category > 0 && random() % 3 == 0) own.add(node, options({x}, 0), {nodes[begin][end].back()});
        nodes[begin][end].push_back(node);
        if (random() % 4) own.add(node, options({}, 1), {});
        for (int middle = begin + 1; middle < end; ++middle) {
          for (std::uint32_t e = random() % 3; e > 0; --e) {
            own.add(node, options({x, y}, random() % 2),
                    {nodes[begin][middle][random() % categories], nodes[middle][end][random() % categories]});
          }
        }
      }
    }
  }
  const forest::NodeId goal = own.forest.add_node(forest::NodeKind::kGoal, 0, length);
  for (std::uint32_t category = 1; category < categories; ++category) {
    own.add(goal, {rule({x}, 0)}, {nodes[0][length][category]});
  }
  own.forest.set_goal(goal);
}

}  // namespace

BOOST_AUTO_TEST_CASE(forest_search_equals_enumeration) {
  std::mt19937 random(4);
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    TemporaryModel file(random_arpa(random, 1 + round % 5, 3, 0.4, true));
    lm::Model model(file.path);
    std::vector<double> weights{0.5, round % 3 ? -0.3 : 0.2, 1.0};
    OwnForest own(model, weights);
    random_forest(own, random);
    if (count(own) > 2000) continue;
    ++compared;
    std::vector<Yield> all = enumerate(own, own.forest.goal());
    BOOST_TEST(static_cast<double>(all.size()) == count(own));
    for (Yield& yield : all) yield.score += weights[0] * language_model(model, yield.words);
    std::sort(all.begin(), all.end(), [](const Yield& a, const Yield& b) { return a.score > b.score; });

    forest::ForestSearch search(model, weights, kNoLimits);
    std::vector<forest::ForestDerivation> best = search.run(own.forest, {1, false}, true);
    BOOST_REQUIRE(best.size() == 1u);
    BOOST_TEST(std::abs(best[0].score - all[0].score) < 1e-4);
    std::vector<forest::ForestDerivation> list = search.run(own.forest, {100000, false}, true);
    BOOST_REQUIRE(list.size() == all.size());
    std::set<std::vector<TargetSymbol>> different;
    for (std::size_t i = 0; i < all.size(); ++i) {
      BOOST_TEST(std::abs(list[i].score - all[i].score) < 1e-4);
      double again = std::inner_product(weights.begin(), weights.end(), list[i].features.begin(), 0.0);
      BOOST_TEST(std::abs(list[i].score - again) < 1e-4);
      different.insert(all[i].words);
    }
    list = search.run(own.forest, {100000, true}, false);
    BOOST_TEST(list.size() == different.size());
  }
  BOOST_TEST(compared > 200);
}

// Categories are what tells nodes over the same words apart: states of two of them are never one, and a derivation has
// the categories that its edges ask for.
BOOST_AUTO_TEST_CASE(forest_search_keeps_categories_apart) {
  std::mt19937 random(9);
  int compared = 0, same_words = 0;
  for (int round = 0; round < 200; ++round) {
    TemporaryModel file(random_arpa(random, 1 + round % 4, 3, 0.4, true));
    lm::Model model(file.path);
    std::vector<double> weights{0.5, 0.1, 1.0};
    OwnForest own(model, weights);
    random_category_forest(own, random);
    if (count(own) > 2000) continue;
    ++compared;
    std::vector<Yield> all = enumerate(own, own.forest.goal());
    for (Yield& yield : all) yield.score += weights[0] * language_model(model, yield.words);
    std::sort(all.begin(), all.end(), [](const Yield& a, const Yield& b) { return a.score > b.score; });
    forest::ForestSearch search(model, weights, kNoLimits);
    std::vector<forest::ForestDerivation> list = search.run(own.forest, {100000, false}, true);
    BOOST_REQUIRE(list.size() == all.size());
    std::multiset<std::vector<TargetSymbol>> words, wanted;
    for (std::size_t i = 0; i < all.size(); ++i) {
      BOOST_TEST(std::abs(list[i].score - all[i].score) < 1e-4);
      words.insert(list[i].words);
      wanted.insert(all[i].words);
      for (const forest::DerivationStep& step : list[i].steps) {
        const forest::Edge& edge = own.forest[step.node].edges[step.edge];
        for (std::size_t t = 0; t < step.below.size(); ++t) {
          BOOST_TEST(list[i].steps[step.below[t]].node == own.forest.tails(edge)[t]);
        }
        BOOST_TEST((std::find(edge.options->begin(), edge.options->end(), step.option) != edge.options->end()));
      }
    }
    BOOST_TEST((words == wanted));
    const std::set<std::vector<TargetSymbol>> different(words.begin(), words.end());
    BOOST_TEST(search.run(own.forest, {100000, true}, false).size() == different.size());
    same_words += static_cast<int>(words.size() - different.size());
  }
  BOOST_TEST(compared > 50);
  BOOST_TEST(same_words > 100);
}

BOOST_AUTO_TEST_CASE(forest_search_limits_keep_the_best_of_little) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    TemporaryModel file(random_arpa(random, 3, 3, 0.4, true));
    lm::Model model(file.path);
    std::vector<double> weights{0.5, 0.0, 1.0};
    OwnForest own(model, weights);
    random_forest(own, random);
    if (count(own) > 2000) continue;
    forest::ForestSearch exact(model, weights, kNoLimits), narrow(model, weights, {1, 0.5, 1}),
        wide(model, weights, {1000, 1e-9, 5000});
    double best = exact.run(own.forest, {1, false}, false)[0].score;
    std::vector<forest::ForestDerivation> list = narrow.run(own.forest, {10, false}, true);
    BOOST_REQUIRE(!list.empty());
    BOOST_TEST(list[0].score < best + 1e-6);
    BOOST_TEST(narrow.counts().hypotheses == narrow.counts().nodes);
    BOOST_TEST(std::abs(wide.run(own.forest, {5, false}, false)[0].score - best) < 1e-4);
  }
}

BOOST_AUTO_TEST_CASE(forest_search_edges_of_the_world) {
  std::mt19937 random(6);
  TemporaryModel file(random_arpa(random, 4, 3, 0.4, true));
  lm::Model model(file.path);
  std::vector<double> weights{0.5, 0.1, 1.0};
  forest::ForestSearch search(model, weights, {});
  BOOST_CHECK_THROW(forest::ForestSearch(model, {1.0}, {}), std::invalid_argument);
  const TargetSymbol x = treeglot::target_variable(0), y = treeglot::target_variable(1);
  {
    forest::Forest empty;
    BOOST_TEST(search.run(empty, {5, false}, true).empty());
  }
  {
    OwnForest own(model, weights);
    for (int i = 0; i < 3; ++i) own.forest.add_node(forest::NodeKind::kSpan, 0, 0);
    own.add(0, {rule({x}, 0)}, {1});
    own.add(0, {rule({x, y}, 0)}, {2, 1});
    own.add(2, {rule({3}, 0)}, {});
    BOOST_TEST(search.run(own.forest, {5, false}, true).empty());  // node 1 has no derivation
    own.add(0, {rule({4, x}, -1)}, {2});
    std::vector<forest::ForestDerivation> list = search.run(own.forest, {5, false}, true);
    BOOST_REQUIRE(list.size() == 1u);  // the edges that need node 1 are passed over
    BOOST_TEST(list[0].steps[0].edge == 2u);
    BOOST_TEST(list[0].steps[0].below[0] == 1u);
    BOOST_TEST((list[0].words == std::vector<TargetSymbol>{4, 3}));
    own.add(1, {rule({x}, 0)}, {0});
    auto names_a_node = [](const std::invalid_argument& error) {
      return std::string(error.what()).find("node 0 over words 0 to 0") != std::string::npos;
    };
    BOOST_CHECK_EXCEPTION(search.run(own.forest, {5, false}, true), std::invalid_argument, names_a_node);
    own.forest.set_goal(2);  // the cycle is not below it
    BOOST_TEST(search.run(own.forest, {5, false}, true).size() == 1u);
  }
}

// Deep and wide forests: no recursion, and time that does not depend on the number of neighbours of a cell.
BOOST_AUTO_TEST_CASE(forest_search_deep_and_wide) {
  std::mt19937 random(8);
  TemporaryModel file(random_arpa(random, 4, 5, 0.5, true));
  lm::Model model(file.path);
  std::vector<double> weights{0.5, 0.1, 1.0};
  forest::ForestSearch search(model, weights, {30, 1e-4, 30});
  const TargetSymbol x = treeglot::target_variable(0);
  OwnForest own(model, weights);
  const std::uint32_t depth = 20000, width = 600;
  for (std::uint32_t i = 0; i < depth; ++i) {
    own.forest.add_node(forest::NodeKind::kSpan, 0, 0);
    if (i == 0) {
      own.add(i, {rule({3}, 0), rule({4}, -1)}, {});
    } else {
      own.add(i, {rule({x}, 0), rule({x}, -0.5)}, {i - 1});
    }
  }
  std::vector<forest::NodeId> tails;
  std::vector<TargetSymbol> target;
  for (std::uint32_t i = 0; i < width; ++i) {
    forest::NodeId node = own.forest.add_node(forest::NodeKind::kSpan, 0, 0);
    own.add(node, {rule({3}, 0), rule({4}, -0.3f), rule({5}, -0.5f)}, {});
    tails.push_back(i > 0 ? node : depth - 1);
    target.push_back(treeglot::target_variable(width - 1 - i));
  }
  forest::NodeId goal = own.forest.add_node(forest::NodeKind::kGoal, 0, 0);
  own.add(goal, {rule(target, 0)}, tails);
  own.forest.set_goal(goal);
  std::vector<forest::ForestDerivation> list = search.run(own.forest, {20, false}, false);
  BOOST_REQUIRE(list.size() == 20u);
  for (const forest::ForestDerivation& derivation : list) {
    double again = std::inner_product(weights.begin(), weights.end(), derivation.features.begin(), 0.0);
    BOOST_TEST(std::abs(derivation.score - again) < 1e-2);  // of some 10,000
    BOOST_TEST(derivation.words.size() == width);
  }
}
