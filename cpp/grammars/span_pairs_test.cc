#include "grammars/span_pairs.hh"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(span_pairs)

BOOST_AUTO_TEST_CASE(lines_are_read_and_checked) {
  treeglot::SpanPairs spans;
  BOOST_TEST(spans.add(" 0-2:1-3  2-3:0-1\r", 3, 3).empty());
  BOOST_TEST(spans.add("", 1, 1).empty());
  BOOST_TEST(spans.size() == 2u);
  BOOST_TEST(spans[0].size() == 2u);
  BOOST_TEST(spans[0][0].target_end == 3);
  BOOST_TEST(spans[1].empty());
  for (const char* bad : {"0-1", "0-1:0-1:0", "a-1:0-1", "0-1:0-1x", "-1-1:0-1", "0-1 :0-1", "99999-1:0-1"}) {
    BOOST_TEST(!spans.add(bad, 3, 3).empty(), bad);
  }
  for (const char* outside : {"0-4:0-1", "0-1:0-4", "1-1:0-1", "2-1:0-1"}) {
    BOOST_TEST(spans.add(outside, 3, 3).find("outside") != std::string::npos, outside);
  }
}

BOOST_AUTO_TEST_SUITE_END()
