// The merged n-best lists of a tuning run: for each sentence the different hypotheses seen so far, as feature values
// and the counts of the metric that is tuned for.
#pragma once

#include <cstdint>
#include <vector>

#include "tuning/metric.hh"

namespace treeglot::tuning {

// Which weights may change, and how far.
struct Space {
  std::vector<char> free;
  std::vector<double> lower, upper;  // may be infinite

  double clamp(std::size_t feature, double value) const {
    return value < lower[feature] ? lower[feature] : value > upper[feature] ? upper[feature] : value;
  }
};

class Pool {
 public:
  Pool(std::size_t sentences, std::size_t features, Metric metric = Metric());

  std::size_t sentences() const { return lists_.size(); }
  std::size_t features() const { return features_; }
  std::size_t size() const { return size_; }  // hypotheses in all
  std::size_t size(std::size_t sentence) const { return lists_[sentence].size; }
  const Metric& metric() const { return metric_; }
  std::size_t offset(std::size_t sentence) const { return offsets_[sentence]; }  // of its first in arrays of size()

  // Add a hypothesis unless one with the same values and counts is there. `values` has features() numbers, `row` is the
  // metric's.
  bool add(std::size_t sentence, const double* values, const std::int32_t* row);
  void close();  // after a round of adds: makes offset() valid

  // Values of one feature for all hypotheses of a sentence, side by side.
  const double* column(std::size_t sentence, std::size_t feature) const {
    const List& list = lists_[sentence];
    return list.values.data() + feature * list.capacity;
  }
  // The metric's counts of a hypothesis.
  const std::int32_t* counts(std::size_t sentence, std::size_t hypothesis) const {
    return lists_[sentence].counts.data() + hypothesis * metric_.counts();
  }

  // out[h] = sum over features of weights[f] * value, for all hypotheses of a sentence.
  void score(std::size_t sentence, const double* weights, double* out) const;

  // The counts of the first of the highest-scoring hypotheses of each sentence, and the metric's score of them.
  Totals best(const double* weights) const;
  double best_score(const double* weights) const { return metric_.score(best(weights)); }

  // Whether the hypotheses of some sentence differ in this feature.
  bool varies(std::size_t feature) const;

 private:
  struct List {
    std::vector<double> values;  // feature-major, each feature `capacity` apart
    std::size_t size = 0, capacity = 0;
    std::vector<std::int32_t> counts;  // hypothesis by hypothesis
    std::vector<std::uint32_t> slots;  // open addressing by content: hypothesis + 1, or 0
  };

  std::uint64_t hash(const List& list, std::size_t hypothesis) const;
  void grow(List& list);

  Metric metric_;
  std::size_t features_, size_ = 0;
  std::vector<List> lists_;
  std::vector<std::size_t> offsets_;
};

}  // namespace treeglot::tuning
