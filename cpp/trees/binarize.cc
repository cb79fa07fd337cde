#include "trees/binarize.hh"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace treeglot {

Binarization binarization(std::string_view name) {
  if (name == "none") return Binarization::kNone;
  if (name == "left") return Binarization::kLeft;
  if (name == "right") return Binarization::kRight;
  if (name == "head") return Binarization::kHead;
  throw std::invalid_argument(
      std::string("no binarisation ").append(name).append("; there are none, left, right, head"));
}

void Binarizer::collect_children(std::span<const Constituent> phrases, std::size_t words) {
  word_parents_.resize(words);
  starts_.assign(phrases.size() + 1, 0);
  open_.clear();
  std::size_t place = 0;
  // A word belongs to the innermost phrase around it; phrases that have ended are closed when a word asks.
  auto assign_words = [&](std::size_t end) {
    for (; place < end; ++place) {
      while (phrases[open_.back()].end <= place) open_.pop_back();
      word_parents_[place] = open_.back();
      ++starts_[open_.back() + 1];
    }
  };
  for (std::size_t n = 0; n < phrases.size(); ++n) {
    assign_words(phrases[n].begin);
    if (n > 0) ++starts_[static_cast<std::size_t>(phrases[n].parent) + 1];
    open_.push_back(static_cast<std::uint32_t>(n));
  }
  assign_words(words);
  for (std::size_t n = 0; n < phrases.size(); ++n) starts_[n + 1] += starts_[n];
  children_.resize(starts_.back());
  filled_.assign(starts_.begin(), starts_.end() - 1);
  std::size_t word = 0;
  auto add_words = [&](std::size_t end) {
    for (; word < end; ++word) {
      children_[filled_[word_parents_[word]]++] = {-1, static_cast<std::uint16_t>(word),
                                                   static_cast<std::uint16_t>(word + 1)};
    }
  };
  for (std::size_t n = 1; n < phrases.size(); ++n) {
    add_words(phrases[n].begin);
    children_[filled_[static_cast<std::size_t>(phrases[n].parent)]++] = {static_cast<std::int32_t>(n), phrases[n].begin,
                                                                         phrases[n].end};
  }
  add_words(words);
}

std::span<const Binarizer::Phrase> Binarizer::run(std::span<const Constituent> phrases,
                                                  std::span<const std::uint16_t> head_words, std::size_t words,
                                                  Binarization direction) {
  phrases_.clear();
  if (phrases.empty()) return phrases_;
  collect_children(phrases, words);
  // The child that the others are put around.
  auto core = [&](std::uint32_t n, std::span<const Child> children) -> std::size_t {
    if (direction == Binarization::kLeft) return 0;
    if (direction == Binarization::kRight) return children.size() - 1;
    const std::uint16_t head = head_words[n];
    const auto child = std::find_if(children.begin(), children.end(), [&](const Child& c) { return head < c.end; });
    return static_cast<std::size_t>(child - children.begin());
  };
  auto siblings = [&](std::uint32_t n) { return starts_[n + 1] - starts_[n] - 1; };
  pending_.assign(1, {0, siblings(0), -1});
  while (!pending_.empty()) {
    const Pending next = pending_.back();
    pending_.pop_back();
    const std::span<const Child> children(children_.data() + starts_[next.origin],
                                          children_.data() + starts_[next.origin + 1]);
    const std::size_t start = core(next.origin, children);
    const std::size_t on_right = children.size() - 1 - start;
    const std::size_t right = std::min<std::size_t>(next.level, on_right), left = next.level - right;
    const auto number = static_cast<std::int32_t>(phrases_.size());
    phrases_.push_back({next.origin, next.level + 1 < children.size(), children[start - left].begin,
                        children[start + right].end, next.parent});
    auto put = [&](const Child& child) {
      if (child.phrase < 0) return;
      const auto origin = static_cast<std::uint32_t>(child.phrase);
      pending_.push_back({origin, siblings(origin), number});
    };
    auto put_core = [&] {
      if (next.level > 1) {
        pending_.push_back({next.origin, next.level - 1, number});
      } else {
        put(children[start]);
      }
    };
    // The last one that goes on the stack is written first.
    if (next.level == 0) {
      put(children[start]);
    } else if (next.level <= on_right) {
      put(children[start + next.level]);
      put_core();
    } else {
      put_core();
      put(children[start - left]);
    }
  }
  return phrases_;
}

}  // namespace treeglot
