// The best derivations of a vertex, one after the other: the lazy algorithm 3 of Huang and Chiang 2005. Nothing is made
// that nobody asked for, and what a vertex needs of those below it is asked for with a stack instead of recursion.
//
// The algorithm works on a `Source`, which knows a hypergraph and the best derivation of each of its vertices. That of
// a Hypergraph with weights is BestDerivations (viterbi.hh); a search that keeps its own kind of graph brings its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hh"
#include "base/parallel.hh"
#include "hypergraph/topological_order.hh"

namespace treeglot::hypergraph {

// Which of equally good derivations of a vertex comes first.
enum class Ties {
  // The one with the smaller number of its edge, then the smaller rank of its first tail, of its second and so on: an
  // order that can be told from the graph alone.
  kByEdge,
  // The one that follows from the derivation that was found first: as fixed, but it depends on the way of the
  // algorithm. Costs nothing where many are equal.
  kFirstFound,
};

// What LazyKBest wants of a source `s`:
//   Value, Signature      types; a Signature has a default
//   kTies                 a Ties
//   s.vertices()          their number
//   s.in_order(i)         the i-th vertex in an order with tails before heads
//   s.best_edge(v)        the edge of the best derivation, kNone if there is none
//   s.single(v)           true only if v has one derivation and no more; may be false then too
//   s.tails(e)            a span of vertices
//   s.best_value(e)       the value of e with the best derivations of its tails; a reference that stays valid
//   s.edges_into(v, list) appends the edges that have derivations, the best edge first and the others in any order
//   s.better(a, b)        a strict order of values
//   s.replaced(e, value, old, now, parts)   `value` is that of e with some derivations of its tails, one of which is
//       replaced: its value was `old` and is `now`, which is not better; parts(i) is the value of tail i afterwards
//   s.signature(e, parts) of e with derivations of its tails whose signatures are parts(i)
//   s.key(signature)      64 bits; equal keys are equal signatures
// Signatures only matter to distinct lists.
template <class Source>
class LazyKBest {
 public:
  using Value = typename Source::Value;
  using Signature = typename Source::Signature;

  // The source must outlive this.
  explicit LazyKBest(const Source& source) : source_(source) {}

  // Forgets everything; also before the first use, and whenever the source has changed. Distinct lists have no two
  // derivations with the same signature, in any vertex: a worse one with the same signature cannot be part of a better
  // one with a new signature. So derivations that differ in name only do not multiply on the way up. For each one
  // wanted of a distinct list at most `looked_at` are looked at, so that it may be shorter than it could be; kNone: any
  // number.
  void reset(bool distinct, std::uint32_t looked_at = kNone) {
    distinct_ = distinct;
    looked_at_ = looked_at;
    queue_of_.assign(source_.vertices(), kNone);
    opened_ = 0;
    ranks_.clear();
    best_signatures_.clear();
    if (!distinct) return;
    best_signatures_.resize(source_.vertices());
    for (std::size_t i = 0; i < source_.vertices(); ++i) {
      const VertexId vertex = source_.in_order(i);
      const EdgeId edge = source_.best_edge(vertex);
      if (edge != kNone) best_signatures_[vertex] = signature(edge, kNone);
    }
  }

  // The rank of a derivation is its place in the list of its vertex, from 0. Whether there is one of that rank; makes
  // it if need be. All functions below want ranks that exist; references are good until the next has() or reset().
  bool has(VertexId vertex, std::uint32_t rank) {
    if (rank == 0) return source_.best_edge(vertex) != kNone;
    if (source_.best_edge(vertex) == kNone || source_.single(vertex)) return false;
    wanted_.assign(1, {vertex, rank});
    while (!wanted_.empty()) {
      check_stopped();
      auto [wanted, up_to] = wanted_.back();
      Queue& queue = open(wanted);
      if (up_to < queue.ranked.size() || queue.exhausted) {
        wanted_.pop_back();
      } else if (looked_at_ != kNone && queue.derivations.size() >= std::size_t{looked_at_} * (up_to + 1)) {
        queue.exhausted = true;
      } else if (raise(queue)) {
        queue.exhausted = queue.candidates.empty();
        if (!queue.exhausted) take(queue);
      }
    }
    return rank < open(vertex).ranked.size();
  }

  const Value& value(VertexId vertex, std::uint32_t rank) const {
    return rank == 0 ? source_.best_value(source_.best_edge(vertex)) : derivation(vertex, rank).value;
  }
  EdgeId edge(VertexId vertex, std::uint32_t rank) const {
    return rank == 0 ? source_.best_edge(vertex) : derivation(vertex, rank).edge;
  }
  // The rank that a derivation uses of a tail.
  std::uint32_t tail_rank(VertexId vertex, std::uint32_t rank, std::uint32_t tail) const {
    return rank == 0 ? 0 : rank_in(derivation(vertex, rank), tail);
  }
  const Source& source() const { return source_; }

