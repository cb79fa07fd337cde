// Head-dependents relations (HDRs): a word of a dependency tree with all its dependents, and the groups of neighbouring
// members that grammars use: phrasal nodes (paper "consdep2str") and fixed or floating structures (paper "augmented").
// Extraction and matching both see a sentence through this header. Needs nothing but a ParsedSentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/parsed_corpus.hh"

namespace treeglot {

enum class MemberType : std::uint8_t { kHead, kInternal, kLeaf };

// The head stands for its own word, [begin, end) = [place, place + 1); a dependent for its subtree.
struct HdrMember {
  std::uint16_t place;       // of the word in the sentence
  std::uint16_t begin, end;  // the words it stands for
  MemberType type;
  WordId word, tag;
};

// Members [first, last) of the HDR at `head`, two or more, never all of them.
struct PhrasalNode {
  std::uint16_t head;
  std::uint16_t first, last;
  std::uint16_t begin, end;  // words
  bool covers_head;
  std::uint32_t label;   // in ParsedCorpus::categories
  std::uint32_t phrase;  // its number among ParsedSentence::phrases
};

// All HDRs of a sentence. Keeps its buffers; use one object for many sentences.
class HdrView {
 public:
  // `sentence` must have a dependency tree; its columns must stay alive.
  void reset(const ParsedSentence& sentence);

  const ParsedSentence& sentence() const { return sentence_; }
  std::size_t size() const { return sentence_.size(); }
  int root() const { return root_; }
  // Every word after its dependents; dependents of one head from left to right.
  std::span<const std::uint16_t> bottom_up() const { return bottom_up_; }
  bool is_leaf(int n) const { return starts_[n + 1] - starts_[n] == 1; }
  // Head and dependents of the HDR at n in the order of the sentence. A leaf has one member: itself.
  std::span<const HdrMember> members(int n) const {
    return {members_.data() + starts_[n], members_.data() + starts_[n + 1]};
  }
  std::uint16_t subtree_begin(int n) const { return begins_[n]; }
  std::uint16_t subtree_end(int n) const { return ends_[n]; }

  // The constituents of the sentence that are phrasal nodes, one for each span (the topmost label of a unary chain), by
  // HDR and inside an HDR by begin, longer ones first. Computed by the first call after reset().
  std::span<const PhrasalNode> phrasal_nodes();
  std::span<const PhrasalNode> phrasal_nodes(int n);
  // How many constituents (each span once, more than one word, no subtree) could not be phrasal nodes.
  std::size_t crossing();

 private:
  void find_phrasal_nodes();

  ParsedSentence sentence_;
  int root_ = -1;
  std::vector<std::uint16_t> bottom_up_, begins_, ends_;
  std::vector<std::uint32_t> starts_;
  std::vector<HdrMember> members_;
  bool have_phrasal_ = false;
  std::size_t crossing_ = 0;
  std::vector<PhrasalNode> phrasal_, unsorted_;
  std::vector<std::uint32_t> phrasal_starts_;
  std::vector<std::uint32_t> fill_;
  std::vector<std::uint16_t> queue_, lowest_;
};

// Calls take(first, last, fixed) for the groups of members that are fixed or floating structures: at least two
// members, not all of them, at most `max_words` words. A group with the head is a fixed structure (its missing members
// depend on the head), one without is a floating one. By first member, then by last.
template <class Take>
void for_each_structure(std::span<const HdrMember> members, int max_words, Take&& take) {
  const std::size_t size = members.size();
  for (std::size_t first = 0; first < size; ++first) {
    bool fixed = members[first].type == MemberType::kHead;
    for (std::size_t last = first + 2; last <= size; ++last) {
      if (members[last - 1].end - members[first].begin > max_words) break;
      fixed = fixed || members[last - 1].type == MemberType::kHead;
      if (last - first < size) take(first, last, fixed);
    }
  }
}

}  // namespace treeglot
