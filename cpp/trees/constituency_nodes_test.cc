#include "trees/constituency_nodes.hh"

#include <boost/test/unit_test.hpp>
#include <vector>

using namespace treeglot;

namespace {

std::vector<std::uint32_t> children(const ConstituencyNodes& nodes, std::uint32_t n) {
  auto below = nodes.children(n);
  return {below.begin(), below.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constituency_nodes)

BOOST_AUTO_TEST_CASE(children_are_in_surface_order) {
  ParsedCorpus corpus;
  // (S w0 (A (B w1) w2) w3 (C w4))
  const std::vector<std::string_view> words{"a", "b", "c", "d", "e"}, tags{"N", "N", "N", "N", "N"};
  const std::vector<ParsedCorpus::Phrase> phrases{{"S", 0, 5, -1}, {"A", 1, 3, 0}, {"B", 1, 2, 1}, {"C", 4, 5, 0}};
  corpus.add(words, tags, {}, phrases);
  ConstituencyNodes nodes;
  nodes.reset(corpus[0]);
  BOOST_TEST(nodes.size() == 9u);
  BOOST_TEST(nodes.constituents() == 4u);
  BOOST_TEST(children(nodes, 0) == (std::vector<std::uint32_t>{4, 1, 7, 3}), boost::test_tools::per_element());
  BOOST_TEST(children(nodes, 1) == (std::vector<std::uint32_t>{2, 6}), boost::test_tools::per_element());
  BOOST_TEST(children(nodes, 2) == (std::vector<std::uint32_t>{5}), boost::test_tools::per_element());
  BOOST_TEST(children(nodes, 3) == (std::vector<std::uint32_t>{8}), boost::test_tools::per_element());
  BOOST_TEST(children(nodes, 5).empty());
  BOOST_TEST(nodes.parent(0) == -1);
  BOOST_TEST(nodes.parent(8) == 3);
  BOOST_TEST(nodes.is_preterminal(4));
  BOOST_TEST(nodes.word(8) == 4u);
}

BOOST_AUTO_TEST_CASE(no_tree) {
  ParsedCorpus corpus;
  const std::vector<std::string_view> words{"a"};
  corpus.add(words, words, {}, {});
  ConstituencyNodes nodes;
  nodes.reset(corpus[0]);
  BOOST_TEST(nodes.size() == 1u);
  BOOST_TEST(nodes.is_preterminal(0));
  BOOST_TEST(nodes.parent(0) == -1);
}

BOOST_AUTO_TEST_SUITE_END()