 private:
  struct Derivation {
    Value value;
    EdgeId edge;
    std::uint32_t ranks;  // in ranks_, one for each tail; kNone: all 0
    Signature signature;  // of distinct lists only
  };
  // A derivation that is not made yet: the one found as number `parent` with the rank of tail `raised` one higher, or
  // the best derivation of way number `way` if parent is kNone.
  struct Candidate {
    Value value;
    std::uint32_t parent, raised, way;
  };
  struct Queue {
    std::vector<Derivation> derivations;  // best first
    std::vector<std::uint32_t> ranked;    // those of them that count: all, or those with new signatures
    std::vector<std::uint64_t> keys;      // of these, open addressing; 0: free
    std::vector<Candidate> candidates;    // a heap
    std::vector<EdgeId> ways;             // best first
    std::uint32_t raised = 0;             // the last one found has no successors yet by this tail and later ones
    bool exhausted = false;
  };

  const Derivation& derivation(VertexId vertex, std::uint32_t rank) const {
    const Queue& queue = queues_[queue_of_[vertex]];
    return queue.derivations[queue.ranked[rank]];
  }
  std::uint32_t rank_in(const Derivation& derivation, std::uint32_t tail) const {
    return derivation.ranks == kNone ? 0 : ranks_[derivation.ranks + tail];
  }

  Signature signature(EdgeId edge, std::uint32_t ranks) const {
    const std::span<const VertexId> tails = source_.tails(edge);
    return source_.signature(edge, [&](std::uint32_t tail) -> const Signature& {
      const std::uint32_t rank = ranks == kNone ? 0 : ranks_[ranks + tail];
      return rank == 0 ? best_signatures_[tails[tail]] : derivation(tails[tail], rank).signature;
    });
  }

  // Whether the signature is new.
  bool insert(Queue& queue, const Signature& signature) const {
    if (2 * (queue.ranked.size() + 1) > queue.keys.size()) {
      queue.keys.assign(std::max<std::size_t>(8, 2 * queue.keys.size()), 0);
      for (std::uint32_t number : queue.ranked) {
        const std::uint64_t old = mix(source_.key(queue.derivations[number].signature)) | 1;
        std::size_t slot = old >> 1 & (queue.keys.size() - 1);
        while (queue.keys[slot]) slot = (slot + 1) & (queue.keys.size() - 1);
        queue.keys[slot] = old;
      }
    }
    const std::uint64_t key = mix(source_.key(signature)) | 1;
    std::size_t slot = key >> 1 & (queue.keys.size() - 1);
    for (; queue.keys[slot]; slot = (slot + 1) & (queue.keys.size() - 1)) {
      if (queue.keys[slot] == key) return false;
    }
    queue.keys[slot] = key;
    return true;
  }

  // Whether candidate a comes after b.
  bool after(const Queue& queue, const Candidate& a, const Candidate& b) const {
    if (source_.better(b.value, a.value)) return true;
    if (source_.better(a.value, b.value)) return false;
    if constexpr (Source::kTies == Ties::kByEdge) {
      const EdgeId edge_a = edge_of(queue, a), edge_b = edge_of(queue, b);
      if (edge_a != edge_b) return edge_a > edge_b;
      const std::size_t tails = source_.tails(edge_a).size();
      for (std::uint32_t tail = 0; tail < tails; ++tail) {
        const std::uint32_t rank_a = rank_in(queue, a, tail), rank_b = rank_in(queue, b, tail);
        if (rank_a != rank_b) return rank_a > rank_b;
      }
      return false;
    } else {
      return std::tie(a.parent, a.raised, a.way) > std::tie(b.parent, b.raised, b.way);
    }
  }
  EdgeId edge_of(const Queue& queue, const Candidate& candidate) const {
    return candidate.parent == kNone ? queue.ways[candidate.way] : queue.derivations[candidate.parent].edge;
  }
  std::uint32_t rank_in(const Queue& queue, const Candidate& candidate, std::uint32_t tail) const {
    if (candidate.parent == kNone) return 0;
    return rank_in(queue.derivations[candidate.parent], tail) + (tail == candidate.raised);
  }

  void push(Queue& queue, Candidate candidate) const {
    queue.candidates.push_back(std::move(candidate));
    std::push_heap(queue.candidates.begin(), queue.candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return after(queue, a, b); });
  }

  Queue& open(VertexId vertex) {
    if (queue_of_[vertex] != kNone) return queues_[queue_of_[vertex]];
    if (opened_ == queues_.size()) queues_.emplace_back();
    Queue& queue = queues_[opened_];
    queue_of_[vertex] = static_cast<std::uint32_t>(opened_++);
    queue.derivations.clear();
    queue.ranked.clear();
    queue.keys.clear();
    queue.candidates.clear();
    queue.ways.clear();
    queue.exhausted = false;
    source_.edges_into(vertex, queue.ways);
    // The first stays first: it is what rank 0 means everywhere.
    std::sort(queue.ways.begin() + 1, queue.ways.end(), [&](EdgeId a, EdgeId b) {
      if (source_.better(source_.best_value(a), source_.best_value(b))) return true;
      return !source_.better(source_.best_value(b), source_.best_value(a)) && a < b;
    });
    queue.candidates.push_back({source_.best_value(queue.ways[0]), kNone, 0, 0});
    take(queue);
    return queue;
  }

