#include "grammars/cons2str/extractor.hh"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "grammars/rule_text.hh"

using namespace treeglot;

namespace {

using Phrases = std::vector<ParsedCorpus::Phrase>;
using Words = std::vector<std::string_view>;

std::map<std::string, double> rules(const Words& words, const Phrases& phrases, const Words& target,
                                    const std::vector<WordLink>& links, const GhkmOptions& options = {}) {
  ParsedBitext bitext;
  const Words tags(words.size(), "N");
  bitext.add({words, tags, {}, phrases}, {target}, links);
  std::map<std::string, double> counts;
  GhkmExtractor extractor(options);
  extractor.extract(bitext[0], [&](const ExtractedRule& rule) {
    std::string line;
    write_source(
        rule.source, [&](std::uint32_t id) -> std::string_view { return bitext.source().words.word(id); },
        [&](std::uint32_t id) -> std::string_view { return bitext.source().categories.word(id); }, line);
    line += " |||";
    std::string side;
    write_target(
        rule.target, [&](std::uint32_t id) -> std::string_view { return bitext.target().words.word(id); }, side);
    line += " " + side;
    for (const WordLink& link : rule.links) {
      BOOST_REQUIRE(has_word(rule.source.at(link.source)));
      BOOST_REQUIRE(!is_target_variable(rule.target.at(link.target)));
      line += " " + std::to_string(link.source) + "-" + std::to_string(link.target);
    }
    counts[line] += rule.count;
  });
  return counts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ghkm_extractor)

BOOST_AUTO_TEST_CASE(rules_with_links) {
  // a b swap; u belongs to nobody.
  auto counts = rules({"a", "b"}, {{"S", 0, 2, -1}, {"A", 0, 1, 0}}, {"q", "u", "p"}, {{0, 2}, {1, 0}});
  const std::map<std::string, double> expected{
      {"(S x1:A x2:N) ||| x2 x1", 0.5},
      {"(S x1:A x2:N) ||| x2 u x1", 0.5},
      {"(S (A x1:N) x2:N) ||| x2 x1", 0.5},
      {"(S (A x1:N) x2:N) ||| x2 u x1", 0.5},
      {"(S x1:A (N b)) ||| q x1 3-0", 0.5},
      {"(S x1:A (N b)) ||| q u x1 3-0", 0.5},
      {"(S (A (N a)) x1:N) ||| x1 p 3-1", 0.5},
      {"(S (A (N a)) x1:N) ||| x1 u p 3-2", 0.5},
      {"(S (A x1:N) (N b)) ||| q x1 5-0", 0.5},
      {"(S (A x1:N) (N b)) ||| q u x1 5-0", 0.5},
      {"(S (A (N a)) (N b)) ||| q u p 3-2 7-0", 1},
      {"(A x1:N) ||| x1", 1},
      {"(A (N a)) ||| p 2-0", 0.5},
      {"(A (N a)) ||| u p 2-1", 0.5},
      {"(N a) ||| p 1-0", 0.5},
      {"(N a) ||| u p 1-1", 0.5},
      {"(N b) ||| q 1-0", 0.5},
      {"(N b) ||| q u 1-0", 0.5},
  };
  for (const auto& [line, count] : expected) {
    BOOST_TEST_CONTEXT(line) { BOOST_TEST(counts[line] == count); }
  }
  BOOST_TEST(counts.size() == expected.size());
}

BOOST_AUTO_TEST_CASE(the_cap_keeps_small_fragments) {
  Phrases phrases{{"S", 0, 7, -1}};
  Words words(7, "a"), target(7, "p");
  std::vector<WordLink> links;
  for (std::uint16_t k = 0; k < 7; ++k) links.push_back({k, k});
  GhkmOptions options;
  options.max_fragments = 8;
  auto counts = rules(words, phrases, target, links, options);
  // The minimal one and the seven with one word; and (N a).
  BOOST_TEST(counts.size() == 9u);
  options.max_fragments = 0;
  BOOST_TEST(rules(words, phrases, target, links, options).size() == 129u);
}

BOOST_AUTO_TEST_CASE(bad_options) {
  BOOST_CHECK_THROW(GhkmExtractor({.max_height = 0}), std::invalid_argument);
  BOOST_CHECK_THROW(GhkmExtractor({.max_leaves = 21}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
