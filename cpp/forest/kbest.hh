// What the search has kept of a forest, a hypergraph of states, and its best derivations one after the other: the lazy
// algorithm 3 of Huang and Chiang 2005.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "forest/forest.hh"

namespace treeglot::forest {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;
inline constexpr std::uint32_t kLookedAt = 50;

// One way to make a state: an option of an edge, and a state for each of its tails.
struct Hyperedge {
  double score;  // with the best derivations of the tails
  NodeId node;
  std::uint32_t edge, option;       // of the node, of the edge
  std::uint32_t first_tail, tails;  // in Hypergraph::tails
  std::uint32_t next;               // another way to make the same state, or kNone
};

// A state of a node that was kept.
struct Vertex {
  double score;             // of its best hyperedge
  std::uint32_t hyperedge;  // the best, head of the list of all
  std::uint32_t state;      // the search's business
};

struct Hypergraph {
  std::vector<Vertex> vertices;
  std::vector<Hyperedge> hyperedges;
  std::vector<std::uint32_t> tails;  // vertices

  std::span<const std::uint32_t> tails_of(const Hyperedge& hyperedge) const {
    return {tails.data() + hyperedge.first_tail, hyperedge.tails};
  }
  void clear() {
    vertices.clear();
    hyperedges.clear();
    tails.clear();
  }
};

// The rank of a derivation is its place in the list of its vertex, from 0. Distinct lists have no two derivations with
// the same words, in any vertex: a worse one with the same words cannot be part of a better one with new words. So
// derivations that differ in name only do not multiply on the way to the goal.
class LazyKBest {
 public:
  explicit LazyKBest(const Hypergraph& graph) : graph_(graph) {}

  // Forgets everything: the hypergraph has changed. In the hypergraph tails must come before their heads.
  void reset(const Forest& forest, bool distinct);

  // Whether a vertex has a derivation of that rank; makes it if need be. Of equally good ones always the same is first.
  // For distinct lists at most kLookedAt derivations are looked at for each one wanted. All functions below want ranks
  // that exist.
  bool has(std::uint32_t vertex, std::uint32_t rank);
  double score(std::uint32_t vertex, std::uint32_t rank) const;
  const Hyperedge& hyperedge(std::uint32_t vertex, std::uint32_t rank) const;
  // The rank that a derivation uses of a tail.
  std::uint32_t tail_rank(std::uint32_t vertex, std::uint32_t rank, std::uint32_t tail) const;

 private:
  // The words of a derivation as a number: a polynomial in a fixed base, so that parts can be put together.
  struct Yield {
    std::uint64_t value = 0, power = 1;  // the base to the number of words
  };
  struct Derivation {
    double score;
    std::uint32_t hyperedge;
    std::uint32_t ranks;  // in ranks_, one for each tail; kNone: all 0
    Yield yield;          // of distinct lists only
  };
  // A derivation that is not made yet: the one found as number `parent` with the rank of tail `raised` one higher, or
  // the best derivation of way number `way` if parent is kNone.
  struct Candidate {
    double score;
    std::uint32_t parent, raised, way;
    bool operator<(const Candidate& other) const {
      if (score != other.score) return score < other.score;
      return std::tie(parent, raised, way) > std::tie(other.parent, other.raised, other.way);
    }
  };
  struct Queue {
    std::vector<Derivation> found;      // best first
    std::vector<std::uint32_t> ranked;  // those of them that count: all, or those with new words
    std::vector<std::uint64_t> yields;  // of these, open addressing; 0: free
    std::vector<Candidate> candidates;  // a heap
    std::vector<std::uint32_t> ways;    // hyperedges, best first
    std::uint32_t raised = 0;           // the last one found has no successors yet by this tail and later ones
    bool exhausted = false;
  };

  Queue& open(std::uint32_t vertex);
  const Derivation& derivation(std::uint32_t vertex, std::uint32_t rank) const {
    const Queue& queue = queues_[queue_of_[vertex]];
    return queue.found[queue.ranked[rank]];
  }
  Yield yield(const Hyperedge& hyperedge, std::uint32_t ranks) const;
  static bool insert(Queue& queue, std::uint64_t value);
  bool only_one(std::uint32_t vertex) const;
  std::uint32_t rank_in(const Derivation& derivation, std::uint32_t tail) const {
    return derivation.ranks == kNone ? 0 : ranks_[derivation.ranks + tail];
  }
  bool raise(Queue& queue);
  void take(Queue& queue);

  const Hypergraph& graph_;
  const Forest* forest_ = nullptr;
  bool distinct_ = false;
  std::vector<Yield> best_yields_;       // by vertex, of distinct lists only
  std::vector<std::uint32_t> queue_of_;  // by vertex, or kNone
  std::deque<Queue> queues_;             // a pool
  std::size_t opened_ = 0;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted_;  // vertex and rank: a stack
};

}  // namespace treeglot::forest
