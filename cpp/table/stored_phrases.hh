// The memory-mapped phrase table as a decoder's source of options.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "table/phrase_source.hh"
#include "table/phrase_table.hh"

namespace treeglot {

class StoredPhrases : public PhraseSource {
 public:
  // Throws std::runtime_error that says what is wrong with the file.
  explicit StoredPhrases(const std::string& path, bool verify = false) : table_(path, verify) {}

  const PhraseTable& table() const { return table_; }

  WordId source_id(std::string_view word) const override {
    WordId id = table_.source_words().id(word);
    return id < table_.source_words().size() ? id : kNoWord;
  }
  std::size_t target_size() const override { return table_.target_words().size(); }
  std::string_view target_word(WordId id) const override { return table_.target_words().word(id); }
  WordId target_id(std::string_view word) const override {
    WordId id = table_.target_words().id(word);
    return id < table_.target_words().size() ? id : kNoWord;
  }
  int longest_source() const override { return static_cast<int>(table_.header().longest_source); }
  bool has_reordering() const override { return table_.has_reordering(); }
  void lookup(std::span<const WordId> source, PhraseMatches& out, std::size_t most = kAllTargets) const override {
    thread_local std::vector<TableEntry> entries;
    entries.clear();
    table_.find(source, entries, most);
    for (const TableEntry& entry : entries) {
      TableScores scores;
      ReorderingScores reordering{};
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = logarithm(entry.scores[i]);
      if (has_reordering()) {
        for (std::size_t i = 0; i < reordering.size(); ++i) reordering[i] = logarithm(entry.reordering[i]);
      }
      out.add(entry.target, entry.links, scores, reordering);
    }
  }

 private:
  static float logarithm(float probability) {
    return probability > 0 ? std::max(std::log(probability), kLowestScore) : kLowestScore;
  }
  PhraseTable table_;
};

}  // namespace treeglot
