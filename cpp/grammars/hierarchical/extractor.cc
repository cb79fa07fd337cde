#include "grammars/hierarchical/extractor.hh"

#include <algorithm>
#include <stdexcept>

namespace treeglot {

void HierarchicalOptions::check() const {
  if (max_span < 1 || max_span > 100) throw std::invalid_argument("max_span must be from 1 to 100");
  if (max_gaps < 0 || max_gaps > 2) throw std::invalid_argument("max_gaps must be 0, 1 or 2");
  if (max_symbols < 1 || max_symbols > 100) throw std::invalid_argument("max_symbols must be from 1 to 100");
  if (min_gap < 1 || min_gap > 100) throw std::invalid_argument("min_gap must be from 1 to 100");
  if (max_rules < 0) throw std::invalid_argument("max_rules must not be negative");
}

HierarchicalExtractor::HierarchicalExtractor(const HierarchicalOptions& options)
    : options_(options), phrases_(options.max_span) {
  options.check();
}

void HierarchicalExtractor::prepare(const ParsedPair& pair) {
  const int size = static_cast<int>(pair.source.size());
  target_aligned_.assign(pair.target.size(), false);
  first_link_.assign(size + 1, 0);
  for (const WordLink& link : pair.links) {
    target_aligned_[link.target] = true;
    ++first_link_[link.source + 1];
  }
  aligned_before_.assign(size + 1, 0);
  for (int j = 0; j < size; ++j) {
    aligned_before_[j + 1] = aligned_before_[j] + (first_link_[j + 1] > 0);
    first_link_[j + 1] += first_link_[j];
  }

  const auto& all = phrases_.extract({pair.source.words, pair.target.words, pair.links});
  spans_.clear();
  for (const PhraseSpan& span : all) {
    bool tight = aligned(span.source_begin, span.source_begin + 1) && aligned(span.source_end - 1, span.source_end) &&
                 target_aligned_[span.target_begin] && target_aligned_[span.target_end - 1];
    if (tight || !options_.tight) spans_.push_back(span);
  }
  // Where the phrases over each source span begin: they are sorted by it.
  const int width = options_.max_span;
  index_.assign(static_cast<std::size_t>(size) * width + 1, 0);
  for (const PhraseSpan& span : spans_) ++index_[span.source_begin * width + (span.source_end - span.source_begin)];
  for (std::size_t k = 1; k < index_.size(); ++k) index_[k] += index_[k - 1];
}

HierarchicalExtractor::Range HierarchicalExtractor::gaps(int begin, int end) const {
  const int length = end - begin;
  if (length < options_.min_gap || length > options_.max_span) return {0, 0};
  const std::size_t k = static_cast<std::size_t>(begin) * options_.max_span + length;
  return {index_[k - 1], index_[k]};
}

// All ways to poke gaps into an initial phrase, fewest gaps first.
void HierarchicalExtractor::find_gaps(const PhraseSpan& phrase) {
  found_.clear();
  const int begin = phrase.source_begin, end = phrase.source_end, symbols = options_.max_symbols;
  if (end - begin <= symbols) found_.push_back({kNoGap, kNoGap});
  const int links = aligned(begin, end);
  auto inside = [&](const PhraseSpan& gap) {
    return gap.target_begin >= phrase.target_begin && gap.target_end <= phrase.target_end;
  };

  if (options_.max_gaps < 1) return;
  for (int low = begin; low < end && low - begin < symbols; ++low) {
    // Words outside the gap: low - begin before it, the rest after it.
    for (int high = std::max(low + 1, end - (symbols - 1 - (low - begin))); high <= end; ++high) {
      if (links - aligned(low, high) == 0) continue;
      auto [first, last] = gaps(low, high);
      for (int k = first; k < last; ++k) {
        if (!inside(spans_[k])) continue;
        if (full()) {
          ++cut_;
          return;
        }
        found_.push_back({k, kNoGap});
      }
    }
  }

  if (options_.max_gaps < 2) return;
  const int words = symbols - 2;  // at most; one of them between the gaps
  for (int low = begin; low - begin < words && low < end; ++low) {
    for (int high = low + options_.min_gap; high < end; ++high) {
      auto [first, last] = gaps(low, high);
      if (first == last) continue;
      for (int low2 = high + 1; (low - begin) + (low2 - high) <= words && low2 < end; ++low2) {
        const int left = words - (low - begin) - (low2 - high);
        for (int high2 = std::max(low2 + options_.min_gap, end - left); high2 <= end; ++high2) {
          auto [first2, last2] = gaps(low2, high2);
          if (first2 == last2 || links - aligned(low, high) - aligned(low2, high2) == 0) continue;
          for (int k = first; k < last; ++k) {
            if (!inside(spans_[k])) continue;
            for (int k2 = first2; k2 < last2; ++k2) {
              const bool apart =
                  spans_[k].target_end <= spans_[k2].target_begin || spans_[k2].target_end <= spans_[k].target_begin;
              if (!apart || !inside(spans_[k2])) continue;
              if (full()) {
                ++cut_;
                return;
              }
              found_.push_back({k, k2});
            }
          }
        }
      }
    }
  }
}

void HierarchicalExtractor::write(const ParsedPair& pair, const PhraseSpan& phrase, const Gaps& gaps) {
  constexpr Symbol gap_symbol = symbol(SymbolKind::kGap, 0);
  constexpr PhraseSpan none{0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF};
  const PhraseSpan& first = gaps.first == kNoGap ? none : spans_[gaps.first];
  const PhraseSpan& second = gaps.second == kNoGap ? none : spans_[gaps.second];

  rule_.target.clear();
  target_place_.resize(phrase.target_end - phrase.target_begin);
  for (int i = phrase.target_begin; i < phrase.target_end;) {
    if (i == first.target_begin) {
      rule_.target.push_back(target_variable(0));
      i = first.target_end;
    } else if (i == second.target_begin) {
      rule_.target.push_back(target_variable(1));
      i = second.target_end;
    } else {
      target_place_[i - phrase.target_begin] = static_cast<std::uint16_t>(rule_.target.size());
      rule_.target.push_back(pair.target.words[i]);
      ++i;
    }
  }

  rule_.source.clear();
  rule_.links.clear();
  for (int j = phrase.source_begin; j < phrase.source_end;) {
    if (j == first.source_begin) {
      rule_.source.push_back(gap_symbol);
      j = first.source_end;
    } else if (j == second.source_begin) {
      rule_.source.push_back(gap_symbol);
      j = second.source_end;
    } else {
      for (std::uint32_t n = first_link_[j]; n < first_link_[j + 1]; ++n) {
        rule_.links.push_back({static_cast<std::uint16_t>(rule_.source.size()),
                               target_place_[pair.links[n].target - phrase.target_begin]});
      }
      rule_.source.push_back(symbol(SymbolKind::kWord, pair.source.words[j]));
      ++j;
    }
  }
}

void HierarchicalExtractor::extract(const ParsedPair& pair, const RuleSink& sink) {
  prepare(pair);
  for (const PhraseSpan& phrase : spans_) {
    find_gaps(phrase);
    if (found_.empty()) continue;
    rule_.count = options_.fractional ? 1.0 / static_cast<double>(found_.size()) : 1.0;
    for (const Gaps& gaps : found_) {
      write(pair, phrase, gaps);
      sink(rule_);
    }
  }
}

}  // namespace treeglot
