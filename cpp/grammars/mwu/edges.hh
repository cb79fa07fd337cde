// The best hyperedges into a unit (spec: mwu-forest, section 1): its τ is cut into contiguous groups, and each group is
// the σ of one tail. Edges are ranked by the mean size of their tails, then fewer tails, then the tails' words.
//
// The mean is no sum over different numbers of tails, so there is one chart for each number: an entry is a suffix of τ
// with a number of tails, ranked by their words in all. Entries are made lazily (Huang and Chiang 2005, algorithm 3),
// as far as the best edges need them, without recursion.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "grammars/mwu/units.hh"

namespace treeglot::mwu {

// May these neighbours in τ be the σ of one tail?
using GroupFilter = std::function<bool(std::span<const Place>)>;

class BestEdges {
 public:
  // `any_siblings`: groups may have several heads.
  BestEdges(Units& units, bool any_siblings) : units_(units), any_siblings_(any_siblings) {}

  // Starts with another τ. `filter` may be empty; groups that it refuses are no tails.
  void reset(std::span<const Place> tau, const GroupFilter& filter);
  // The next best edge: its tails from left to right. False if there is none.
  bool next(std::vector<UnitId>& tails);
  // Of the edge that `next` gave: the words of all tails.
  std::uint32_t words() const { return words_; }

 private:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
  struct Entry {
    std::uint32_t words;  // of all its tails
    std::uint32_t group;  // of the first tail, in groups_
    std::uint32_t tail;   // which of the group's units
    std::uint32_t rank;   // which entry of the node behind the group
  };
  struct Group {
    std::uint32_t begin, end;  // in τ
    Units::Range units;
  };
  // The suffix of τ from `begin` on with `tails` tails.
  struct Node {
    std::uint32_t begin, tails;
    std::uint32_t next_group;    // groups that are not yet candidates
    bool successors = false;     // those of the last entry are not yet candidates
    bool complete = false;       // there are no more entries
    std::vector<Entry> entries;  // best first
    std::vector<Entry> heap;
  };

  // A node with one tail has no entries: they are the units of the group that is the whole suffix.
  static constexpr std::uint32_t kOneTail = 0x80000000;  // and the number of that group
  std::uint32_t node(std::uint32_t begin, std::uint32_t tails);
  std::uint32_t behind(const Node& node, const Entry& entry) {
    return this->node(groups_[entry.group].end, node.tails - 1);
  }
  std::uint32_t words_of(std::uint32_t node, std::uint32_t rank) const {
    if (node & kOneTail) return units_.size(groups_[node & ~kOneTail].units.first + rank);
    return nodes_[node].entries[rank].words;
  }
  bool has(std::uint32_t node, std::uint32_t rank);
  bool better(const Entry& a, const Entry& b) const;
  void push(Node& node, const Entry& entry);
  UnitId unit(const Entry& entry) const { return groups_[entry.group].units.first + entry.tail; }

  Units& units_;
  const bool any_siblings_;
  std::uint32_t size_ = 0;                           // of τ
  std::uint32_t most_words_ = 0;                     // that the tails of an edge can have
  std::vector<Group> groups_;                        // by begin, then by end
  std::vector<std::uint32_t> first_group_;           // by begin, and the end
  std::vector<std::uint32_t> fewest_;                // by begin: tails that a suffix needs at least, or kNowhere
  std::vector<std::uint32_t> last_group_;            // by begin: the group that is the whole suffix, or kNowhere
  std::vector<std::vector<std::uint32_t>> node_of_;  // by number of tails, begin
  std::vector<std::uint32_t> rows_;                  // of node_of_ that are in use
  std::vector<Node> nodes_;                          // kept for their buffers
  std::size_t used_ = 0;
  struct Open {
    std::uint32_t tails, node, rank;
  };
  std::vector<Open> open_;  // numbers of tails that may have the next best edge
  std::uint32_t next_tails_ = 0;
  std::vector<std::uint32_t> stack_;
  std::uint32_t words_ = 0;
};

}  // namespace treeglot::mwu
