// The expected score (Smith & Eisner 2006; Rosti et al. 2011): weights make a distribution over the hypotheses of a
// sentence, softmax of their scores; the objective is the metric of the expected counts of the whole set (BLEU's
// n-grams, TER's edits), its logarithm unless it may be below 0. It is smooth, so that its gradient leads from any
// start to much the same weights, where the scores of single best hypotheses have many small optima. A first
// distribution is soft, later ones are sharper (annealing).
#pragma once

#include <vector>

#include "tuning/mert.hh"
#include "tuning/pool.hh"

namespace treeglot::tuning {

struct ExpectedOptions {
  double perplexity = 5;  // of the first distribution, in hypotheses a sentence
  int levels = 3;         // distributions, each twice as sharp as the one before
  double l2 = 1e-5;       // penalty on the squared way from a level's start, in standard deviations of the features
  int steps = 15;         // at most, at each level
  int threads = 0;        // 0: all cores; the result does not depend on it
};

struct Expected {
  double value = 0;              // of the expected counts
  std::vector<double> gradient;  // with respect to the weights; empty if it was not asked for
};

// The objective at some weights. `perplexity`, if given, is set to that of the distribution, a geometric mean over
// sentences.
Expected expected(const Pool& pool, const std::vector<double>& weights, bool with_gradient, int threads = 0,
                  double* perplexity = nullptr);

// Climbs from `start`. The weights have the scale of the start's fixed ones;
Optimum maximise_expected(const Pool& pool, const Space& space, const std::vector<double>& start,
                          const ExpectedOptions& options);

}  // namespace treeglot::tuning
