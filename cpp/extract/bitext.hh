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

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> words_;
  std::unordered_map<std::string, WordId, Hash, std::equal_to<>> ids_;
};

class AlignedBitext {
 public:
  static constexpr std::size_t kMaxSentence = 65535;

  // Adds a pair; `links` is Pharaoh text ("0-0 1-2"). Returns an empty string, or what is wrong with the line.
  std::string add(std::string_view source, std::string_view target, std::string_view links);
  // After the last add(): sorts both vocabularies.
  void finish();

  std::size_t size() const { return source_starts_.size() - 1; }
  SentencePair operator[](std::size_t n) const {
    return {part(source_, source_starts_, n), part(target_, target_starts_, n), part(links_, link_starts_, n)};
  }

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
