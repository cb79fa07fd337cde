// Estimation, compilation and queries together: a model of a small text, checked by its own laws.
#include "lm/model.hh"

#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

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
  explicit TemporaryModel(std::string_view arpa, std::size_t block = 7) {
    char name[] = "/tmp/treeglot-lm-test-XXXXXX";
    int handle = ::mkstemp(name);
    BOOST_REQUIRE(handle >= 0);
    ::close(handle);
    path = name;
    std::size_t at = 0;
    lm::compile_arpa([&] { return arpa.substr(std::exchange(at, std::min(at + block, arpa.size())), block); }, path);
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
  const lm::LineScore line = model.score_line("the  dog sings");
  BOOST_TEST(std::abs(line.log10 - sum) < 1e-5);
  BOOST_TEST(line.tokens == 3u);
  BOOST_TEST(line.unknown == 1u);
}

BOOST_AUTO_TEST_CASE(lm_text_may_come_in_any_blocks) {
  const std::string arpa = estimate(kText, 3);
  auto bytes_of = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const TemporaryModel whole(arpa, arpa.size());
  for (std::size_t block : {1, 2, 100}) {
    const TemporaryModel parts(arpa, block);
    BOOST_TEST((bytes_of(parts.path) == bytes_of(whole.path)));
  }
  const TemporaryModel without_end(std::string_view(arpa).substr(0, arpa.size() - 1), 64);
  BOOST_TEST((bytes_of(without_end.path) == bytes_of(whole.path)));
  for (std::size_t block : {1, 30, 100000}) {
    std::string broken = arpa;
    const std::size_t at = broken.find("\\2-grams:") + 10;
    broken[at] = 'x';
    const auto line =
        static_cast<std::uint64_t>(std::count(broken.begin(), broken.begin() + static_cast<long>(at), '\n')) + 1;
    BOOST_CHECK_EXCEPTION(TemporaryModel(broken, block), lm::ArpaError,
                          [&](const lm::ArpaError& error) { return error.line == line; });
  }
}

BOOST_AUTO_TEST_CASE(lm_words_and_orders_out_of_range) {
  const TemporaryModel file(estimate(kText, 2));
  const lm::Model model(file.path);
  BOOST_CHECK_THROW(model.grams(0), std::out_of_range);
  BOOST_CHECK_THROW(model.grams(-1), std::out_of_range);
  BOOST_CHECK_THROW(model.grams(3), std::out_of_range);
  BOOST_TEST(model.grams(1) == model.words());
  lm::State out;
  BOOST_CHECK_THROW(model.checked_score(model.begin_state(), 4'000'000'000, out), std::out_of_range);
  const auto last = static_cast<lm::WordId>(model.words() - 1);
  BOOST_TEST(model.checked_score(model.begin_state(), last, out).log10 < 0);
  BOOST_CHECK_THROW(model.checked_score(model.begin_state(), last + 1, out), std::out_of_range);
}

// A state of a model with longer n-grams reaches no table that is not there.
BOOST_AUTO_TEST_CASE(lm_states_of_other_models_are_harmless) {
  const TemporaryModel long_file(estimate(kText, 5)), short_file(estimate(kText, 1));
  const lm::Model long_model(long_file.path), short_model(short_file.path);
  lm::State state = long_model.begin_state(), next;
  for (const char* word : {"the", "dog", "barks", "at"}) {
    long_model.score(state, long_model.id(word), next);
    state = next;
  }
  const lm::Score score = short_model.score(state, 2, next);
  BOOST_TEST(score.used == 1);
  BOOST_TEST(!score.extends);
}

BOOST_AUTO_TEST_CASE(lm_damage_is_refused) {
  TemporaryModel file(estimate(kText, 2));
  BOOST_REQUIRE(::truncate(file.path.c_str(), 200) == 0);
  BOOST_CHECK_THROW(lm::Model(file.path), std::runtime_error);
  BOOST_CHECK_THROW(lm::compile_arpa([] { return std::string_view(); }, file.path), lm::ArpaError);
}
