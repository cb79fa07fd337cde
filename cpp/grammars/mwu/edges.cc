#include "grammars/mwu/edges.hh"

#include <algorithm>

namespace treeglot::mwu {

void BestEdges::reset(std::span<const Place> tau, const GroupFilter& filter) {
  const Tree& tree = units_.tree();
  size_ = static_cast<std::uint32_t>(tau.size());
  groups_.clear();
  first_group_.clear();
  last_group_.clear();
  most_words_ = 0;
  for (std::uint32_t begin = 0; begin < size_; ++begin) {
    first_group_.push_back(static_cast<std::uint32_t>(groups_.size()));
    last_group_.push_back(kNowhere);
    most_words_ += static_cast<std::uint32_t>(tree.end(tau[begin]) - tree.begin(tau[begin]));
    bool siblings = true;
    for (std::uint32_t end = begin + 1; end <= size_ && end - begin <= static_cast<std::uint32_t>(units_.max_words());
         ++end) {
      if (end > begin + 1) siblings = siblings && tree.next_sibling(tau[end - 2]) == tau[end - 1];
      if (!siblings && !any_siblings_) break;
      const std::span<const Place> sigma = tau.subspan(begin, end - begin);
      if (filter && !filter(sigma)) continue;
      const Units::Range units = siblings ? units_.of_siblings(sigma) : units_.of_group(sigma);
      if (units.size() == 0) continue;
      if (end == size_) last_group_.back() = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({begin, end, units});
    }
  }
  first_group_.push_back(static_cast<std::uint32_t>(groups_.size()));
  fewest_.assign(size_ + 1, kNowhere);
  fewest_[size_] = 0;
  for (std::uint32_t begin = size_; begin-- > 0;) {
    for (std::uint32_t n = first_group_[begin]; n < first_group_[begin + 1]; ++n) {
      const std::uint32_t rest = fewest_[groups_[n].end];
      if (rest != kNowhere) fewest_[begin] = std::min(fewest_[begin], rest + 1);
    }
  }
  for (std::uint32_t row : rows_) node_of_[row].clear();
  rows_.clear();
  used_ = 0;
  open_.clear();
  next_tails_ = size_ == 0 ? kNowhere : fewest_[0];
}

bool BestEdges::next(std::vector<UnitId>& tails) {
  // a/b > c/d
  auto more = [](std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) { return a * d > c * b; };
  const auto max_words = static_cast<std::uint32_t>(units_.max_words());
  while (true) {
    std::size_t best = open_.size();
    std::uint32_t best_words = 0;
    for (std::size_t n = 0; n < open_.size(); ++n) {  // fewer tails come first
      const std::uint32_t words = words_of(open_[n].node, open_[n].rank);
      if (best == open_.size() || more(words, open_[n].tails, best_words, open_[best].tails)) {
        best = n;
        best_words = words;
      }
    }
    // More tails, as long as they could be better.
    if (next_tails_ <= size_ && (best == open_.size() || more(std::min(most_words_, next_tails_ * max_words),
                                                              next_tails_, best_words, open_[best].tails))) {
      const std::uint32_t start = node(0, next_tails_);
      if (start != kNowhere && has(start, 0)) open_.push_back({next_tails_, start, 0});
      ++next_tails_;
      continue;
    }
    if (best == open_.size()) return false;
    words_ = best_words;
    tails.clear();
    std::uint32_t at = open_[best].node, rank = open_[best].rank;
    while (!(at & kOneTail)) {
      const Entry& entry = nodes_[at].entries[rank];
      tails.push_back(unit(entry));
      rank = entry.rank;
      at = behind(nodes_[at], entry);
    }
    tails.push_back(groups_[at & ~kOneTail].units.first + rank);
    ++open_[best].rank;
    if (!has(open_[best].node, open_[best].rank)) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(best));
    return true;
  }
}

