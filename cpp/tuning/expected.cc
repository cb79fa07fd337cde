#include "tuning/expected.hh"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "base/parallel.hh"

namespace treeglot::tuning {
namespace {

constexpr std::size_t kBlock = 32;   // sentences whose sums are made together, whatever the number of threads
constexpr double kSmoothing = 0.01;  // added to expected counts: there may be no n-gram in common at all
constexpr std::size_t kMemory = 10;  // steps that the curvature is estimated from
constexpr double kLeastGain = 1e-6;  // of the objective in a step; less ends a level
constexpr double kNegligible = -30;  // hypotheses whose score is so far below the best of their sentence are left out
constexpr double kLikely = 1e-5;     // probability of hypotheses that the curvature is estimated from
constexpr double kRidge = 0.01;      // added to its diagonal, as a part of the mean there
constexpr double kMargin =
    15;  // a level works on the hypotheses whose score is at most so far below the best of their sentence
constexpr int kParts = 4;          // climbs of a level, each with the hypotheses that have come to count
constexpr std::size_t kFew = 200;  // a part of the hypotheses so small does not matter
constexpr double kLowestScale = -30, kHighestScale = 30;  // powers of two between which the first scale is looked for

// Hypotheses of a pool side by side: all, or those that count at some weights.
class Lists {
 public:
  explicit Lists(const Pool& pool) : pool_(pool), offsets_(pool.sentences() + 1, 0), kept_(pool.sentences()) {}

  // Adds the hypotheses whose score is at most `margin` below the best of their sentence; those that are there stay.
  // `scores` is of the whole pool. Returns how many came.
  std::size_t widen(const std::vector<double>& scores, double margin) {
    std::size_t before = offsets_.back();
    std::vector<std::uint32_t> merged;
    for (std::size_t s = 0; s < kept_.size(); ++s) {
      const std::size_t count = pool_.size(s);
      const double* of = scores.data() + pool_.offset(s);
      if (count > 0) {
        const double least = *std::max_element(of, of + count) - margin;
        merged.clear();
        auto old = kept_[s].begin();
        for (std::uint32_t h = 0; h < count; ++h) {
          const bool there = old != kept_[s].end() && *old == h;
          if (there) ++old;
          if (there || of[h] >= least) merged.push_back(h);
        }
        kept_[s] = merged;
      }
      offsets_[s + 1] = offsets_[s] + kept_[s].size();
    }
    if (offsets_.back() != before) copy();
    return offsets_.back() - before;
  }

  const Metric& metric() const { return pool_.metric(); }
  std::size_t features() const { return pool_.features(); }
  std::size_t sentences() const { return kept_.size(); }
  std::size_t size() const { return offsets_.back(); }
  std::size_t size(std::size_t sentence) const { return kept_[sentence].size(); }
  std::size_t offset(std::size_t sentence) const { return offsets_[sentence]; }
  const double* column(std::size_t sentence, std::size_t feature) const {
    return values_.data() + offsets_[sentence] * features() + feature * kept_[sentence].size();
  }
  const std::int32_t* counts(std::size_t sentence, std::size_t k) const {
    return counts_.data() + (offsets_[sentence] + k) * metric().counts();
  }

 private:
  void copy() {
    const std::size_t width = metric().counts();
    values_.resize(size() * features());
    counts_.resize(size() * width);
    for (std::size_t s = 0; s < kept_.size(); ++s) {
      double* value = values_.data() + offsets_[s] * features();
      for (std::size_t f = 0; f < features(); ++f) {
        if (kept_[s].empty()) continue;
        const double* from = pool_.column(s, f);
        for (std::uint32_t h : kept_[s]) *value++ = from[h];
      }
      std::int32_t* count = counts_.data() + offsets_[s] * width;
      for (std::uint32_t h : kept_[s]) count = std::copy_n(pool_.counts(s, h), width, count);
    }
  }

  const Pool& pool_;
  std::vector<std::size_t> offsets_;
  std::vector<std::vector<std::uint32_t>> kept_;  // ascending
  std::vector<double> values_;                    // of each sentence, feature after feature
  std::vector<std::int32_t> counts_;
};

// Evaluates the objective; keeps its buffers.
class Objective {
 public:
  Objective(const Lists& lists, int threads)
      : lists_(lists),
        threads_(threads),
        blocks_((lists.sentences() + kBlock - 1) / kBlock),
        count_(lists.sentences(), 0) {}

