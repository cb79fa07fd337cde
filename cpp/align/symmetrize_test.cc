#include "align/symmetrize.hh"

#include <boost/test/unit_test.hpp>

namespace al = treeglot::align;
using treeglot::WordLink;

namespace {

std::string both(const char* forward, const char* reverse, al::Heuristic heuristic) {
  std::vector<WordLink> there, back;
  BOOST_REQUIRE(al::parse_links(forward, there).empty());
  BOOST_REQUIRE(al::parse_links(reverse, back).empty());
  std::string out;
  al::append_links(al::symmetrize(there, back, heuristic), out);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(symmetrize)

BOOST_AUTO_TEST_CASE(heuristics) {
  const char *forward = "0-0 1-1 1-2 4-4", *reverse = "0-0 1-1 2-1 3-3";
  BOOST_TEST(both(forward, reverse, al::Heuristic::kIntersection) == "0-0 1-1");
  BOOST_TEST(both(forward, reverse, al::Heuristic::kUnion) == "0-0 1-1 1-2 2-1 3-3 4-4");
  BOOST_TEST(both(forward, reverse, al::Heuristic::kGrow) == "0-0 1-1 1-2 2-1");
  // 3-3 touches nothing that is linked; 2-2 would have to be in the union
  BOOST_TEST(both(forward, reverse, al::Heuristic::kGrowDiag) == "0-0 1-1 1-2 2-1");
  BOOST_TEST(both(forward, reverse, al::Heuristic::kGrowDiagFinalAnd) == "0-0 1-1 1-2 2-1 3-3 4-4");
  BOOST_TEST(both(forward, reverse, al::Heuristic::kForward) == forward);
  BOOST_TEST(both(forward, reverse, al::Heuristic::kReverse) == reverse);
}

BOOST_AUTO_TEST_CASE(forward_links_come_first_at_the_end) {
  BOOST_TEST(both("5-5", "5-7", al::Heuristic::kGrowDiagFinalAnd) == "5-5");
  BOOST_TEST(both("5-5", "5-7", al::Heuristic::kGrowDiagFinal) == "5-5 5-7");
  BOOST_TEST(both("", "5-7", al::Heuristic::kGrowDiagFinalAnd) == "5-7");
}

BOOST_AUTO_TEST_CASE(bad_links) {
  std::vector<WordLink> links;
  for (const char* text : {"0", "0-", "-1", "0-1x", "0-1-2", "a-b", "0-65536", "0--1"}) {
    BOOST_TEST(!al::parse_links(text, links).empty(), text);
  }
  BOOST_TEST(al::parse_links("  1-2\t0-1 0-1 \r", links).empty());
  BOOST_TEST(links.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
