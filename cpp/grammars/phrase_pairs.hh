// Phrase pairs that are consistent with a word alignment (Koehn et al. 2003; spec: phrases and subtrees, section 2),
// with extensions over unaligned edge words on both sides, and their msd orientation towards the phrases before and
// after.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/aligned_bitext.hh"

namespace treeglot {

enum Orientation : std::uint8_t { kMonotone, kSwap, kDiscontinuous };

// Half-open spans.
struct PhraseSpan {
  std::uint16_t source_begin, source_end, target_begin, target_end;
  friend bool operator==(const PhraseSpan&, const PhraseSpan&) = default;
  friend auto operator<=>(const PhraseSpan&, const PhraseSpan&) = default;
};

// Finds the phrase pairs of one sentence after another; keeps its buffers.
class PhraseExtractor {
 public:
  explicit PhraseExtractor(int max_length) : max_length_(max_length) {}

  // All phrase pairs with at most max_length words a side, by source begin, source end, target begin, target end.
  const std::vector<PhraseSpan>& extract(const SentencePair& pair);

  // Word-based orientation of a span of the last sentence with respect to what comes before and after it.
  Orientation before(const PhraseSpan& span) const;
  Orientation after(const PhraseSpan& span) const;

 private:
  bool aligned(int source, int target) const;

  int max_length_;
  SentencePair pair_;
  std::vector<PhraseSpan> spans_;
  std::vector<int> low_target_, high_target_;  // of each source word's links; low > high if unaligned
  std::vector<int> low_source_, high_source_;  // of each target word's links
};

}  // namespace treeglot
