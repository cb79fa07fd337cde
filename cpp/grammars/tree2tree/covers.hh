// Spans of a constituency tree as sequences of trees (spec: tree-to-tree, section 1). The cover of a span is the
// sequence of the largest nodes inside it, left to right; of a unary chain over one span the topmost node counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/constituency_nodes.hh"

namespace treeglot {

// A span of words, half-open.
struct WordSpan {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
  bool holds(const WordSpan& other) const { return begin <= other.begin && other.end <= end; }
  bool meets(const WordSpan& other) const { return begin < other.end && other.begin < end; }
  friend bool operator==(const WordSpan&, const WordSpan&) = default;
  friend auto operator<=>(const WordSpan&, const WordSpan&) = default;
};

// Whether a tree can be made of it: it has one, or is a single word.
inline bool is_tree(const ParsedSentence& sentence) { return sentence.has_constituency() || sentence.size() == 1; }

// Keeps its buffers from sentence to sentence.
class TreeCovers {
 public:
  // The sentence must pass is_tree().
  void reset(const ParsedSentence& sentence);

  const ConstituencyNodes& tree() const { return tree_; }
  std::uint32_t words() const { return words_; }
  WordSpan span(std::uint32_t node) const { return spans_[node]; }
  std::uint32_t depth(std::uint32_t node) const { return depths_[node]; }
  std::uint32_t top(std::uint32_t node) const { return tops_[node]; }  // of the unary chain over its span

  // The largest node that begins at a place and ends at `end` or before.
  std::uint32_t largest(std::uint32_t begin, std::uint32_t end) const;

  // The trees of a span.
  void cover(WordSpan span, std::vector<std::uint32_t>& out) const;
  std::size_t trees(WordSpan span) const;
  // All spans with at most `most` trees, by begin, then end.
  void spans(std::size_t most, std::vector<WordSpan>& out) const;

 private:
  ConstituencyNodes tree_;
  std::uint32_t words_ = 0;
  std::vector<WordSpan> spans_;
  std::vector<std::uint32_t> depths_, tops_;
  std::vector<std::vector<std::uint32_t>> from_;  // by begin: topmost nodes that begin there, the largest first
};

}  // namespace treeglot
