#include "grammars/hdr/extractor.hh"

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "grammars/registry.hh"
#include "grammars/rule_text.hh"

using namespace treeglot;

namespace {

using Strings = std::vector<std::string_view>;

// The worked example of the specifications.
ParsedBitext worked_example() {
  ParsedBitext bitext;
  const Strings words{"英特尔", "将", "推出", "亚洲", "首", "款", "超极", "本"};
  const Strings tags{"NR", "AD", "VV", "NR", "OD", "M", "JJ", "NN"};
  const std::vector<int> heads{2, 2, -1, 7, 5, 7, 7, 2};
  const std::vector<ParsedCorpus::Phrase> phrases{{"IP", 0, 8, -1},  {"NP", 0, 1, 0}, {"VP", 1, 8, 0},
                                                  {"ADVP", 1, 2, 2}, {"VP", 2, 8, 2}, {"NP", 3, 8, 4},
                                                  {"NP", 3, 4, 5},   {"QP", 4, 6, 5}, {"NP", 6, 8, 5}};
  const Strings target{"Intel", "will", "launch", "the", "first", "Ultrabook", "in", "Asia"};
  const std::vector<WordLink> links{{0, 0}, {1, 1}, {2, 2}, {3, 6}, {3, 7}, {4, 3}, {4, 4}, {6, 5}, {7, 5}};
  bitext.add({words, tags, heads, phrases}, {target}, links);
  return bitext;
}

std::map<std::string, ExtractedRule> rules_of(const ParsedBitext& bitext, std::string_view grammar) {
  CategoryInterner interner(bitext.source().categories);
  auto extractor = make_extractor(grammar, {}, bitext, interner);
  std::map<std::string, ExtractedRule> result;
  extractor->extract(bitext[0], [&](const ExtractedRule& rule) {
    std::string text;
    write_source(
        rule.source, [&](std::uint32_t id) { return std::string_view(bitext.source().words.word(id)); },
        [&](std::uint32_t id) { return std::string_view(interner.text(id)); }, text);
    result[text] = rule;
  });
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hdr_extractor)

BOOST_AUTO_TEST_CASE(links_join_the_terminals_that_are_shown) {
  ParsedBitext bitext = worked_example();
  auto rules = rules_of(bitext, "consdep2str");
  BOOST_TEST(rules.size() == 18u);
  using Links = std::vector<WordLink>;
  BOOST_CHECK((rules.at("英特尔 将 ^推出 x1:本*").links == Links{{0, 0}, {1, 1}, {2, 2}}));
  BOOST_CHECK((rules.at("x1:NR x2:AD ^推出 x3:本*").links == Links{{2, 2}}));
  BOOST_CHECK((rules.at("英特尔 将 ^x1:VV x2:NN*").links == Links{{0, 0}, {1, 1}}));
  BOOST_CHECK((rules.at("亚洲 x1:款* ^x2:NP[JJ_NN]").links == Links{{0, 2}, {0, 3}}));
  BOOST_CHECK((rules.at("首 ^款").links == Links{{0, 0}, {0, 1}}));
  BOOST_CHECK((rules.at("x1:OD ^款").links.empty()));
}

// Every word is there once, so a link of a rule says which link of the sentence it is.
BOOST_AUTO_TEST_CASE(links_of_random_pairs) {
  std::mt19937 random(7);
  std::size_t rules = 0;
  for (int round = 0; round < 2000; ++round) {
    const int size = 1 + static_cast<int>(random() % 7), target_size = 1 + static_cast<int>(random() % 7);
    std::vector<std::string> names;
    for (int i = 0; i < 10; ++i) names.push_back(std::to_string(i));
    Strings words(names.begin(), names.begin() + size), target(names.begin(), names.begin() + target_size);
    Strings tags(words.size(), "T");
    std::vector<int> heads(words.size());  // chains and stars of the words on the left
    for (int i = 0; i < size; ++i) heads[i] = i == 0 ? -1 : random() % 2 ? i - 1 : heads[i - 1] < 0 ? 0 : heads[i - 1];
    std::vector<WordLink> links;
    for (int i = 0; i < size; ++i) {
      if (random() % 5) {
        links.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(i * target_size / size)});
      }
    }
    ParsedBitext bitext;
    bitext.add({words, tags, heads}, {target}, links);
    CategoryInterner interner(bitext.source().categories);
    auto extractor = make_extractor("dep2str", {}, bitext, interner);
    ParsedPair pair = bitext[0];
    extractor->extract(pair, [&](const ExtractedRule& rule) {
      ++rules;
      std::set<std::pair<WordId, WordId>> expected, linked;
      for (const WordLink& link : pair.links) {
        bool source_shown = false;
        for (Symbol symbol : rule.source) {
          source_shown = source_shown || (has_word(symbol) && symbol_id(symbol) == pair.source.words[link.source]);
        }
        if (source_shown) expected.insert({pair.source.words[link.source], pair.target.words[link.target]});
      }
      for (const WordLink& link : rule.links) {
        BOOST_REQUIRE(has_word(rule.source[link.source]));
        BOOST_REQUIRE(!is_target_variable(rule.target[link.target]));
        linked.insert({symbol_id(rule.source[link.source]), rule.target[link.target]});
      }
      BOOST_CHECK(linked == expected);
      BOOST_CHECK(linked.size() == rule.links.size());
      BOOST_CHECK(std::is_sorted(rule.links.begin(), rule.links.end()));
    });
  }
  BOOST_TEST(rules > 5000u);
}

