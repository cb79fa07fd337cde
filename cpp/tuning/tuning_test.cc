#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "tuning/learners.hh"
#include "tuning/mert.hh"
#include "tuning/random.hh"

namespace tuning = treeglot::tuning;

using Texts = std::vector<std::vector<std::string>>;

BOOST_AUTO_TEST_SUITE(tuning_room)

BOOST_AUTO_TEST_CASE(statistics_clip_counts_and_take_the_closest_reference) {
  const Texts texts = {{"the cat sat on the mat", "a cat is there"}};
  tuning::References references(texts);
  tuning::Statistics statistics = references.statistics(0, "the the the cat sat");
  // the: at most 2 in one reference; "the cat", "cat sat"; "the cat sat"
  BOOST_TEST(statistics.correct[0] == 4);
  BOOST_TEST(statistics.correct[1] == 2);
  BOOST_TEST(statistics.correct[2] == 1);
  BOOST_TEST(statistics.correct[3] == 0);
  BOOST_TEST(statistics.length == 5);
  BOOST_TEST(statistics.reference == 4);  // 4 and 6 are equally close
}

BOOST_AUTO_TEST_CASE(a_perfect_corpus_scores_100) {
  const Texts texts = {std::vector<std::string>{"a b c d e"}};
  tuning::References references(texts);
  const tuning::Statistics statistics = references.statistics(0, "a b c d e");
  std::vector<std::int32_t> row(statistics.correct.begin(), statistics.correct.end());
  row.insert(row.end(), {statistics.length, statistics.reference});
  const tuning::Metric metric;
  std::vector<std::int32_t> counts(metric.counts());
  metric.expand(row.data(), counts.data());
  BOOST_TEST(std::abs(metric.score(tuning::Totals(counts.begin(), counts.end())) - 100) < 1e-9);
}

BOOST_AUTO_TEST_CASE(the_envelope_equals_trying_every_line) {
  tuning::Random random(7);
  tuning::Envelope envelope;
  for (int round = 0; round < 2000; ++round) {
    std::size_t count = 1 + random.below(12);
    std::vector<double> slope(count), intercept(count);
    for (std::size_t h = 0; h < count; ++h) {
      slope[h] = static_cast<double>(random.below(7)) - 3;  // small integers: many equal and concurrent lines
      intercept[h] = static_cast<double>(random.below(7)) - 3;
    }
    const auto& parts = envelope(slope.data(), intercept.data(), count);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      double begin = p == 0 ? parts.size() == 1 ? -1 : parts[1].position - 2 : parts[p].position;
      double end = p + 1 < parts.size() ? parts[p + 1].position : begin + 2;
      BOOST_TEST(begin <= end);
      double x = (begin + end) / 2, top = -std::numeric_limits<double>::infinity();
      for (std::size_t h = 0; h < count; ++h) top = std::max(top, intercept[h] + x * slope[h]);
      std::uint32_t winner = parts[p].hypothesis;
      BOOST_TEST(std::abs(intercept[winner] + x * slope[winner] - top) < 1e-9);
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_hypotheses_are_merged) {
  tuning::Pool pool(2, 2);
  std::int32_t row[] = {0, 0, 0, 0, 3, 0};  // a hypothesis of three words
  double a[] = {1.0, 0.0}, b[] = {1.0, -0.0}, c[] = {1.0, 2.0};
  BOOST_TEST(pool.add(0, a, row));
  BOOST_TEST(!pool.add(0, b, row));  // -0 is 0
  BOOST_TEST(pool.add(0, c, row));
  BOOST_TEST(pool.add(1, a, row));
  row[4] = 4;
  BOOST_TEST(pool.add(0, a, row));
  for (int i = 0; i < 1000; ++i) {
    double values[] = {static_cast<double>(i % 500), 5.0};
    BOOST_TEST(pool.add(1, values, row) == (i < 500));
  }
  pool.close();
  BOOST_TEST(pool.size() == 504);
  BOOST_TEST(pool.column(1, 0)[500] == 499);
}

BOOST_AUTO_TEST_CASE(logistic_regression_ends_where_the_gradient_is_zero) {
  tuning::Random random(3);
  std::size_t count = 300, features = 4;
  std::vector<double> rows(count * features), offsets(count);
  for (double& value : rows) value = random.normal() + 0.2;
  for (double& value : offsets) value = 0.1 * random.normal();
  std::vector<double> weights = tuning::logistic_regression(rows, offsets, features, 0.5);
  for (std::size_t f = 0; f < features; ++f) {
    double gradient = 0.5 * weights[f];
    for (std::size_t i = 0; i < count; ++i) {
      double margin = offsets[i];
      for (std::size_t g = 0; g < features; ++g) margin += weights[g] * rows[i * features + g];
      gradient -= rows[i * features + f] / (1 + std::exp(margin));
    }
    BOOST_TEST(std::abs(gradient) < 1e-4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
