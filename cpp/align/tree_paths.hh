// Trees in the sampler's jumps: beside its linear distance, a step from one linked state to the next has the weight of
// its path in the dependency tree of the states (after Lopez and Resnik 2005, who take paths instead of distances). The
// weights correct the linear model: each is multiplied by how often its path was taken over how often that was
// expected.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace treeglot::align {

// A path goes up to the common ancestor of two words and down from it, each at most kFar steps.
inline constexpr int kFar = 3, kPaths = (kFar + 1) * (kFar + 1);
inline constexpr int path_of(int up, int down) {
  return (up < kFar ? up : kFar) * (kFar + 1) + (down < kFar ? down : kFar);
}
inline constexpr int path_back(int path) { return path % (kFar + 1) * (kFar + 1) + path / (kFar + 1); }

// The paths from each word (rows) to each other one. `heads` has -1 for words without a head; above them is one root.
void tree_paths(std::span<const std::int32_t> heads, std::uint8_t* paths);

// The heads of some words; throws std::invalid_argument if they make no forest.
void check_heads(std::span<const std::int32_t> heads);

class PathWeights {
 public:
  PathWeights() {
    weight_.fill(1.0);
    raise(1);
  }
  // A step over one of `paths` (from the last state to all), of which the linear model gives `chances`.
  void see(std::span<const std::uint8_t> paths, std::span<const double> chances, std::size_t taken);
  // New weights, with `exponent`, from what was seen.
  void update(double exponent);

  const std::array<float, kPaths>& there() const { return there_; }
  const std::array<float, kPaths>& back() const { return back_; }  // of the path from the other end

 private:
  void raise(double exponent);
  std::array<double, kPaths> weight_{}, taken_{}, expected_{};
  std::array<float, kPaths> there_{}, back_{};
};

}  // namespace treeglot::align