  double operator()(const std::vector<double>& weights, std::vector<double>* gradient, double* perplexity = nullptr) {
    const Metric& metric = lists_.metric();
    live_.resize(lists_.size());
    p_.resize(lists_.size());
    worth_.resize(lists_.size());
    std::vector<Totals> sums(blocks_, Totals(metric.counts(), 0.0));
    std::vector<double> entropies(blocks_, 0.0);
    for_each_block([&](std::size_t block, std::size_t s) {
      const std::size_t offset = lists_.offset(s);
      double *scores = worth_.data() + offset, *p = p_.data() + offset;
      std::uint32_t* live = live_.data() + offset;
      const std::size_t size = lists_.size(s);
      add_columns(s, weights, scores);
      const double highest = *std::max_element(scores, scores + size);
      double sum = 0, energy = 0;
      std::size_t count = 0;
      for (std::size_t h = 0; h < size; ++h) {
        const double score = scores[h] - highest;
        if (score < kNegligible) continue;
        live[count] = static_cast<std::uint32_t>(h);
        p[count] = std::exp(score);
        sum += p[count];
        energy += p[count++] * score;
      }
      count_[s] = count;
      entropies[block] += std::log(sum) - energy / sum;
      for (std::size_t k = 0; k < count; ++k) {
        p[k] /= sum;
        add(sums[block], lists_.counts(s, live[k]), p[k]);
      }
    });
    Totals expected(metric.counts(), 0.0);
    for (const Totals& sum : sums) {
      for (std::size_t i = 0; i < sum.size(); ++i) expected[i] += sum[i];
    }
    if (perplexity) {
      std::size_t filled = 0;
      for (std::size_t s = 0; s < lists_.sentences(); ++s) filled += lists_.size(s) > 0;
      const double entropy = std::accumulate(entropies.begin(), entropies.end(), 0.0);
      *perplexity = std::exp(entropy / static_cast<double>(std::max<std::size_t>(filled, 1)));
    }
    worths_.resize(gradient ? metric.counts() : 0);
    const double score = metric.partial(expected.data(), kSmoothing, gradient ? worths_.data() : nullptr);
    if (metric.positive()) {
      for (double& worth : worths_) worth /= score;
    }
    if (gradient) find_gradient(*gradient);
    return metric.positive() ? std::log(score) : score;
  }

  // The mean covariance of some features under the distribution of the last evaluation, which had no gradient: a square
  // matrix, row after row.
  std::vector<double> covariance(const std::vector<std::size_t>& features) {
    const std::size_t n = features.size();
    std::vector<double> result(n * n, 0.0);
    std::vector<std::vector<double>> sums(blocks_);
    for_each_block([&](std::size_t block, std::size_t s) {
      std::vector<double>& sum = sums[block];
      if (sum.empty()) sum.assign(n * n, 0.0);
      const double* p = p_.data() + lists_.offset(s);
      const std::uint32_t* live = live_.data() + lists_.offset(s);
      std::vector<double> mean(n, 0.0), away(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double* values = lists_.column(s, features[i]);
        for (std::size_t k = 0; k < count_[s]; ++k) mean[i] += p[k] * values[live[k]];
      }
      for (std::size_t k = 0; k < count_[s]; ++k) {
        if (p[k] < kLikely) continue;
        for (std::size_t i = 0; i < n; ++i) away[i] = lists_.column(s, features[i])[live[k]] - mean[i];
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j <= i; ++j) sum[i * n + j] += p[k] * away[i] * away[j];
        }
      }
    });
    for (const std::vector<double>& sum : sums) {
      for (std::size_t i = 0; i < sum.size(); ++i) result[i] += sum[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        result[j * n + i] = result[i * n + j] /= static_cast<double>(lists_.sentences());
      }
    }
    return result;
  }

 private:
  void add_columns(std::size_t s, const std::vector<double>& weights, double* scores) const {
    const std::size_t size = lists_.size(s);
    std::fill_n(scores, size, 0.0);
    for (std::size_t f = 0; f < weights.size(); ++f) {
      const double weight = weights[f];
      if (weight == 0) continue;
      const double* values = lists_.column(s, f);
      for (std::size_t h = 0; h < size; ++h) scores[h] += weight * values[h];
    }
  }
  template <class Work>
  void for_each_block(Work&& work) {
    for_each_piece(blocks_, threads_, [&] {
      return [&](std::size_t block) {
        const std::size_t end = std::min(lists_.sentences(), (block + 1) * kBlock);
        for (std::size_t s = block * kBlock; s < end; ++s) {
          if (lists_.size(s) > 0) work(block, s);
        }
      };
    });
  }

