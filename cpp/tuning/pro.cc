#include <algorithm>
#include <cmath>

#include "tuning/learners.hh"
#include "tuning/random.hh"

namespace treeglot::tuning {

namespace {

// Solves a * x = b for a symmetric positive definite matrix (row-major, lower triangle used), in place.
void solve(std::vector<double>& a, std::vector<double>& b) {
  std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

double log1p_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

}  // namespace

std::vector<double> logistic_regression(const std::vector<double>& rows, const std::vector<double>& offsets,
                                        std::size_t features, double l2) {
  std::size_t count = offsets.size();
  std::vector<double> weights(features, 0.0), trial(features), gradient(features), hessian(features * features);
  auto margin = [&](const std::vector<double>& w, std::size_t i) {
    double sum = offsets[i];
    for (std::size_t f = 0; f < features; ++f) sum += w[f] * rows[i * features + f];
    return sum;
  };
  auto loss = [&](const std::vector<double>& w) {
    double sum = 0;
    for (double weight : w) sum += 0.5 * l2 * weight * weight;
    for (std::size_t i = 0; i < count; ++i) sum += log1p_exp(-margin(w, i));
    return sum;
  };
  double current = loss(weights);
  for (int iteration = 0; iteration < 100; ++iteration) {
    std::fill(hessian.begin(), hessian.end(), 0.0);
    for (std::size_t f = 0; f < features; ++f) gradient[f] = l2 * weights[f], hessian[f * features + f] = l2;
    for (std::size_t i = 0; i < count; ++i) {
      double wrong = 1.0 / (1.0 + std::exp(margin(weights, i)));
      double curve = wrong * (1.0 - wrong);
      const double* row = rows.data() + i * features;
      for (std::size_t f = 0; f < features; ++f) {
        gradient[f] -= wrong * row[f];
        for (std::size_t g = 0; g <= f; ++g) hessian[f * features + g] += curve * row[f] * row[g];
      }
    }
    std::vector<double> step = gradient;
    solve(hessian, step);
    double slope = 0;
    for (std::size_t f = 0; f < features; ++f) slope += gradient[f] * step[f];
    if (!(slope > 1e-12 * (1 + current))) break;
    double size = 1, value = 0;
    for (; size > 1e-10; size /= 2) {
      for (std::size_t f = 0; f < features; ++f) trial[f] = weights[f] - size * step[f];
      value = loss(trial);
      if (value <= current - 1e-4 * size * slope) break;
    }
    if (size <= 1e-10) break;
    weights = trial;
    current = value;
  }
  return weights;
}

ProResult pro(const Pool& pool, const Space& space, const std::vector<double>& start, std::uint64_t seed,
              const ProOptions& options) {
  struct Pair {
    double difference;
    std::uint32_t better, worse;
  };
  Random random(seed);
  std::vector<std::size_t> free;
  for (std::size_t f = 0; f < pool.features(); ++f) {
    if (space.free[f]) free.push_back(f);
  }
  std::vector<double> rows, offsets, scores;
  std::vector<Pair> pairs;
  for (std::size_t s = 0; s < pool.sentences(); ++s) {
    std::size_t count = pool.size(s);
    if (count < 2) continue;
    scores.resize(count);
    for (std::size_t h = 0; h < count; ++h) scores[h] = pool.metric().sentence(pool.counts(s, h));
    pairs.clear();
    for (int sample = 0; sample < options.samples; ++sample) {
      auto a = static_cast<std::uint32_t>(random.below(count)), b = static_cast<std::uint32_t>(random.below(count));
      if (scores[a] < scores[b]) std::swap(a, b);
      if (scores[a] - scores[b] >= options.threshold) pairs.push_back({scores[a] - scores[b], a, b});
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.difference > b.difference; });
    if (pairs.size() > static_cast<std::size_t>(options.kept)) pairs.resize(static_cast<std::size_t>(options.kept));
    for (const Pair& pair : pairs) {
      double offset = 0;
      for (std::size_t f = 0; f < pool.features(); ++f) {
        const double* values = pool.column(s, f);
        double difference = values[pair.better] - values[pair.worse];
        if (space.free[f]) {
          rows.push_back(difference);
        } else {
          offset += start[f] * difference;
        }
      }
      offsets.push_back(offset);
    }
  }
  ProResult result{start, offsets.size()};
  if (offsets.empty()) return result;
  std::vector<double> learned = logistic_regression(rows, offsets, free.size(), options.l2);
  for (std::size_t i = 0; i < free.size(); ++i) result.weights[free[i]] = space.clamp(free[i], learned[i]);
  return result;
}

}  // namespace treeglot::tuning
