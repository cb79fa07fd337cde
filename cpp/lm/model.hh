// A back-off n-gram model for queries: one memory-mapped file, shared between threads and processes.
//
// Layout: header, word table (hash -> id), unigrams, one probing hash table per higher order. An n-gram's key is a
// 64-bit hash of its words from the last to the first, so that a query extends to the left one step at a time. Two
// flags live in sign bits: a probability with the sign bit clear says that no longer n-gram ends in this one (stop
// extending); a back-off of -0.0 says that no longer n-gram begins with this one (leave it out of the state).
//
// Longer tables have room for half as many entries again, so a search is short.
//
// The result of score() equals that of any correct ARPA reader; log10 throughout.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.hh"
#include "base/mapped_header.hh"
#include "lm/estimate.hh"

namespace treeglot::lm {

// What a query must remember of the words before it, shortened to what the model can use.
struct State {
  std::array<WordId, kMaxOrder - 1> words;  // words[0] is the latest
  std::array<float, kMaxOrder - 1> backoff;
  std::uint8_t length = 0;

  std::size_t hash() const {
    std::size_t value = length;
    for (int i = 0; i < length; ++i) value = value * 1000003u + words[i];
    return value;
  }
  bool operator==(const State& other) const {
    if (length != other.length) return false;
    for (int i = 0; i < length; ++i) {
      if (words[i] != other.words[i]) return false;
    }
    return true;
  }
};

// A line of words with its end.
struct LineScore {
  double log10 = 0;
  std::uint64_t tokens = 0, unknown = 0;  // words, and those that the model does not know
};

struct Score {
  float log10;        // of the word after the state
  std::uint8_t used;  // length of the n-gram that was found
  bool extends;       // whether a longer n-gram ends in that one
  std::uint64_t key;  // of that one, for extend()
};

// Throws what is said of a model whose values cannot be: a file that was compiled is not like that.
[[noreturn]] void damaged(const char* what);

// What becomes of an n-gram when words before it are known.
struct Extension {
  float probability;     // log10 of its last word in the longest n-gram found, without back-offs
  std::uint8_t context;  // how many of the words before it that n-gram has
  std::uint8_t kept;     // how many of them a state after it must remember
  bool extends;          // whether a still longer n-gram ends in that one
  std::uint64_t key;     // of that one
};

struct UnigramEntry {
  float probability, backoff;
};
#pragma pack(push, 4)
struct MiddleEntry {
  std::uint64_t key;
  float probability, backoff;
};
struct LongestEntry {
  std::uint64_t key;
  float probability;
};
#pragma pack(pop)
struct WordEntry {
  std::uint64_t hash;  // 0: free
  WordId id;
  std::uint32_t unused;
};

struct ModelHeader {
  char magic[8];
  std::uint32_t version, order;
  MachineProbe probe;
  std::uint64_t file_size, checksum;  // of everything after the header
  std::uint64_t words;                // unigrams: those of the text and <unk>, <s>, </s>
  std::uint64_t grams[kMaxOrder];     // per order, as the ARPA text says
  std::uint64_t entries[kMaxOrder];   // per order, those that pruning had left out included
  std::uint64_t slots[kMaxOrder];     // size of each table; [0] is that of the word table
  std::uint64_t offsets[kMaxOrder];   // [0]: unigrams
  std::uint64_t words_offset;
  std::uint64_t header_checksum;
};

class Model {
 public:
  // Throws std::runtime_error that says what is wrong with the file. All of it is verified the first time, with
  // `verify` each time (base/verified_files.hh). In a file that changes after that a damaged place may be met: id(),
  // score() and extend() throw then, too.
  explicit Model(const std::string& path, bool verify = false);

  int order() const { return order_; }
  std::size_t words() const { return header_.words; }  // ids are 0 ... words() - 1
  std::uint64_t grams(int order) const;                // throws std::out_of_range if there is no such order

  // The id of a word, 0 (<unk>) if the model does not know it.
  WordId id(std::string_view word) const;

  State begin_state() const;  // after <s>
  State null_state() const { return State{}; }

  // `word` is below words(); checked_score() throws std::out_of_range if it is not.
  Score score(const State& in, WordId word, State& out) const;
  Score checked_score(const State& in, WordId word, State& out) const;

  // Looks for longer n-grams that end in one found before, whose key, log10 probability and length are given and of
  // which `extends` was true. `before` are the words before it, the nearest first. Writes the back-offs of the n-grams
  // found, at most order() - 1 - `length`, the shortest first.
  Extension extend(std::uint64_t key, float probability, int length, const WordId* before, int words,
                   float* backoff) const;

  // A line of words separated by blanks, </s> included; all lines of a text, whose last one need not have an end.
  LineScore score_line(std::string_view line) const;
  std::vector<LineScore> score_text(std::string_view text) const;

 private:
  void check_layout() const;
  void check_structure() const;

  MappedFile file_;
  ModelHeader header_;
  int order_;
  const UnigramEntry* unigrams_;
  const WordEntry* words_;
  std::array<const MiddleEntry*, kMaxOrder> middle_{};
  const LongestEntry* longest_ = nullptr;
};

// What is wrong with ARPA text, and in which line.
struct ArpaError {
  std::uint64_t line;
  std::string message;
};

// Compiles ARPA text to a file. `next_block` gives the text in parts of any size, an empty one at the end; each must
// stay valid until the next call. Throws ArpaError.
void compile_arpa(const std::function<std::string_view()>& next_block, const std::string& path);

}  // namespace treeglot::lm
