#include "tuning/ngrams.hh"

#include <algorithm>

namespace treeglot::tuning {

void NgramLimits::add(const Symbols& symbols, int order) {
  std::vector<std::int32_t> counts(limits_.size(), 0);
  for (std::size_t begin = 0; begin < symbols.size(); ++begin) {
    std::uint32_t node = 0;
    const std::size_t end = std::min(symbols.size(), begin + static_cast<std::size_t>(order));
    for (std::size_t j = begin; j < end; ++j) {
      const auto next = static_cast<std::uint32_t>(counts.size());
      node = children_.try_emplace(edge(node, symbols[j]), next).first->second;
      if (node == next) counts.push_back(0);
      ++counts[node];
    }
  }
  limits_.resize(counts.size(), 0);
  for (std::size_t node = 0; node < counts.size(); ++node) limits_[node] = std::max(limits_[node], counts[node]);
}

void NgramLimits::match(const Symbols& symbols, int order, std::int32_t* correct) const {
  std::vector<std::int32_t> left = limits_;
  for (std::size_t begin = 0; begin < symbols.size(); ++begin) {
    std::uint32_t node = 0;
    const std::size_t end = std::min(symbols.size(), begin + static_cast<std::size_t>(order));
    for (std::size_t j = begin; j < end; ++j) {
      const auto child = children_.find(edge(node, symbols[j]));
      if (child == children_.end()) break;
      node = child->second;
      if (left[node] > 0) {
        --left[node];
        ++correct[j - begin];
      }
    }
  }
}

}  // namespace treeglot::tuning
