#include "align/tree_paths.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeglot::align {
namespace {

constexpr double kSmoothing = 20;  // steps of each path that are as expected, beside those that were seen
constexpr double kMost = 20;       // the highest weight, and the inverse of the lowest

}  // namespace

void check_heads(std::span<const std::int32_t> heads) {
  const auto size = static_cast<std::int32_t>(heads.size());
  std::vector<std::int32_t> seen(heads.size(), -1);  // on the way up from which word
  for (std::int32_t word = 0; word < size; ++word) {
    for (std::int32_t at = word; at >= 0;) {
      auto& mark = seen[static_cast<std::size_t>(at)];
      if (mark == word) throw std::invalid_argument("heads that go in a circle");
      if (mark >= 0) break;
      mark = word;
      at = heads[static_cast<std::size_t>(at)];
      if (at < -1 || at >= size) throw std::invalid_argument("a head outside of its sentence");
    }
  }
}

void tree_paths(std::span<const std::int32_t> heads, std::uint8_t* paths) {
  const std::size_t size = heads.size();
  std::vector<int> above(size);  // steps from the first word up to its ancestors, -1: none of them
  for (std::size_t from = 0; from < size; ++from) {
    std::fill(above.begin(), above.end(), -1);
    int steps = 0;
    for (auto at = static_cast<std::int32_t>(from); at >= 0; at = heads[static_cast<std::size_t>(at)])
      above[static_cast<std::size_t>(at)] = steps++;
    for (std::size_t to = 0; to < size; ++to) {
      int down = 0;
      auto at = static_cast<std::int32_t>(to);
      while (at >= 0 && above[static_cast<std::size_t>(at)] < 0) {
        at = heads[static_cast<std::size_t>(at)];
        ++down;
      }
      const int up = at < 0 ? steps : above[static_cast<std::size_t>(at)];
      *paths++ = static_cast<std::uint8_t>(path_of(up, down));
    }
  }
}

void PathWeights::see(std::span<const std::uint8_t> paths, std::span<const double> chances, std::size_t taken) {
  double sum = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) sum += chances[i] * weight_[paths[i]];
  for (std::size_t i = 0; i < paths.size(); ++i) expected_[paths[i]] += chances[i] * weight_[paths[i]] / sum;
  taken_[paths[taken]] += 1;
}

void PathWeights::update(double exponent) {
  for (std::size_t k = 0; k < kPaths; ++k) {
    weight_[k] = std::clamp(weight_[k] * (taken_[k] + kSmoothing) / (expected_[k] + kSmoothing), 1 / kMost, kMost);
  }
  taken_.fill(0);
  expected_.fill(0);
  raise(exponent);
}

void PathWeights::raise(double exponent) {
  for (std::size_t k = 0; k < kPaths; ++k) there_[k] = static_cast<float>(std::pow(weight_[k], exponent));
  for (std::size_t k = 0; k < kPaths; ++k) back_[k] = there_[static_cast<std::size_t>(path_back(static_cast<int>(k)))];
}

}  // namespace treeglot::align
