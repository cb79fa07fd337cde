// The source side of a rule: words and variables of a unit in surface order with the places of their heads. Extraction
// and matching make it in the same way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "grammars/mwu/units.hh"
#include "grammars/rule.hh"

namespace treeglot::mwu {

class SourceSide {
 public:
  void clear() { members_.clear(); }
  void add_word(Place word, int head) { members_.push_back({word, kNoTail, head}); }
  void add_words(std::span<const Place> words, const Tree& tree) {
    for (Place word : words) add_word(word, tree.head(word));
  }
  // A word of σ of a tail; tails are numbered from left to right.
  void add_tail(Place word, int head, std::uint32_t tail) { members_.push_back({word, tail, head}); }
  // A word of σ of a tail with all that is below it, as words; `tree` is the tail's.
  void add_whole(Place word, int head, const Tree& tree) {
    for (Place below = tree.begin(word); below < tree.end(word); ++below) {
      add_word(below, below == word ? head : tree.head(below));
    }
  }

  // The symbols, when all is there. `word_id` and `label_id` give the numbers of words and labels.
  template <class WordIdOf, class LabelIdOf>
  void write(WordIdOf&& word_id, LabelIdOf&& label_id, std::vector<Symbol>& out) {
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.word < b.word; });
    out.clear();
    std::uint32_t last = kNoTail;  // the variable that was begun last
    for (const Member& member : members_) {
      if (member.tail == kNoTail) {
        out.push_back(symbol(SymbolKind::kWord, word_id(member.word)));
      } else {
        const SymbolKind kind = member.tail == last ? SymbolKind::kMore : SymbolKind::kSite;
        out.push_back(symbol(kind, label_id(member.word)));
        last = member.tail;
      }
      out.push_back(symbol(SymbolKind::kPlace, place_of(member.head)));
    }
  }
  template <class Take>
  void for_each_word(Take&& take) const {
    for (const Member& member : members_) {
      if (member.tail == kNoTail) take(member.word);
    }
  }
  // After write(): which symbol a word is.
  std::size_t symbol_of(Place word) const { return 2 * (place_of(word) - 1); }

 private:
  static constexpr std::uint32_t kNoTail = 0xFFFFFFFF;
  struct Member {
    Place word;
    std::uint32_t tail;
    int head;  // -1: none
  };
  // From 1; 0: it is not there.
  std::uint32_t place_of(int word) const {
    auto place = std::lower_bound(members_.begin(), members_.end(), word,
                                  [](const Member& member, int wanted) { return int{member.word} < wanted; });
    if (word < 0 || place == members_.end() || place->word != word) return 0;
    return static_cast<std::uint32_t>(place - members_.begin()) + 1;
  }
  std::vector<Member> members_;
};

}  // namespace treeglot::mwu