  // From the worth of a little more of each count.
  void find_gradient(std::vector<double>& gradient) {
    const std::size_t features = lists_.features();
    std::vector<double> sums(blocks_ * features, 0.0);
    for_each_block([&](std::size_t block, std::size_t s) {
      const std::size_t count = count_[s];
      double *worth = worth_.data() + lists_.offset(s), *p = p_.data() + lists_.offset(s);
      const std::uint32_t* live = live_.data() + lists_.offset(s);
      double mean = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t* counts = lists_.counts(s, live[k]);
        worth[k] = std::inner_product(worths_.begin(), worths_.end(), counts, 0.0);
        mean += p[k] * worth[k];
      }
      for (std::size_t k = 0; k < count; ++k) p[k] *= worth[k] - mean;
      for (std::size_t f = 0; f < features; ++f) {
        const double* values = lists_.column(s, f);
        double sum = 0;
        for (std::size_t k = 0; k < count; ++k) sum += p[k] * values[live[k]];
        sums[block * features + f] += sum;
      }
    });
    gradient.assign(features, 0.0);
    for (std::size_t block = 0; block < blocks_; ++block) {
      for (std::size_t f = 0; f < features; ++f) gradient[f] += sums[block * features + f];
    }
  }

  const Lists& lists_;
  const int threads_;
  const std::size_t blocks_;
  // Of each sentence, the hypotheses that are not negligible, side by side: their numbers, probabilities and worths.
  std::vector<std::uint32_t> live_;
  std::vector<std::size_t> count_;
  std::vector<double> p_, worth_;
  std::vector<double> worths_;  // of a little more of each count
};

// How much the hypotheses of a sentence differ in each feature, on average: standard deviations.
std::vector<double> spreads(const Pool& pool) {
  std::vector<double> result(pool.features(), 0.0);
  std::size_t filled = 0;
  for (std::size_t s = 0; s < pool.sentences(); ++s) {
    const std::size_t count = pool.size(s);
    if (count == 0) continue;
    ++filled;
    for (std::size_t f = 0; f < pool.features(); ++f) {
      const double* values = pool.column(s, f);
      const double mean = std::accumulate(values, values + count, 0.0) / static_cast<double>(count);
      double squares = 0;
      for (std::size_t h = 0; h < count; ++h) squares += (values[h] - mean) * (values[h] - mean);
      result[f] += squares / static_cast<double>(count);
    }
  }
  for (double& value : result) value = std::sqrt(value / static_cast<double>(std::max<std::size_t>(filled, 1)));
  return result;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// A symmetric positive definite matrix, made so by more on its diagonal; multiplies by its inverse.
class Inverse {
 public:
  Inverse(std::vector<double> matrix, std::size_t n) : n_(n), factor_(std::move(matrix)) {
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += factor_[i * n + i];
    const double more = trace > 0 ? kRidge * trace / static_cast<double>(n) : 1.0;
    for (std::size_t i = 0; i < n; ++i) {  // Cholesky
      factor_[i * n + i] += more;
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = factor_[i * n + j];
        for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * n + k] * factor_[j * n + k];
        factor_[i * n + j] = i == j ? std::sqrt(std::max(sum, more)) : sum / factor_[j * n + j];
      }
    }
  }
  void apply(std::vector<double>& x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= factor_[i * n_ + k] * x[k];
      x[i] /= factor_[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) x[i] -= factor_[k * n_ + i] * x[k];
      x[i] /= factor_[i * n_ + i];
    }
  }

 private:
  std::size_t n_;
  std::vector<double> factor_;  // lower triangle
};

// Limited-memory BFGS (Nocedal 1980) within bounds: what is at a bound and pushes outwards stays there. `curvature` is
// the first estimate, but for its scale.
class Climb {
 public:
  Climb(std::vector<double> lower, std::vector<double> upper, Inverse curvature)
      : lower_(std::move(lower)), upper_(std::move(upper)), curvature_(std::move(curvature)) {}

