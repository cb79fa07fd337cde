// A phrase table in memory, read from Moses' text files: "source ||| target ||| scores ||| links ..." and, for
// lexicalised reordering, "source ||| target ||| six probabilities".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "table/phrase_source.hh"

namespace treeglot {

class TextPhraseTable : public PhraseSource {
 public:
  // Adds one line of the phrase table. Returns an empty string, or what is wrong with the line.
  std::string add_phrase(std::string_view line);
  // Adds one line of the reordering table; lines of pairs that the phrase table lacks are passed over. All phrases must
  // have been added before.
  std::string add_reordering(std::string_view line);
  // After the last line: groups the entries by their source.
  void finish();

  std::size_t size() const { return entries_.size(); }
  std::size_t sources() const { return source_phrases_.size(); }

  WordId source_id(std::string_view word) const override;
  std::size_t target_size() const override { return target_words_.size(); }
  std::string_view target_word(WordId id) const override { return target_words_.word(id); }
  WordId target_id(std::string_view word) const override {
    WordId id = target_words_.find(word);
    return id < target_words_.size() ? id : kNoWord;
  }
  int longest_source() const override { return longest_; }
  bool has_reordering() const override { return has_reordering_; }
  void lookup(std::span<const WordId> source, PhraseMatches& out, std::size_t most = kAllTargets) const override;

 private:
  struct Entry {
    std::uint32_t source;  // a source phrase
    std::uint32_t words, links;
    std::uint16_t word_count, link_count;
    TableScores scores;
    ReorderingScores reordering;
  };
  struct SourcePhrase {
    std::uint32_t words;
    std::uint32_t word_count;
    std::uint32_t first, count;  // entries
  };

  std::uint32_t find_source(std::span<const WordId> words) const;
  std::span<const WordId> target(const Entry& entry) const { return {words_.data() + entry.words, entry.word_count}; }
  void index_pairs();

  SymbolTable source_words_, target_words_;
  std::unordered_map<std::string_view, WordId> source_ids_;  // built by finish()
  std::vector<SourcePhrase> source_phrases_;
  std::unordered_map<std::uint64_t, std::uint32_t> source_index_;  // hash of the words -> source phrase
  std::vector<Entry> entries_;
  std::vector<WordId> words_;
  std::vector<WordLink> links_;
  int longest_ = 0;
  bool has_reordering_ = false, finished_ = false;
  std::size_t cursor_ = 0;  // the entry that the next reordering line most likely belongs to
  std::unordered_multimap<std::uint64_t, std::uint32_t> pair_index_;
  bool pairs_indexed_ = false;
  std::vector<WordId> source_buffer_, target_buffer_;
};

}  // namespace treeglot
