// Parsed sentences and sentence pairs by columns: words, tags, heads and constituents, as rule extraction and matching
// want them. Trees are checked and made projective before they come here; a sentence may lack either tree, or both.
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

  struct Phrase {
    std::string_view label;
    int begin, end, parent;
  };
  // A sentence to add. Without tags every tag is "_"; `heads` and `phrases` may be empty.
  struct Columns {
    std::span<const std::string_view> words, tags = {};
    std::span<const int> heads = {};
    std::span<const Phrase> phrases = {};
  };

  // Adds a sentence; throws std::invalid_argument if the columns do not fit together, then nothing has changed.
  void add(const Columns& sentence);
  void add(std::span<const std::string_view> words, std::span<const std::string_view> tags, std::span<const int> heads,
           std::span<const Phrase> phrases) {
    add({words, tags, heads, phrases});
  }
  // Whether add() would take it; throws as add() does.
  static void check(const Columns& sentence);

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

// A link between nodes of two constituency trees, numbered as in constituency_nodes.hh: constituents from 0, then
// words.
struct NodeLink {
  std::uint32_t source, target;
  friend bool operator==(const NodeLink&, const NodeLink&) = default;
  friend auto operator<=>(const NodeLink&, const NodeLink&) = default;
};

// A sentence and its translation: what rules are extracted from. Links are sorted by source, then target; each once.
struct ParsedPair {
  ParsedSentence source, target;
  std::span<const WordLink> links;
  std::span<const NodeLink> node_links;
};

class ParsedBitext {
 public:
  // Adds a pair; throws std::invalid_argument that says what is wrong, then nothing has changed.
  void add(const ParsedCorpus::Columns& source, const ParsedCorpus::Columns& target, std::span<const WordLink> links,
           std::span<const NodeLink> node_links = {});

  std::size_t size() const { return link_starts_.size() - 1; }
  ParsedPair operator[](std::size_t n) const;
  const ParsedCorpus& source() const { return source_; }
  const ParsedCorpus& target() const { return target_; }
  std::size_t bytes() const;

 private:
  ParsedCorpus source_, target_;
  std::vector<WordLink> links_;
  std::vector<NodeLink> node_links_;
  std::vector<std::uint64_t> link_starts_{0}, node_link_starts_{0};
};

}  // namespace treeglot
