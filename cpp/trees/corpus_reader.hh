// Parsed sentences and sentence pairs from files: for each side CoNLL-U and Penn brackets side by side, JSON lines, or
// plain text; Pharaoh word links; links of nodes. Files are fed in pieces, as far as the reader asks for them:
//
//   for (int stream; (stream = reader.advance()) >= 0;) {
//     ... reader.feed(stream, bytes), or reader.finish(stream) at its end
//   }
//
// Dependency trees are made projective on the way, and constituency trees continuous (brackets cannot have gaps, JSON
// lines can).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hh"
#include "trees/conllu.hh"
#include "trees/head_rules.hh"
#include "trees/link_lines.hh"
#include "trees/parsed_corpus.hh"
#include "trees/penn.hh"
#include "trees/phrase_tree.hh"
#include "trees/projective.hh"
#include "trees/tree_json.hh"

namespace treeglot {

// What is wrong in which of the files, and where (line 0: nowhere in particular).
class ReadError : public std::runtime_error {
 public:
  ReadError(int stream, std::size_t line, std::size_t column, const std::string& message, std::string remedy)
      : std::runtime_error(message), stream(stream), line(line), column(column), remedy(std::move(remedy)) {}
  int stream;
  std::size_t line, column;
  std::string remedy;
};

class CorpusReader {
 public:
  enum Stream {
    kSourceConllu,
    kSourcePenn,
    kSourceText,
    kSourceJson,
    kTargetConllu,
    kTargetPenn,
    kTargetText,
    kTargetJson,
    kLinks,
    kNodes,
  };
  static constexpr int kStreams = 10;

  struct Options {
    std::array<std::optional<std::string>, kStreams> names;  // of the files that there are, for messages
    std::vector<HeadTable> head_tables;                      // none: no head words, and trees with gaps are refused
    bool head_words = true;                                  // look for the head words of phrases
    treejson::Take take = treejson::Take::kSource;           // of pairs in JSON lines, where there is no target
    bool surfaces = false;      // keep what the words of the source looked like in the text
    double node_threshold = 0;  // links of nodes with a lower score do not count
  };
  // Throws std::invalid_argument if the files make no corpus: each side has trees or text. Without any of the target, a
  // corpus of one side is read.
  explicit CorpusReader(Options options);

  // Reads on; the stream that must be fed (or finished) first, or -1 when all is read. Throws ReadError.
  int advance();
  void feed(int stream, std::string_view bytes);
  void finish(int stream);

  bool has_target() const { return sides_[1].given; }
  // What was read, to be taken away when all is read.
  ParsedCorpus& source() { return source_; }
  ParsedBitext& bitext() { return bitext_; }

  struct Facts {
    std::uint32_t lifted = 0;  // arcs that were moved to make the tree projective
    bool new_phrases = false;  // a comment says that the phrases were converted from dependencies
    bool new_arcs = false;     // or the other way round
  };
  const std::vector<Facts>& facts(int side) const { return sides_[side].facts; }
  // The written form of a source sentence without spaces: multiword tokens as such.
  const std::vector<std::string>& surfaces() const { return sides_[0].surfaces; }

 private:
  struct Side {
    bool given = false;
    conllu::Scanner conllu;
    penn::Scanner penn;
    LineScanner text;
    treejson::Scanner json;
    const conllu::Sentence* sentence = nullptr;
    const penn::Tree* tree = nullptr;
    const treejson::Sentence* record = nullptr;
    std::string_view line;
    std::vector<std::string_view> words, tags, relations, word_functions;
    std::vector<int> heads;
    std::vector<ParsedCorpus::Phrase> phrases;
    std::vector<std::uint32_t> new_numbers;  // of the phrases of a tree that had gaps; empty: they are as given
    std::vector<HeadFinder::Phrase> head_phrases;
    std::vector<std::uint16_t> head_words;
    ParsedCorpus::Columns columns;
    std::vector<Facts> facts;
    std::vector<std::string> surfaces;
  };

  bool has(int stream) const { return options_.names[static_cast<std::size_t>(stream)].has_value(); }
  const std::string& name(int stream) const { return *options_.names[static_cast<std::size_t>(stream)]; }
  bool fetch(int stream);
  void refuse_lengths();
  void add_pair();
  void fill(int number);
  void fill_conllu(Side& side);
  void fill_penn(Side& side, bool merge);
  void fill_json(Side& side);
  std::uint32_t count_lifted(Side& side);
  std::uint32_t node_of(NodeEnd end, int side) const;
  void note(Side& side);
  void check_same_words(const Side& side, int first_stream) const;
  void fill_node_links();

  Options options_;
  std::array<bool, kStreams> ready_{}, finished_{};
  Side sides_[2];
  LineScanner links_, nodes_;
  std::string_view links_line_, nodes_line_;
  std::vector<WordLink> word_links_;
  std::vector<NodeLinkEnds> node_ends_;
  std::vector<NodeLink> node_links_;
  Projectivizer projectivizer_;
  PhraseTreeBuilder builder_;
  PhraseTree continuous_;
  HeadFinder heads_;
  std::size_t number_ = 0;  // sentences so far
  ParsedCorpus source_;
  ParsedBitext bitext_;
};

}  // namespace treeglot
