// Estimation, compilation and queries together: a model of a small text, checked by its own laws.
#include "lm/model.hh"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>
#include <string>

#include "lm/estimate.hh"

namespace lm = treeglot::lm;

namespace {

std::string estimate(std::string_view text, int order, std::size_t memory = std::size_t{1} << 30) {
  lm::EstimateOptions options;
  options.order = order;
  options.memory = memory;
  lm::Estimator estimator(options);
  BOOST_TEST(estimator.add(text) == 0u);
  std::string arpa;
  estimator.finish([&](std::string_view part) { arpa.append(part); });
  return arpa;
}

struct TemporaryModel {
  explicit TemporaryModel(const std::string& arpa) {
    char name[] = "/tmp/treeglot-lm-test-XXXXXX";
    int handle = ::mkstemp(name);
    BOOST_REQUIRE(handle >= 0);
    ::close(handle);
    path = name;
    std::istringstream lines(arpa);
    std::string line;
    lm::compile_arpa(
        [&](std::string_view& out) {
          if (!std::getline(lines, line)) return false;
          out = line;
          return true;
        },
        path);
  }
  ~TemporaryModel() { ::unlink(path.c_str()); }
  std::string path;
};

const char kText[] = "the dog barks\nthe cat sleeps\nthe dog sleeps\n\na dog barks at the cat\n";

}  // namespace

BOOST_AUTO_TEST_CASE(lm_little_memory_changes_nothing) { BOOST_TEST(estimate(kText, 4) == estimate(kText, 4, 1)); }

BOOST_AUTO_TEST_CASE(lm_reserved_words_are_reported) {
  lm::Estimator estimator({});
  BOOST_TEST(estimator.add("fine\nnot <s> fine\n") == 2u);
}

BOOST_AUTO_TEST_CASE(lm_discounts_fall_back) {
  lm::Discount defined = lm::estimate_discount({0, 10, 5, 3, 2}, {0.5, 1, 1.5});
  BOOST_TEST(!defined.fallback);
  BOOST_TEST(std::abs(defined.amount[1] - 0.5) < 1e-12);  // 1 - 2 * (10 / 20) * 5 / 10
  BOOST_TEST(lm::estimate_discount({0, 10, 0, 3, 2}, {0.5, 1, 1.5}).fallback);
}

BOOST_AUTO_TEST_CASE(lm_probabilities_sum_to_one) {
  for (int order : {1, 2, 3, 4}) {
    TemporaryModel file(estimate(kText, order));
    lm::Model model(file.path, true);
    BOOST_TEST(model.order() == order);
    for (const char* context : {"", "the", "the dog", "a dog barks", "unseen the", "sleeps"}) {
      lm::State state = *context ? model.begin_state() : model.null_state(), next;
      std::istringstream words(context);
      for (std::string word; words >> word; state = next) model.score(state, model.id(word), next);
      double sum = 0;
      for (const char* word : {"<unk>", "</s>", "the", "dog", "barks", "cat", "sleeps", "a", "at"}) {
        sum += std::pow(10.0, model.score(state, model.id(word), next).log10);
      }
      BOOST_TEST(std::abs(sum - 1) < 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(lm_line_is_the_sum_of_its_words) {
  TemporaryModel file(estimate(kText, 3));
  lm::Model model(file.path);
  lm::State state = model.begin_state(), next;
  double sum = 0;
  for (const char* word : {"the", "dog", "sings", "</s>"}) {
    sum += model.score(state, model.id(word), next).log10;
    state = next;
  }
  std::uint64_t tokens = 0, unknown = 0;
  BOOST_TEST(std::abs(model.score_line("the  dog sings", tokens, unknown) - sum) < 1e-5);
  BOOST_TEST(tokens == 3u);
  BOOST_TEST(unknown == 1u);
}

BOOST_AUTO_TEST_CASE(lm_damage_is_refused) {
  TemporaryModel file(estimate(kText, 2));
  BOOST_REQUIRE(::truncate(file.path.c_str(), 200) == 0);
  BOOST_CHECK_THROW(lm::Model(file.path), std::runtime_error);
  std::string line;
  BOOST_CHECK_THROW(lm::compile_arpa([](std::string_view&) { return false; }, file.path), lm::ArpaError);
}