  // `value(point, gradient)`; the point is moved to a place where no step brings more than kLeastGain.
  template <class Value>
  void run(std::vector<double>& point, int steps, Value&& value) {
    std::vector<double> gradient(point.size()), next(point.size()), next_gradient(point.size());
    double current = value(point, gradient);
    memory_.clear();
    for (int step = 0; step < steps; ++step) {
      std::vector<double> direction = improved(point, gradient);
      double slope = dot(direction, gradient);
      if (!(slope > 0)) {  // the estimate of the curvature is of no use here
        memory_.clear();
        direction = free_part(point, gradient);
        slope = dot(direction, gradient);
        if (!(slope > 0)) return;
      }
      // The very first step has no scale of its own.
      double size = memory_.empty() ? std::min(1.0, 1.0 / std::sqrt(dot(direction, direction))) : 1.0;
      double reached = 0;
      bool better = false;
      for (int halving = 0; halving < 30 && !better; ++halving, size /= 2) {
        for (std::size_t i = 0; i < point.size(); ++i) {
          next[i] = std::clamp(point[i] + size * direction[i], lower_[i], upper_[i]);
        }
        reached = value(next, next_gradient);
        better = reached >= current + 1e-4 * size * slope && std::isfinite(reached);
      }
      if (!better) {
        if (memory_.empty()) return;
        memory_.clear();
        continue;
      }
      remember(point, gradient, next, next_gradient);
      const double gain = reached - current;
      point.swap(next);
      gradient.swap(next_gradient);
      current = reached;
      if (gain < kLeastGain) return;
    }
  }

 private:
  struct Change {
    std::vector<double> step, bend;  // bend: by how much the gradient fell
    double product, scale;
  };

  bool stuck(double place, double towards, std::size_t i) const {
    return (place <= lower_[i] && towards < 0) || (place >= upper_[i] && towards > 0);
  }
  std::vector<double> free_part(const std::vector<double>& point, std::vector<double> direction) const {
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (stuck(point[i], direction[i], i)) direction[i] = 0;
    }
    return direction;
  }
  // The gradient times the inverse of the estimated curvature.
  std::vector<double> improved(const std::vector<double>& point, const std::vector<double>& gradient) const {
    std::vector<double> result = free_part(point, gradient), factors(memory_.size());
    for (std::size_t k = memory_.size(); k-- > 0;) {
      factors[k] = dot(memory_[k].step, result) / memory_[k].product;
      for (std::size_t i = 0; i < result.size(); ++i) result[i] -= factors[k] * memory_[k].bend[i];
    }
    result = free_part(point, std::move(result));
    curvature_.apply(result);
    if (!memory_.empty()) {
      for (double& component : result) component *= memory_.back().scale;
    }
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      const double more = factors[k] - dot(memory_[k].bend, result) / memory_[k].product;
      for (std::size_t i = 0; i < result.size(); ++i) result[i] += more * memory_[k].step[i];
    }
    return free_part(point, std::move(result));
  }
  void remember(const std::vector<double>& point, const std::vector<double>& gradient, const std::vector<double>& next,
                const std::vector<double>& next_gradient) {
    Change change{std::vector<double>(point.size()), std::vector<double>(point.size()), 0, 0};
    for (std::size_t i = 0; i < point.size(); ++i) {
      change.step[i] = next[i] - point[i];
      change.bend[i] = gradient[i] - next_gradient[i];
    }
    change.product = dot(change.step, change.bend);
    if (change.product <= 1e-12 * dot(change.bend, change.bend)) return;  // bent the wrong way
    std::vector<double> flat = change.bend;
    curvature_.apply(flat);
    change.scale = change.product / dot(change.bend, flat);
    memory_.push_back(std::move(change));
    if (memory_.size() > kMemory) memory_.pop_front();
  }

  const std::vector<double> lower_, upper_;
  const Inverse curvature_;
  std::deque<Change> memory_;
};

// The scores of all hypotheses of the pool.
std::vector<double> scores_of(const Pool& pool, const std::vector<double>& weights, int threads) {
  std::vector<double> scores(pool.size());
  for_each_piece(pool.sentences(), threads, [&] {
    return [&](std::size_t s) {
      if (pool.size(s) > 0) pool.score(s, weights.data(), scores.data() + pool.offset(s));
    };
  });
  return scores;
}

// Of the distribution that scores times a number make: a geometric mean over sentences.
double perplexity_of(const Pool& pool, const std::vector<double>& scores, double scale, int threads) {
  std::vector<double> entropies(pool.sentences(), 0.0);
  for_each_piece(pool.sentences(), threads, [&] {
    return [&](std::size_t s) {
      const double* of = scores.data() + pool.offset(s);
      const double highest = pool.size(s) ? *std::max_element(of, of + pool.size(s)) : 0;
      double sum = 0, energy = 0;
      for (std::size_t h = 0; h < pool.size(s); ++h) {
        const double score = scale * (of[h] - highest);
        if (score < kNegligible) continue;
        const double p = std::exp(score);
        sum += p;
        energy += p * score;
      }
      if (sum > 0) entropies[s] = std::log(sum) - energy / sum;
    };
  });
  std::size_t filled = 0;
  for (std::size_t s = 0; s < pool.sentences(); ++s) filled += pool.size(s) > 0;
  const double entropy = std::accumulate(entropies.begin(), entropies.end(), 0.0);
  return std::exp(entropy / static_cast<double>(std::max<std::size_t>(filled, 1)));
}

}  // namespace

