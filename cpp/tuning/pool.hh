// The merged n-best lists of a tuning run: for each sentence the different hypotheses seen so far, as feature values
// and BLEU statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "tuning/bleu.hh"

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
  Pool(std::size_t sentences, std::size_t features);

  std::size_t sentences() const { return lists_.size(); }
  std::size_t features() const { return features_; }
  std::size_t size() const { return size_; }  // hypotheses in all
  std::size_t size(std::size_t sentence) const { return lists_[sentence].statistics.size(); }
  std::size_t offset(std::size_t sentence) const { return offsets_[sentence]; }  // of its first in arrays of size()

  // Add a hypothesis unless one with the same values and statistics is there. `values` has features() numbers.
  bool add(std::size_t sentence, const double* values, const Statistics& statistics);
  void close();  // after a round of adds: makes offset() valid

  // Values of one feature for all hypotheses of a sentence, side by side.
  const double* column(std::size_t sentence, std::size_t feature) const {
    const List& list = lists_[sentence];
    return list.values.data() + feature * list.capacity;
  }
  const Statistics* statistics(std::size_t sentence) const { return lists_[sentence].statistics.data(); }

  // out[h] = sum over features of weights[f] * value, for all hypotheses of a sentence.
  void score(std::size_t sentence, const double* weights, double* out) const;

  // The first of the highest-scoring hypotheses of each sentence, and their BLEU.
  Totals best(const double* weights) const;

  // Whether the hypotheses of some sentence differ in this feature.
  bool varies(std::size_t feature) const;

 private:
  struct List {
    std::vector<double> values;  // feature-major, each feature `capacity` apart
    std::size_t capacity = 0;
    std::vector<Statistics> statistics;
    std::vector<std::uint32_t> slots;  // open addressing by content: hypothesis + 1, or 0
  };

  std::uint64_t hash(const List& list, std::size_t hypothesis) const;
  void grow(List& list);

  std::size_t features_, size_ = 0;
  std::vector<List> lists_;
  std::vector<std::size_t> offsets_;
};

}  // namespace treeglot::tuning
