// Links of many sentence pairs as columns: where those of each pair start, and what may not be among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace treeglot {

// A link outside of sentence pair `pair`.
struct LinkProblem : std::invalid_argument {
  LinkProblem(std::size_t pair, const std::string& message) : std::invalid_argument(message), pair(pair) {}
  std::size_t pair;
};

template <class Link>
void check_links(std::span<const Link> links, std::size_t source_size, std::size_t target_size, std::size_t pair = 0,
                 const char* what = "link ", const char* of = " words") {
  for (const Link& link : links) {
    if (link.source < source_size && link.target < target_size) continue;
    throw LinkProblem(pair, std::string(what) + std::to_string(link.source) + "-" + std::to_string(link.target) +
                                " is outside the sentences of " + std::to_string(source_size) + " and " +
                                std::to_string(target_size) + of);
  }
}

// The links from `first` on, sorted by source, then target; each once.
template <class Link>
void sort_links(std::vector<Link>& links, std::size_t first) {
  const auto begin = links.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, links.end());
  links.erase(std::unique(begin, links.end()), links.end());
}

template <class Link>
void append_sorted(std::span<const Link> links, std::vector<Link>& all) {
  const std::size_t first = all.size();
  all.insert(all.end(), links.begin(), links.end());
  sort_links(all, first);
}

// How much each of several alignments of the same text counts: hundredths, so that sums depend on no order. Without
// weights every alignment counts 1.
class AlignmentWeights {
 public:
  static constexpr std::uint32_t kUnit = 100;
  static constexpr double kMost = 100;

  // One for each alignment. Throws std::invalid_argument.
  void set(std::span<const double> weights, std::size_t alignments) {
    if (weights.size() != alignments) {
      throw std::invalid_argument(std::to_string(weights.size()) + " weights of " + std::to_string(alignments) +
                                  " alignments");
    }
    std::vector<std::uint32_t> fresh;
    for (const double weight : weights) {
      const double units = std::round(weight * kUnit);
      if (!(units >= 1 && weight <= kMost) || std::abs(units - weight * kUnit) > 1e-6) {
        throw std::invalid_argument("weights of alignments are hundredths from 0.01 to 100");
      }
      fresh.push_back(static_cast<std::uint32_t>(units));
    }
    if (std::all_of(fresh.begin(), fresh.end(), [](std::uint32_t units) { return units == kUnit; })) fresh.clear();
    units_ = std::move(fresh);
  }
  void clear() { units_.clear(); }
  // What a count of 1 is in units: 1 if nothing has a weight.
  std::uint32_t one() const { return units_.empty() ? 1 : kUnit; }
  std::uint32_t units(std::size_t alignment) const { return units_.empty() ? 1 : units_[alignment]; }
  double value(std::size_t alignment) const {
    return units_.empty() ? 1.0 : static_cast<double>(units_[alignment]) / kUnit;
  }

 private:
  std::vector<std::uint32_t> units_;
};

// Throws unless the starts are those of `links` links of `pairs` sentence pairs.
inline void check_link_starts(std::size_t links, std::span<const std::uint64_t> starts, std::size_t pairs) {
  if (starts.size() != pairs + 1 || starts.front() != 0 || starts.back() != links ||
      !std::is_sorted(starts.begin(), starts.end())) {
    throw std::invalid_argument("the links are not those of " + std::to_string(pairs) + " sentence pairs");
  }
}

}  // namespace treeglot
