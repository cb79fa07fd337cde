#include "forest/explain.hh"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace treeglot;
using namespace treeglot::forest;
using search::RuleUse;
using search::TargetItem;

namespace {

const std::vector<std::string> kWords{"A", "B", "C"};

std::string_view word(std::uint32_t j) { return kWords[j]; }

RuleUse use(const std::string& grammar, std::uint32_t begin, std::uint32_t end, std::vector<TargetItem> target,
            std::vector<std::uint32_t> below = {}, std::vector<search::FeatureValue> features = {}) {
  RuleUse result;
  result.grammar = grammar;
  result.begin = begin;
  result.end = end;
  result.target = std::move(target);
  result.below = std::move(below);
  result.features = std::move(features);
  return result;
}

std::string target(const RuleUse& use) {
  std::string text;
  for (const TargetItem& item : use.target) {
    if (!text.empty()) text += ' ';
    if (const std::uint32_t* variable = std::get_if<std::uint32_t>(&item)) {
      text += 'x' + std::to_string(*variable + 1);
    } else {
      text += std::get<std::string>(item);
    }
  }
  return text;
}

}  // namespace

// A goal that passes on a pseudo rule of three words, which the search has made of two.
BOOST_AUTO_TEST_CASE(helpers_become_one_step_or_none) {
  std::vector<RawStep> steps;
  steps.push_back({use("join", 0, 3, {0u}, {1}), true});
  steps.push_back({use("pseudo", 0, 3, {0u, 1u}, {2, 5}, {{3, 1.0f}}), true});
  steps.push_back({use("pseudo", 0, 2, {0u, 1u}, {3, 4}), true});
  steps.push_back({use("phrases", 0, 1, {"a"}), false});
  steps.push_back({use("phrases", 1, 2, {"b"}), false});
  steps.push_back({use("phrases", 2, 3, {"c"}), false});
  const std::vector<RuleUse> shown = readable(steps, word);
  BOOST_REQUIRE(shown.size() == 4u);
  BOOST_TEST((shown[0].grammar == "pseudo" && shown[0].source == "x1 x2 x3" && target(shown[0]) == "x1 x2 x3"));
  BOOST_TEST(shown[0].below == (std::vector<std::uint32_t>{1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST((shown[3].source == "C" && target(shown[3]) == "c"));
}

// Rules keep their variables; a join below them disappears, and words that nobody else covers are their own.
BOOST_AUTO_TEST_CASE(rules_stay_as_they_are) {
  std::vector<RawStep> steps;
  steps.push_back({use("rules", 0, 3, {1u, "and", 0u}, {3, 1}), false});
  steps[0].use.source = "x1 B x2";
  steps.push_back({use("join", 2, 3, {0u}, {2}), true});
  steps.push_back({use("phrases", 2, 3, {"c"}), false});
  steps.push_back({use("phrases", 0, 1, {"a"}), false});
  const std::vector<RuleUse> shown = readable(steps, word);
  BOOST_REQUIRE(shown.size() == 3u);
  BOOST_TEST((shown[0].source == "x1 B x2" && target(shown[0]) == "x2 and x1"));
  BOOST_TEST((shown[shown[0].below[0]].source == "A" && shown[shown[0].below[1]].source == "C"));
  std::vector<RawStep> alone;
  alone.push_back({use("phrases", 0, 3, {"x", 0u}, {1}), false});
  alone.push_back({use("copy", 1, 2, {"B"}), false});
  BOOST_TEST(readable(alone, word)[0].source == "A x1 C");
}

// Parts that the target has in another order are numbered in the order of the source.
BOOST_AUTO_TEST_CASE(helpers_number_their_parts_by_the_source) {
  std::vector<RawStep> steps;
  steps.push_back({use("glue", 0, 2, {0u, 1u}, {1, 2}, {{4, 1.0f}}), true});
  steps.push_back({use("phrases", 1, 2, {"b"}), false});
  steps.push_back({use("phrases", 0, 1, {"a"}), false});
  const std::vector<RuleUse> shown = readable(steps, word);
  BOOST_TEST((target(shown[0]) == "x2 x1" && shown[0].source == "x1 x2"));
  BOOST_TEST((shown[1].source == "A" && shown[2].source == "B"));
  BOOST_TEST(readable({}, word).empty());
}

// A part with a gap has the words on both sides of another one.
BOOST_AUTO_TEST_CASE(parts_with_gaps) {
  std::vector<RawStep> steps;
  steps.push_back({use("pseudo", 0, 3, {0u, 1u}, {1, 2}, {{3, 1.0f}}), true});
  steps.push_back({use("rules", 0, 3, {"a", "c"}), false});
  steps[1].use.parts = {0, 2};
  steps.push_back({use("phrases", 1, 2, {"b"}), false});
  const std::vector<RuleUse> shown = readable(steps, word);
  BOOST_REQUIRE(shown.size() == 3u);
  BOOST_TEST(shown[0].source == "x1 x2");
  BOOST_TEST((shown[1].source == "A C" && shown[2].source == "B"));
}
