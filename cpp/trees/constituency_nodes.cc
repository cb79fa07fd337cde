#include "trees/constituency_nodes.hh"

namespace treeglot {

void ConstituencyNodes::reset(const ParsedSentence& sentence) {
  const std::uint32_t words = static_cast<std::uint32_t>(sentence.size());
  constituents_ = static_cast<std::uint32_t>(sentence.phrases.size());
  parents_.assign(constituents_ + words, -1);
  for (std::uint32_t n = 0; n < constituents_; ++n) parents_[n] = sentence.phrases[n].parent;

  // A word belongs to the lowest constituent over it: the last one in preorder. next_free_ skips words that have one.
  next_free_.resize(words + 1);
  for (std::uint32_t j = 0; j <= words; ++j) next_free_[j] = j;
  auto next = [&](std::uint32_t j) {
    std::uint32_t free = j;
    while (next_free_[free] != free) free = next_free_[free];
    while (next_free_[j] != free) {
      const std::uint32_t after = next_free_[j];
      next_free_[j] = free;
      j = after;
    }
    return free;
  };
  for (std::uint32_t n = constituents_; n-- > 0;) {
    const Constituent& phrase = sentence.phrases[n];
    for (std::uint32_t j = next(phrase.begin); j < phrase.end; j = next(j)) {
      parents_[constituents_ + j] = static_cast<std::int32_t>(n);
      next_free_[j] = j + 1;
    }
  }

  starts_.assign(size() + 1, 0);
  for (std::int32_t parent : parents_) {
    if (parent >= 0) ++starts_[parent + 1];
  }
  for (std::uint32_t n = 0; n < size(); ++n) starts_[n + 1] += starts_[n];
  children_.resize(starts_.back());
  filled_.assign(starts_.begin(), starts_.end());
  auto add = [&](std::uint32_t n) {
    if (parents_[n] >= 0) children_[filled_[parents_[n]]++] = n;
  };
  // In the order of their first words: constituents have it, words have it, so merge them.
  std::uint32_t j = 0;
  for (std::uint32_t n = 0; n < constituents_; ++n) {
    for (; j < words && j < sentence.phrases[n].begin; ++j) add(constituents_ + j);
    add(n);
  }
  for (; j < words; ++j) add(constituents_ + j);
}

}  // namespace treeglot
