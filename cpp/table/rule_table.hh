// The rule table of a grammar for decoding: one memory-mapped file that loads at once, for all grammars.
//
// A source side is found by walking symbol by symbol: every prefix of every source side has a 64-bit key (walk_start,
// walk_step), and a probing hash table of keys tells whether a prefix exists and, if it is a whole source side, where
// its rules are. So a matcher can look up a whole HDR at once or grow rules with gaps word by word.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hh"
#include "base/small_vector.hh"
#include "grammars/rule.hh"

namespace treeglot {

using WalkKey = std::uint64_t;
inline constexpr WalkKey walk_start() { return 0x9E3779B97F4A7C15ull; }
inline WalkKey walk_step(WalkKey key, Symbol next) {
  return mix(key ^ (next + 0x632BE59BD9B4E019ull)) * 0x9FB21C651E98DF25ull;
}

// A rule as the decoder wants it: natural logarithms of P(t|s), P(s|t), Plex(t|s), Plex(s|t).
struct RuleEntry {
  SmallVector<TargetSymbol, 8> target;  // words: ids of the table's target vocabulary
  std::array<float, 4> scores;
  float count = 0;
  float source_total = 0, target_total = 0;  // counts of its sides
  std::vector<StructureLabel> labels;        // of grammars that have them
  std::uint32_t unlinked = 0;  // source words without a link, the fewest of all its occurrences; at most 255
  std::uint64_t rule = 0;      // tells it from all other rules of the table, for explanations
};

class RuleTable {
 public:
  // Throws std::runtime_error that says what is wrong with the file. All of it is verified the first time, with
  // `verify` each time (base/verified_files.hh).
  explicit RuleTable(const std::string& path, bool verify = false);
  ~RuleTable();

  static constexpr std::uint32_t kNone = 0x0FFFFFFF;           // no such word or category
  std::uint32_t word_id(std::string_view word) const;          // of the source vocabulary
  std::uint32_t category_id(std::string_view category) const;  // tags, labels, joint categories
  std::size_t target_size() const;
  std::string_view target_word(WordId id) const;
  WordId target_id(std::string_view word) const;
  std::string_view source_word(std::uint32_t id) const;
  std::string_view category(std::uint32_t id) const;

  // What is known about a prefix.
  struct Place {
    bool prefix = false;      // some source side begins like this; rarely true by chance (then read() finds nothing)
    std::uint64_t rules = 0;  // 0: it is not a whole source side; else pass it to read()
    bool longer = false;      // some source side goes on after it
  };
  Place find(WalkKey key) const;

  // The rules of a source side, highest P(t|s) first, at most `limit` (0: all), and only those whose P(t|s) is at least
  // `threshold` times the best. Appends to `out`. `check` is compared with the stored source side; if it differs (two
  // sides with one key) nothing is appended.
  void read(const Place& place, std::span<const Symbol> check, std::size_t limit, double threshold,
            std::vector<RuleEntry>& out) const;

  // Reads the source side at `position` (0: the first) with all its rules and moves on; false at the end.
  bool scan(std::uint64_t& position, std::vector<Symbol>& source, std::vector<RuleEntry>& rules) const;

  std::size_t rules() const;
  std::size_t sources() const;
  std::size_t prefixes() const;
  std::size_t bytes() const;
  std::size_t sentences() const;    // of the corpus it was made from
  std::size_t occurrences() const;  // of rules in it
  bool discounted() const;
  bool has_labels() const;
  // The share of a source word's occurrences in the corpus that had no link; 0 if the table does not have shares.
  float unlinked_share(std::uint32_t word) const;
  bool has_shares() const;
  std::size_t source_words() const;
  std::size_t categories() const;
  std::string description() const;     // what its writer wanted to say about it
  std::string grammar() const;         // its name in the registry
  std::size_t longest_source() const;  // symbols
  std::size_t longest_target() const;

 private:
  void check_structure() const;

  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace treeglot
