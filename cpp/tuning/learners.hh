// The two large-margin alternatives to MERT, on the same merged n-best lists.
#pragma once

#include <cstdint>
#include <vector>

#include "tuning/mert.hh"
#include "tuning/pool.hh"

namespace treeglot::tuning {

struct MiraOptions {
  double c = 0.01;       // the largest step
  double decay = 0.999;  // of the pseudo-corpus, for each sentence
  int epochs = 60;
  bool safe_hope = true;  // scale the model down where it drowns the metric in the choice of the hope
};

// n-best batch MIRA (Cherry & Foster 2012), as kbmira: hope and fear against a decaying pseudo-corpus of hopes, the
// score scaled by the reference length. Of the running averages after each epoch, the one with the best score on the
// lists.
Optimum mira(const Pool& pool, const Space& space, const std::vector<double>& start, std::uint64_t seed,
             const MiraOptions& options);

struct ProOptions {
  int samples = 5000;       // pairs drawn for each sentence (Gamma)
  int kept = 50;            // of them, the most different (Xi)
  double threshold = 0.05;  // the least difference of a sentence's score, for BLEU BLEU+1 (alpha)
  double l2 = 1.0;          // strength of the penalty l2 / 2 * |w|^2 against the summed loss
};

struct ProResult {
  std::vector<double> weights;
  std::size_t pairs = 0;
};

// Pairwise ranking optimisation (Hopkins & May 2011): logistic regression on feature differences of sampled pairs.
ProResult pro(const Pool& pool, const Space& space, const std::vector<double>& start, std::uint64_t seed,
              const ProOptions& options);

// The weights that minimise sum_i log(1 + exp(-(w.x_i + offset_i))) + l2 / 2 * |w|^2, by Newton's method with
// halved steps; rows holds the x_i one after the other, offsets.size() of them. The optimum is unique, so the result
// does not depend on a step-size schedule or on the order of the rows beyond rounding.
std::vector<double> logistic_regression(const std::vector<double>& rows, const std::vector<double>& offsets,
                                        std::size_t features, double l2);

}  // namespace treeglot::tuning