  // Moves the best candidate to the derivations found.
  void take(Queue& queue) {
    std::pop_heap(queue.candidates.begin(), queue.candidates.end(),
                  [&](const Candidate& a, const Candidate& b) { return after(queue, a, b); });
    Candidate top = std::move(queue.candidates.back());
    queue.candidates.pop_back();
    queue.raised = top.raised;
    Derivation derivation{std::move(top.value), 0, kNone, {}};
    if (top.parent == kNone) {
      derivation.edge = queue.ways[top.way];
      if (top.way + 1 < queue.ways.size()) {
        push(queue, {source_.best_value(queue.ways[top.way + 1]), kNone, 0, top.way + 1});
      }
    } else {
      const Derivation& parent = queue.derivations[top.parent];
      const std::size_t tails = source_.tails(parent.edge).size();
      derivation.edge = parent.edge;
      derivation.ranks = static_cast<std::uint32_t>(ranks_.size());
      ranks_.resize(ranks_.size() + tails, 0);
      if (parent.ranks != kNone) std::copy_n(ranks_.begin() + parent.ranks, tails, ranks_.begin() + derivation.ranks);
      ++ranks_[derivation.ranks + top.raised];
    }
    if (distinct_) derivation.signature = signature(derivation.edge, derivation.ranks);
    if (!distinct_ || insert(queue, derivation.signature)) {
      queue.ranked.push_back(static_cast<std::uint32_t>(queue.derivations.size()));
    }
    queue.derivations.push_back(std::move(derivation));
  }

  // Makes the successors of the derivation found last: each has one tail, no earlier than the one raised last, at its
  // next rank; so each is made once. False: a tail must be asked for another derivation first, which is on top of
  // wanted_.
  bool raise(Queue& queue) {
    const Derivation& last = queue.derivations.back();
    const std::span<const VertexId> tails = source_.tails(last.edge);
    for (; queue.raised < tails.size(); ++queue.raised) {
      const VertexId tail = tails[queue.raised];
      if (source_.single(tail)) continue;
      const std::uint32_t rank = rank_in(last, queue.raised) + 1;
      const Queue* below = queue_of_[tail] == kNone ? nullptr : &queues_[queue_of_[tail]];
      if (!below || (rank >= below->ranked.size() && !below->exhausted)) {
        wanted_.emplace_back(tail, rank);
        return false;
      }
      if (rank >= below->ranked.size()) continue;
      Value raised = source_.replaced(
          last.edge, last.value, derivation(tail, rank - 1).value, derivation(tail, rank).value,
          [&](std::uint32_t i) -> const Value& { return value(tails[i], rank_in(last, i) + (i == queue.raised)); });
      push(queue, {std::move(raised), static_cast<std::uint32_t>(queue.derivations.size() - 1), queue.raised, 0});
    }
    return true;
  }

  const Source& source_;
  bool distinct_ = false;
  std::uint32_t looked_at_ = kNone;
  std::vector<Signature> best_signatures_;  // by vertex, of distinct lists only
  std::vector<std::uint32_t> queue_of_;     // by vertex, or kNone
  std::deque<Queue> queues_;                // a pool
  std::size_t opened_ = 0;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::pair<VertexId, std::uint32_t>> wanted_;  // vertex and rank: a stack
};

// A part of a derivation: how one vertex is made.
struct DerivationPart {
  VertexId vertex;
  std::uint32_t rank;
  EdgeId edge;
  std::vector<std::uint32_t> tails;  // which parts make the tails
};

// The parts of a derivation of that rank, which must exist, in preorder. A part that is used several times is there
// once: the whole may be exponentially larger than the graph.
template <class Source>
std::vector<DerivationPart> derivation_parts(const LazyKBest<Source>& kbest, VertexId goal, std::uint32_t goal_rank) {
  std::vector<DerivationPart> parts;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;         // by vertex and rank
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unfinished;  // part and tail: a stack
  auto part_of = [&](VertexId vertex, std::uint32_t rank) {
    const auto [place, fresh] =
        numbers.emplace(std::uint64_t{vertex} << 32 | rank, static_cast<std::uint32_t>(parts.size()));
    if (fresh) {
      unfinished.emplace_back(place->second, 0);
      parts.push_back({vertex, rank, kbest.edge(vertex, rank), {}});
    }
    return place->second;
  };
  part_of(goal, goal_rank);
  while (!unfinished.empty()) {
    auto& [number, tail] = unfinished.back();
    const std::uint32_t part = number, next = tail++;
    const std::span<const VertexId> tails = kbest.source().tails(parts[part].edge);
    if (next == tails.size()) {
      unfinished.pop_back();
      continue;
    }
    const std::uint32_t below = part_of(tails[next], kbest.tail_rank(parts[part].vertex, parts[part].rank, next));
    parts[part].tails.push_back(below);
  }
  return parts;
}

}  // namespace treeglot::hypergraph
