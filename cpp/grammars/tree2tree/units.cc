#include "grammars/tree2tree/units.hh"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace treeglot {

void UnitFinder::reset(const ParsedPair& pair) {
  pair_ = &pair;
  source_.reset(pair.source);
  target_.reset(pair.target);
  source_links_.assign(pair.source.size() + 1, 0);
  target_links_.assign(pair.target.size() + 1, 0);
  for (const WordLink& link : pair.links) {
    ++source_links_[link.source + 1];
    ++target_links_[link.target + 1];
  }
  std::partial_sum(source_links_.begin(), source_links_.end(), source_links_.begin());
  std::partial_sum(target_links_.begin(), target_links_.end(), target_links_.begin());

  const std::size_t most = static_cast<std::size_t>(options_.max_trees);
  source_.spans(most, source_spans_);
  std::vector<WordSpan> spans;
  target_.spans(most, spans);
  // The next linked word at or after a place, the last one before it.
  const std::uint32_t words = target_.words();
  std::vector<std::uint32_t> next(words + 1, words), last(words + 1, 0);
  for (std::uint32_t i = words; i-- > 0;) next[i] = target_links_[i + 1] > target_links_[i] ? i : next[i + 1];
  for (std::uint32_t i = 0; i < words; ++i) last[i + 1] = target_links_[i + 1] > target_links_[i] ? i + 1 : last[i];
  target_spans_.clear();
  for (const WordSpan& span : spans) {
    WordSpan hull{next[span.begin], last[span.end]};
    if (hull.begin >= hull.end || hull.begin >= span.end) hull = {};
    target_spans_.push_back(
        {span, hull, static_cast<std::uint32_t>(target_.trees(span)), linked_ends(target_, target_links_, span)});
  }
  // The order of V(F): fewer trees, longer ones, by begin.
  auto order = [](const TargetSpan& a) {
    return std::tuple(a.trees, -static_cast<std::int64_t>(a.span.size()), a.span.begin);
  };
  std::sort(target_spans_.begin(), target_spans_.end(), [&](const TargetSpan& a, const TargetSpan& b) {
    return std::tuple(a.hull, order(a)) < std::tuple(b.hull, order(b));
  });
  by_order_.resize(target_spans_.size());
  std::iota(by_order_.begin(), by_order_.end(), 0u);
  std::sort(by_order_.begin(), by_order_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return order(target_spans_[a]) < order(target_spans_[b]); });

  licence_.reset(pair.node_links, source_, target_);
}

bool UnitFinder::linked_ends(const TreeCovers& covers, const std::vector<std::uint32_t>& before, WordSpan span) {
  covers.cover(span, cover_);
  if (cover_.size() == 1) return true;
  auto linked = [&](std::uint32_t node) {
    const WordSpan part = covers.span(node);
    return before[part.end] > before[part.begin];
  };
  return linked(cover_.front()) && linked(cover_.back());
}

WordSpan UnitFinder::tight(WordSpan source) const {
  const std::uint32_t first = source_links_[source.begin], last = source_links_[source.end];
  if (first == last) return {};
  WordSpan hull{0xFFFFFFFF, 0};  // links are sorted by source word
  for (std::uint32_t n = first; n < last; ++n) {
    const std::uint32_t i = pair_->links[n].target;
    hull = {std::min(hull.begin, i), std::max(hull.end, i + 1)};
  }
  return target_links_[hull.end] - target_links_[hull.begin] == last - first ? hull : WordSpan{};
}

void UnitFinder::find(UnitKind kind, std::vector<Unit>& out) {
  out.clear();
  for (const WordSpan& span : source_spans_) {
    Unit unit{span, source_.trees(span) == 1, {}};
    if (kind != UnitKind::kLicensed) add_consistent(span, unit.targets);
    if (kind != UnitKind::kConsistent) add_licensed(span, unit.targets);
    if (unit.targets.size() > static_cast<std::size_t>(options_.max_variants)) {
      unit.targets.resize(static_cast<std::size_t>(options_.max_variants));
    }
    if (!unit.targets.empty()) out.push_back(std::move(unit));
  }
}

void UnitFinder::add_consistent(WordSpan source, std::vector<WordSpan>& out) {
  const WordSpan hull = tight(source);
  if (hull.size() == 0 || !linked_ends(source_, source_links_, source)) return;
  if (source.size() == source_.words()) {
    out.push_back({0, target_.words()});
    return;
  }
  const std::size_t trees = target_.trees(hull);
  if (trees <= static_cast<std::size_t>(options_.max_trees)) out.push_back(hull);
  auto first = std::lower_bound(target_spans_.begin(), target_spans_.end(), hull,
                                [](const TargetSpan& span, const WordSpan& wanted) { return span.hull < wanted; });
  for (; first != target_spans_.end() && first->hull == hull && first->trees <= trees; ++first) {
    if (first->linked_ends && first->span != hull) out.push_back(first->span);
  }
}

void UnitFinder::add_licensed(WordSpan source, std::vector<WordSpan>& out) {
  if (licence_.empty()) return;
  const bool whole = source.size() == source_.words();
  const WordSpan all{0, target_.words()};
  source_.cover(source, cover_);
  auto add = [&](WordSpan span) {
    if (std::find(out.begin(), out.end(), span) == out.end()) out.push_back(span);
  };
  WordSpan shortest{};
  for (std::uint32_t n : by_order_) {
    const TargetSpan& target = target_spans_[n];
    if (whole && target.span != all) continue;
    if (!options_.open) {
      if (target.trees != cover_.size()) continue;
      target_.cover(target.span, other_cover_);
      if (licence_.exact(cover_, other_cover_)) add(target.span);
    } else if (shortest.size() == 0 ||
               std::tuple(target.span.size(), target.span.begin) < std::tuple(shortest.size(), shortest.begin)) {
      if (licence_.open(source, target.span)) shortest = target.span;
    }
  }
  if (shortest.size() > 0) add(shortest);
}

}  // namespace treeglot