BOOST_AUTO_TEST_CASE(members_and_groups) {
  ParsedBitext bitext = worked_example();
  HdrView view;
  view.reset(bitext[0].source);
  BOOST_TEST(view.root() == 2);
  BOOST_TEST(view.members(7).size() == 4u);
  BOOST_TEST(view.members(7)[1].begin == 4);
  BOOST_TEST(view.members(7)[1].end == 6);
  BOOST_TEST((view.members(7)[1].type == MemberType::kInternal));
  BOOST_TEST((view.members(7)[3].type == MemberType::kHead));
  BOOST_TEST(view.phrasal_nodes(2).size() == 2u);
  BOOST_TEST(view.phrasal_nodes(7).size() == 1u);
  BOOST_TEST(view.phrasal_nodes(7)[0].covers_head);
  BOOST_TEST(view.crossing() == 0u);
  std::vector<std::tuple<int, int, bool>> structures;  // 1-based words
  for (int n : {2, 7}) {
    auto members = view.members(n);
    for_each_structure(members, 7, [&](std::size_t first, std::size_t last, bool fixed) {
      structures.emplace_back(members[first].begin + 1, members[last - 1].end, fixed);
    });
  }
  const std::vector<std::tuple<int, int, bool>> expected{{1, 2, false}, {1, 3, true},  {2, 3, true},  {2, 8, true},
                                                         {3, 8, true},  {4, 6, false}, {4, 7, false}, {5, 7, false},
                                                         {5, 8, true},  {7, 8, true}};
  BOOST_CHECK(structures == expected);
}

BOOST_AUTO_TEST_CASE(categories_keep_their_ids) {
  ParsedBitext bitext = worked_example();
  CategoryInterner interner(bitext.source().categories);
  const std::size_t known = bitext.source().categories.size();
  BOOST_TEST(interner.size() == known);
  BOOST_TEST(interner.text(interner.id("NN")) == "NN");
  BOOST_TEST(interner.id("NN") < known);
  const std::uint32_t tags[]{interner.id("VV"), interner.id("NN")};
  const std::uint32_t joint = interner.joint(interner.id("VP"), tags);
  BOOST_TEST(joint == known);
  BOOST_TEST(interner.text(joint) == "VP[VV_NN]");
  BOOST_TEST(interner.id("VP[VV_NN]") == joint);
  BOOST_CHECK_THROW(make_extractor("dep2tree", {}, bitext, interner), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
