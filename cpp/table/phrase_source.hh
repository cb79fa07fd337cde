// Where a decoder finds phrase translations: a table that answers lookups by source phrase. Tables have vocabularies of
// their own; lookups may come from many threads at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/words.hh"

namespace treeglot {

inline constexpr WordId kNoWord = 0xFFFFFFFF;
inline constexpr float kLowestScore = -100;  // stands for ln 0

using TableScores = std::array<float, 4>;       // ln of p(f|e), lex(f|e), p(e|f), lex(e|f)
using ReorderingScores = std::array<float, 6>;  // ln of monotone, swap, discontinuous: before, then after

// One translation of a source phrase; the spans belong to the buffer that holds it.
struct PhraseMatch {
  std::span<const WordId> target;
  std::span<const WordLink> links;  // inside the phrase
  TableScores scores;
  ReorderingScores reordering;
};

// The answer to a lookup, in a buffer that is used again.
class PhraseMatches {
 public:
  void clear() {
    items_.clear();
    words_.clear();
    links_.clear();
  }
  void add(std::span<const WordId> target, std::span<const WordLink> links, const TableScores& scores,
           const ReorderingScores& reordering) {
    items_.push_back({words_.size(), links_.size(), target.size(), links.size(), scores, reordering});
    words_.insert(words_.end(), target.begin(), target.end());
    links_.insert(links_.end(), links.begin(), links.end());
  }
  std::size_t size() const { return items_.size(); }
  PhraseMatch operator[](std::size_t n) const {
    const Item& item = items_[n];
    return {
        {words_.data() + item.word, item.words}, {links_.data() + item.link, item.links}, item.scores, item.reordering};
  }

 private:
  struct Item {
    std::size_t word, link, words, links;
    TableScores scores;
    ReorderingScores reordering;
  };
  std::vector<Item> items_;
  std::vector<WordId> words_;
  std::vector<WordLink> links_;
};

inline constexpr std::size_t kAllTargets = std::numeric_limits<std::size_t>::max();

// How many targets of a source phrase to look at, those with the highest p(e|f), for a decoder that keeps the best
// `limit` of them by its own score (0: all).
inline std::size_t targets_to_score(std::size_t limit) {
  return limit == 0 || limit > kAllTargets / 2 ? kAllTargets : std::max<std::size_t>(200, 2 * limit);
}

class PhraseSource {
 public:
  virtual ~PhraseSource() = default;

  virtual WordId source_id(std::string_view word) const = 0;  // kNoWord if no phrase has it
  virtual std::size_t target_size() const = 0;                // target ids are 0 ... target_size() - 1
  virtual std::string_view target_word(WordId id) const = 0;
  virtual WordId target_id(std::string_view word) const = 0;  // kNoWord if no phrase has it
  virtual int longest_source() const = 0;                     // words of the longest source phrase
  virtual bool has_reordering() const = 0;

  // Appends the translations of a phrase to `out`, always in the same order; a table that has them by p(e|f) leaves
  // out all but the first `most`.
  virtual void lookup(std::span<const WordId> source, PhraseMatches& out, std::size_t most = kAllTargets) const = 0;
};

}  // namespace treeglot
