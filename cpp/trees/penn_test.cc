#include "trees/penn.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

using namespace treeglot;

namespace {

// A tree as one line: label/function:begin-end^parent for each phrase, then form/tag/function for each word.
std::string shown(const penn::Tree& tree) {
  std::string line;
  for (const auto& phrase : tree.phrases) {
    line += std::string(tree.text(phrase.label)) + "/" + std::string(tree.text(phrase.function)) + ":" +
            std::to_string(phrase.begin) + "-" + std::to_string(phrase.end) + "^" + std::to_string(phrase.parent) + " ";
  }
  for (const auto& word : tree.words) {
    line += std::string(tree.text(word.form)) + "/" + std::string(tree.text(word.tag)) + "/" +
            std::string(tree.text(word.function)) + " ";
  }
  return line;
}

std::vector<std::string> scan(std::string_view text, std::size_t piece) {
  penn::Scanner scanner;
  std::vector<std::string> trees;
  auto take = [&] {
    while (const penn::Tree* tree = scanner.next()) trees.push_back(shown(*tree));
  };
  for (std::size_t i = 0; i < text.size(); i += piece) {
    scanner.feed(text.substr(i, piece));
    take();
  }
  scanner.finish();
  take();
  return trees;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(penn_scanner)

BOOST_AUTO_TEST_CASE(any_cut_is_fine) {
  const std::string text =
      "\xef\xbb\xbf( (S\r\n (NP-SBJ (DT\r\nthe) (NN d\xc3\xb6g)) (VP (VBZ barks\n))) )(X y)\n\n(N (-LRB- -LRB-) z)";
  const std::vector<std::string> whole = scan(text, text.size());
  BOOST_TEST(whole.size() == 3u);
  BOOST_TEST(whole[0] == "S/:0-3^-1 NP/SBJ:0-2^0 VP/:2-3^0 the/DT/ d\xc3\xb6g/NN/ barks/VBZ/ ");
  BOOST_TEST(whole[1] == "y/X/ ");
  BOOST_TEST(whole[2] == "N/:0-2^-1 (/-LRB-/ z/_/ ");
  for (std::size_t piece = 1; piece < 20; ++piece)
    BOOST_TEST(scan(text, piece) == whole, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(labels) {
  auto check = [](std::string_view label, std::string_view name, std::string_view function) {
    const auto parts = penn::split_label(label);
    BOOST_TEST(parts.first == name);
    BOOST_TEST(parts.second == function);
  };
  check("NP-SBJ-1", "NP", "SBJ-1");
  check("NP=2", "NP", "=2");
  check("NP-SBJ=2", "NP", "SBJ=2");
  check("-NONE-", "-NONE-", "");
  check("-LRB--SBJ", "-LRB-", "SBJ");
  check("--", "--", "");
  check("---", "---", "");
  check("----", "--", "-");
  check("--X", "-", "X");
  check("-X", "-X", "");
  check("NP-", "NP-", "");
  check("=2", "=2", "");
}

BOOST_AUTO_TEST_CASE(errors_have_places) {
  auto place = [](std::string_view text) {
    try {
      scan(text, 5);
    } catch (const InputError& error) {
      return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.what();
    }
    return std::string("none");
  };
  BOOST_TEST(place("(A a)\n\xc3\xa4 b") == "2:1 '\xc3\xa4' stands outside all brackets");
  BOOST_TEST(place("(S (\xc3\xa4 a) ())") == "1:11 a bracket with nothing in it");
  BOOST_TEST(place("(S (NP ) )") == "1:8 nothing under the label 'NP'");
  BOOST_TEST(place(")") == "1:1 ) without (");
  BOOST_TEST(place("(())") == "1:4 a tree without words");
  BOOST_TEST(place("(S (A (\n(B b)) c))") == "2:6 a bracket without a label");
  BOOST_TEST(place("(S\n(A a)\n") == "2:0 the file ends inside the tree that begins in line 1: 1 brackets are open");
}

BOOST_AUTO_TEST_SUITE_END()
