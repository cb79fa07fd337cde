// A word-aligned parallel corpus in memory, by columns: word ids, sentence starts and links.
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

struct SentencePair {
  std::span<const WordId> source, target;
  std::span<const WordLink> links;
};

// Words with ids. While a corpus is read ids go by first appearance; sort() renumbers them by bytes, so that the order
// of ids is the order of text and files do not depend on the order of sentences.
class SymbolTable {
 public:
  WordId id(std::string_view word);
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

class AlignedBitext {
 public:
  static constexpr std::size_t kMaxSentence = 65535;

  // What is wrong with a pair, and in which of its three lines: 0 source, 1 target, 2 links.
  struct Problem {
    int side = 0;
    std::string message;
    explicit operator bool() const { return !message.empty(); }
  };

  // Adds a pair; `links` is Pharaoh text ("0-0 1-2"). After a problem the corpus is of no use.
  Problem add(std::string_view source, std::string_view target, std::string_view links);
  // After the last add(): sorts both vocabularies.
  void finish();

  std::size_t size() const { return source_starts_.size() - 1; }
  SentencePair operator[](std::size_t n) const {
    return {part(source_, source_starts_, n), part(target_, target_starts_, n), part(links_, link_starts_, n)};
  }

  // About how much memory it takes.
  std::size_t bytes() const;

  SymbolTable source_words, target_words;

 private:
  template <class T>
  static std::span<const T> part(const std::vector<T>& all, const std::vector<std::uint64_t>& starts, std::size_t n) {
    return {all.data() + starts[n], all.data() + starts[n + 1]};
  }
  std::vector<WordId> source_, target_;
  std::vector<WordLink> links_;
  std::vector<std::uint64_t> source_starts_{0}, target_starts_{0}, link_starts_{0};
};

}  // namespace treeglot
