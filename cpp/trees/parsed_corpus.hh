// Parsed sentences by columns: words, tags, heads and constituents, as rule extraction and matching want them. Trees
// are checked and made projective before they come here (treeglot.trees.corpus); a sentence may lack either tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hh"

namespace treeglot {

// A phrase of a constituency tree over words [begin, end). `parent` is the number of another constituent of the
// sentence, -1 for the topmost one. Pre-terminals are not constituents: they are the words with their tags.
struct Constituent {
  std::uint32_t label;  // in ParsedCorpus::categories
  std::uint16_t begin, end;
  std::int32_t parent;
};

struct ParsedSentence {
  std::span<const WordId> words;         // in ParsedCorpus::words
  std::span<const WordId> tags;          // in ParsedCorpus::categories
  std::span<const std::int32_t> heads;   // -1: the root; empty without a dependency tree; projective
  std::span<const Constituent> phrases;  // in preorder (parents first, by begin); empty without a constituency tree
  std::size_t size() const { return words.size(); }
  bool has_dependency() const { return !heads.empty(); }
  bool has_constituency() const { return !phrases.empty(); }
};

class ParsedCorpus {
 public:
  static constexpr std::size_t kMaxSentence = 65535;

  // Adds a sentence; throws std::invalid_argument if the columns do not fit together. `heads` and `phrases` may be
  // empty. A phrase is label, begin, end, parent.
  struct Phrase {
    std::string_view label;
    int begin, end, parent;
  };
  void add(std::span<const std::string_view> words, std::span<const std::string_view> tags, std::span<const int> heads,
           std::span<const Phrase> phrases);

  std::size_t size() const { return word_starts_.size() - 1; }
  ParsedSentence operator[](std::size_t n) const;
  std::size_t bytes() const;

  SymbolTable words, categories;  // ids by first appearance

 private:
  std::vector<WordId> word_ids_, tag_ids_;
  std::vector<std::int32_t> heads_;
  std::vector<Constituent> phrases_;
  std::vector<std::uint64_t> word_starts_{0}, head_starts_{0}, phrase_starts_{0};
};

// A parsed source with target words and word links: what rules are extracted from.
struct ParsedPair {
  ParsedSentence source;
  std::span<const WordId> target;   // in ParsedBitext::target_words
  std::span<const WordLink> links;  // sorted by source, target; no repetitions
};

class ParsedBitext {
 public:
  // Adds the target side of the next sentence of `source`; throws std::invalid_argument that says what is wrong.
  void add(std::span<const std::string_view> target, std::span<const WordLink> links);

  std::size_t size() const { return target_starts_.size() - 1; }
  ParsedPair operator[](std::size_t n) const;

  ParsedCorpus source;
  SymbolTable target_words;

 private:
  std::vector<WordId> target_;
  std::vector<WordLink> links_;
  std::vector<std::uint64_t> target_starts_{0}, link_starts_{0};
};

}  // namespace treeglot
