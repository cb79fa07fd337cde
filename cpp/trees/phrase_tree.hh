// Constituency trees by the children of their phrases, with gaps or without, as treeglot.trees.constituency has them: a
// phrase or a word is a number, phrase n as n and word j as ~j.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trees/head_rules.hh"

namespace treeglot {

// Phrases are in preorder, children by their first word. The texts belong to whoever gave them.
struct PhraseTree {
  std::vector<std::string_view> labels, functions;
  std::vector<std::int32_t> children;
  std::vector<std::uint32_t> starts{0};           // the children of phrase n are [starts[n], starts[n + 1])
  std::vector<std::int32_t> parents;              // -1: the root
  std::vector<std::int32_t> begins, ends, sizes;  // the closure of each phrase, and how many words it has
  std::vector<std::uint32_t> origins;             // the number of each phrase in what the tree was built from

  std::size_t size() const { return labels.size(); }
  bool is_continuous() const;
  std::span<const std::int32_t> children_of(std::size_t n) const {
    return std::span(children).subspan(starts[n], starts[n + 1] - starts[n]);
  }
  void clear();
};

// Builds trees; keeps its buffers from one to the next.
class PhraseTreeBuilder {
 public:
  // Phrases in any order, with children in any order.
  struct Given {
    std::span<const std::string_view> labels, functions;  // no functions: all are empty
    std::span<const std::vector<std::int32_t>> children;
  };
  // The tree of `words` words; throws std::invalid_argument if it is none: each phrase and word below one other, all
  // below one root. One word may have no phrase.
  void build(const Given& given, std::size_t words, PhraseTree& tree);

  // The tree without gaps (treeglot.trees.continuous, "raise"): children that do not touch the part with the head move
  // up. `heads` are the head children of its phrases.
  void close_gaps(const PhraseTree& tree, std::span<const std::int32_t> heads, std::size_t words, PhraseTree& closed);

 private:
  void check(const Given& given, std::size_t words);

  std::vector<std::uint32_t> parent_counts_, word_counts_, order_, stack_, numbers_;
  std::vector<std::int32_t> first_;
  std::vector<std::vector<std::int32_t>> sorted_;
  std::vector<std::vector<std::int32_t>> moved_;
};

}  // namespace treeglot
