#include "trees/parsed_corpus.hh"

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

using namespace treeglot;

namespace {

using Words = std::vector<std::string_view>;
using Heads = std::vector<int>;
using Phrases = std::vector<ParsedCorpus::Phrase>;
using Links = std::vector<WordLink>;
using NodeLinks = std::vector<NodeLink>;

const Words kDogs{"dogs", "bark"}, kTags{"N", "V"}, kHunde{"Hunde", "bellen"};
const Heads kHeads{1, -1};
const Phrases kPhrases{{"S", 0, 2, -1}, {"NP", 0, 1, 0}};

}  // namespace

BOOST_AUTO_TEST_SUITE(parsed_corpus)

BOOST_AUTO_TEST_CASE(two_parsed_sides) {
  ParsedBitext bitext;
  const Links links{{1, 1}, {0, 0}, {1, 1}};
  const NodeLinks nodes{{3, 1}, {0, 0}};
  bitext.add({kDogs, kTags, kHeads, kPhrases}, {kHunde, {}, kHeads}, links, nodes);
  bitext.add({kHunde}, {kDogs, kTags, {}, kPhrases}, {});
  BOOST_TEST(bitext.size() == 2u);
  const ParsedPair first = bitext[0], second = bitext[1];
  BOOST_TEST(first.source.has_dependency());
  BOOST_TEST(first.source.has_constituency());
  BOOST_TEST(first.target.has_dependency());
  BOOST_TEST(!first.target.has_constituency());
  BOOST_TEST(bitext.target().words.word(first.target.words[1]) == "bellen");
  BOOST_TEST(bitext.target().categories.word(first.target.tags[1]) == "_");
  BOOST_TEST((first.links.size() == 2 && first.links[0] == WordLink{0, 0} && first.links[1] == WordLink{1, 1}));
  BOOST_TEST((first.node_links.size() == 2 && first.node_links[0] == NodeLink{0, 0}));
  BOOST_TEST(second.target.phrases.size() == 2u);
  BOOST_TEST(second.node_links.empty());
}

// Whatever is wrong with a pair: neither side has it, and the next pair is not torn apart.
BOOST_AUTO_TEST_CASE(a_refused_pair_leaves_nothing) {
  ParsedBitext bitext;
  const Heads cycle{1, 0};
  const Links outside{{0, 2}};
  const NodeLinks no_node{{4, 0}};
  BOOST_CHECK_THROW(bitext.add({kDogs}, {kHunde}, outside), std::invalid_argument);
  BOOST_CHECK_THROW(bitext.add({kDogs}, {kHunde, {}, cycle}, {}), std::invalid_argument);
  BOOST_CHECK_THROW(bitext.add({kDogs, {}, cycle}, {kHunde}, {}), std::invalid_argument);
  BOOST_CHECK_THROW(bitext.add({kDogs, kTags, {}, kPhrases}, {kHunde}, {}, no_node), std::invalid_argument);
  BOOST_TEST(bitext.size() == 0u);
  BOOST_TEST(bitext.source().size() == 0u);
  BOOST_TEST(bitext.target().size() == 0u);
  BOOST_TEST(bitext.source().words.size() == 0u);
  bitext.add({kHunde}, {kDogs}, {});
  const ParsedPair pair = bitext[0];
  BOOST_TEST(bitext.source().words.word(pair.source.words[0]) == "Hunde");
  BOOST_TEST(bitext.target().words.word(pair.target.words[0]) == "dogs");
}

BOOST_AUTO_TEST_SUITE_END()
