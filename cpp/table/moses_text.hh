// Phrase tables as Moses writes and reads them: text, one pair a line.
//
//   source ||| target ||| p(f|e) lex(f|e) p(e|f) lex(e|f) ||| links ||| count(e) count(f) count(f,e) ||| |||
//   source ||| target ||| six reordering probabilities        (msd-bidirectional-fe)
//   word word probability                                     (lexical tables)
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/external_sort.hh"
#include "table/phrase_table.hh"

namespace treeglot {

using WriteText = std::function<void(std::string_view)>;

// Writes the phrase table and, if wanted, the reordering table, in the byte order of their lines.
void export_moses(const PhraseTable& table, const WriteText& phrases, const WriteText* reordering);

// Writes w(f|e) as lines "f e w" and w(e|f) as lines "e f w".
void export_lexicon(const PhraseTable& table, const WriteText& source_given_target,
                    const WriteText& target_given_source);

// A broken line of a text table; line 0: unknown.
struct MosesError {
  bool in_reordering;
  std::uint64_t line;
  std::string message;
};

// Reads text tables, sorted or not, and makes a table with these scores. Beyond the memory, sorting goes to disk; the
// pairs themselves always do.
class MosesImporter {
 public:
  MosesImporter(std::string folder, std::size_t memory);
  ~MosesImporter();
  MosesImporter(const MosesImporter&) = delete;
  MosesImporter& operator=(const MosesImporter&) = delete;

  // Whole lines. Throw MosesError.
  void add_phrases(std::string_view text) { add_lines(text, false); }
  void add_reordering(std::string_view text) { add_lines(text, true); }

  struct Result {
    std::uint64_t pairs = 0, sources = 0;
    std::uint64_t without_reordering = 0;  // pairs that the reordering table lacks: their probabilities are 1
    std::uint64_t unused_reordering = 0;   // lines of the reordering table for which there is no pair
  };
  // Writes the table; throws MosesError for a pair that is given twice.
  Result finish(const std::string& path);

 private:
  struct Less {
    const MosesImporter* importer;
    bool operator()(std::uint64_t a, std::uint64_t b) const { return importer->compare(a, b) < 0; }
  };
  // The fixed part of a line as it stands in the spill file; the words and the values follow.
  struct LineHead {
    std::uint64_t line;
    std::uint32_t bytes;  // of the whole record
    std::uint8_t reordering, source_length, target_length, unused = 0;
  };

  void add_lines(std::string_view text, bool reordering);
  void add_line(std::string_view line, bool reordering);
  int compare(std::uint64_t a, std::uint64_t b) const;
  LineHead head(std::uint64_t place) const;
  void words(std::uint64_t place, bool target, std::vector<WordId>& out) const;
  [[noreturn]] void fail(bool reordering, const std::string& message) const;

  std::string folder_;
  std::size_t memory_;
  SymbolTable source_words_, target_words_;
  std::vector<std::uint64_t> target_frequency_;
  std::vector<WordId> source_renumbered_, target_renumbered_;
  std::uint64_t source_stop_ = 0, target_stop_ = 0;
  std::FILE* spill_;
  std::uint64_t spilled_ = 0;
  const char* mapped_ = nullptr;
  std::uint64_t lines_[2] = {0, 0};
  bool any_reordering_ = false, all_counted_ = true;
  std::vector<std::string_view> columns_, tokens_;
  std::string word_;  // one with escapes
};

}  // namespace treeglot
