// The rule table of a phrase-based system for decoding: one memory-mapped file that loads at once.
//
// Source phrases stand in the order of text lines, in blocks of kBlock that share prefixes; a lookup is a binary search
// over the blocks and a short scan. The pairs of a source stand with the highest p(e|f) first, so that a lookup can
// stop early. A phrase pair keeps its counts and its alignment, from which the scores follow exactly: relative
// frequencies from the counts, lexical weights from the alignment and the word table, which is part of the file, and
// reordering probabilities from the orientation counts. A table that was imported from text keeps the scores it came
// with.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hh"
#include "base/mapped_file.hh"
#include "base/mapped_header.hh"
#include "base/mapped_words.hh"
#include "base/mapped_writer.hh"
#include "table/lexical_table.hh"
#include "table/phrase_counts.hh"
#include "trees/aligned_bitext.hh"

namespace treeglot {

// A phrase pair as a decoder or a person wants it. Scores are probabilities, not logarithms, in Moses' order:
// p(f|e), lex(f|e), p(e|f), lex(e|f); reordering: before (monotone, swap, discontinuous), after (the same).
struct TableEntry {
  std::vector<WordId> target;
  std::vector<WordLink> links;
  std::array<float, 4> scores;
  std::array<float, 6> reordering;
  // In units of which PhraseTable::one() are 1; 0 in a table imported without counts.
  std::uint32_t count = 0, source_count = 0, target_count = 0;
  std::array<std::uint32_t, 6> orientations{};  // what `reordering` was made of; 0 in an imported table
};

// The probability of an orientation that was seen so many of so many times, in units of which `one` are 1.
inline double reordering_probability(std::uint32_t seen, std::uint32_t count, std::uint32_t one = 1) {
  return (seen + 0.5 * one) / (count + 1.5 * one);
}

struct TableHeader {
  char magic[8];
  std::uint32_t version, flags;
  MachineProbe probe;
  std::uint64_t file_size, checksum;
  std::uint64_t entries, sources, blocks;
  std::uint64_t source_words, target_words;      // sizes of the vocabularies
  std::uint64_t source_strings, target_strings;  // offsets of their strings
  std::uint64_t target_ranks;                    // offset: rank by frequency -> id
  std::uint64_t lexicon_rows, lexicon_items;     // offsets
  std::uint64_t lexicon_size;                    // number of items
  std::uint64_t block_data, block_index;         // offsets; the index ends with the length of the data
  std::uint64_t source_stop, target_stop;        // rank of "|||" in each vocabulary
  std::uint64_t longest_source, longest_target;  // words
  std::uint64_t header_checksum;
};

// An item of the word table: a row of source word, this column.
struct LexicalItem {
  WordId target;
  std::uint32_t forward, backward;  // w(e|f), w(f|e) in units of LexicalTable::kUnit
};

inline constexpr std::uint32_t kExplicitScores = 1, kHasReordering = 2, kHasCounts = 4, kHundredths = 8;
inline constexpr std::size_t kMaxPhrase = 255;  // words a side

// What a table looks like as a whole. Lengths and numbers of translations are indices.
struct PhraseTableShape {
  std::vector<std::uint64_t> source_lengths, target_lengths;  // pairs by length of a side
  std::vector<std::uint64_t> ambiguity;                       // sources by bit width of their number of pairs
  std::uint64_t most = 0;                                     // pairs of the most ambiguous source
  std::vector<WordId> most_ambiguous;
  std::uint64_t singletons = 0;  // pairs that were seen once
};

class PhraseTable {
 public:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  // Throws std::runtime_error that says what is wrong with the file, here or, if it changes later, at a damaged place.
  // All of it is verified the first time, with `verify` each time (base/verified_files.hh).
  explicit PhraseTable(const std::string& path, bool verify = false);

  const TableHeader& header() const { return header_; }
  const MappedWords& source_words() const { return source_words_; }
  const MappedWords& target_words() const { return target_words_; }
  bool has_reordering() const { return header_.flags & kHasReordering; }
  bool has_own_scores() const { return header_.flags & kExplicitScores; }  // came with them, from text
  std::uint32_t one() const { return header_.flags & kHundredths ? AlignmentWeights::kUnit : 1; }
  bool has_counts() const { return !(header_.flags & kExplicitScores) || header_.flags & kHasCounts; }

  // Appends the pairs of a source phrase to `out`, those with the highest p(e|f) first, at most `limit`; returns how
  // many were appended.
  std::size_t find(std::span<const WordId> source, std::vector<TableEntry>& out, std::size_t limit = kAll) const;

