// The priority queue of cube pruning: cells that wait to be popped, each in eight bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace treeglot::forest {

// How a cell comes from the one before it; see cube_pruning.cc.
enum class Move : std::uint32_t { kCorner, kSame, kNext, kShift };

// A cell of the queue, by the popped cell it comes from (by the cube if it is a corner), as one number: the better its
// estimate the greater, of equal ones the greater the earlier it was found.
class Waiting {
 public:
  Waiting() = default;
  Waiting(float estimate, std::uint32_t parent, Move move)
      : key_(std::uint64_t{ordered(estimate)} << 32 |
             static_cast<std::uint32_t>(~(parent << 2 | std::uint32_t(move)))) {}

  float estimate() const {
    std::uint32_t bits = static_cast<std::uint32_t>(key_ >> 32);
    return std::bit_cast<float>(bits >> 31 ? bits ^ 0x80000000u : ~bits);
  }
  std::uint32_t parent() const { return ~static_cast<std::uint32_t>(key_) >> 2; }
  Move move() const { return static_cast<Move>(~static_cast<std::uint32_t>(key_) & 3); }
  bool operator<(const Waiting& other) const { return key_ < other.key_; }

 private:
  // The bits of a number, changed so that they have its order.
  static std::uint32_t ordered(float value) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
  }
  std::uint64_t key_;
};

// A heap whose best element may be replaced, which is cheaper than to take it out and to put another one in.
class WaitingQueue {
 public:
  void clear() {
    heap_.clear();
    hole_ = false;
  }
  bool empty() {
    close();
    return heap_.empty();
  }
  const Waiting& best() const { return heap_[0]; }  // after empty()
  void take_best() { hole_ = true; }
  void push(Waiting waiting) {
    if (hole_) {
      hole_ = false;
      sift_down(waiting);
      return;
    }
    std::size_t at = heap_.size();
    heap_.push_back(waiting);
    for (; at > 0 && heap_[(at - 1) / 2] < waiting; at = (at - 1) / 2) heap_[at] = heap_[(at - 1) / 2];
    heap_[at] = waiting;
  }

 private:
  void close() {
    if (!hole_) return;
    hole_ = false;
    Waiting last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
  }
  void sift_down(Waiting waiting) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size()) child += heap_[child] < heap_[child + 1];
      if (!(waiting < heap_[child])) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = waiting;
  }
  std::vector<Waiting> heap_;
  bool hole_ = false;  // the best was taken and nothing is in its place yet
};

}  // namespace treeglot::forest
