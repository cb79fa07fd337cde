// Words as numbers, links between the words of two sentences, and the order of phrases as text: what every room speaks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace treeglot {

using WordId = std::uint32_t;

struct WordLink {
  std::uint16_t source, target;
  friend bool operator==(const WordLink&, const WordLink&) = default;
  friend auto operator<=>(const WordLink&, const WordLink&) = default;
};

// Calls `take` with each word of a line: what blanks, tabs and line ends separate. The one definition of a word; other
// white space is part of it.
template <class Take>
void for_each_word(std::string_view line, Take take) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && blank(line[i])) ++i;
    if (i >= line.size()) return;
    const std::size_t start = i;
    while (i < line.size() && !blank(line[i])) ++i;
    take(line.substr(start, i - start));
  }
}

// Words with ids. While a corpus is read ids go by first appearance; sort() renumbers them by bytes, so that the order
// of ids is the order of text and files do not depend on the order of sentences.
class SymbolTable {
 public:
  WordId id(std::string_view word);
  // The same for a word that must not be added: size() if it is not there.
  WordId find(std::string_view word) const {
    auto place = ids_.find(word);
    return place == ids_.end() ? static_cast<WordId>(words_.size()) : place->second;
  }
  std::size_t size() const { return words_.size(); }
  const std::string& word(WordId id) const { return words_[id]; }
  // Renumbers; returns the new id of each old one.
  std::vector<WordId> sort();
  // About how much memory it takes.
  std::size_t bytes() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> words_;
  std::unordered_map<std::string, WordId, Hash, std::equal_to<>> ids_;
};

// Where "|||" stands or would stand in a sorted vocabulary: a phrase that ends is compared as if this word followed,
// which gives the order of the lines "source ||| target ||| ...".
WordId stop_rank(const SymbolTable& words);

// Compares two phrases in that order; negative, 0 or positive.
inline int compare_phrases(std::span<const WordId> a, std::span<const WordId> b, std::uint64_t stop) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() && i == b.size()) return 0;
  // The end stands between the last word below "|||" and the first that is not.
  std::uint64_t left = i < a.size() ? 2 * std::uint64_t{a[i]} + 1 : 2 * stop;
  std::uint64_t right = i < b.size() ? 2 * std::uint64_t{b[i]} + 1 : 2 * stop;
  return left < right ? -1 : 1;
}

}  // namespace treeglot
