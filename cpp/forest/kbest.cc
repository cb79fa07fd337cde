#include "forest/kbest.hh"

#include <algorithm>

namespace treeglot::forest {

void LazyKBest::reset() {
  queue_of_.assign(graph_.vertices.size(), kNone);
  opened_ = 0;
  ranks_.clear();
}

double LazyKBest::score(std::uint32_t vertex, std::uint32_t rank) const {
  return rank == 0 ? graph_.vertices[vertex].score : queues_[queue_of_[vertex]].found[rank].score;
}

const Hyperedge& LazyKBest::hyperedge(std::uint32_t vertex, std::uint32_t rank) const {
  return graph_
      .hyperedges[rank == 0 ? graph_.vertices[vertex].hyperedge : queues_[queue_of_[vertex]].found[rank].hyperedge];
}

std::uint32_t LazyKBest::tail_rank(std::uint32_t vertex, std::uint32_t rank, std::uint32_t tail) const {
  return rank == 0 ? 0 : rank_in(queues_[queue_of_[vertex]].found[rank], tail);
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
  Candidate top = queue.candidates.back();
  queue.candidates.pop_back();
  queue.raised = top.raised;
  if (top.parent == kNone) {
    queue.found.push_back({top.score, queue.ways[top.way], kNone});
    if (top.way + 1 < queue.ways.size()) {
      queue.candidates.push_back({graph_.hyperedges[queue.ways[top.way + 1]].score, kNone, 0, top.way + 1});
      std::push_heap(queue.candidates.begin(), queue.candidates.end());
    }
    return;
  }
  Derivation derivation = queue.found[top.parent];
  derivation.score = top.score;
  std::uint32_t from = derivation.ranks;
  std::uint32_t tails = graph_.hyperedges[derivation.hyperedge].tails;
  derivation.ranks = static_cast<std::uint32_t>(ranks_.size());
  ranks_.resize(ranks_.size() + tails, 0);
  if (from != kNone) std::copy_n(ranks_.begin() + from, tails, ranks_.begin() + derivation.ranks);
  ++ranks_[derivation.ranks + top.raised];
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
    if (!below || (rank >= below->found.size() && !below->exhausted)) {
      wanted_.emplace_back(tail, rank);
      return false;
    }
    if (rank >= below->found.size()) continue;
    double score = last.score - below->found[rank - 1].score + below->found[rank].score;
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
    if (up_to < queue.found.size() || queue.exhausted) {
      wanted_.pop_back();
    } else if (raise(queue)) {
      queue.exhausted = queue.candidates.empty();
      if (!queue.exhausted) take(queue);
    }
  }
  return rank < open(vertex).found.size();
}

}  // namespace treeglot::forest
