#include "trees/tree_json.hh"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "trees/phrase_tree.hh"

using treeglot::InputError;
using treeglot::PhraseTree;
using treeglot::PhraseTreeBuilder;
using treeglot::treejson::Scanner;
using treeglot::treejson::Sentence;
using treeglot::treejson::Take;
using Words = std::vector<std::string_view>;
using Numbers = std::vector<std::int32_t>;

namespace {

const std::string kSentence =
    R"({"id": "1", "forms": ["\u0077as", "did", "he", "say"], "upos": ["W", "_", "P", "V"], "xpos": ["_", "_", "PRP", "VB"],)"
    R"( "dependency": {"heads": [3, 3, 3, -1]},)"
    R"( "constituency": {"labels": ["NP", "S", "VP"], "children": [[-3], [-2, 0, 2], [-4, -1]]}})";

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_json)

BOOST_AUTO_TEST_CASE(a_sentence_in_pieces) {
  Scanner scanner;
  const std::string text = "\n" + kSentence + "\r\n  \n{\"forms\": []}";
  int sentences = 0;
  auto look = [&] {
    for (const Sentence* sentence; (sentence = scanner.next()) != nullptr; ++sentences) {
      if (sentences == 1) {
        BOOST_TEST(sentence->line == 4u);
        BOOST_TEST((sentence->forms.empty() && !sentence->has_dependency && !sentence->has_constituency));
        continue;
      }
      BOOST_TEST(sentence->line == 2u);
      BOOST_TEST((sentence->forms == Words{"was", "did", "he", "say"}));
      BOOST_TEST((sentence->tags == Words{"W", "_", "PRP", "VB"}));
      BOOST_TEST((sentence->heads == Numbers{3, 3, 3, -1}));
      const PhraseTree& tree = sentence->phrases;
      BOOST_TEST((tree.labels == Words{"S", "VP", "NP"}));
      BOOST_TEST((tree.children == Numbers{1, ~1, 2, ~0, ~3, ~2}));
      BOOST_TEST((tree.parents == Numbers{-1, 0, 0}));
      BOOST_TEST((tree.begins == Numbers{0, 0, 2}));
      BOOST_TEST((tree.ends == Numbers{4, 4, 3}));
      BOOST_TEST((tree.sizes == Numbers{4, 2, 1}));
      BOOST_TEST(!tree.is_continuous());
      PhraseTreeBuilder builder;
      PhraseTree closed;
      builder.close_gaps(tree, Numbers{1, ~3, ~2}, 4, closed);
      BOOST_TEST(closed.is_continuous());
      BOOST_TEST((closed.labels == Words{"S", "NP", "VP"}));
      BOOST_TEST((closed.children == Numbers{~0, ~1, 1, 2, ~2, ~3}));
      BOOST_TEST((closed.origins == std::vector<std::uint32_t>{0, 2, 1}));
    }
  };
  for (std::size_t at = 0; at < text.size(); at += 7) {
    scanner.feed(std::string_view(text).substr(at, 7));
    look();
  }
  scanner.finish();
  look();
  BOOST_TEST(sentences == 2);
}

BOOST_AUTO_TEST_CASE(a_side_of_pairs) {
  const std::string text = R"({"source": {"forms": ["a"]}, "target": {"forms": ["b"]}, "word_links": [[0, 0]]})";
  for (const Take take : {Take::kSource, Take::kTarget}) {
    Scanner scanner(take);
    scanner.feed(text);
    scanner.finish();
    BOOST_TEST((scanner.next()->forms == Words{take == Take::kSource ? "a" : "b"}));
    BOOST_TEST((scanner.next() == nullptr));
  }
}

BOOST_AUTO_TEST_CASE(errors_name_line_and_field) {
  Scanner scanner;
  scanner.feed("{\"forms\": [\"a\"]}\n{\"forms\": [\"a\"], \"dependency\": {\"heads\": [0]}}\n");
  BOOST_TEST((scanner.next() != nullptr));
  BOOST_CHECK_EXCEPTION(scanner.next(), InputError, [](const InputError& error) {
    return error.line == 2 && std::string(error.what()) == "field dependency.heads: a cycle: 1 (a) → 1 (a)";
  });
}

BOOST_AUTO_TEST_SUITE_END()