Expected expected(const Pool& pool, const std::vector<double>& weights, bool with_gradient, int threads,
                  double* perplexity) {
  Expected result;
  Lists lists(pool);
  lists.widen(std::vector<double>(pool.size(), 0.0), 1);  // all
  Objective objective(lists, threads);
  result.value = objective(weights, with_gradient ? &result.gradient : nullptr, perplexity);
  return result;
}

Optimum maximise_expected(const Pool& pool, const Space& space, const std::vector<double>& start,
                          const ExpectedOptions& options) {
  const std::vector<double> spread = spreads(pool);
  std::vector<std::size_t> active;  // features that may change and that tell hypotheses apart
  std::vector<double> weights = start;
  bool nothing = true;
  for (std::size_t f = 0; f < pool.features(); ++f) {
    if (!space.free[f]) continue;
    weights[f] = space.clamp(f, weights[f]);
    if (spread[f] > 0) active.push_back(f);
    nothing = nothing && !(spread[f] > 0 && weights[f] != 0);
  }
  if (active.empty()) return {weights, pool.best_score(weights.data())};
  if (nothing) {  // no direction to begin with: all features alike
    for (std::size_t f : active) weights[f] = space.clamp(f, 1 / spread[f]);
  }
  std::vector<double> scores = scores_of(pool, weights, options.threads);
  // Short lists cannot be spread so far.
  const double wanted = std::min(options.perplexity, 0.5 * (1 + perplexity_of(pool, scores, 0, options.threads)));
  double low = kLowestScale, high = kHighestScale;
  for (int halving = 0; halving < 14; ++halving) {
    const double middle = (low + high) / 2;
    (perplexity_of(pool, scores, std::exp2(middle), options.threads) > wanted ? low : high) = middle;
  }
  double scale = std::exp2(low);
  std::vector<double> scaled(pool.features());
  for (int level = 0; level < options.levels; ++level, scale *= 2) {
    // The point is scaled weights in standard deviations.
    std::vector<double> point, lower, upper;
    for (std::size_t f : active) {
      point.push_back(scale * spread[f] * weights[f]);
      lower.push_back(scale * spread[f] * space.lower[f]);
      upper.push_back(scale * spread[f] * space.upper[f]);
    }
    const std::vector<double> centre = point;
    for (std::size_t f = 0; f < scaled.size(); ++f) scaled[f] = scale * weights[f];
    Lists lists(pool);
    lists.widen(scores_of(pool, scaled, options.threads), kMargin);
    Objective objective(lists, options.threads);
    // A climb sees the hypotheses that counted where it began. If others count where it ends, it goes on with these,
    // too.
    for (int part = 0; part < kParts; ++part) {
      objective(scaled, nullptr);
      std::vector<double> curvature = objective.covariance(active);
      for (std::size_t i = 0; i < active.size(); ++i) {
        for (std::size_t j = 0; j < active.size(); ++j) {
          curvature[i * active.size() + j] /= spread[active[i]] * spread[active[j]];
        }
      }
      std::vector<double> whole;
      Climb climb(lower, upper, Inverse(std::move(curvature), active.size()));
      climb.run(point, options.steps, [&](const auto& place, auto& gradient) {
        for (std::size_t i = 0; i < active.size(); ++i) scaled[active[i]] = place[i] / spread[active[i]];
        double value = objective(scaled, &whole);
        for (std::size_t i = 0; i < active.size(); ++i) {
          const double way = place[i] - centre[i];
          value -= options.l2 * way * way;
          gradient[i] = whole[active[i]] / spread[active[i]] - 2 * options.l2 * way;
        }
        return value;
      });
      for (std::size_t i = 0; i < active.size(); ++i) scaled[active[i]] = point[i] / spread[active[i]];
      const std::size_t before = lists.size();
      if (lists.widen(scores_of(pool, scaled, options.threads), kMargin) * kFew < before) break;
    }
    for (std::size_t i = 0; i < active.size(); ++i) {
      weights[active[i]] = space.clamp(active[i], point[i] / (scale * spread[active[i]]));
    }
  }
  return {weights, pool.best_score(weights.data())};
}

}  // namespace treeglot::tuning
