#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuning/learners.hh"
#include "tuning/random.hh"

namespace treeglot::tuning {

namespace {

constexpr double kGainRatio = 5;  // the model must outweigh the metric this often before the hope is protected

// A decaying memory of hopes: gives the score of one sentence a corpus to stand in.
struct PseudoCorpus {
  explicit PseudoCorpus(const Metric& metric) : metric(metric), totals(metric.counts(), 1.0), with(metric.counts()) {}

  // The score with a sentence, in words of references.
  double score(const std::int32_t* sentence) {
    for (std::size_t i = 0; i < with.size(); ++i) with[i] = totals[i] + sentence[i];
    return metric.partial(with.data(), 0) * metric.reference(with.data());
  }
  void remember(const std::int32_t* sentence, double decay) {
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = totals[i] * decay + sentence[i];
  }

  const Metric& metric;
  Totals totals, with;
};

}  // namespace

Optimum mira(const Pool& pool, const Space& space, const std::vector<double>& start, std::uint64_t seed,
             const MiraOptions& options) {
  Random random(seed);
  std::size_t features = pool.features();
  std::vector<double> weights = start, sum(features, 0.0), average(features), difference(features), scores, gains;
  for (std::size_t f = 0; f < features; ++f) {
    if (space.free[f]) weights[f] = space.clamp(f, weights[f]);
  }
  Optimum best{weights, pool.best_score(weights.data())};
  PseudoCorpus corpus(pool.metric());
  std::vector<std::size_t> order(pool.sentences());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double ticks = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    random.shuffle(order);
    for (std::size_t s : order) {
      std::size_t count = pool.size(s);
      if (count == 0) continue;
      scores.resize(count);
      gains.resize(count);
      pool.score(s, weights.data(), scores.data());
      for (std::size_t h = 0; h < count; ++h) gains[h] = corpus.score(pool.counts(s, h));
      std::size_t hope = 0, fear = 0;
      for (std::size_t h = 1; h < count; ++h) {
        if (scores[h] + gains[h] > scores[hope] + gains[hope]) hope = h;
        if (scores[h] - gains[h] > scores[fear] - gains[fear]) fear = h;
      }
      double model = std::abs(scores[hope]);
      if (options.safe_hope && model > 1e-8 && gains[hope] > 0 && kGainRatio * gains[hope] < model) {
        double scale = kGainRatio * gains[hope] / model;
        hope = 0;
        for (std::size_t h = 1; h < count; ++h) {
          if (scale * scores[h] + gains[h] > scale * scores[hope] + gains[hope]) hope = h;
        }
      }
      double delta = gains[hope] - gains[fear];
      double loss = delta - (scores[hope] - scores[fear]);
      if (delta > 1e-8 && loss > 0) {
        double norm = 0;
        for (std::size_t f = 0; f < features; ++f) {
          difference[f] = space.free[f] ? pool.column(s, f)[hope] - pool.column(s, f)[fear] : 0;
          norm += difference[f] * difference[f];
        }
        if (norm > 0) {
          double step = std::min(options.c, loss / norm);
          for (std::size_t f = 0; f < features; ++f) {
            if (space.free[f]) weights[f] = space.clamp(f, weights[f] + step * difference[f]);
          }
        }
      }
      corpus.remember(pool.counts(s, hope), options.decay);
      for (std::size_t f = 0; f < features; ++f) sum[f] += weights[f];
      ++ticks;
    }
    if (ticks == 0) break;
    for (std::size_t f = 0; f < features; ++f) {  // a mean of bounds is a bound but for rounding
      average[f] = space.free[f] ? space.clamp(f, sum[f] / ticks) : weights[f];
    }
    double score = pool.best_score(average.data());
    if (score > best.score) best = {average, score};
  }
  return best;
}

}  // namespace treeglot::tuning
