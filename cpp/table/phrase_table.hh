// The rule table of a phrase-based system for decoding: one memory-mapped file that loads at once.
//
// Source phrases stand in the order of text lines, in blocks of kBlock that share prefixes; a lookup is a binary search
// over the blocks and a short scan. A phrase pair keeps its counts and its alignment, from which the scores follow
// exactly: relative frequencies from the counts, lexical weights from the alignment and the word table, which is part
// of the file, and reordering probabilities from the orientation counts. A table that was imported from text keeps the
// scores it came with.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extract/bitext.hh"
#include "table/phrase_counts.hh"
#include "util/bytes.hh"
#include "util/mapped_file.hh"

namespace treeglot {

// A phrase pair as a decoder or a person wants it. Scores are probabilities, not logarithms, in Moses' order:
// p(f|e), lex(f|e), p(e|f), lex(e|f); reordering: before (monotone, swap, discontinuous), after (the same).
struct TableEntry {
  std::vector<WordId> target;
  std::vector<WordLink> links;
  std::array<float, 4> scores;
  std::array<float, 6> reordering;
  std::uint32_t count = 0, source_count = 0, target_count = 0;  // 0 in an imported table
};

struct TableHeader {
  char magic[8];
  std::uint32_t version, flags;
  std::uint64_t file_size, checksum;
  std::uint64_t entries, sources, blocks;
  std::uint64_t source_words, target_words;      // sizes of the vocabularies
  std::uint64_t source_strings, target_strings;  // offsets of their strings
  std::uint64_t target_ranks;                    // offset: rank by frequency -> id
  std::uint64_t block_index, block_data;         // offsets
  std::uint64_t lexicon_rows, lexicon_items;     // offsets
  std::uint64_t source_stop, target_stop;        // rank of "|||" in each vocabulary
  std::uint64_t header_checksum;
};

inline constexpr std::uint32_t kExplicitScores = 1, kHasReordering = 2;

// Sorted strings in a mapped file.
class MappedWords {
 public:
  MappedWords() = default;
  MappedWords(const char* base, std::uint64_t size)
      : size_(size), starts_(reinterpret_cast<const std::uint32_t*>(base)), text_(base + (size + 1) * 4) {}
  std::uint64_t size() const { return size_; }
  std::string_view word(WordId id) const { return {text_ + starts_[id], starts_[id + 1] - starts_[id]}; }
  // The id, or size() if the word is not there.
  WordId id(std::string_view word) const;

 private:
  std::uint64_t size_ = 0;
  const std::uint32_t* starts_ = nullptr;
  const char* text_ = nullptr;
};

class PhraseTable {
 public:
  // Throws std::runtime_error that says what is wrong with the file.
  explicit PhraseTable(const std::string& path, bool verify = false);

  const TableHeader& header() const { return *header_; }
  const MappedWords& source_words() const { return source_words_; }
  const MappedWords& target_words() const { return target_words_; }
  bool has_reordering() const { return header_->flags & kHasReordering; }

  // Appends the pairs of a source phrase to `out`; returns how many there are.
  std::size_t find(std::span<const WordId> source, std::vector<TableEntry>& out) const;

  // Calls `take` with every source phrase and its pairs in order, from the first that is not below `from`, until it
  // returns false.
  void scan(std::span<const WordId> from,
            const std::function<bool(std::span<const WordId>, const std::vector<TableEntry>&)>& take) const;

 private:
  struct LexicalItem {
    WordId target;
    float forward, backward;  // w(e|f), w(f|e)
  };
  int compare(std::span<const WordId> a, std::span<const WordId> b) const;
  std::uint64_t block_of(std::span<const WordId> source) const;
  void read_entries(ByteReader& reader, std::span<const WordId> source, std::vector<TableEntry>& out) const;
  const LexicalItem* lexical(WordId source, WordId target) const;
  void lexical_weights(std::span<const WordId> source, TableEntry& entry) const;

  MappedFile file_;
  const TableHeader* header_;
  MappedWords source_words_, target_words_;
  const WordId* target_ranks_;
  const std::uint64_t* block_index_;
  const char* block_data_;
  const std::uint64_t* lexicon_rows_;
  const LexicalItem* lexicon_items_;
};

// Writes a table. Pairs must come in the order of text lines, as score_phrases() gives them.
class PhraseTableWriter {
 public:
  // For a table with counts.
  PhraseTableWriter(const SymbolTable& source, const SymbolTable& target, const LexicalTable& lexicon);
  // For a table with its own scores.
  PhraseTableWriter(const SymbolTable& source, const SymbolTable& target, bool reordering);

  void add(const PhrasePair& pair);
  void add(std::span<const WordId> source, const TableEntry& entry);
  // Writes everything to a file.
  void finish(const std::string& path);

 private:
  void start_source(std::span<const WordId> source, std::uint64_t count);
  void close_source();
  void put_target(std::span<const WordId> target);
  void rank_targets(const std::vector<std::uint64_t>& frequency);
  void put_links(std::span<const WordLink> links, std::size_t source_length, std::size_t target_length);

  const SymbolTable& source_words_;
  const SymbolTable& target_words_;
  const LexicalTable* lexicon_;
  std::uint32_t flags_;
  std::vector<WordId> ranks_, by_rank_;  // target id -> rank by frequency, and back: frequent words take one byte
  std::vector<std::uint64_t> block_index_;
  ByteWriter blocks_, entries_;
  std::vector<WordId> source_, previous_;
  std::uint64_t source_count_ = 0, in_source_ = 0, sources_ = 0, total_ = 0;
};

}  // namespace treeglot
