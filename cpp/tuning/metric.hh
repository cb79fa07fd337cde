// What tuning makes better: BLEU, chrF or TER, or a weighted sum of them. Each hypothesis has a row of sufficient
// statistics; summed over sentences they give the score of a corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuning/bleu.hh"

namespace treeglot::tuning {

// A sum of counts over hypotheses, or expected counts.
using Totals = std::vector<double>;

class Metric {
 public:
  enum class Kind { bleu, chrf, ter };
  struct Part {
    Kind kind;
    double weight;
    int orders;  // of n-grams; of chrF 6, or 8 with two of words
  };

  // The weights are scaled to a sum of 1. `references` is the number of translations of each sentence.
  Metric(const std::vector<Part>& parts, int references);
  Metric() : Metric({{Kind::bleu, 1, kOrder}}, 1) {}

  // A row as it is kept: of each part its statistics (correct n-grams; n-grams of hypothesis and reference and common
  // ones, order after order; edits and the words of all references), then words of the hypothesis and of the closest
  // reference.
  std::size_t columns() const { return columns_; }
  // The same in a form that may be added up: the numbers of n-grams of a hypothesis are not linear in its length.
  std::size_t counts() const { return counts_; }
  void expand(const std::int32_t* row, std::int32_t* counts) const;

  // Of a corpus, as sacreBLEU has it; of TER what is missing to 100, so that higher is always better.
  double score(const Totals& totals) const;

  // Of one sentence in 0..1; BLEU is smoothed.
  double sentence(const std::int32_t* counts) const;

  // The score of counts that need not be whole, in 0..1, each with `more` added; and how much it changes with each.
  double partial(const double* counts, double more, double* gradient = nullptr) const;

  // Whether scores are never below 0, so that their logarithm may be taken.
  bool positive() const;

  // Words of references in counts.
  double reference(const double* counts) const { return counts[counts_ - 1]; }

 private:
  struct Placed : Part {
    std::size_t column, count;  // where its statistics begin
  };
  template <class Bleu>
  double sum(const double* counts, double more, double* gradient, Bleu bleu_of) const;

  std::vector<Placed> parts_;
  std::size_t columns_, counts_;
  int references_;
};

// chrF of one sentence in 0..1, from three counts for each order.
double chrf_score(const std::int32_t* row, int orders);

template <class Number>
void add(std::vector<Number>& totals, const std::int32_t* counts, Number times = 1) {
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += times * counts[i];
}

}  // namespace treeglot::tuning
