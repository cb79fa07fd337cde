#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuning/learners.hh"
#include "tuning/random.hh"

namespace treeglot::tuning {

namespace {

constexpr double kBleuRatio = 5;  // the model must outweigh BLEU this often before the hope is protected

// A decaying memory of hopes: gives the BLEU of one sentence a corpus to stand in.
struct PseudoCorpus {
  double correct[kOrder], total[kOrder], reference = 1;

  PseudoCorpus() { std::fill_n(correct, kOrder, 1.0), std::fill_n(total, kOrder, 1.0); }

  double bleu(const Statistics& sentence) const {
    double product = 1;
    for (int n = 0; n < kOrder; ++n) product *= (correct[n] + sentence.correct[n]) / (total[n] + sentence.total(n));
    double length = reference + sentence.reference, shortfall = 1.0 - length / (total[0] + sentence.length);
    double score = std::sqrt(std::sqrt(product)) * length;
    return shortfall < 0 ? score * std::exp(shortfall) : score;
  }

  void remember(const Statistics& sentence, double decay) {
    for (int n = 0; n < kOrder; ++n) {
      correct[n] = correct[n] * decay + sentence.correct[n];
      total[n] = total[n] * decay + sentence.total(n);
    }
    reference = reference * decay + sentence.reference;
  }
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
  Optimum best{weights, bleu(pool.best(weights.data()))};
  PseudoCorpus corpus;
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
      const Statistics* statistics = pool.statistics(s);
      for (std::size_t h = 0; h < count; ++h) gains[h] = corpus.bleu(statistics[h]);
      std::size_t hope = 0, fear = 0;
      for (std::size_t h = 1; h < count; ++h) {
        if (scores[h] + gains[h] > scores[hope] + gains[hope]) hope = h;
        if (scores[h] - gains[h] > scores[fear] - gains[fear]) fear = h;
      }
      double model = std::abs(scores[hope]);
      if (options.safe_hope && model > 1e-8 && kBleuRatio * gains[hope] < model) {
        double scale = kBleuRatio * gains[hope] / model;
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
      corpus.remember(statistics[hope], options.decay);
      for (std::size_t f = 0; f < features; ++f) sum[f] += weights[f];
      ++ticks;
    }
    if (ticks == 0) break;
    for (std::size_t f = 0; f < features; ++f) average[f] = space.free[f] ? sum[f] / ticks : weights[f];
    double score = bleu(pool.best(average.data()));
    if (score > best.bleu) best = {average, score};
  }
  return best;
}

}  // namespace treeglot::tuning
