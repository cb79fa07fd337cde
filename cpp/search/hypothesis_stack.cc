#include "search/hypothesis_stack.hh"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/hash.hh"

namespace treeglot::search {

void HypothesisStack::reset(std::size_t expected, bool keep_others) {
  hypotheses_.clear();
  best_ = kNever;
  keep_others_ = keep_others;
  std::size_t slots = 1024;
  while (slots < 2 * expected && slots < (1u << 16)) slots *= 2;
  rebuild_index(slots);
}

std::uint64_t HypothesisStack::key(const Hypothesis& hypothesis) const {
  std::uint64_t hash = mix(hypothesis.vertex + 0x9E3779B97F4A7C15ull);
  const lm::State& state = hypothesis.state;
  for (int i = 0; i < state.length; ++i) hash = (hash ^ state.words[i]) * 0x9FB21C651E98DF25ull;
  std::uint8_t next = forward_ ? vertices_[hypothesis.vertex].next : 0;
  for (int o = 0; o < 3; ++o) {
    if (next >> o & 1) {
      std::uint64_t bits;
      std::memcpy(&bits, &hypothesis.best.option->forward[o], 8);
      hash = (hash ^ bits ^ (hash >> 29)) * 0xBF58476D1CE4E5B9ull;
    }
  }
  return mix(hash);
}

// Whether nothing that follows can tell the two apart.
bool HypothesisStack::same(const Hypothesis& a, const Hypothesis& b) const {
  if (a.vertex != b.vertex || !(a.state == b.state)) return false;
  std::uint8_t next = forward_ ? vertices_[a.vertex].next : 0;
  for (int o = 0; o < 3; ++o) {
    if ((next >> o & 1) && a.best.option->forward[o] != b.best.option->forward[o]) return false;
  }
  return true;
}

void HypothesisStack::rebuild_index(std::size_t slots) {
  index_.assign(slots, kNone);
  for (std::size_t i = 0; i < hypotheses_.size(); ++i) {
    std::size_t slot = key(hypotheses_[i]) & (slots - 1);
    while (index_[slot] != kNone) slot = (slot + 1) & (slots - 1);
    index_[slot] = static_cast<std::uint32_t>(i);
  }
}

void HypothesisStack::add(const Hypothesis& fresh, std::vector<OtherArrival>& others) {
  std::size_t mask = index_.size() - 1;
  std::size_t slot = key(fresh) & mask;
  for (; index_[slot] != kNone; slot = (slot + 1) & mask) {
    Hypothesis& old = hypotheses_[index_[slot]];
    if (!same(old, fresh)) continue;
    bool better = fresh.best.score > old.best.score;
    if (keep_others_) {
      others.push_back({better ? old.best : fresh.best, old.others});
      old.others = static_cast<std::uint32_t>(others.size() - 1);
    }
    if (better) {
      old.best = fresh.best;
      old.total = fresh.total;
      best_ = std::max(best_, fresh.total);
    }
    return;
  }
  index_[slot] = static_cast<std::uint32_t>(hypotheses_.size());
  hypotheses_.push_back(fresh);
  best_ = std::max(best_, fresh.total);
  if (hypotheses_.size() * 2 > index_.size()) rebuild_index(index_.size() * 2);
}

void HypothesisStack::prune(std::size_t limit) {
  std::size_t erased = std::erase_if(hypotheses_, [&](const Hypothesis& h) { return h.total < threshold(); });
  if (hypotheses_.size() <= limit) {
    if (erased) rebuild_index(index_.size());
    return;
  }
  order_.resize(hypotheses_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(limit), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return hypotheses_[a].total != hypotheses_[b].total ? hypotheses_[a].total > hypotheses_[b].total
                                                                         : a < b;
                   });
  order_.resize(limit);
  std::sort(order_.begin(), order_.end());
  for (std::size_t i = 0; i < order_.size(); ++i) hypotheses_[i] = hypotheses_[order_[i]];
  hypotheses_.resize(limit);
  rebuild_index(index_.size());
}

}  // namespace treeglot::search
