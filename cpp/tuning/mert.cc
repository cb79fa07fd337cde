#include "tuning/mert.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.hh"
#include "tuning/random.hh"

namespace treeglot::tuning {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGain = 1e-7;  // points that count as better

double crossing(const double* slope, const double* intercept, std::uint32_t left, std::uint32_t right) {
  return (intercept[left] - intercept[right]) / (slope[right] - slope[left]);
}

// The winner far to one side: the lowest (sign 1) or highest (sign -1) slope, of equal ones the highest intercept.
std::uint32_t extreme(const double* slope, const double* intercept, std::size_t count, double sign) {
  std::uint32_t best = 0;
  for (std::uint32_t h = 1; h < count; ++h) {
    double difference = sign * (slope[h] - slope[best]);
    if (difference < 0 || (difference == 0 && intercept[h] > intercept[best])) best = h;
  }
  return best;
}

std::uint32_t highest(const double* intercept, std::size_t count) {
  return static_cast<std::uint32_t>(std::max_element(intercept, intercept + count) - intercept);
}

}  // namespace

const std::vector<Breakpoint>& Envelope::operator()(const double* slope, const double* intercept, std::size_t count) {
  result_.clear();
  if (count == 0) return result_;
  return (*this)(slope, intercept, count, extreme(slope, intercept, count, 1), highest(intercept, count),
                 extreme(slope, intercept, count, -1));
}

const std::vector<Breakpoint>& Envelope::operator()(const double* slope, const double* intercept, std::size_t count,
                                                    std::uint32_t left, std::uint32_t middle, std::uint32_t right) {
  result_.clear();
  result_.push_back({-kInfinity, left});
  if (slope[left] == slope[right]) return result_;

  // Whether a line between two winners rises above their crossing.
  auto rises = [&](std::uint32_t h, std::uint32_t l, std::uint32_t r, double x, double y) {
    return slope[h] > slope[l] && slope[h] < slope[r] && intercept[h] + x * slope[h] > y;
  };
  auto height = [&](std::uint32_t l, std::uint32_t r, double x) {
    return std::max(intercept[l] + x * slope[l], intercept[r] + x * slope[r]);
  };
  // The tent of the three known winners; the middle one may be one of the others.
  double split = slope[middle];
  double xl = 0, yl = kInfinity, xr = 0, yr = kInfinity;
  if (slope[left] < split) xl = crossing(slope, intercept, left, middle), yl = height(left, middle, xl);
  if (split < slope[right]) xr = crossing(slope, intercept, middle, right), yr = height(middle, right, xr);
  candidates_.clear();
  scratch_.clear();
  for (std::uint32_t h = 0; h < count; ++h) {
    bool before = slope[h] < split;
    if (intercept[h] + (before ? xl : xr) * slope[h] > (before ? yl : yr)) {
      if (before ? rises(h, left, middle, xl, yl) : rises(h, middle, right, xr, yr)) {
        (before ? scratch_ : candidates_).push_back(h);
      }
    }
  }
  // Pieces are worked from the left, so what belongs to the right stays below in the buffer and on the stack.
  stack_.clear();
  std::size_t kept = candidates_.size();
  candidates_.insert(candidates_.end(), scratch_.begin(), scratch_.end());
  if (split < slope[right]) stack_.push_back({middle, right, 0, kept});
  if (slope[left] < split) stack_.push_back({left, middle, kept, candidates_.size()});
  while (!stack_.empty()) {
    Piece piece = stack_.back();
    stack_.pop_back();
    double x = crossing(slope, intercept, piece.left, piece.right);
    if (piece.begin == piece.end) {
      // Rounding must not turn the order of the breakpoints around.
      result_.push_back({std::max(x, result_.back().position), piece.right});
      candidates_.resize(piece.begin);
      continue;
    }
    middle = candidates_[piece.begin];
    double top = -kInfinity;
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      std::uint32_t h = candidates_[i];
      double value = intercept[h] + x * slope[h];
      bool parallel = slope[h] == slope[middle];  // then rounding at x must not decide
      if (parallel ? intercept[h] > intercept[middle] || top == -kInfinity : value > top) top = value, middle = h;
    }
    xl = crossing(slope, intercept, piece.left, middle), yl = height(piece.left, middle, xl);
    xr = crossing(slope, intercept, middle, piece.right), yr = height(middle, piece.right, xr);
    scratch_.clear();
    kept = piece.begin;
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      std::uint32_t h = candidates_[i];
      if (slope[h] < slope[middle]) {
        if (rises(h, piece.left, middle, xl, yl)) scratch_.push_back(h);
      } else if (rises(h, middle, piece.right, xr, yr)) {
        candidates_[kept++] = h;
      }
    }
    candidates_.resize(kept);
    candidates_.insert(candidates_.end(), scratch_.begin(), scratch_.end());
    stack_.push_back({middle, piece.right, piece.begin, kept});
    stack_.push_back({piece.left, middle, kept, candidates_.size()});
  }
  return result_;
}

