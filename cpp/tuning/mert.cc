#include "tuning/mert.hh"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "tuning/random.hh"

namespace treeglot::tuning {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGain = 1e-7;  // BLEU points that count as better

double crossing(const double* slope, const double* intercept, std::uint32_t left, std::uint32_t right) {
  return (intercept[left] - intercept[right]) / (slope[right] - slope[left]);
}

}  // namespace

const std::vector<Breakpoint>& Envelope::operator()(const double* slope, const double* intercept, std::size_t count) {
  result_.clear();
  if (count == 0) return result_;
  // The winners far to the left and far to the right.
  std::uint32_t left = 0, right = 0;
  for (std::uint32_t h = 1; h < count; ++h) {
    if (slope[h] < slope[left] || (slope[h] == slope[left] && intercept[h] > intercept[left])) left = h;
    if (slope[h] > slope[right] || (slope[h] == slope[right] && intercept[h] > intercept[right])) right = h;
  }
  result_.push_back({-kInfinity, left});
  if (slope[left] == slope[right]) return result_;

  // Keeps of [begin, end) the lines between two winners that rise above their crossing, in the same order.
  auto rises = [&](std::uint32_t h, std::uint32_t l, std::uint32_t r, double x, double y) {
    return slope[h] > slope[l] && slope[h] < slope[r] && intercept[h] + x * slope[h] > y;
  };
  auto height = [&](std::uint32_t l, std::uint32_t r, double x) {
    return std::max(intercept[l] + x * slope[l], intercept[r] + x * slope[r]);
  };
  candidates_.clear();
  {
    double x = crossing(slope, intercept, left, right), y = height(left, right, x);
    for (std::uint32_t h = 0; h < count; ++h) {
      if (intercept[h] + x * slope[h] > y && rises(h, left, right, x, y)) candidates_.push_back(h);
    }
  }
  stack_.assign(1, {left, right, 0, candidates_.size()});
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
    std::uint32_t middle = candidates_[piece.begin];
    double top = -kInfinity;
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      std::uint32_t h = candidates_[i];
      double value = intercept[h] + x * slope[h];
      bool parallel = slope[h] == slope[middle];  // then rounding at x must not decide
      if (parallel ? intercept[h] > intercept[middle] || top == -kInfinity : value > top) top = value, middle = h;
    }
    // Pieces are worked from the left, so the right half stays below the left half in the buffer and on the stack.
    double xl = crossing(slope, intercept, piece.left, middle), yl = height(piece.left, middle, xl);
    double xr = crossing(slope, intercept, middle, piece.right), yr = height(middle, piece.right, xr);
    scratch_.clear();
    std::size_t kept = piece.begin;
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

Step line_search(const Pool& pool, const double* slope, const double* intercept, double lower, double upper,
                 double narrowest) {
  struct Event {
    double position;
    std::uint32_t sentence, from, to;
  };
  std::vector<Event> events;
  Envelope envelope;
  Totals totals;
  for (std::size_t s = 0; s < pool.sentences(); ++s) {
    std::size_t offset = pool.offset(s);
    if (pool.size(s) == 0) continue;
    const std::vector<Breakpoint>& parts = envelope(slope + offset, intercept + offset, pool.size(s));
    // Everything at or left of the lower bound has happened before the sweep begins.
    std::size_t part = 0;
    while (part + 1 < parts.size() && parts[part + 1].position <= lower) ++part;
    totals.add(pool.statistics(s)[parts[part].hypothesis]);
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
    double begin, end, bleu;
  };
  std::vector<Interval> intervals;
  double begin = lower;
  for (std::size_t i = 0; i <= events.size();) {
    double end = i < events.size() ? events[i].position : upper;
    double score = bleu(totals);
    if (!intervals.empty() && intervals.back().bleu == score) {
      intervals.back().end = end;
    } else {
      intervals.push_back({begin, end, score});
    }
    if (i == events.size()) break;
    for (; i < events.size() && events[i].position == end; ++i) {
      const Statistics* statistics = pool.statistics(events[i].sentence);
      totals.add(statistics[events[i].to]);
      totals.add(statistics[events[i].from], -1);
    }
    begin = end;
  }

  Step step;
  for (const Interval& interval : intervals) {
    if (interval.begin <= 0 && (0 < interval.end || interval.end == upper)) step.current = interval.bleu;
  }
  step.bleu = step.current;
  double width = 0;
  for (const Interval& interval : intervals) {
    double wide = interval.end - interval.begin;
    if (wide < narrowest || interval.bleu < step.bleu + (width > 0 ? 0 : kGain)) continue;
    if (interval.bleu == step.bleu && wide <= width) continue;
    step.bleu = interval.bleu;
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

namespace {

Optimum climb(const Pool& pool, const Space& space, const std::vector<double>& start, std::uint64_t seed,
              const MertOptions& options) {
  Random random(seed);
  std::size_t features = pool.features();
  std::vector<std::size_t> free;
  for (std::size_t f = 0; f < features; ++f) {
    if (space.free[f]) free.push_back(f);
  }
  Optimum best{start, 0};
  for (std::size_t f : free) best.weights[f] = space.clamp(f, best.weights[f]);
  std::vector<double> intercept(pool.size()), slope(pool.size()), direction(features);
  best.bleu = bleu(pool.best(best.weights.data()));
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    for (std::size_t s = 0; s < pool.sentences(); ++s) {
      pool.score(s, best.weights.data(), intercept.data() + pool.offset(s));
    }
    std::vector<int> order;  // a free coordinate, or -1 for a random direction
    for (std::size_t i = 0; i < free.size(); ++i) order.push_back(static_cast<int>(i));
    if (free.size() > 1) order.insert(order.end(), static_cast<std::size_t>(options.random_directions), -1);
    random.shuffle(order);
    double before = best.bleu;
    for (int turn : order) {
      std::fill(direction.begin(), direction.end(), 0.0);
      if (turn >= 0) {
        direction[free[static_cast<std::size_t>(turn)]] = 1;
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
      for (std::size_t s = 0; s < pool.sentences(); ++s) {
        if (turn >= 0) {
          std::copy_n(pool.column(s, free[static_cast<std::size_t>(turn)]), pool.size(s),
                      slope.data() + pool.offset(s));
        } else {
          pool.score(s, direction.data(), slope.data() + pool.offset(s));
        }
      }
      Step step = line_search(pool, slope.data(), intercept.data(), lower, upper, options.narrowest);
      if (step.bleu < best.bleu + kGain || step.size == 0) continue;
      for (std::size_t f : free) {
        best.weights[f] = space.clamp(f, best.weights[f] + step.size * direction[f]);
      }
      for (std::size_t h = 0; h < intercept.size(); ++h) intercept[h] += step.size * slope[h];
      best.bleu = step.bleu;
    }
    if (best.bleu < before + kGain) break;
  }
  best.bleu = bleu(pool.best(best.weights.data()));  // of the weights as they are, free of rounding on the way
  return best;
}

}  // namespace

std::vector<Optimum> mert(const Pool& pool, const Space& space, const std::vector<std::vector<double>>& starts,
                          std::uint64_t seed, const MertOptions& options) {
  std::vector<Optimum> results(starts.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i; (i = next++) < starts.size();) {
      results[i] = climb(pool, space, starts[i], seed + 0x51ed270b2f6c5ull * i, options);
    }
  };
  std::size_t threads = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                            : std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, starts.size());
  std::vector<std::jthread> workers;
  for (std::size_t t = 1; t < threads; ++t) workers.emplace_back(work);
  work();
  workers.clear();
  return results;
}

}  // namespace treeglot::tuning
