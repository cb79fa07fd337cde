// The sufficient statistics of BLEU-4, equal to sacreBLEU's (closest reference length), on tokens that are separated by
// spaces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hh"
#include "tuning/ngrams.hh"

namespace treeglot::tuning {

inline constexpr int kOrder = 4;

// What one hypothesis contributes. The number of its n-grams follows from its length.
struct Statistics {
  std::array<std::int32_t, kOrder> correct{};
  std::int32_t length = 0;     // of the hypothesis
  std::int32_t reference = 0;  // of the closest reference, the shorter of two equally close
};

// The n-grams of all references, ready for counting. Threads may call `statistics` at the same time.
class References {
 public:
  // references[i] are the translations of sentence i; at least one each.
  explicit References(const std::vector<std::vector<std::string>>& references);

  std::size_t size() const { return sentences_.size(); }
  Statistics statistics(std::size_t sentence, std::string_view text) const;

 private:
  struct Sentence {
    NgramLimits limits;
    std::vector<std::int32_t> lengths;
  };

  SymbolTable words_;
  std::vector<Sentence> sentences_;
};

}  // namespace treeglot::tuning
