// What a long job tells another thread, and how that stops it.
#pragma once

#include <atomic>
#include <stdexcept>

namespace treeglot {

struct Progress {
  std::atomic<double> done{0};  // 0 to 1
  std::atomic<bool> stop{false};

  void check() const {
    if (stop.load(std::memory_order_relaxed)) throw std::runtime_error("stopped");
  }
};

}  // namespace treeglot
