#include "grammars/phrases/licensed.hh"

#include <algorithm>

namespace treeglot {

const std::vector<PhraseSpan>& LicensedPhrases::find(const ParsedPair& pair) {
  spans_.clear();
  if (pair.node_links.empty() || !is_tree(pair.source) || !is_tree(pair.target)) return spans_;
  source_.reset(pair.source);
  target_.reset(pair.target);
  licence_.reset(pair.node_links, source_, target_);
  open_ ? find_open() : find_exact();
  return spans_;
}

void LicensedPhrases::find_exact() {
  targets_.resize(max_length_ + 1);
  for (std::vector<WordSpan>& spans : targets_) spans.clear();
  for (std::uint32_t begin = 0; begin < target_.words(); ++begin) {
    for (std::uint32_t end = begin + 1; end <= std::min(target_.words(), begin + max_length_); ++end) {
      target_.cover({begin, end}, cover_);
      if (std::all_of(cover_.begin(), cover_.end(), [&](std::uint32_t node) { return licence_.target_linked(node); }))
        targets_[cover_.size()].push_back({begin, end});
    }
  }
  for (std::uint32_t begin = 0; begin < source_.words(); ++begin) {
    for (std::uint32_t end = begin + 1; end <= std::min(source_.words(), begin + max_length_); ++end) {
      source_.cover({begin, end}, cover_);
      if (!std::all_of(cover_.begin(), cover_.end(), [&](std::uint32_t node) { return licence_.source_linked(node); }))
        continue;
      for (const WordSpan& target : targets_[cover_.size()]) {
        target_.cover(target, other_cover_);
        if (licence_.exact(cover_, other_cover_)) add({begin, end}, target);
      }
    }
  }
}

// A span with more words than the hull has all the links that lead into the hull, too: if one has a licence, the hull
// has, and it is the shortest.
void LicensedPhrases::find_open() {
  for (std::uint32_t begin = 0; begin < source_.words(); ++begin) {
    for (std::uint32_t end = begin + 1; end <= std::min(source_.words(), begin + max_length_); ++end) {
      const WordSpan hull = licence_.hull({begin, end});
      if (hull.size() > 0 && hull.size() <= max_length_ && licence_.open({begin, end}, hull)) add({begin, end}, hull);
    }
  }
}

void LicensedPhrases::add(WordSpan source, WordSpan target) {
  spans_.push_back({static_cast<std::uint16_t>(source.begin), static_cast<std::uint16_t>(source.end),
                    static_cast<std::uint16_t>(target.begin), static_cast<std::uint16_t>(target.end)});
}

}  // namespace treeglot