  // Calls `take` with every source phrase and its pairs in order, from the first that is not below `from`, until it
  // returns false.
  using Take = std::function<bool(std::span<const WordId>, const std::vector<TableEntry>&)>;
  void scan(std::span<const WordId> from, const Take& take) const;
  // The same for one block of sources.
  void scan_block(std::uint64_t block, const Take& take) const;

  // Calls `take` with every pair whose source (or target) has, one after another, a word of each set; with `whole`, no
  // other words. Until it returns false.
  using TakeOne = std::function<bool(std::span<const WordId>, const TableEntry&)>;
  void search(std::span<const std::vector<bool>> pattern, bool in_target, bool whole, const TakeOne& take) const;

  PhraseTableShape shape() const;

  // Calls `take` with every item of the word table: source, target (each LexicalTable::kNull for nothing), w(e|f),
  // w(f|e), by source and target. Nothing in a table with its own scores.
  void lexicon(const std::function<void(WordId, WordId, double, double)>& take) const;

  // The order of the entries of a source as text lines, by their numbers.
  void text_order(const std::vector<TableEntry>& entries, std::vector<std::uint32_t>& order) const;

 private:
  void check_layout() const;
  void check_structure() const;
  int compare(std::span<const WordId> a, std::span<const WordId> b) const {
    return compare_phrases(a, b, header_.source_stop);
  }
  ByteReader block(std::uint64_t number) const;
  std::size_t sources_in(std::uint64_t block) const;
  std::uint64_t block_of(std::span<const WordId> source) const;
  // Reads a source phrase into `words` (room for kMaxPhrase) over the one before; returns its length.
  std::size_t read_source(ByteReader& reader, WordId* words) const;
  template <class Visit>
  void each_source(std::uint64_t first_block, Visit visit) const;
  void read_entries(ByteReader& reader, std::span<const WordId> source, std::vector<TableEntry>& out, std::size_t limit,
                    bool lexical = true) const;
  const LexicalItem* lexical(WordId source, WordId target) const;
  void read_links(ByteReader& reader, std::size_t source_length, std::size_t target_length,
                  std::vector<WordLink>& links) const;
  // lex(f|e) comes from `inverse_links`.
  void lexical_weights(std::span<const WordId> source, TableEntry& entry,
                       const std::vector<WordLink>& inverse_links) const;

  MappedFile file_;
  TableHeader header_;
  MappedWords source_words_, target_words_;
  const WordId* target_ranks_;
  const std::uint64_t* block_index_;
  const char* block_data_;
  const std::uint64_t* lexicon_rows_;
  const LexicalItem* lexicon_items_;
};

// Writes a table to a file as it comes. Pairs must come in the order of text lines, as count_phrases() gives them.
// Vocabularies must be sorted and outlive the writer.
class PhraseTableWriter {
 public:
  // For a table with counts, in units of which `one` are 1: AlignedBitext::one().
  PhraseTableWriter(const std::string& path, const SymbolTable& source, const SymbolTable& target,
                    const LexicalTable& lexicon, std::uint32_t one = 1);
  // For a table with its own scores; `flags`: kHasReordering, kHasCounts. `frequency` of each target word.
  PhraseTableWriter(const std::string& path, const SymbolTable& source, const SymbolTable& target,
                    const std::vector<std::uint64_t>& frequency, std::uint32_t flags);

  void add(const PhrasePair& pair);
  void add(std::span<const WordId> source, const TableEntry& entry);
  // Completes the file.
  void finish();

 private:
  struct Pending {
    double weight;
    std::size_t start, stop;  // in entries_
  };

  void start(const std::vector<std::uint64_t>& frequency, const LexicalTable* lexicon);
  void start_source(std::span<const WordId> source, std::uint64_t count);
  void close_source();
  void put_target(std::span<const WordId> target, bool two_alignments);
  void put_links(std::span<const WordLink> links, std::size_t source_length, std::size_t target_length);
  std::uint64_t put_words(const SymbolTable& words);
  void put_lexicon(const LexicalTable* lexicon);

  MappedWriter file_;
  TableHeader header_{};
  const SymbolTable& source_words_;
  const SymbolTable& target_words_;
  std::vector<WordId> ranks_;  // target id -> rank by frequency: frequent words take one byte
  std::vector<std::uint64_t> block_index_;
  ByteWriter entries_;            // of the source that is open
  std::vector<Pending> pending_;  // where they stand
  std::vector<WordId> source_, previous_;
  std::uint64_t source_count_ = 0;
};

}  // namespace treeglot
