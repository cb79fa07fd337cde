#include "grammars/tree2tree/licence.hh"

#include <algorithm>

namespace treeglot {

void NodeLicence::reset(std::span<const NodeLink> links, const TreeCovers& source, const TreeCovers& target) {
  source_ = &source;
  target_ = &target;
  links_.assign(links.begin(), links.end());
  source_linked_.assign(source.tree().size(), false);
  target_linked_.assign(target.tree().size(), false);
  top_links_.clear();
  for (const NodeLink& link : links_) {
    const NodeLink tops{source.top(link.source), target.top(link.target)};
    top_links_.push_back(tops);
    source_linked_[tops.source] = target_linked_[tops.target] = true;
  }
  std::sort(top_links_.begin(), top_links_.end());
}

// An assignment by augmenting paths: covers of long phrases have too many orders to try them all.
bool NodeLicence::exact(std::span<const std::uint32_t> source, std::span<const std::uint32_t> target) {
  if (source.size() != target.size()) return false;
  partner_.assign(target.size(), -1);
  for (std::size_t s = 0; s < source.size(); ++s) {
    tried_.assign(target.size(), false);
    if (!assign(s, source, target)) return false;
  }
  return true;
}

bool NodeLicence::assign(std::size_t s, std::span<const std::uint32_t> source, std::span<const std::uint32_t> target) {
  for (std::size_t t = 0; t < target.size(); ++t) {
    if (tried_[t] || !std::binary_search(top_links_.begin(), top_links_.end(), NodeLink{source[s], target[t]}))
      continue;
    tried_[t] = true;
    if (partner_[t] < 0 || assign(static_cast<std::size_t>(partner_[t]), source, target)) {
      partner_[t] = static_cast<std::int32_t>(s);
      return true;
    }
  }
  return false;
}

bool NodeLicence::open(WordSpan source, WordSpan target) const {
  bool some = false;
  for (const NodeLink& link : links_) {
    const bool from = source.holds(source_->span(link.source)), to = target.holds(target_->span(link.target));
    if (from != to) return false;
    some = some || from;
  }
  return some;
}

WordSpan NodeLicence::hull(WordSpan source) const {
  WordSpan all{};
  for (const NodeLink& link : links_) {
    if (!source.holds(source_->span(link.source))) continue;
    const WordSpan span = target_->span(link.target);
    all = all.size() == 0 ? span : WordSpan{std::min(all.begin, span.begin), std::max(all.end, span.end)};
  }
  return all;
}

}  // namespace treeglot
