#include "trees/conllu.hh"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace treeglot;
using namespace treeglot::conllu;

namespace {

// One word line: id, form and head; the rest is unset but for the relation.
std::string word(const std::string& id, const std::string& form, const std::string& head) {
  return id + "\t" + form + "\t_\t_\t_\t_\t" + head + "\t" + (head == "_" ? "_" : "dep") + "\t_\t_\n";
}

std::string other(const std::string& id, const std::string& form) { return word(id, form, "_"); }

// Everything that a caller can see of a sentence, as one string.
std::string describe(const Sentence& sentence) {
  std::string out = "[" + std::string(sentence.text(sentence.id)) + "]";
  for (const Field& comment : sentence.comments) out += std::string(sentence.text(comment)) + ";";
  for (const Word& each : sentence.words) {
    out += std::string(sentence.text(each.row[kForm])) + "/" + std::to_string(each.head) + "@" +
           std::to_string(each.line) + " ";
  }
  for (const Range& range : sentence.ranges) {
    out += std::to_string(range.start) + "-" + std::to_string(range.end) + "=" +
           std::string(sentence.text(range.row[kForm])) + " ";
  }
  for (const EmptyNode& node : sentence.empty_nodes) {
    out += std::to_string(node.after) + ".=" + std::string(sentence.text(node.row[kForm])) + " ";
  }
  return out + (sentence.has_heads ? "tree " : "no tree ") + std::to_string(static_cast<int>(sentence.ending));
}

// The sentences when the text arrives in pieces of `piece` bytes, and the error, if any.
std::vector<std::string> scan(std::string_view text, std::size_t piece = std::string_view::npos) {
  Scanner scanner;
  std::vector<std::string> described;
  try {
    for (std::size_t i = 0; i < text.size(); i += std::min(piece, text.size())) {
      scanner.feed(text.substr(i, piece));
      while (const Sentence* sentence = scanner.next()) described.push_back(describe(*sentence));
    }
    scanner.finish();
    while (const Sentence* sentence = scanner.next()) described.push_back(describe(*sentence));
  } catch (const Error& error) {
    BOOST_TEST(!error.remedy.empty());
    described.push_back("error " + std::to_string(error.line) + ":" + std::to_string(error.column) + " " +
                        error.what());
  }
  return described;
}

void check_error(const std::string& text, std::size_t line, std::size_t column, std::string_view says) {
  BOOST_TEST_CONTEXT("expecting: " << says) {
    const auto scanned = scan(text);
    BOOST_REQUIRE(!scanned.empty());
    const std::string place = "error " + std::to_string(line) + ":" + std::to_string(column) + " ";
    BOOST_TEST(scanned.back().substr(0, place.size()) == place);
    BOOST_TEST_INFO(scanned.back());
    BOOST_TEST((scanned.back().find(says) != std::string::npos));
  }
}

const std::string kTwo = "# newdoc\n# sent_id = été-1 \n" + other("1-2", "du") + word("1", "de", "3") +
                         word("2", "le", "3") + word("3", "pain", "0") + other("3.1", "mangé") + other("3.2", "bu") +
                         "\n" + word("1", "Oui", "0") + "\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(conllu)

BOOST_AUTO_TEST_CASE(reads_sentences) {
  const auto sentences = scan(kTwo);
  BOOST_REQUIRE_EQUAL(sentences.size(), 2);
  BOOST_TEST(sentences[0] == "[été-1]# newdoc;# sent_id = été-1 ;de/2@4 le/2@5 pain/-1@6 0-2=du 3.=mangé 3.=bu tree 0");
  BOOST_TEST(sentences[1] == "[]Oui/-1@10 tree 0");
}

BOOST_AUTO_TEST_CASE(any_cut_gives_the_same) {
  const std::string texts[] = {kTwo,
                               "\xef\xbb\xbf" + kTwo,
                               kTwo + word("1", "x", "7"),
                               "\n\n" + kTwo + "\n  \n",
                               kTwo.substr(0, kTwo.size() - 1),
                               kTwo.substr(0, kTwo.size() - 2),
                               kTwo + "1\t\xc3"};
  for (const std::string& text : texts) {
    const auto whole = scan(text);
    for (std::size_t piece = 1; piece < 40; ++piece)
      BOOST_TEST(scan(text, piece) == whole, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(endings) {
  const std::string line = word("1", "x", "0");
  BOOST_TEST(scan(line + "\n").front().back() == '0');
  BOOST_TEST(scan(line).front().back() == '1');
  BOOST_TEST(scan(line.substr(0, line.size() - 1)).front().back() == '2');
  BOOST_TEST(scan("").empty());
  BOOST_TEST(scan("\n \n\n").empty());
}

BOOST_AUTO_TEST_CASE(line_ends_and_byte_order_mark) {
  std::string dos = "\xef\xbb\xbf";
  for (char c : kTwo) dos += c == '\n' ? "\r\n" : std::string(1, c);
  BOOST_TEST(scan(dos) == scan(kTwo), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_tree) {
  BOOST_TEST(scan(word("1", "a", "_") + word("2", "b", "_")).front() == "[]a/-2@1 b/-2@2 no tree 1");
}

BOOST_AUTO_TEST_CASE(sentences_before_an_error_are_delivered_and_the_error_stays) {
  Scanner scanner(101);
  scanner.feed(kTwo + "oops\n");
  BOOST_TEST(scanner.next() != nullptr);
  BOOST_TEST(scanner.next() != nullptr);
  for (int i = 0; i < 2; ++i) {
    BOOST_CHECK_EXCEPTION(scanner.next(), Error, [](const Error& error) { return error.line == 112; });
  }
}

BOOST_AUTO_TEST_CASE(bad_columns) {
  check_error("1\ta\t_\t_\n", 1, 1, "4 columns instead of 10");
  check_error(kTwo + word("1", "a", "0").insert(1, "\t"), 12, 1, "11 columns");
  check_error("1 a _ _ _ _ 0 root _ _\n", 1, 1, "spaces, not by tabs");
  check_error(word("1", "", "0"), 1, 3, "column 2 (FORM) is empty");
  check_error("1\té\t\t_\t_\t_\t0\troot\t_\t_\n", 1, 5, "column 3 (LEMMA) is empty");
  check_error("<corpus>\n", 1, 1, "XML");
  check_error("(S (NP I))\n", 1, 1, "Penn");
  check_error("# hi\n{\"a\": 1}\n", 2, 1, "JSON");
  check_error(kTwo + "(S (NP I))\n", 12, 1, "1 column instead of 10");
  check_error("# global.columns = ID FORM\n", 1, 1, "CoNLL-U Plus");
}

BOOST_AUTO_TEST_CASE(bad_ids) {
  check_error(word("x", "a", "0"), 1, 1, "'x' is not a word number");
  check_error(word("01", "a", "0"), 1, 1, "'01' is not a word number");
  check_error(word("0", "a", "0"), 1, 1, "0 where 1 must follow");
  check_error(word("-1", "a", "0"), 1, 1, "'-1' is not a word number");
  check_error(word("99999999999999999999", "a", "0"), 1, 1, "not a word number");
  check_error(word("1", "a", "0") + word("3", "b", "1"), 2, 1, "3 where 2 must follow");
  check_error(word("1", "a", "2") + word("2", "b", "0") + word("2", "c", "2"), 3, 1, "given twice");
  check_error(word("1", "a", "0") + word("1", "b", "0"), 2, 1, "word 1 again");
  check_error(word("1", "a", "0") + "# c\n", 2, 1, "comment inside");
  check_error("\n# a\n# b\n\n" + word("1", "a", "0"), 2, 0, "comments without a sentence");
  check_error(other("0.1", "a") + "\n", 2, 0, "without words");
}

BOOST_AUTO_TEST_CASE(bad_ranges_and_empty_nodes) {
  const std::string first = word("1", "a", "0");
  check_error(other("1-x", "ab") + first, 1, 1, "neither a word number nor a range");
  check_error(other("2-1", "ab") + first, 1, 1, "backwards");
  check_error(other("1-2", "ab") + first, 1, 1, "beyond the sentence of 1 word");
  check_error(other("2-3", "ab") + first, 1, 1, "stands before word 1");
  check_error(other("1-2", "ab") + other("1-2", "ab") + first, 2, 1, "overlaps");
  check_error(other("1-2", "ab") + first + other("2-3", "bc") + word("2", "b", "1"), 3, 1, "overlaps");
  check_error(first + other("1-2", "ab"), 2, 1, "word 1 again");
  check_error(first + other("2.1", "e"), 2, 1, "directly after word 2");
  check_error(first + other("1.2", "e"), 2, 1, "where 1.1 must follow");
  check_error(first + other("1.x", "e"), 2, 1, "nor an empty node");
  check_error(other("1-2", "ab") + other("0.1", "e"), 2, 1, "after the line of a range");
}

BOOST_AUTO_TEST_CASE(bad_trees) {
  check_error(word("1", "a", "x"), 1, 13, "'x' is not a word number");
  check_error(word("1", "a", "2"), 1, 13, "the sentence has 1 word");
  check_error(word("1", "a", "0") + word("2", "b", "0"), 2, 13, "2 roots: 1 (a), 2 (b)");
  check_error(word("1", "a", "1"), 1, 13, "no root, but a cycle: 1 (a) → 1 (a)");
  check_error(word("1", "a", "0") + word("2", "b", "3") + word("3", "c", "2"), 2, 13, "a cycle: 2 (b) → 3 (c) → 2 (b)");
  check_error(word("1", "a", "0") + word("2", "b", "_"), 2, 13, "word 2 (b) has no head");
  check_error("1\ta\t_\t_\t_\t_\t_\troot\t_\t_\n", 1, 15, "a relation but no head");
}

BOOST_AUTO_TEST_CASE(bad_bytes) {
  check_error("# a\n# \xc3\xa9 \xff\n", 2, 5, "not UTF-8 (byte 0xff)");
  check_error(std::string("# a\0b\n", 6), 1, 4, "NUL");
  check_error("# a\rb\n", 1, 4, "carriage return");
  check_error("\x1f\x8b\x08\n", 1, 1, "gzip");
  check_error("\xff\xfe#\n", 1, 1, "UTF-16");
  check_error("# " + std::string(kMaxLineBytes, 'x') + "\n", 1, 0, "longer than 1,000,000 bytes");
  check_error("#" + std::string(kMaxLineBytes, 'x') + "\n", 1, 0, "longer than 1,000,000 bytes");
  check_error(kTwo + "\xef\xbb\xbf" + kTwo, 12, 1, "byte-order mark inside the file");
  BOOST_TEST(scan("# " + std::string(kMaxLineBytes - 2, 'x') + "\n" + word("1", "a", "0")).size() == 1);
}

BOOST_AUTO_TEST_CASE(an_endless_line_is_refused_before_it_ends) {
  Scanner scanner;
  const std::string piece(100'000, 'x');
  std::size_t fed = 0;
  const auto feed_on = [&] {
    for (; fed < 100; ++fed) {
      scanner.feed(piece);
      scanner.next();
    }
  };
  BOOST_CHECK_THROW(feed_on(), Error);
  BOOST_TEST(fed <= 11);
}

BOOST_AUTO_TEST_CASE(utf8) {
  const std::string_view good[] = {
      "", "a", "\xc2\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
  for (std::string_view text : good) BOOST_TEST(find_bad_utf8(text) == text.size());
  const std::string_view bad[] = {"\x80",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
                                  "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
                                  "\xe4\xb8",     "\xe4\xb8x",        "\xf0\x9f\x98x"};
  for (std::string_view text : bad) BOOST_TEST(find_bad_utf8(std::string("ab").append(text)) == 2);
}

// A long chain both ways: no recursion, linear time.
BOOST_AUTO_TEST_CASE(deep_trees) {
  std::string down = word("1", "w", "0");
  std::string up;
  constexpr int kSize = 100'000;
  for (int j = 2; j <= kSize; ++j) {
    down += word(std::to_string(j), "w", std::to_string(j - 1));
    up += word(std::to_string(j - 1), "w", std::to_string(j));
  }
  BOOST_TEST(scan(down, 1 << 16).size() == 1);
  BOOST_TEST(scan(up + word(std::to_string(kSize), "w", "0"), 1 << 16).front().substr(0, 5) == "[]w/1");
  check_error(up + word(std::to_string(kSize), "w", "1"), 1, 13, "→ … → 1 (w)");
}

// Damaged text gives sentences or an Error, nothing else; the sanitizers watch.
BOOST_AUTO_TEST_CASE(random_damage) {
  std::mt19937 random(7);
  const std::string bytes = "\t\n\r#-._0123456789 ax\xc3\xa9\xef\xbb\xbf(<{";
  const auto pick = [&](std::size_t size) { return static_cast<std::size_t>(random() % size); };
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kTwo;
    for (std::size_t k = pick(4) + 1; k > 0; --k) {
      const std::size_t at = pick(text.size());
      switch (pick(4)) {
        case 0:
          text[at] = bytes[pick(bytes.size())];
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(random()));
          break;
        case 2:
          text.erase(at, pick(12));
          break;
        default:
          text.insert(at, text.substr(pick(text.size()), pick(40)));
      }
      if (text.empty()) text = kTwo;
    }
    const auto whole = scan(text);
    BOOST_REQUIRE((scan(text, pick(30) + 1) == whole));
  }
}

BOOST_AUTO_TEST_SUITE_END()
