// Parsed sentences and sentence pairs by columns: words, tags, heads and constituents, as rule extraction and matching
// want them. Trees are checked and made projective before they come here; a sentence may lack either tree, or both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.hh"
#include "base/mapped_file.hh"
#include "base/words.hh"
#include "trees/binarize.hh"
#include "trees/constituent.hh"
#include "trees/link_columns.hh"

namespace treeglot {

struct ParsedSentence {
  std::span<const WordId> words;         // in ParsedCorpus::words
  std::span<const WordId> tags;          // in ParsedCorpus::categories
  std::span<const std::int32_t> heads;   // -1: the root; empty without a dependency tree; projective
  std::span<const Constituent> phrases;  // in preorder (parents first, by begin); empty without a constituency tree
  // Further dependency trees of the same words: the heads of one after the other. With any, `weights` has a weight for
  // the first tree and one for each of these.
  std::span<const std::int32_t> more_heads = {};
  std::span<const double> weights = {};
  std::span<const WordId> relations = {};  // of the words to their heads, in ParsedCorpus::relations; as many as heads
  std::size_t trees() const { return has_dependency() ? (weights.empty() ? 1 : weights.size()) : 0; }
  std::span<const std::int32_t> heads_of(std::size_t tree) const {
    return tree == 0 ? heads : more_heads.subspan((tree - 1) * size(), size());
  }
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
  // A sentence to add. Without tags every tag is "_"; `heads` and `phrases` may be empty. `head_words`, if they are
  // known, are those of the phrases, `relations` those of the words to their heads ("_" if there are none).
  struct Columns {
    std::span<const std::string_view> words, tags = {};
    std::span<const int> heads = {};
    std::span<const Phrase> phrases = {};
    std::span<const std::uint16_t> head_words = {};
    std::span<const std::string_view> relations = {};
  };

  // Adds a sentence; throws std::invalid_argument if the columns do not fit together, then nothing has changed.
  void add(const Columns& sentence);
  void add(std::span<const std::string_view> words, std::span<const std::string_view> tags, std::span<const int> heads,
           std::span<const Phrase> phrases) {
    add({.words = words, .tags = tags, .heads = heads, .phrases = phrases});
  }
  // Adds sentence n of another corpus with other words, one for each of its own.
  void add(const ParsedCorpus& other, std::size_t n, std::span<const std::string_view> words);
  // Whether add() would take it; throws as add() does.
  static void check(const Columns& sentence);
  static void check(const ParsedCorpus& other, std::size_t n, std::span<const std::string_view> words);

  std::size_t size() const { return word_starts_.size() - 1; }
  ParsedSentence operator[](std::size_t n) const;
  // The head words of the phrases of sentence n; kNoHeadWord where it is not known.
  std::span<const std::uint16_t> head_words(std::size_t n) const { return part_of(head_words_, phrase_starts_, n); }
  // At most two children for every constituent, the others under virtual ones. Returns the new numbers of the old
  // constituents, sentence after sentence. Throws std::invalid_argument that names the sentence.
  std::vector<std::uint32_t> binarize(Binarization direction);
  // A further dependency tree of every sentence, with a weight (the first trees weigh 1): those of the sentences of
  // another corpus from `from` on, which must have the same words. A sentence of which either has no tree gets none.
  // Throws std::invalid_argument that names the sentence of the other corpus; then nothing has changed.
  void add_parses(const ParsedCorpus& other, std::size_t from, double weight);
  // Other words (`fresh[id]` instead of word `id`; two may become one) under the same trees.
  void replace_words(std::span<const std::string> fresh);
  std::size_t bytes() const;

  SymbolTable words, categories, relations;  // ids by first appearance

 private:
  friend class CorpusFile;
  friend class ParsedBitext;

  void append_checked(const Columns& sentence);
  void end_sentence();

  Column<WordId> word_ids_, tag_ids_, relation_ids_;  // relations: as heads_
  Column<std::int32_t> heads_;
  Column<Constituent> phrases_;
  Column<std::uint16_t> head_words_;
  Column<std::int32_t> more_heads_;
  Column<double> weights_;
  Starts word_starts_{{0}}, head_starts_{{0}}, phrase_starts_{{0}}, more_head_starts_{{0}}, weight_starts_{{0}};
  std::shared_ptr<const MappedFile> file_;  // where columns may lie
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

// Sentence pairs. With several alignments every pair is there once for each: first all pairs with the links of the
// first, then all with those of the second.
class ParsedBitext {
 public:
  // Adds a pair; throws std::invalid_argument that says what is wrong, then nothing has changed. Only while there is
  // one alignment.
  void add(const ParsedCorpus::Columns& source, const ParsedCorpus::Columns& target, std::span<const WordLink> links,
           std::span<const NodeLink> node_links = {});

  // A side of a pair: columns, or a sentence of another corpus with other words.
  struct Side {
    const ParsedCorpus* corpus = nullptr;
    std::size_t number = 0;
    std::span<const std::string_view> words;
  };
  // Adds a pair without links; `origin` is its number in the data it was taken from.
  void take(const Side& source, const Side& target, std::uint32_t origin);

  // Some pairs, with all their links, as a bitext of one alignment; words and categories get numbers of their own.
  ParsedBitext select(std::span<const std::size_t> numbers) const;

  // The links of all sentence pairs by columns: links[starts[n]..starts[n+1]) are those of pair n. The first call
  // replaces the links that there are, further ones are further alignments. Throws LinkProblem.
  void add_links(std::span<const WordLink> links, std::span<const std::uint64_t> starts, bool first);

  // How much each alignment counts; after the last add_links(), of which the first forgets them. Throws
  // std::invalid_argument.
  void set_weights(std::span<const double> weights) {
    weights_.set(weights, size() / std::max<std::size_t>(1, sentences()));
  }
  const AlignmentWeights& weights() const { return weights_; }
  // How much pair n counts.
  double weight(std::size_t n) const { return weights_.value(n / sentences()); }

  // The same for links of nodes, which all alignments share.
  void set_node_links(std::span<const NodeLink> links, std::span<const std::uint64_t> starts);

  std::size_t size() const { return link_starts_.size() - 1; }
  std::size_t sentences() const { return source_.size(); }
  ParsedPair operator[](std::size_t n) const;
  std::uint32_t origin(std::size_t n) const { return origins_[n]; }  // 0: not known
  const ParsedCorpus& source() const { return source_; }
  const ParsedCorpus& target() const { return target_; }
  // As ParsedCorpus::add_parses, for all source sentences.
  void add_parses(const ParsedCorpus& other, std::size_t from, double weight) {
    source_.add_parses(other, from, weight);
  }
  // As ParsedCorpus::binarize; node links follow.
  void binarize(Binarization source, Binarization target);
  void replace_words(std::span<const std::string> source, std::span<const std::string> target);
  std::size_t bytes() const;

 private:
  friend class CorpusFile;
  friend class CorpusReader;

  // As add(), for sides that were checked.
  void add_checked(const ParsedCorpus::Columns& source, const ParsedCorpus::Columns& target,
                   std::span<const WordLink> links, std::span<const NodeLink> node_links);

  ParsedCorpus source_, target_;
  Column<WordLink> links_;
  Column<NodeLink> node_links_;
  AlignmentWeights weights_;
  Column<std::uint32_t> origins_;
  Starts link_starts_{{0}}, node_link_starts_{{0}};
};

}  // namespace treeglot
