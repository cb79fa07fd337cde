#include "forest/target_spans.hh"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace treeglot::forest {

BOOST_AUTO_TEST_CASE(target_sides_become_spans) {
  const std::vector<TargetSymbol> target = {1, 2, 1, 2, 3};
  TargetSpans ones, both;
  ones.add(std::vector<TargetSymbol>{1}, target, {});
  ones.finish();
  BOOST_TEST(ones.all().size() == 2u);
  const TargetSpans* filling[] = {&ones};
  // x1 2 in two places, and once more with another 3 behind it.
  both.add(std::vector<TargetSymbol>{target_variable(0), 2}, target, filling);
  both.add(std::vector<TargetSymbol>{target_variable(0), 2, 3}, target, filling);
  both.add(std::vector<TargetSymbol>{target_variable(0), 3}, target, filling);
  both.finish();
  BOOST_TEST(both.all().size() == 3u);
  BOOST_TEST((both.has(0, 2) && both.has(2, 4) && both.has(2, 5)));
  BOOST_TEST(both.from(2).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_forest_makes_what_allowed_edges_make) {
  Forest forest;
  const NodeId word = forest.add_node(NodeKind::kWord, 0, 1), goal = forest.add_node(NodeKind::kGoal, 0, 1);
  forest.set_goal(goal);
  RuleOption one, around;
  one.target = {1};
  around.target = {2, target_variable(0)};
  const OptionList ones = {&one}, arounds = {&around};
  forest.add_edge(word, &ones, {}, 7);
  forest.add_edge(goal, &arounds, {&word, 1}, 8);
  const std::vector<TargetSymbol> target = {2, 1}, other = {1, 2};
  auto any = [](std::uint16_t) { return true; };
  BOOST_TEST(makes(forest, target, any));
  BOOST_TEST(!makes(forest, other, any));
  BOOST_TEST(!makes(forest, target, [](std::uint16_t origin) { return origin != 7; }));
}

}  // namespace treeglot::forest
