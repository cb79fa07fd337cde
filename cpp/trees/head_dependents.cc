#include "trees/head_dependents.hh"

#include <algorithm>

namespace treeglot {

void HdrView::reset(const ParsedSentence& sentence) {
  sentence_ = sentence;
  have_phrasal_ = false;
  root_ = -1;
  const int size = static_cast<int>(sentence.size());
  // Each HDR has a place for every dependent and one for the head.
  starts_.assign(size + 1, 0);
  for (int i = 0; i < size; ++i) {
    ++starts_[i + 1];
    if (sentence.heads[i] >= 0) {
      ++starts_[sentence.heads[i] + 1];
    } else {
      root_ = i;
    }
  }
  for (int i = 0; i < size; ++i) starts_[i + 1] += starts_[i];
  members_.resize(starts_[size]);
  fill_.assign(starts_.begin(), starts_.end() - 1);
  // From left to right, so members come in the order of the sentence.
  for (int i = 0; i < size; ++i) {
    const std::uint16_t place = static_cast<std::uint16_t>(i);
    members_[fill_[i]++] = {
        place, place, static_cast<std::uint16_t>(i + 1), MemberType::kHead, sentence.words[i], sentence.tags[i]};
    if (int head = sentence.heads[i]; head >= 0) {
      members_[fill_[head]++] = {
          place,           place, place, is_leaf(i) ? MemberType::kLeaf : MemberType::kInternal, sentence.words[i],
          sentence.tags[i]};
    }
  }
  // Parents before children, last children first; reversed that is every word after its dependents.
  bottom_up_.clear();
  queue_.clear();
  if (root_ >= 0) queue_.push_back(static_cast<std::uint16_t>(root_));
  while (!queue_.empty()) {
    std::uint16_t n = queue_.back();
    queue_.pop_back();
    bottom_up_.push_back(n);
    for (const HdrMember& member : members(n)) {
      if (member.type != MemberType::kHead) queue_.push_back(member.place);
    }
  }
  std::reverse(bottom_up_.begin(), bottom_up_.end());
  begins_.resize(size);
  ends_.resize(size);
  for (std::uint16_t n : bottom_up_) {
    for (std::uint32_t i = starts_[n]; i < starts_[n + 1]; ++i) {
      HdrMember& member = members_[i];
      if (member.type == MemberType::kHead) continue;
      member.begin = begins_[member.place];
      member.end = ends_[member.place];
    }
    begins_[n] = members(n).front().begin;
    ends_[n] = members(n).back().end;
  }
}

std::span<const PhrasalNode> HdrView::phrasal_nodes() {
  if (!have_phrasal_) find_phrasal_nodes();
  return phrasal_;
}

std::span<const PhrasalNode> HdrView::phrasal_nodes(int n) {
  if (!have_phrasal_) find_phrasal_nodes();
  return {phrasal_.data() + phrasal_starts_[n], phrasal_.data() + phrasal_starts_[n + 1]};
}

std::size_t HdrView::crossing() {
  if (!have_phrasal_) find_phrasal_nodes();
  return crossing_;
}

void HdrView::find_phrasal_nodes() {
  have_phrasal_ = true;
  crossing_ = 0;
  unsorted_.clear();
  const std::span<const Constituent> phrases = sentence_.phrases;
  // The lowest word whose subtree contains a phrase dominates those of the phrases inside it, so the climb from one of
  // them goes on where it has ended.
  constexpr std::uint16_t kNone = 0xFFFF;  // the last place of the longest sentence is below it
  lowest_.assign(phrases.size(), kNone);
  for (std::size_t i = phrases.size(); i-- > 0;) {
    const Constituent& phrase = phrases[i];
    int word = lowest_[i] == kNone ? phrase.begin : lowest_[i];
    while (begins_[word] > phrase.begin || ends_[word] < phrase.end) word = sentence_.heads[word];
    lowest_[i] = static_cast<std::uint16_t>(word);
    if (phrase.parent >= 0) {
      const Constituent& parent = phrases[phrase.parent];
      lowest_[phrase.parent] = lowest_[i];
      if (parent.begin == phrase.begin && parent.end == phrase.end) continue;  // not the topmost of its span
    }
    if (phrase.end - phrase.begin < 2 || (begins_[word] == phrase.begin && ends_[word] == phrase.end)) continue;
    std::span<const HdrMember> all = members(word);
    auto first = std::lower_bound(all.begin(), all.end(), phrase.begin,
                                  [](const HdrMember& member, std::uint16_t begin) { return member.begin < begin; });
    auto last = std::lower_bound(first, all.end(), phrase.end,
                                 [](const HdrMember& member, std::uint16_t end) { return member.end < end; });
    if (first == all.end() || first->begin != phrase.begin || last == all.end() || last->end != phrase.end) {
      ++crossing_;
      continue;
    }
    unsorted_.push_back({static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(first - all.begin()),
                         static_cast<std::uint16_t>(last - all.begin() + 1), phrase.begin, phrase.end,
                         first->place <= word && word <= last->place, phrase.label, static_cast<std::uint32_t>(i)});
  }
  // Phrases come in preorder (by begin, longer ones first) and the loop went backwards.
  phrasal_starts_.assign(size() + 1, 0);
  for (const PhrasalNode& node : unsorted_) ++phrasal_starts_[node.head + 1];
  for (std::size_t i = 0; i < size(); ++i) phrasal_starts_[i + 1] += phrasal_starts_[i];
  phrasal_.resize(unsorted_.size());
  fill_.assign(phrasal_starts_.begin(), phrasal_starts_.end() - 1);
  for (std::size_t i = unsorted_.size(); i-- > 0;) phrasal_[fill_[unsorted_[i].head]++] = unsorted_[i];
}

}  // namespace treeglot
