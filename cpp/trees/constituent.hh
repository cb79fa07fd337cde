// A phrase of a constituency tree, and the checks that trees must pass before anything is extracted from them.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace treeglot {

// A phrase over words [begin, end). `parent` is the number of another constituent of the sentence, -1 for the topmost
// one. Pre-terminals are not constituents: they are the words with their tags.
struct Constituent {
  std::uint32_t label;  // in ParsedCorpus::categories
  std::uint16_t begin, end;
  std::int32_t parent;
};

inline constexpr std::uint16_t kNoHeadWord = 0xFFFF;

// Checks trees; keeps its buffers from one to the next. Throws std::invalid_argument that says what is wrong.
class TreeChecker {
 public:
  // One root, no cycle, every subtree without a gap.
  void check_heads(std::span<const std::int32_t> heads);

  // Not empty, nested, in preorder under one root.
  template <class Phrase>
  static void check_phrases(std::span<const Phrase> phrases, int words) {
    for (std::size_t n = 0; n < phrases.size(); ++n) {
      const Phrase& phrase = phrases[n];
      if (phrase.begin < 0 || phrase.begin >= phrase.end || phrase.end > words) {
        throw std::invalid_argument("a constituent is empty or outside the sentence");
      }
      if (phrase.parent < -1 || phrase.parent >= static_cast<int>(n) || (phrase.parent < 0) != (n == 0)) {
        throw std::invalid_argument("constituents are not in preorder under one root");
      }
      if (n == 0) {
        if (phrase.begin != 0 || phrase.end != words) {
          throw std::invalid_argument("the topmost constituent does not cover the sentence");
        }
        continue;
      }
      const Phrase& parent = phrases[static_cast<std::size_t>(phrase.parent)];
      if (phrase.begin < parent.begin || phrase.end > parent.end) {
        throw std::invalid_argument("constituents are not nested or not in preorder");
      }
      // What lies between the phrase and its parent has ended; nothing is looked at twice.
      for (int before = static_cast<int>(n) - 1; before != phrase.parent;) {
        if (before < 0 || phrases[static_cast<std::size_t>(before)].end > phrase.begin) {
          throw std::invalid_argument("constituents are not nested or not in preorder");
        }
        before = phrases[static_cast<std::size_t>(before)].parent;
      }
    }
  }

 private:
  std::vector<std::int32_t> open_, low_, high_, count_, queue_;
};

}  // namespace treeglot
