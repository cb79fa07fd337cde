#include "grammars/mwu/forest.hh"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace treeglot::mwu {
namespace {

const std::vector<std::int32_t> kWorked = {2, 2, -1, 7, 5, 7, 7, 2};  // the worked example W

std::size_t edges_with_tails(const Forest& forest) {
  std::size_t count = 0;
  for (EdgeId e = 0; e < forest.edges().size(); ++e) {
    count += forest.kept_edge(e) && !forest.edges().tails(e).empty();
  }
  return count;
}

void check_words(const Forest& forest) {
  for (std::size_t word = 0; word < forest.tree().size(); ++word) {
    double total = 0;
    for (VertexId v = 1; v < forest.vertices(); ++v) {
      for (Place other : forest.words(v)) total += other == word ? forest.posterior(v) : 0;
    }
    BOOST_TEST(total == 1.0, boost::test_tools::tolerance(1e-9));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(units_of_the_worked_example) {
  Forest forest({.max_words = 3, .k = 1000});
  for (int round = 0; round < 2; ++round) {  // buffers are kept
    forest.start(kWorked);
    forest.build();
    BOOST_TEST(forest.vertices() == 37u);
    BOOST_TEST(edges_with_tails(forest) == 153u);
    check_words(forest);
  }
  forest.start(std::vector<std::int32_t>{});
  forest.build();
  BOOST_TEST(forest.vertices() == 1u);
}

BOOST_AUTO_TEST_CASE(units_reach_far) {
  std::vector<std::int32_t> star(300, 0), chain(300);
  star[0] = -1;
  for (int j = 0; j < 300; ++j) chain[static_cast<std::size_t>(j)] = j - 1;
  for (const auto& heads : {star, chain}) {
    Forest forest({});
    forest.start(heads);
    forest.build();
    check_words(forest);
  }
  Forest forest({});
  forest.start(star);
  forest.build();
  BOOST_TEST(forest.unit_cuts() == 1u);  // the head of the star
}

BOOST_AUTO_TEST_CASE(two_trees) {
  const std::vector<std::int32_t> other = {2, 2, -1, 7, 7, 7, 7, 2};
  const std::vector<double> weights = {1, 0.5};
  const std::vector<WordId> words(kWorked.size(), 0);
  ParsedSentence sentence{.words = words, .tags = words, .heads = kWorked, .phrases = {}};
  for (bool factored : {false, true}) {
    Forest forest({.max_words = 3, .factored = factored, .delta = 1e-3});
    forest.start(sentence);
    forest.build();
    const std::size_t alone = forest.vertices();
    ParsedSentence both = sentence;
    both.more_heads = other;
    both.weights = weights;
    forest.start(both);
    forest.build();
    BOOST_TEST(forest.trees() == 2u);
    BOOST_TEST(forest.vertices() > alone);
    check_words(forest);
    forest.start(sentence);
    forest.build();
    BOOST_TEST(forest.vertices() == alone);
  }
}

BOOST_AUTO_TEST_CASE(groupings_of_many_words) {
  std::vector<std::int32_t> star(3000, 0);
  star[0] = -1;
  Forest forest({.max_words = 2, .cap = 5, .factored = true, .delta = 1e-3});
  forest.start(star);
  forest.build();
  check_words(forest);
  BOOST_TEST(forest.grouping_cuts() == 0u);
}

BOOST_AUTO_TEST_CASE(pruned_units) {
  for (bool renormalise : {true, false}) {
    Forest forest({.max_words = 3, .k = 1000, .delta = 0.02, .renormalise = renormalise});
    forest.start(kWorked);
    forest.build();
    BOOST_TEST(edges_with_tails(forest) < 153u);
    BOOST_TEST((forest.inside(Forest::kRoot) < 0.999) == !renormalise);
    check_words(forest);
  }
}

BOOST_AUTO_TEST_CASE(the_largest_units_come_first) {
  Units units(3, 200);
  units.reset(kWorked);
  const Place sigma[] = {3, 5};  // 亚洲 款, neighbours below 本
  const Units::Range range = units.of_siblings(sigma);
  BOOST_TEST(range.size() == 2u);
  BOOST_TEST(units.size(range.first) == 3u);
  BOOST_TEST(units.size(range.first + 1) == 2u);
}

}  // namespace treeglot::mwu
