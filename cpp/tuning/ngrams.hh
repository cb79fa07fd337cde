// How often each n-gram of some sequences may be matched: exact, and an n-gram of a hypothesis is looked up as a walk
// that stops at its first unknown symbol.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace treeglot::tuning {

class NgramLimits {
 public:
  using Symbols = std::vector<std::uint32_t>;

  // Of each n-gram up to `order`, the most often that one of the sequences has it.
  void add(const Symbols& symbols, int order);
  // Adds to correct[n - 1] how many n-grams are matched, none more often than its limit.
  void match(const Symbols& symbols, int order, std::int32_t* correct) const;

 private:
  static std::uint64_t edge(std::uint32_t node, std::uint32_t symbol) {
    return static_cast<std::uint64_t>(node) << 32 | symbol;
  }
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // node << 32 | symbol -> node of a trie; the root is 0
  std::vector<std::int32_t> limits_ = {0};                     // of each node
};

}  // namespace treeglot::tuning
