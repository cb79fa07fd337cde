#include "forest/kbest.hh"

#include <algorithm>

#include "base/hash.hh"

namespace treeglot::forest {

void LazyKBest::reset(const Forest& forest, bool distinct) {
  forest_ = &forest;
  distinct_ = distinct;
  queue_of_.assign(graph_.vertices.size(), kNone);
  opened_ = 0;
  ranks_.clear();
  best_yields_.clear();
  for (std::size_t i = 0; distinct && i < graph_.vertices.size(); ++i) {
    best_yields_.push_back(yield(graph_.hyperedges[graph_.vertices[i].hyperedge], kNone));
  }
}

LazyKBest::Yield LazyKBest::yield(const Hyperedge& hyperedge, std::uint32_t ranks) const {
  constexpr std::uint64_t base = 0x9FB21C651E98DF25ull;
  const std::uint32_t* tails = graph_.tails.data() + hyperedge.first_tail;
  Yield result;
  for (TargetSymbol symbol : (*(*forest_)[hyperedge.node].edges[hyperedge.edge].options)[hyperedge.option]->target) {
    Yield part{mix(symbol + 0x9E3779B97F4A7C15ull), base};
    if (is_target_variable(symbol)) {
      std::uint32_t tail = variable_number(symbol);
      std::uint32_t rank = ranks == kNone ? 0 : ranks_[ranks + tail];
      part = rank == 0 ? best_yields_[tails[tail]] : derivation(tails[tail], rank).yield;
    }
    result = {result.value * part.power + part.value, result.power * part.power};
  }
  return result;
}

// Whether the words are new.
bool LazyKBest::insert(Queue& queue, std::uint64_t value) {
  if (2 * (queue.ranked.size() + 1) > queue.yields.size()) {
    queue.yields.assign(std::max<std::size_t>(8, 2 * queue.yields.size()), 0);
    for (std::uint32_t number : queue.ranked) {
      std::uint64_t old = mix(queue.found[number].yield.value) | 1;
      std::size_t slot = old >> 1 & (queue.yields.size() - 1);
      while (queue.yields[slot]) slot = (slot + 1) & (queue.yields.size() - 1);
      queue.yields[slot] = old;
    }
  }
  value = mix(value) | 1;
  std::size_t slot = value >> 1 & (queue.yields.size() - 1);
  for (; queue.yields[slot]; slot = (slot + 1) & (queue.yields.size() - 1)) {
    if (queue.yields[slot] == value) return false;
  }
  queue.yields[slot] = value;
  return true;
}

double LazyKBest::score(std::uint32_t vertex, std::uint32_t rank) const {
  return rank == 0 ? graph_.vertices[vertex].score : derivation(vertex, rank).score;
}

const Hyperedge& LazyKBest::hyperedge(std::uint32_t vertex, std::uint32_t rank) const {
  return graph_.hyperedges[rank == 0 ? graph_.vertices[vertex].hyperedge : derivation(vertex, rank).hyperedge];
}

std::uint32_t LazyKBest::tail_rank(std::uint32_t vertex, std::uint32_t rank, std::uint32_t tail) const {
  return rank == 0 ? 0 : rank_in(derivation(vertex, rank), tail);
}

// The cheap answer for most vertices: leaves that were reached in one way.
bool LazyKBest::only_one(std::uint32_t vertex) const {
  const Hyperedge& best = graph_.hyperedges[graph_.vertices[vertex].hyperedge];
  return best.tails == 0 && best.next == kNone;
}

LazyKBest::Queue& LazyKBest::open(std::uint32_t vertex) {
  if (queue_of_[vertex] != kNone) return queues_[queue_of_[vertex]];
  if (opened_ == queues_.size()) queues_.emplace_back();
  Queue& queue = queues_[opened_];
  queue_of_[vertex] = static_cast<std::uint32_t>(opened_++);
  queue.found.clear();
  queue.ranked.clear();
  queue.yields.clear();
  queue.candidates.clear();
  queue.ways.clear();
  queue.exhausted = false;
  for (std::uint32_t way = graph_.vertices[vertex].hyperedge; way != kNone; way = graph_.hyperedges[way].next) {
    queue.ways.push_back(way);
  }
  // The head of the list stays first: it is what rank 0 means everywhere.
  std::sort(queue.ways.begin() + 1, queue.ways.end(), [&](std::uint32_t a, std::uint32_t b) {
    double x = graph_.hyperedges[a].score, y = graph_.hyperedges[b].score;
    return x != y ? x > y : a < b;
  });
  queue.candidates.push_back({graph_.hyperedges[queue.ways[0]].score, kNone, 0, 0});
  take(queue);
  return queue;
}

// Moves the best candidate to the derivations found.
void LazyKBest::take(Queue& queue) {
  std::pop_heap(queue.candidates.begin(), queue.candidates.end());
  const Candidate top = queue.candidates.back();
  queue.candidates.pop_back();
  queue.raised = top.raised;
  Derivation derivation{top.score, 0, kNone, {}};
  if (top.parent == kNone) {
    derivation.hyperedge = queue.ways[top.way];
    if (top.way + 1 < queue.ways.size()) {
      queue.candidates.push_back({graph_.hyperedges[queue.ways[top.way + 1]].score, kNone, 0, top.way + 1});
      std::push_heap(queue.candidates.begin(), queue.candidates.end());
    }
  } else {
    const Derivation& parent = queue.found[top.parent];
    const std::uint32_t tails = graph_.hyperedges[parent.hyperedge].tails;
    derivation.hyperedge = parent.hyperedge;
    derivation.ranks = static_cast<std::uint32_t>(ranks_.size());
    ranks_.resize(ranks_.size() + tails, 0);
    if (parent.ranks != kNone) std::copy_n(ranks_.begin() + parent.ranks, tails, ranks_.begin() + derivation.ranks);
    ++ranks_[derivation.ranks + top.raised];
  }
  if (distinct_) derivation.yield = yield(graph_.hyperedges[derivation.hyperedge], derivation.ranks);
  if (!distinct_ || insert(queue, derivation.yield.value)) {
    queue.ranked.push_back(static_cast<std::uint32_t>(queue.found.size()));
  }
  queue.found.push_back(derivation);
}

// Makes the successors of the derivation found last. False: a tail must be asked for another derivation first, which is
// on top of wanted_.
bool LazyKBest::raise(Queue& queue) {
  const Derivation last = queue.found.back();
  std::span<const std::uint32_t> tails = graph_.tails_of(graph_.hyperedges[last.hyperedge]);
  for (; queue.raised < tails.size(); ++queue.raised) {
    std::uint32_t tail = tails[queue.raised];
    if (only_one(tail)) continue;
    std::uint32_t rank = rank_in(last, queue.raised) + 1;
    const Queue* below = queue_of_[tail] == kNone ? nullptr : &queues_[queue_of_[tail]];
    if (!below || (rank >= below->ranked.size() && !below->exhausted)) {
      wanted_.emplace_back(tail, rank);
      return false;
    }
    if (rank >= below->ranked.size()) continue;
    double score = last.score - derivation(tail, rank - 1).score + derivation(tail, rank).score;
    queue.candidates.push_back({score, static_cast<std::uint32_t>(queue.found.size() - 1), queue.raised, 0});
    std::push_heap(queue.candidates.begin(), queue.candidates.end());
  }
  return true;
}

bool LazyKBest::has(std::uint32_t vertex, std::uint32_t rank) {
  if (rank == 0) return true;
  if (only_one(vertex)) return false;
  // What a vertex needs of those below it comes first; a stack instead of recursion, since forests can be deep.
  wanted_.assign(1, {vertex, rank});
  while (!wanted_.empty()) {
    auto [wanted, up_to] = wanted_.back();
    Queue& queue = open(wanted);
    if (up_to < queue.ranked.size() || queue.exhausted) {
      wanted_.pop_back();
    } else if (queue.found.size() >= std::size_t{kLookedAt} * (up_to + 1)) {
      queue.exhausted = true;
    } else if (raise(queue)) {
      queue.exhausted = queue.candidates.empty();
      if (!queue.exhausted) take(queue);
    }
  }
  return rank < open(vertex).ranked.size();
}

}  // namespace treeglot::forest
