#include "align/hmm.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

namespace al = treeglot::align;

BOOST_AUTO_TEST_SUITE(hmm)

// All alignments of a small sentence, one by one.
BOOST_AUTO_TEST_CASE(equals_enumeration) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0.05f, 1.0f);
  for (auto [observed, states] : {std::pair{1, 1}, {3, 2}, {2, 4}, {4, 3}}) {
    al::JumpTable jumps;
    jumps.null = 0.2f;
    for (float& weight : jumps.weight) weight = uniform(random);
    std::vector<float> emission(static_cast<std::size_t>(observed * states)), null(static_cast<std::size_t>(observed));
    for (float& value : emission) value = uniform(random);
    for (float& value : null) value = uniform(random);
    std::vector<double> expected(emission.size(), 0.0);
    double total = 0;
    int all = 1;
    for (int j = 0; j < observed; ++j) all *= states + 1;
    for (int code = 0; code < all; ++code) {
      double chance = 1;
      int last = 0, rest = code;
      std::vector<int> chosen;
      for (int j = 0; j < observed; ++j, rest /= states + 1) {
        const int state = rest % (states + 1);
        chosen.push_back(state);
        if (state == 0) {
          chance *= jumps.null * null[static_cast<std::size_t>(j)];
          continue;
        }
        double norm = 0;
        for (int i = 1; i <= states; ++i) norm += jumps.at(i - last);
        chance *= (1 - jumps.null) * jumps.at(state - last) / norm *
                  emission[static_cast<std::size_t>(j * states + state - 1)];
        last = state;
      }
      total += chance;
      for (int j = 0; j < observed; ++j) {
        const int state = chosen[static_cast<std::size_t>(j)];
        if (state > 0) expected[static_cast<std::size_t>(j * states + state - 1)] += chance;
      }
    }
    std::vector<float> posterior(emission.size()), null_posterior(null.size());
    al::JumpCounts counts;
    const double likelihood = al::HmmWorkspace().posteriors(emission.data(), null.data(), observed, states, jumps,
                                                            posterior.data(), null_posterior.data(), &counts);
    BOOST_TEST(likelihood == std::log(total), boost::test_tools::tolerance(1e-5));
    double words = 0, taken = 0;
    for (std::size_t c = 0; c < emission.size(); ++c) {
      BOOST_TEST(posterior[c] == expected[c] / total, boost::test_tools::tolerance(1e-4));
      words += posterior[c];
    }
    for (double value : counts.taken) taken += value;
    BOOST_TEST(taken == words, boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_SUITE_END()