namespace {

// `envelope_of(sentence)` gives the envelope of a sentence's lines.
template <class EnvelopeOf>
Step search_line(const Pool& pool, double lower, double upper, double narrowest, EnvelopeOf envelope_of) {
  struct Event {
    double position;
    std::uint32_t sentence, from, to;
  };
  std::vector<Event> events;
  Totals totals(pool.metric().counts(), 0.0);
  for (std::size_t s = 0; s < pool.sentences(); ++s) {
    if (pool.size(s) == 0) continue;
    const std::vector<Breakpoint>& parts = envelope_of(s);
    // Everything at or left of the lower bound has happened before the sweep begins.
    std::size_t part = 0;
    while (part + 1 < parts.size() && parts[part + 1].position <= lower) ++part;
    add(totals, pool.counts(s, parts[part].hypothesis));
    for (; part + 1 < parts.size() && parts[part + 1].position < upper; ++part) {
      std::uint32_t from = parts[part].hypothesis, to = parts[part + 1].hypothesis;
      events.push_back({parts[part + 1].position, static_cast<std::uint32_t>(s), from, to});
    }
  }
  // A sentence's events are in order already; its number decides between equal positions, so the order is complete
  // but for several events of one sentence at one place, which the stable sort keeps.
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.position < b.position; });

  struct Interval {
    double begin, end, score;
  };
  std::vector<Interval> intervals;
  double begin = lower;
  for (std::size_t i = 0; i <= events.size();) {
    double end = i < events.size() ? events[i].position : upper;
    double score = pool.metric().score(totals);
    if (!intervals.empty() && intervals.back().score == score) {
      intervals.back().end = end;
    } else {
      intervals.push_back({begin, end, score});
    }
    if (i == events.size()) break;
    for (; i < events.size() && events[i].position == end; ++i) {
      add(totals, pool.counts(events[i].sentence, events[i].to));
      add(totals, pool.counts(events[i].sentence, events[i].from), -1.0);
    }
    begin = end;
  }

  Step step;
  for (const Interval& interval : intervals) {
    if (interval.begin <= 0 && (0 < interval.end || interval.end == upper)) step.current = interval.score;
  }
  step.score = step.current;
  double width = 0;
  for (const Interval& interval : intervals) {
    double wide = interval.end - interval.begin;
    if (wide < narrowest || interval.score < step.score + (width > 0 ? 0 : kGain)) continue;
    if (interval.score == step.score && wide <= width) continue;
    step.score = interval.score;
    width = wide;
    if (std::isfinite(wide)) {
      step.size = interval.begin + 0.5 * wide;
    } else if (std::isfinite(interval.begin)) {
      step.size = interval.begin + 0.01 + 0.5 * std::abs(interval.begin);
    } else if (std::isfinite(interval.end)) {
      step.size = interval.end - 0.01 - 0.5 * std::abs(interval.end);
    } else {
      step.size = 0;
    }
  }
  return step;
}

}  // namespace

Step line_search(const Pool& pool, const double* slope, const double* intercept, double lower, double upper,
                 double narrowest) {
  Envelope envelope;
  return search_line(pool, lower, upper, narrowest, [&](std::size_t s) -> const std::vector<Breakpoint>& {
    return envelope(slope + pool.offset(s), intercept + pool.offset(s), pool.size(s));
  });
}

namespace {

// For each sentence and feature the hypotheses with the lowest and with the highest value; both empty if all are equal.
// They are the winners far out along a coordinate, up to the choice among equal values.
class Extremes {
 public:
  explicit Extremes(const Pool& pool) : features_(pool.features()), lists_(pool.sentences() * features_ * 2) {
    for (std::size_t s = 0; s < pool.sentences(); ++s) {
      for (std::size_t f = 0; f < features_ && pool.size(s) > 0; ++f) {
        const double* values = pool.column(s, f);
        auto [low, high] = std::minmax_element(values, values + pool.size(s));
        if (*low == *high) continue;
        for (std::uint32_t h = 0; h < pool.size(s); ++h) {
          if (values[h] == *low) lists_[2 * (s * features_ + f)].push_back(h);
          if (values[h] == *high) lists_[2 * (s * features_ + f) + 1].push_back(h);
        }
      }
    }
  }

  bool flat(std::size_t s, std::size_t f) const { return lists_[2 * (s * features_ + f)].empty(); }
  std::uint32_t low(std::size_t s, std::size_t f, const double* intercept) const { return pick(s, f, 0, intercept); }
  std::uint32_t high(std::size_t s, std::size_t f, const double* intercept) const { return pick(s, f, 1, intercept); }

 private:
  std::uint32_t pick(std::size_t s, std::size_t f, std::size_t side, const double* intercept) const {
    const std::vector<std::uint32_t>& list = lists_[2 * (s * features_ + f) + side];
    return *std::max_element(list.begin(), list.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return intercept[a] < intercept[b]; });
  }

