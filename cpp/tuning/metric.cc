#include "tuning/metric.hh"

#include <algorithm>
#include <cmath>

namespace treeglot::tuning {
namespace {

constexpr double kBeta2 = 4;  // chrF: recall counts twice as much (beta 2)

// BLEU with mteval-v13a's smoothing of precisions that are zero.
double corpus_bleu(const double* correct, const double* total, double length, double reference) {
  if (std::all_of(correct, correct + kOrder, [](double count) { return count == 0; })) return 0;
  double product = 1, smoothing = 1;
  for (int n = 0; n < kOrder; ++n) {
    if (total[n] <= 0) return 0;
    product *= (correct[n] > 0 ? correct[n] : 1 / (smoothing *= 2)) / total[n];
  }
  const double score = std::sqrt(std::sqrt(product));  // kOrder is 4
  return length >= reference ? score : score * std::exp(1 - reference / length);
}

// BLEU+1 (Lin & Och 2004), with the reference length smoothed too, without which pairwise tuning learns to write too
// little (Nakov, Guzmán & Vogel 2012).
double sentence_bleu(const double* correct, const double* total, double length, double reference) {
  if (length == 0) return 0;
  double product = 1;
  for (int n = 0; n < kOrder; ++n) product *= (correct[n] + 1) / (total[n] + 1);
  const double shortfall = 1 - (reference + 1) / length, score = std::sqrt(std::sqrt(product));
  return shortfall < 0 ? score * std::exp(shortfall) : score;
}

// Below, `weight` times the derivatives are added to `gradient`, if it is given.

// `end` is behind the lengths; so is `gradient_end`.
double bleu(const double* correct, const double* end, double more, double weight, double* gradient,
            double* gradient_end) {
  const double *total = correct + kOrder, length = end[-2] + more, reference = end[-1] + more;
  double product = 1;
  for (int n = 0; n < kOrder; ++n) product *= (correct[n] + more) / (total[n] + more);
  double score = std::sqrt(std::sqrt(product));
  const bool is_short = length < reference;
  if (is_short) score *= std::exp(1 - reference / length);
  if (gradient) {
    for (int n = 0; n < kOrder; ++n) {
      gradient[n] += weight * score / kOrder / (correct[n] + more);
      gradient[kOrder + n] -= weight * score / kOrder / (total[n] + more);
    }
    if (is_short) {
      gradient_end[-2] += weight * score * reference / (length * length);
      gradient_end[-1] -= weight * score / length;
    }
  }
  return score;
}

// Precision and recall are means over the orders that both sides have.
double chrf(const double* counts, int orders, double more, double weight = 0, double* gradient = nullptr) {
  auto has = [&](int n) { return counts[3 * n] > 0 && counts[3 * n + 1] > 0; };
  double precision = 0, recall = 0;
  int used = 0;
  for (int n = 0; n < orders; ++n) {
    if (!has(n)) continue;
    precision += (counts[3 * n + 2] + more) / (counts[3 * n] + more);
    recall += (counts[3 * n + 2] + more) / (counts[3 * n + 1] + more);
    ++used;
  }
  const double below = kBeta2 * precision + recall;
  if (!(below > 0)) return 0;
  if (gradient) {
    const double by_precision = weight * (1 + kBeta2) * recall * recall / (below * below) / used;
    const double by_recall = weight * (1 + kBeta2) * kBeta2 * precision * precision / (below * below) / used;
    for (int n = 0; n < orders; ++n) {
      if (!has(n)) continue;
      const double hypothesis = counts[3 * n] + more, reference = counts[3 * n + 1] + more;
      const double common = counts[3 * n + 2] + more;
      gradient[3 * n] -= by_precision * common / (hypothesis * hypothesis);
      gradient[3 * n + 1] -= by_recall * common / (reference * reference);
      gradient[3 * n + 2] += by_precision / hypothesis + by_recall / reference;
    }
  }
  return (1 + kBeta2) * precision * recall / below / used;
}

// 1 - TER; `counts` are edits and the words of all references.
double ter(const double* counts, int references, double more, double weight = 0, double* gradient = nullptr) {
  const double words = counts[1] + more;
  if (!(words > 0)) return counts[0] > 0 ? 0 : 1;
  const double rate = references * counts[0] / words;
  if (gradient) {
    gradient[0] -= weight * references / words;
    gradient[1] += weight * rate / words;
  }
  return 1 - rate;
}

}  // namespace

Metric::Metric(const std::vector<Part>& parts, int references) : columns_(0), counts_(0), references_(references) {
  double sum = 0;
  for (const Part& part : parts) sum += part.weight;
  for (const Part& part : parts) {
    parts_.push_back({part, columns_, counts_});
    parts_.back().weight /= sum;
    const std::size_t own = part.kind == Kind::ter ? 2 : static_cast<std::size_t>(part.orders) * 3;
    columns_ += part.kind == Kind::bleu ? kOrder : own;
    counts_ += part.kind == Kind::bleu ? 2 * kOrder : own;
  }
  columns_ += 2, counts_ += 2;
}

void Metric::expand(const std::int32_t* row, std::int32_t* counts) const {
  const std::int32_t length = row[columns_ - 2];
  for (const Placed& part : parts_) {
    std::int32_t* to = counts + part.count;
    if (part.kind == Kind::bleu) {
      to = std::copy_n(row + part.column, kOrder, to);
      for (int n = 0; n < kOrder; ++n) *to++ = std::max(length - n, 0);
    } else {
      std::copy_n(row + part.column, part.kind == Kind::ter ? 2 : 3 * part.orders, to);
    }
  }
  std::copy_n(row + columns_ - 2, 2, counts + counts_ - 2);
}

template <class Bleu>
double Metric::sum(const double* counts, double more, double* gradient, Bleu bleu_of) const {
  double sum = 0;
  for (const Placed& part : parts_) {
    const double* own = counts + part.count;
    double* slope = gradient ? gradient + part.count : nullptr;
    sum += part.weight * (part.kind == Kind::bleu   ? bleu_of(own, part.weight, slope)
                          : part.kind == Kind::chrf ? chrf(own, part.orders, more, part.weight, slope)
                                                    : ter(own, references_, more, part.weight, slope));
  }
  return sum;
}

double Metric::score(const Totals& totals) const {
  return 100 * sum(totals.data(), 0, nullptr, [&](const double* own, double, double*) {
           return corpus_bleu(own, own + kOrder, totals[counts_ - 2], totals[counts_ - 1]);
         });
}

double Metric::sentence(const std::int32_t* counts) const {
  const Totals totals(counts, counts + counts_);
  return sum(totals.data(), 0, nullptr, [&](const double* own, double, double*) {
    return sentence_bleu(own, own + kOrder, totals[counts_ - 2], totals[counts_ - 1]);
  });
}

double Metric::partial(const double* counts, double more, double* gradient) const {
  if (gradient) std::fill_n(gradient, counts_, 0.0);
  double* gradient_end = gradient ? gradient + counts_ : nullptr;
  return sum(counts, more, gradient, [&](const double* own, double weight, double* slope) {
    return bleu(own, counts + counts_, more, weight, slope, gradient_end);
  });
}

double chrf_score(const std::int32_t* row, int orders) {
  const std::vector<double> counts(row, row + 3 * orders);
  return chrf(counts.data(), orders, 0);
}

bool Metric::positive() const {
  return std::none_of(parts_.begin(), parts_.end(), [](const Placed& part) { return part.kind == Kind::ter; });
}

}  // namespace treeglot::tuning
