#include "table/text_phrase_table.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace treeglot;

BOOST_AUTO_TEST_CASE(reads_moses_lines_in_any_order) {
  TextPhraseTable table;
  BOOST_TEST(table.add_phrase("das haus ||| the house ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 2 1 1 ||| |||") == "");
  BOOST_TEST(table.add_phrase("haus ||| house ||| 0 1e-400 1 1 ||| 0-0") == "");
  BOOST_TEST(table.add_phrase("das haus ||| the building ||| 0.1 0.1 0.1 0.1 ||| 0-0 1-1") == "");
  BOOST_TEST(table.add_reordering("haus ||| house ||| 0.1 0.2 0.3 0.4 0.5 0.6") == "");
  BOOST_TEST(table.add_reordering("das haus ||| the building ||| 1 1 1 1 1 0.5") == "");
  BOOST_TEST(table.add_reordering("nicht ||| there ||| 1 1 1 1 1 1") == "");
  table.finish();
  BOOST_TEST(table.longest_source() == 2);
  BOOST_TEST(table.source_id("gibt") == kNoWord);
  PhraseMatches matches;
  std::vector<treeglot::WordId> ids{table.source_id("das"), table.source_id("haus")};
  table.lookup(ids, matches);
  BOOST_REQUIRE(matches.size() == 2);
  BOOST_TEST(table.target_word(matches[0].target[1]) == "house");
  BOOST_TEST(matches[0].scores[3] == std::log(0.125f));
  BOOST_TEST(matches[0].reordering[5] == 0);
  BOOST_TEST(matches[1].reordering[5] == std::log(0.5f));
  matches.clear();
  table.lookup(std::span(ids).subspan(1), matches);
  BOOST_REQUIRE(matches.size() == 1);
  BOOST_TEST(matches[0].scores[0] == -100);
  BOOST_TEST(matches[0].scores[1] == -100);
  BOOST_TEST(matches[0].reordering[2] == std::log(0.3f));
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong_with_a_line) {
  TextPhraseTable table;
  BOOST_TEST(table.add_phrase("a ||| b").find("2 columns") == 0);
  BOOST_TEST(table.add_phrase(" ||| b ||| 1 1 1 1").find("empty source") != std::string::npos);
  BOOST_TEST(table.add_phrase("a ||| ||| 1 1 1 1").find("empty target") != std::string::npos);
  BOOST_TEST(table.add_phrase("a ||| b ||| 1 1 1").find("3 scores") == 0);
  BOOST_TEST(table.add_phrase("a ||| b ||| 1 x 1 1").find("'x'") == 0);
  BOOST_TEST(table.add_phrase("a ||| b ||| 1 nan 1 1").find("'nan'") == 0);
  BOOST_TEST(table.add_phrase("a ||| b ||| 1 -1 1 1").find("'-1'") == 0);
  BOOST_TEST(table.add_phrase("a ||| b ||| 1 1 1 1 ||| 1-0").find("'1-0'") == 0);
  BOOST_TEST(table.add_phrase("a ||| b ||| 1 1 1 1 ||| 0").find("'0'") == 0);
  BOOST_TEST(table.add_reordering("a ||| b ||| 1 1 1 1 1").find("5 scores") == 0);
}
