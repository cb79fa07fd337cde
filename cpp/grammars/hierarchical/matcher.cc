#include "grammars/hierarchical/matcher.hh"

#include <algorithm>

namespace treeglot::forest {

namespace {

constexpr Symbol kGapSymbol = symbol(SymbolKind::kGap, 0);

}  // namespace

void HierarchicalMatcher::match(SentenceForest& forest) {
  size_ = forest.size();
  if (size_ == 0) return;
  width_ = std::clamp(span_limit_, 1, size_);
  forest.ids(table_, ids_);
  derivable_.assign(static_cast<std::size_t>(size_) * (width_ + 1), false);
  if (at_.size() < static_cast<std::size_t>(width_) + 1) at_.resize(width_ + 1);
  for (int start = size_ - 1; start >= 0; --start) match_from(forest, start);
  glue(forest);
}

void HierarchicalMatcher::add(int length, const Item& item) {
  if (items_.size() >= kMostItems) return;
  at_[length].push_back(static_cast<std::int32_t>(items_.size()));
  items_.push_back(item);
}

// Everything that begins at `start`. When words [start, end) are reached all their items are there: an item grows by a
// word, or by a gap that begins later (done before) or that begins at `start` and is shorter than what is built on it.
void HierarchicalMatcher::match_from(SentenceForest& forest, int start) {
  const int width = std::min(width_, size_ - start);
  items_.clear();
  for (int length = 0; length <= width; ++length) at_[length].clear();
  const Item empty{walk_start(), 0, -1, 0, 0, 0, 0, true};
  // Rules that begin with a gap: the prefix is the same for every gap.
  const WalkKey first_gap = walk_step(walk_start(), kGapSymbol);
  const bool may_begin = table_.find(first_gap).longer;

  for (int length = 0; length <= width; ++length) {
    const int end = start + length;
    if (length == 0) {
      add(0, empty);
    } else {
      for (std::int32_t n : at_[length]) {
        if (items_[n].rules != 0) complete(forest, start, end, items_[n]);
      }
      if (length == 1) cover_word(forest, start);
      const std::size_t cell = static_cast<std::size_t>(start) * (width_ + 1) + length;
      const NodeId span = forest.find(NodeKind::kSpan, start, end);
      derivable_[cell] = (span != SentenceForest::kNoNode && forest.has_edges(span)) || is_foreign(forest, start, end);
      if (derivable_[cell] && may_begin) {
        add(length,
            {first_gap, 0, 0, kGapSymbol, static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(end), 1, true});
      }
    }
    if (end >= start + width) continue;
    const std::uint32_t word = ids_.words[end];
    for (std::size_t k = 0; k < at_[length].size(); ++k) {
      const std::int32_t n = at_[length][k];
      const Item item = items_[n];  // a copy: items_ grows
      if (!item.longer) continue;
      if (word != RuleTable::kNone) {
        const Symbol next = symbol(SymbolKind::kWord, word);
        const WalkKey key = walk_step(item.key, next);
        if (RuleTable::Place place = table_.find(key); place.prefix) {
          add(length + 1, {key, place.rules, n, next, 0, 0, item.gaps, place.longer});
        }
      }
      if (length == 0 || item.gaps >= kMostGaps) continue;  // gaps at the start are added when they are derivable
      const WalkKey key = walk_step(item.key, kGapSymbol);
      const RuleTable::Place place = table_.find(key);
      if (!place.prefix) continue;
      for (int after = end + 1; after <= start + width; ++after) {
        if (!derivable(end, after)) continue;
        add(after - start,
            {key, place.rules, n, kGapSymbol, static_cast<std::uint16_t>(end), static_cast<std::uint16_t>(after),
             static_cast<std::uint16_t>(item.gaps + 1), place.longer});
      }
    }
  }
}

void HierarchicalMatcher::complete(SentenceForest& forest, int start, int end, const Item& item) {
  source_.clear();
  tails_.clear();
  for (const Item* now = &item; now->parent >= 0; now = &items_[now->parent]) {
    source_.push_back(now->last);
    if (now->last == kGapSymbol) tails_.push_back(forest.span_tail(now->gap_begin, now->gap_end));
  }
  std::reverse(source_.begin(), source_.end());
  std::reverse(tails_.begin(), tails_.end());
  const RuleTable::Place place{true, item.rules};
  const CachedOptions* options = forest.cache().rules(table_, block_, place, source_);
  if (!options) return;
  forest.add_edge(forest.span(start, end), &options->list, tails_, static_cast<std::uint16_t>(block_.number), source_);
}

bool HierarchicalMatcher::is_foreign(SentenceForest& forest, int begin, int end) {
  if (!forest.options().dependency_nodes || !forest.sentence().has_dependency()) return false;
  return forest.forest()[forest.span_tail(begin, end)].kind != NodeKind::kSpan;
}

// A word without a rule of its own.
void HierarchicalMatcher::cover_word(SentenceForest& forest, int j) {
  if (is_foreign(forest, j, j + 1)) return;
  const NodeId span = forest.span(j, j + 1);
  if (forest.has_edges(span)) return;
  if (const CachedOptions* known = forest.phrase(j, j + 1)) {
    forest.add_edge(span, &known->list, {}, kFromPhrases);
  } else {
    forest.copy_word(span, j);
  }
}

void HierarchicalMatcher::glue(SentenceForest& forest) {
  for (int end = 1; end <= size_; ++end) {
    const NodeId whole = forest.glue(end);
    for (int begin = std::max(0, end - width_); begin < end; ++begin) {
      if (!derivable(begin, end)) continue;
      const NodeId part = forest.span_tail(begin, end);
      if (begin == 0) {
        forest.add_edge(whole, forest.sequence(1, -1), {&part, 1}, kFromGlue);
      } else {
        const NodeId parts[2] = {forest.glue(begin), part};
        forest.add_edge(whole, forest.sequence(2, kGlueFeature), parts, kFromGlue);
      }
    }
  }
}

}  // namespace treeglot::forest
