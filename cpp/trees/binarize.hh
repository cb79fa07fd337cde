// Binarisation of constituency trees (treeglot.trees.binarize): a phrase with more than two children gets virtual
// phrases X@LABEL between itself and them.
//
//   left    A(B C D)  ->  A(X@A(B C) D)
//   right   A(B C D)  ->  A(B X@A(C D))
//   head    from the head outwards, first the siblings on its right, then those on its left
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trees/constituent.hh"

namespace treeglot {

enum class Binarization { kNone, kLeft, kRight, kHead };

// By name: none, left, right, head. Throws std::invalid_argument.
Binarization binarization(std::string_view name);

inline constexpr std::string_view kVirtual = "X@";

// Keeps its buffers from tree to tree.
class Binarizer {
 public:
  struct Phrase {
    std::uint32_t origin;  // the phrase of the given tree that it comes from
    bool is_virtual;       // it groups children of that phrase
    std::uint16_t begin, end;
    std::int32_t parent;
  };

  // The phrases of the binarised tree in preorder. `head_words` are needed for direction kHead.
  std::span<const Phrase> run(std::span<const Constituent> phrases, std::span<const std::uint16_t> head_words,
                              std::size_t words, Binarization direction);

 private:
  struct Child {
    std::int32_t phrase;  // -1: a word
    std::uint16_t begin, end;
  };
  // A phrase that is still to be written: `level` children around the core of `origin`.
  struct Pending {
    std::uint32_t origin;
    std::uint32_t level;
    std::int32_t parent;
  };
  void collect_children(std::span<const Constituent> phrases, std::size_t words);

  std::vector<Phrase> phrases_;
  std::vector<Child> children_;
  std::vector<std::uint32_t> starts_, filled_, word_parents_, open_;
  std::vector<Pending> pending_;
};

}  // namespace treeglot