  std::size_t features_;
  std::vector<std::vector<std::uint32_t>> lists_;
};

Optimum climb(const Pool& pool, const Space& space, const Extremes& extremes, const std::vector<double>& start,
              std::uint64_t seed, int sweeps, const MertOptions& options) {
  Random random(seed);
  std::size_t features = pool.features();
  std::vector<std::size_t> free;
  for (std::size_t f = 0; f < features; ++f) {
    if (space.free[f]) free.push_back(f);
  }
  Optimum best{start, 0};
  for (std::size_t f : free) best.weights[f] = space.clamp(f, best.weights[f]);
  std::vector<double> intercept(pool.size()), slope, direction(features);
  std::vector<std::uint32_t> winners(pool.sentences());
  std::vector<Breakpoint> alone(1);
  Envelope envelope;
  auto find_winners = [&] {
    for (std::size_t s = 0; s < pool.sentences(); ++s) {
      if (pool.size(s) > 0) winners[s] = highest(intercept.data() + pool.offset(s), pool.size(s));
    }
  };
  best.score = pool.best_score(best.weights.data());
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t s = 0; s < pool.sentences(); ++s) {
      pool.score(s, best.weights.data(), intercept.data() + pool.offset(s));
    }
    find_winners();
    std::vector<std::size_t> order = free;  // `features` stands for a random direction
    if (free.size() > 1) order.insert(order.end(), static_cast<std::size_t>(options.random_directions), features);
    random.shuffle(order);
    double before = best.score;
    for (std::size_t turn : order) {
      std::fill(direction.begin(), direction.end(), 0.0);
      if (turn < features) {
        direction[turn] = 1;
      } else {
        for (std::size_t f : free) direction[f] = random.normal();
      }
      double lower = -kInfinity, upper = kInfinity;
      for (std::size_t f : free) {
        if (direction[f] == 0) continue;
        double a = (space.lower[f] - best.weights[f]) / direction[f];
        double b = (space.upper[f] - best.weights[f]) / direction[f];
        lower = std::max(lower, std::min(a, b));
        upper = std::min(upper, std::max(a, b));
      }
      if (!(lower < upper)) continue;
      if (turn == features) slope.resize(pool.size());
      auto slopes = [&](std::size_t s) {
        return turn < features ? pool.column(s, turn) : slope.data() + pool.offset(s);
      };
      Step step =
          search_line(pool, lower, upper, options.narrowest, [&](std::size_t s) -> const std::vector<Breakpoint>& {
            const double* heights = intercept.data() + pool.offset(s);
            if (turn == features) {
              pool.score(s, direction.data(), slope.data() + pool.offset(s));
              const double* rates = slopes(s);
              return envelope(rates, heights, pool.size(s), extreme(rates, heights, pool.size(s), 1), winners[s],
                              extreme(rates, heights, pool.size(s), -1));
            }
            if (extremes.flat(s, turn)) {
              alone[0] = {-kInfinity, winners[s]};
              return alone;
            }
            return envelope(slopes(s), heights, pool.size(s), extremes.low(s, turn, heights), winners[s],
                            extremes.high(s, turn, heights));
          });
      if (step.score < best.score + kGain || step.size == 0) continue;
      for (std::size_t f : free) {
        best.weights[f] = space.clamp(f, best.weights[f] + step.size * direction[f]);
      }
      for (std::size_t s = 0; s < pool.sentences(); ++s) {
        double* heights = intercept.data() + pool.offset(s);
        const double* rates = slopes(s);
        for (std::size_t h = 0; h < pool.size(s); ++h) heights[h] += step.size * rates[h];
      }
      find_winners();
      best.score = step.score;
    }
    if (best.score < before + kGain) break;
  }
  best.score = pool.best_score(best.weights.data());  // of the weights as they are, free of rounding on the way
  return best;
}

}  // namespace

std::vector<Optimum> mert(const Pool& pool, const Space& space, const std::vector<std::vector<double>>& starts,
                          std::uint64_t seed, const MertOptions& options) {
  Extremes extremes(pool);
  std::vector<Optimum> results(starts.size());
  auto each = [&](const std::vector<std::size_t>& chosen, auto task) {
    for_each_piece(chosen.size(), options.threads, [&] { return [&](std::size_t i) { task(chosen[i]); }; });
  };
  auto seed_of = [&](std::size_t i, std::uint64_t phase) { return seed + 0x51ed270b2f6c5ull * (2 * i + phase); };
  std::vector<std::size_t> order(starts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  each(order, [&](std::size_t i) {
    results[i] = climb(pool, space, extremes, starts[i], seed_of(i, 0), options.trial_sweeps, options);
  });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return results[a].score > results[b].score; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(options.finalists)));
  each(order, [&](std::size_t i) {
    Optimum further = climb(pool, space, extremes, results[i].weights, seed_of(i, 1), options.sweeps, options);
    if (further.score > results[i].score) results[i] = further;
  });
  return results;
}

}  // namespace treeglot::tuning
