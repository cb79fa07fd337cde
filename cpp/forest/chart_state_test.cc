// Any bracketing of a sentence must have the score that the model gives it word by word.
#include "forest/chart_state.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "forest/random_model_test.hh"

namespace forest = treeglot::forest;
namespace lm = treeglot::lm;

using treeglot::test::random_arpa;
using treeglot::test::TemporaryModel;

namespace {

struct Part {
  forest::ChartState state;
  double log10 = 0;
};

// The words [begin, end) in random brackets, up to four parts in each.
Part random_brackets(const lm::Model& model, const std::vector<lm::WordId>& words, int begin, int end,
                     std::mt19937& random, bool sentence = false) {
  Part result;
  forest::ChartScorer scorer(model, result.state);
  if (sentence) scorer.begin_sentence();
  for (int at = begin; at < end;) {
    int stop = at + 1 + static_cast<int>(random() % (end - at));
    if (stop - at == 1 && random() % 2) {
      scorer.word(words[at]);
    } else if (stop - at < end - begin || sentence) {
      Part part = random_brackets(model, words, at, stop, random);
      scorer.part(part.state);
      result.log10 += part.log10;
    } else {
      continue;
    }
    if (random() % 5 == 0) {  // a part without words changes nothing
      Part empty = random_brackets(model, words, stop, stop, random);
      scorer.part(empty.state);
    }
    at = stop;
  }
  if (sentence) scorer.word(lm::kEnd);
  result.log10 += scorer.log10();
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(chart_state_brackets_do_not_matter) {
  std::mt19937 random(20240611);
  for (int round = 0; round < 300; ++round) {
    int order = 1 + round % 6;
    int vocabulary = 2 + static_cast<int>(random() % 4);
    double density = 0.05 + 0.1 * static_cast<double>(random() % 9);
    TemporaryModel file(random_arpa(random, order, vocabulary, density, round % 2 == 0));
    lm::Model model(file.path);
    for (int sentence = 0; sentence < 12; ++sentence) {
      std::vector<lm::WordId> words;
      int length = static_cast<int>(random() % 9);
      for (int i = 0; i < length; ++i) {
        std::string word(1,
                         static_cast<char>('a' + random() % (vocabulary + 1)));  // the last one is unknown
        words.push_back(model.id(word));
      }
      double wanted = 0;
      lm::State state = model.begin_state(), next;
      for (lm::WordId word : words) {
        wanted += model.score(state, word, next).log10;
        state = next;
      }
      wanted += model.score(state, lm::kEnd, next).log10;
      for (int i = 0; i < 4; ++i) {
        double score = random_brackets(model, words, 0, length, random, true).log10;
        BOOST_TEST(std::abs(score - wanted) < 1e-4, "order " << order << ": " << score << " instead of " << wanted);
      }
    }
  }
}

// ARPA files may say -inf; a score must not become "not a number" when parts are put together.
BOOST_AUTO_TEST_CASE(chart_state_with_impossible_words) {
  TemporaryModel file(
      "\\data\\\nngram 1=6\nngram 2=4\nngram 3=2\n\n"
      "\\1-grams:\n-inf\t<unk>\n-inf\t<s>\t-0.3\n-1\t</s>\n-inf\ta\t-0.2\n-1\tb\t-inf\n-1e300\tc\t-0.1\n\n"
      "\\2-grams:\n-inf\ta b\t-0.4\n-0.5\tb a\t-inf\n-inf\tb c\n-0.5\tc </s>\n\n"
      "\\3-grams:\n-inf\ta b c\n-0.1\tb a b\n\n\\end\\\n");
  lm::Model model(file.path);
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<lm::WordId> words;
    for (int i = 0, length = static_cast<int>(random() % 8); i < length; ++i) {
      words.push_back(model.id(std::string(1, static_cast<char>('a' + random() % 4))));  // d is unknown
    }
    double wanted = 0;
    lm::State state = model.begin_state(), next;
    for (lm::WordId word : words) {
      wanted += model.score(state, word, next).log10;
      state = next;
    }
    wanted += model.score(state, lm::kEnd, next).log10;
    BOOST_TEST(std::isfinite(wanted));
    double score = random_brackets(model, words, 0, static_cast<int>(words.size()), random, true).log10;
    BOOST_TEST(std::abs(score - wanted) < 0.01, score << " instead of " << wanted);
  }
}

// States with equal hashes must be worth the same in every surrounding.
BOOST_AUTO_TEST_CASE(chart_state_equal_states_are_alike) {
  std::mt19937 random(7);
  int alike = 0;
  for (int round = 0; round < 60; ++round) {
    int order = 2 + round % 4;
    TemporaryModel file(random_arpa(random, order, 3, 0.3, round % 2 == 0));
    lm::Model model(file.path);
    auto draw = [&](int length) {
      std::vector<lm::WordId> words;
      for (int i = 0; i < length; ++i) words.push_back(model.id(std::string(1, static_cast<char>('a' + random() % 3))));
      return words;
    };
    std::map<std::uint64_t, Part> seen;
    for (int i = 0; i < 60; ++i) {
      std::vector<lm::WordId> words = draw(1 + static_cast<int>(random() % 7));
      Part part = random_brackets(model, words, 0, static_cast<int>(words.size()), random);
      auto [equal, fresh] = seen.emplace(part.state.hash(), part);
      if (fresh) continue;
      ++alike;
      for (int j = 0; j < 20; ++j) {
        std::vector<lm::WordId> before = draw(static_cast<int>(random() % 5)),
                                after = draw(static_cast<int>(random() % 5));
        double change[2];
        for (int side = 0; side < 2; ++side) {
          forest::ChartState state;
          forest::ChartScorer scorer(model, state);
          if (j % 2) scorer.begin_sentence();
          for (lm::WordId word : before) scorer.word(word);
          scorer.part(side ? part.state : equal->second.state);
          for (lm::WordId word : after) scorer.word(word);
          change[side] = scorer.log10();
        }
        BOOST_TEST(std::abs(change[0] - change[1]) < 1e-4);
      }
    }
  }
  BOOST_TEST(alike > 300);
}

// Nothing is remembered that the model cannot use: long parts of an unseen kind have the shortest state.
BOOST_AUTO_TEST_CASE(chart_state_is_short) {
  TemporaryModel file(
      "\\data\\\nngram 1=6\nngram 2=3\nngram 3=1\n\n"
      "\\1-grams:\n-2\t<unk>\n-99\t<s>\t-0.3\n-1\t</s>\n-1\ta\t-0.2\n-1\tb\t-0.1\n-1\tc\n\n"
      "\\2-grams:\n-0.5\ta b\t-0.4\n-0.5\tb b\n-0.5\tb c\n\n"
      "\\3-grams:\n-0.1\ta b c\n\n\\end\\\n");
  lm::Model model(file.path);
  auto state = [&](const std::string& text) {
    Part part;
    forest::ChartScorer scorer(model, part.state);
    for (char word : text) scorer.word(model.id(std::string(1, word)));
    return part.state;
  };
  BOOST_TEST(state("x").left_length == 0);  // nothing ends in an unknown word
  BOOST_TEST(state("x").closed);
  BOOST_TEST(state("a").left_length == 0);  // nor in a
  BOOST_TEST(state("a").right.length == 1);
  BOOST_TEST(state("b").left_length == 1);  // but in b
  BOOST_TEST(!state("b").closed);
  BOOST_TEST(state("bc").left_length == 2);
  BOOST_TEST(state("bc").right.length == 0);  // nothing begins with c
  BOOST_TEST(state("bca").left_length == 2);
  BOOST_TEST(state("bca").closed);
  BOOST_TEST(state("ac").left_length == 0);
  BOOST_TEST(state("bb").left_length == 1);  // nothing ends in b b
  forest::ChartState joined, b = state("b");
  forest::ChartScorer scorer(model, joined);
  scorer.part(b);
  scorer.part(b);
  BOOST_TEST(joined.left_length == 1);
  BOOST_TEST(joined.closed);
  BOOST_TEST(joined.hash() == state("bb").hash());
}