// kNowhere if there is nothing.
std::uint32_t BestEdges::node(std::uint32_t begin, std::uint32_t tails) {
  if (begin == size_ || fewest_[begin] == kNowhere || tails < fewest_[begin] || tails > size_ - begin) return kNowhere;
  if (tails == 1) return last_group_[begin] == kNowhere ? kNowhere : last_group_[begin] | kOneTail;
  if (node_of_.size() <= tails) node_of_.resize(tails + 1);
  std::vector<std::uint32_t>& row = node_of_[tails];
  if (row.empty()) {
    row.assign(size_ + 1, kNowhere);
    rows_.push_back(tails);
  }
  if (row[begin] != kNowhere) return row[begin];
  row[begin] = static_cast<std::uint32_t>(used_);
  if (used_ == nodes_.size()) nodes_.emplace_back();
  Node& fresh = nodes_[used_];
  fresh.begin = begin;
  fresh.tails = tails;
  fresh.entries.clear();
  fresh.heap.clear();
  fresh.successors = fresh.complete = false;
  fresh.next_group = first_group_[begin];
  return static_cast<std::uint32_t>(used_++);
}

bool BestEdges::better(const Entry& a, const Entry& b) const {
  if (a.words != b.words) return a.words > b.words;
  if (a.group != b.group || a.tail != b.tail) return units_.before(unit(a), unit(b));
  return a.rank < b.rank;
}

void BestEdges::push(Node& node, const Entry& entry) {
  node.heap.push_back(entry);
  std::push_heap(node.heap.begin(), node.heap.end(), [&](const Entry& a, const Entry& b) { return better(b, a); });
}

bool BestEdges::has(std::uint32_t wanted, std::uint32_t rank) {
  if (wanted & kOneTail) return rank < groups_[wanted & ~kOneTail].units.size();
  if (rank < nodes_[wanted].entries.size()) return true;
  stack_.assign(1, wanted);
  while (!stack_.empty()) {
    const std::uint32_t at = stack_.back();
    // Entry `r` of another node; what is missing there comes first.
    auto words_behind = [&](std::uint32_t other, std::uint32_t r) -> std::uint32_t {
      if (other & kOneTail) return has(other, r) ? words_of(other, r) : kNowhere;
      const Node& known = nodes_[other];
      if (r < known.entries.size()) return known.entries[r].words;
      if (!known.complete) stack_.push_back(other);
      return kNowhere;
    };
    bool waits = false;
    while (nodes_[at].next_group < first_group_[nodes_[at].begin + 1] && !nodes_[at].complete) {
      const std::uint32_t group = nodes_[at].next_group;
      const std::uint32_t other = node(groups_[group].end, nodes_[at].tails - 1);
      if (other != kNowhere) {
        const std::uint32_t words = words_behind(other, 0);
        if (stack_.back() != at) {
          waits = true;
          break;
        }
        if (words != kNowhere) push(nodes_[at], {words + units_.size(groups_[group].units.first), group, 0, 0});
      }
      ++nodes_[at].next_group;
    }
    if (waits) continue;
    if (nodes_[at].successors) {
      const Entry last = nodes_[at].entries.back();
      const std::uint32_t other = behind(nodes_[at], last);
      const std::uint32_t words = words_behind(other, last.rank + 1);
      if (stack_.back() != at) continue;
      nodes_[at].successors = false;
      const std::uint32_t own = units_.size(unit(last));
      if (words != kNowhere) push(nodes_[at], {words + own, last.group, last.tail, last.rank + 1});
      if (last.rank == 0 && last.tail + 1 < groups_[last.group].units.size()) {
        push(nodes_[at], {last.words - own + units_.size(unit(last) + 1), last.group, last.tail + 1, 0});
      }
    }
    stack_.pop_back();
    Node& ready = nodes_[at];
    if (ready.heap.empty()) {
      ready.complete = true;
      continue;
    }
    std::pop_heap(ready.heap.begin(), ready.heap.end(), [&](const Entry& a, const Entry& b) { return better(b, a); });
    ready.entries.push_back(ready.heap.back());
    ready.heap.pop_back();
    ready.successors = true;
  }
  return rank < nodes_[wanted].entries.size();
}

}  // namespace treeglot::mwu
