// Which span pairs links between nodes license (spec: tree-to-tree, section 3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grammars/tree2tree/covers.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// Keeps its buffers from pair to pair.
class NodeLicence {
 public:
  // The covers of both sides of the pair; they must stay alive.
  void reset(std::span<const NodeLink> links, const TreeCovers& source, const TreeCovers& target);

  bool empty() const { return links_.empty(); }
  // Whether the topmost node of a chain has a link, or another node of the chain.
  bool source_linked(std::uint32_t top) const { return source_linked_[top]; }
  bool target_linked(std::uint32_t top) const { return target_linked_[top]; }

  // Reading `exact`: whether the trees of two covers can be assigned to one another along links.
  bool exact(std::span<const std::uint32_t> source, std::span<const std::uint32_t> target);
  // Reading `open`: some link joins a node inside one span with one inside the other, and none leads out.
  bool open(WordSpan source, WordSpan target) const;
  // The least span with a counterpart of every linked node inside a source span; empty if there is none. No span has an
  // open licence for the source span unless this one has.
  WordSpan hull(WordSpan source) const;

 private:
  bool assign(std::size_t s, std::span<const std::uint32_t> source, std::span<const std::uint32_t> target);

  const TreeCovers* source_ = nullptr;
  const TreeCovers* target_ = nullptr;
  std::vector<NodeLink> links_, top_links_;  // as given; between the tops of chains, sorted
  std::vector<bool> source_linked_, target_linked_;
  std::vector<std::int32_t> partner_;  // of each target tree while trees are assigned
  std::vector<bool> tried_;
};

}  // namespace treeglot
