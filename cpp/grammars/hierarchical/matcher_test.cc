// The matcher against trying every source side of the table on every span.
#include "grammars/hierarchical/matcher.hh"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "forest/random_table_test.hh"

using namespace treeglot;
using namespace treeglot::test;

namespace {

std::multiset<Match> by_trial(const RandomTable& table, const std::vector<std::uint32_t>& words, int limit) {
  const auto sources = table.sources();
  const int size = static_cast<int>(words.size()), kind = static_cast<int>(forest::NodeKind::kSpan);
  std::multiset<Match> matches;
  std::set<std::pair<int, int>> translated;
  for (int length = 1; length <= std::min(limit, size); ++length) {
    for (int begin = 0; begin + length <= size; ++begin) {
      const int end = begin + length;
      for (const auto& source : sources) {
        std::vector<NodeName> tails;
        std::function<void(std::size_t, int)> read = [&](std::size_t place, int at) {
          if (place == source.size()) {
            if (at == end) matches.insert({NodeName{kind, begin, end, 0}, source, tails});
            return;
          }
          if (symbol_kind(source[place]) == SymbolKind::kWord) {
            if (at < end && symbol_id(source[place]) == words[at]) read(place + 1, at + 1);
            return;
          }
          for (int after = at + 1; after <= end; ++after) {
            if (!translated.contains({at, after})) continue;
            tails.push_back({kind, at, after, 0});
            read(place + 1, after);
            tails.pop_back();
          }
        };
        const std::size_t before = matches.size();
        read(0, begin);
        if (matches.size() > before) translated.insert({begin, end});
      }
      if (length == 1) translated.insert({begin, end});  // copied
    }
  }
  return matches;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hierarchical_matcher)

BOOST_AUTO_TEST_CASE(equals_trying_everything) {
  std::mt19937 random(11);
  std::size_t total = 0;
  for (int round = 0; round < 12; ++round) {
    const int vocabulary = 2 + round % 4;
    RandomTable table(random, "hierarchical", 6, 6, vocabulary);
    const int span_limit = 3 + round % 5;
    MatchingForest setup(random, *table);
    forest::HierarchicalMatcher matcher(*table, setup.block, span_limit);
    ParsedCorpus corpus;
    for (int n = 0; n < 15; ++n) add_sentence(corpus, random_sentence(random, 8, vocabulary + 1, false));
    for (std::size_t n = 0; n < corpus.size(); ++n) {
      setup.forest.start(corpus, n);
      matcher.match(setup.forest);
      forest::TableIds ids;
      setup.forest.ids(*table, ids);
      const auto expected = by_trial(table, ids.words, span_limit);
      BOOST_TEST((matches_of(setup.forest) == expected));
      total += expected.size();
      setup.finish();
      BOOST_TEST(all_translated(setup.forest.forest()));
    }
  }
  BOOST_TEST(total > 3000u);
}

BOOST_AUTO_TEST_CASE(glue_joins_from_left_to_right) {
  std::mt19937 random(3);
  RandomTable table(random, "hierarchical", 4, 4, 2);
  const int span_limit = 2;
  MatchingForest setup(random, *table);
  forest::HierarchicalMatcher matcher(*table, setup.block, span_limit);
  ParsedCorpus corpus;
  RandomSentence unknown;
  for (int j = 0; j < 5; ++j) {
    unknown.words.push_back("unknown" + std::to_string(j));
    unknown.tags.push_back("T");
  }
  add_sentence(corpus, unknown);
  setup.forest.start(corpus, 0);
  matcher.match(setup.forest);
  setup.finish();
  const forest::Forest& all = setup.forest.forest();
  for (int end = 1; end <= 5; ++end) {
    const forest::Node& node = all[setup.forest.find(forest::NodeKind::kGlue, 0, end)];
    BOOST_REQUIRE(node.edges.size() == 1u);
    BOOST_TEST(all.tails(node.edges[0]).size() == (end == 1 ? 1u : 2u));
    BOOST_TEST(node.edges[0].options->front()->features.size() == (end == 1 ? 0u : 1u));
    const forest::Node& word = all[setup.forest.find(forest::NodeKind::kSpan, end - 1, end)];
    BOOST_REQUIRE(word.edges.size() == 1u);
    BOOST_TEST(word.edges[0].origin == forest::kFromCopy);
  }
  BOOST_TEST(all_translated(all));
}

BOOST_AUTO_TEST_CASE(two_hundred_equal_words) {
  std::mt19937 random(5);
  RandomTable table(random, "hierarchical", 30, 8,
                    1);  // every rule matches everywhere
  const int span_limit = 20;
  MatchingForest setup(random, *table);
  forest::HierarchicalMatcher matcher(*table, setup.block, span_limit);
  ParsedCorpus corpus;
  RandomSentence same;
  same.words.assign(200, "a");
  same.tags.assign(200, "T");
  add_sentence(corpus, same);
  setup.forest.start(corpus, 0);
  matcher.match(setup.forest);
  setup.finish();
  BOOST_TEST(all_translated(setup.forest.forest()));
  BOOST_TEST(matches_of(setup.forest).size() < 200 * forest::HierarchicalMatcher::kMostItems);
}

BOOST_AUTO_TEST_SUITE_END()
