#include "trees/parsed_corpus.hh"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "trees/corpus_file.hh"
#include "trees/corpus_reader.hh"
#include "trees/link_columns.hh"

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

BOOST_AUTO_TEST_CASE(overlapping_constituents_are_refused) {
  ParsedCorpus corpus;
  const Words words{"a", "b", "c", "d"};
  const Phrases crossing{{"S", 0, 4, -1}, {"A", 0, 3, 0}, {"B", 1, 4, 0}};
  const Phrases partial{{"S", 0, 3, -1}};
  BOOST_CHECK_THROW(corpus.add({words, {}, {}, crossing}), std::invalid_argument);
  BOOST_CHECK_THROW(corpus.add({words, {}, {}, partial}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(links_of_several_alignments) {
  ParsedBitext bitext;
  bitext.add({kDogs}, {kHunde}, {});
  bitext.add({kHunde}, {kDogs}, {});
  const Links one{{1, 1}, {0, 0}, {0, 1}}, two{{1, 0}};
  const std::vector<std::uint64_t> one_starts{0, 2, 3}, two_starts{0, 0, 1};
  bitext.add_links(one, one_starts, true);
  bitext.add_links(two, two_starts, false);
  BOOST_TEST(bitext.size() == 4u);
  BOOST_TEST((bitext[0].links[0] == WordLink{0, 0}));
  BOOST_TEST(bitext[2].links.empty());
  BOOST_TEST((bitext[3].links[0] == WordLink{1, 0}));
  BOOST_TEST(bitext[3].source.words.data() == bitext[1].source.words.data());
  const Links outside{{2, 0}};
  BOOST_CHECK_THROW(bitext.add_links(outside, two_starts, false), LinkProblem);
  BOOST_TEST(bitext.size() == 4u);
}

BOOST_AUTO_TEST_CASE(stored) {
  ParsedBitext bitext;
  const Links links{{0, 0}};
  const NodeLinks nodes{{1, 2}};
  const std::vector<std::uint16_t> heads{1, 0};
  bitext.add({kDogs, kTags, kHeads, kPhrases, heads}, {kHunde, kTags, {}, kPhrases}, links, nodes);
  bitext.add({kHunde}, {}, {});
  char path[] = "/tmp/treeglot-corpus-test-XXXXXX";
  const int handle = ::mkstemp(path);
  BOOST_REQUIRE(handle >= 0);
  ::close(handle);
  CorpusFile::write(bitext, path);
  const ParsedBitext opened = CorpusFile::open(path);
  ::unlink(path);
  BOOST_TEST(opened.size() == 2u);
  const ParsedPair pair = opened[0];
  BOOST_TEST(opened.source().words.word(pair.source.words[1]) == "bark");
  BOOST_TEST(pair.source.heads[0] == 1);
  BOOST_TEST(opened.source().head_words(0)[0] == 1);
  BOOST_TEST(opened.target().head_words(0)[0] == kNoHeadWord);
  BOOST_TEST((pair.links[0] == WordLink{0, 0}));
  BOOST_TEST((pair.node_links[0] == NodeLink{1, 2}));
  BOOST_TEST(opened[1].target.size() == 0u);
  ParsedBitext grown = opened;  // what is mapped becomes one's own when it grows
  grown.add({kDogs}, {kHunde}, {});
  BOOST_TEST(grown.size() == 3u);
  BOOST_TEST(opened.size() == 2u);
}

// Files in the smallest pieces, and an error in the middle of them.
BOOST_AUTO_TEST_CASE(reading) {
  CorpusReader::Options options;
  options.names[CorpusReader::kSourcePenn] = "penn";
  options.names[CorpusReader::kTargetText] = "text";
  options.names[CorpusReader::kLinks] = "links";
  std::string inputs[CorpusReader::kStreams];
  inputs[CorpusReader::kSourcePenn] = "(S (A a) (B b))\n(C c)\n";
  inputs[CorpusReader::kTargetText] = "x y\nz";
  inputs[CorpusReader::kLinks] = "1-1 0-0P\n0-0:0.5\n";
  auto read = [&](CorpusReader& reader) {
    std::size_t places[CorpusReader::kStreams] = {};
    for (int stream; (stream = reader.advance()) >= 0;) {
      if (places[stream] < inputs[stream].size()) {
        reader.feed(stream, std::string_view(inputs[stream]).substr(places[stream]++, 1));
      } else {
        reader.finish(stream);
      }
    }
  };
  CorpusReader reader(options);
  read(reader);
  BOOST_TEST(reader.bitext().size() == 2u);
  BOOST_TEST(reader.bitext()[0].links.size() == 2u);
  BOOST_TEST(reader.bitext()[1].source.phrases.empty());
  inputs[CorpusReader::kLinks] = "1-1\n1-0\n";
  CorpusReader broken(options);
  BOOST_CHECK_EXCEPTION(read(broken), ReadError, [](const ReadError& error) {
    return error.stream == CorpusReader::kLinks && error.line == 2 &&
           std::string_view(error.what()) == "link 1-0 is outside the sentences of 1 and 1 words";
  });
}

BOOST_AUTO_TEST_SUITE_END()
