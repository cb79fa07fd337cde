// The nodes of a constituency tree with their children in surface order: constituents with the numbers they have in the
// sentence, then a pre-terminal for each word. Node 0 is the root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/parsed_corpus.hh"

namespace treeglot {

// Keeps its buffers from sentence to sentence.
class ConstituencyNodes {
 public:
  void reset(const ParsedSentence& sentence);

  std::uint32_t size() const { return static_cast<std::uint32_t>(parents_.size()); }
  std::uint32_t constituents() const { return constituents_; }
  bool is_preterminal(std::uint32_t node) const { return node >= constituents_; }
  std::uint32_t word(std::uint32_t preterminal) const { return preterminal - constituents_; }
  std::int32_t parent(std::uint32_t node) const { return parents_[node]; }  // -1: none
  // A pre-terminal has none. Children have greater numbers than their parents.
  std::span<const std::uint32_t> children(std::uint32_t node) const {
    return {children_.data() + starts_[node], children_.data() + starts_[node + 1]};
  }

 private:
  std::uint32_t constituents_ = 0;
  std::vector<std::int32_t> parents_;
  std::vector<std::uint32_t> children_, starts_, filled_, next_free_;
};

}  // namespace treeglot
