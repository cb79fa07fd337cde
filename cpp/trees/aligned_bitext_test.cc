#include "trees/aligned_bitext.hh"

#include <boost/test/unit_test.hpp>

#include "trees/link_columns.hh"

using namespace treeglot;

BOOST_AUTO_TEST_CASE(vocabularies_are_sorted_and_links_too) {
  AlignedBitext corpus;
  BOOST_TEST(!corpus.add("b a\tb ", " y  x", "1-1 0-0 1-1"));
  BOOST_TEST(!corpus.add("", "", ""));
  BOOST_TEST(!corpus.add("c", "x", "0-0\r"));
  corpus.finish();
  BOOST_TEST(corpus.size() == 3u);
  SentencePair pair = corpus[0];
  BOOST_TEST((std::vector<WordId>(pair.source.begin(), pair.source.end()) == std::vector<WordId>{1, 0, 1}));
  BOOST_TEST((std::vector<WordId>(pair.target.begin(), pair.target.end()) == std::vector<WordId>{1, 0}));
  BOOST_TEST((std::vector<WordLink>(pair.links.begin(), pair.links.end()) == std::vector<WordLink>{{0, 0}, {1, 1}}));
  BOOST_TEST(corpus.source_words.word(2) == "c");
  BOOST_TEST(corpus[1].source.empty());
  BOOST_TEST(corpus.bytes() > 0u);
}

BOOST_AUTO_TEST_CASE(problems_name_their_side) {
  AlignedBitext corpus;
  BOOST_TEST(corpus.add("a", "b", "0-1").side == 2);
  BOOST_TEST(corpus.add("a", "b", "0").message == "0 is not a link such as 0-1");
  BOOST_TEST(corpus.add("a", "b", "0-0x").side == 2);
  std::string words;
  for (int i = 0; i < 65536; ++i) words += "a ";
  BOOST_TEST(corpus.add("a", words, "").side == 1);
  BOOST_TEST(AlignedBitext().add(words, "a", "").side == 0);
}

BOOST_AUTO_TEST_CASE(phrases_compare_as_lines_of_text) {
  SymbolTable words;
  const std::vector<std::string> texts = {"a", "{", "|||", "||||", "}", "~"};
  for (const std::string& text : texts) words.id(text);
  words.sort();
  WordId stop = stop_rank(words);
  BOOST_TEST(stop == 2u);
  std::vector<std::vector<WordId>> phrases;
  for (WordId a = 0; a < texts.size(); ++a) {
    phrases.push_back({a});
    for (WordId b = 0; b < texts.size(); ++b) phrases.push_back({a, b});
  }
  auto line = [&](const std::vector<WordId>& phrase) {
    std::string text;
    for (WordId word : phrase) text += words.word(word) + " ";
    return text + "||| x";
  };
  for (const auto& one : phrases) {
    for (const auto& other : phrases) {
      if (line(one) == line(other) || line(one).find("||| |||") != std::string::npos) continue;
      if (line(other).find("||| |||") != std::string::npos) continue;
      BOOST_TEST((compare_phrases(one, other, stop) < 0) == (line(one) < line(other)), line(one)
                                                                                           << " / " << line(other));
    }
  }
}

BOOST_AUTO_TEST_CASE(further_alignments) {
  AlignedBitext corpus;
  BOOST_TEST(!corpus.add("a b", "x", "0-0"));
  BOOST_TEST(!corpus.add("c", "y z", ""));
  corpus.finish();
  const std::vector<WordLink> links{{1, 0}, {0, 1}, {0, 0}};
  const std::vector<std::uint64_t> starts{0, 1, 3}, short_starts{0, 3};
  corpus.add_links(links, starts);
  BOOST_TEST(corpus.size() == 4u);
  BOOST_TEST(corpus.sentences() == 2u);
  BOOST_TEST((corpus[0].links.size() == 1 && corpus[0].links[0] == WordLink{0, 0}));
  BOOST_TEST((corpus[2].links.size() == 1 && corpus[2].links[0] == WordLink{1, 0}));
  BOOST_TEST((corpus[3].links.size() == 2 && corpus[3].links[0] == WordLink{0, 0}));
  BOOST_TEST(corpus[3].target.data() == corpus[1].target.data());
  const std::vector<WordLink> outside{{2, 0}, {0, 1}, {0, 0}};
  BOOST_CHECK_THROW(corpus.add_links(outside, starts), LinkProblem);
  BOOST_CHECK_THROW(corpus.add_links(links, short_starts), std::invalid_argument);
  BOOST_TEST(corpus.size() == 4u);
}
