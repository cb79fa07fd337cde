// BLEU-4 from sufficient statistics, equal to sacreBLEU's (`smooth:exp`, closest reference length) on tokens that are
// separated by spaces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace treeglot::tuning {

inline constexpr int kOrder = 4;

// What one hypothesis contributes. The number of its n-grams follows from its length.
struct Statistics {
  std::array<std::int32_t, kOrder> correct{};
  std::int32_t length = 0;     // of the hypothesis
  std::int32_t reference = 0;  // of the closest reference, the shorter of two equally close

  std::int32_t total(int n) const { return length > n ? length - n : 0; }  // n counts from 0
  bool operator==(const Statistics&) const = default;
};

// A sum over hypotheses, or the difference of two.
struct Totals {
  std::array<std::int64_t, kOrder> correct{}, total{};
  std::int64_t length = 0, reference = 0;

  void add(const Statistics& sentence, std::int64_t times = 1) {
    for (int n = 0; n < kOrder; ++n) {
      correct[n] += times * sentence.correct[n];
      total[n] += times * sentence.total(n);
    }
    length += times * sentence.length;
    reference += times * sentence.reference;
  }
};

// Corpus BLEU in 0..100; a precision of zero is smoothed as in mteval-v13a.
double bleu(const Totals& totals);

// BLEU+1 of one sentence in 0..1 (Lin & Och 2004), with the reference length smoothed too, without which pairwise
// tuning learns to write too little (Nakov, Guzmán & Vogel 2012).
double sentence_bleu(const Statistics& statistics);

// The n-grams of all references, ready for counting. Threads may call `statistics` at the same time.
class References {
 public:
  // references[i] are the translations of sentence i; at least one each.
  explicit References(const std::vector<std::vector<std::string>>& references);

  std::size_t size() const { return sentences_.size(); }
  Statistics statistics(std::size_t sentence, std::string_view text) const;

 private:
  // A trie of the sentence's reference n-grams: exact, and a hypothesis n-gram is looked up as a walk that stops at
  // its first unknown word.
  struct Sentence {
    std::unordered_map<std::uint64_t, std::uint32_t> children;  // node << 32 | word -> node; the root is 0
    std::vector<std::int32_t> limit;                            // of each node: the most often any reference has it
    std::vector<std::int32_t> lengths;
  };

  std::unordered_map<std::string, std::uint32_t> words_;
  std::vector<Sentence> sentences_;
};

}  // namespace treeglot::tuning
