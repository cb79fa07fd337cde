#include "grammars/phrase_pairs.hh"

#include <algorithm>

namespace treeglot {

const std::vector<PhraseSpan>& PhraseExtractor::extract(const SentencePair& pair) {
  pair_ = pair;
  spans_.clear();
  const int source_length = static_cast<int>(pair.source.size()), target_length = static_cast<int>(pair.target.size());
  low_target_.assign(source_length, target_length);
  high_target_.assign(source_length, -1);
  low_source_.assign(target_length, source_length);
  high_source_.assign(target_length, -1);
  for (const WordLink& link : pair.links) {
    low_target_[link.source] = std::min<int>(low_target_[link.source], link.target);
    high_target_[link.source] = std::max<int>(high_target_[link.source], link.target);
    low_source_[link.target] = std::min<int>(low_source_[link.target], link.source);
    high_source_[link.target] = std::max<int>(high_source_[link.target], link.source);
  }
  for (int begin = 0; begin < source_length; ++begin) {
    int low = target_length, high = -1;
    for (int end = begin; end < std::min(source_length, begin + max_length_); ++end) {
      low = std::min(low, low_target_[end]);
      high = std::max(high, high_target_[end]);
      if (high < 0) continue;
      if (high - low >= max_length_) break;  // a longer source span only widens it
      bool consistent = true;
      for (int t = low; t <= high && consistent; ++t) {
        consistent = low_source_[t] >= begin && high_source_[t] <= end;
      }
      if (!consistent) continue;
      for (int first = low; first >= 0 && high - first < max_length_; --first) {
        if (first < low && high_source_[first] >= 0) break;
        for (int last = high; last < target_length && last - first < max_length_; ++last) {
          if (last > high && high_source_[last] >= 0) break;
          spans_.push_back({static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end + 1),
                            static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last + 1)});
        }
      }
    }
  }
  std::sort(spans_.begin(), spans_.end());
  return spans_;
}

// The places before the first words and after the last words count as aligned to each other.
bool PhraseExtractor::aligned(int source, int target) const {
  const int source_length = static_cast<int>(pair_.source.size()),
            target_length = static_cast<int>(pair_.target.size());
  if (source == -1 || target == -1) return source == target;
  if (source == source_length || target == target_length) return source == source_length && target == target_length;
  if (low_target_[source] > target || high_target_[source] < target) return false;
  WordLink link{static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)};
  return std::binary_search(pair_.links.begin(), pair_.links.end(), link);
}

Orientation PhraseExtractor::before(const PhraseSpan& span) const {
  bool left = aligned(span.source_begin - 1, span.target_begin - 1);
  bool right = aligned(span.source_end, span.target_begin - 1);
  return left == right ? kDiscontinuous : left ? kMonotone : kSwap;
}

Orientation PhraseExtractor::after(const PhraseSpan& span) const {
  bool right = aligned(span.source_end, span.target_end);
  bool left = aligned(span.source_begin - 1, span.target_end);
  return left == right ? kDiscontinuous : right ? kMonotone : kSwap;
}

}  // namespace treeglot
