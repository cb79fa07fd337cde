// A scanner for CoNLL-U text: finds sentences, lines and columns, and checks everything that a reader must not let pass
// (ten columns, ids in order, ranges, empty nodes, one root, no cycle, clean UTF-8). It knows nothing of Python.
//
//   Scanner scanner;
//   while (more input) {
//     scanner.feed(bytes);                                     // any cut is fine, also inside a character
//     while (const Sentence* sentence = scanner.next()) ...    // valid until the next call of next() or feed()
//   }
//   scanner.finish();
//   while (const Sentence* sentence = scanner.next()) ...
//
// Memory is bounded by one sentence and one piece of input. Sentences before a faulty one are delivered first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hh"

namespace treeglot::conllu {

inline constexpr std::size_t kColumns = 10;
enum Column : std::size_t { kId, kForm, kLemma, kUpos, kXpos, kFeats, kHead, kDeprel, kDeps, kMisc };

inline constexpr std::int32_t kRoot = -1;    // the head of the root word
inline constexpr std::int32_t kNoHead = -2;  // HEAD is "_"

using Error = InputError;

// A piece of the sentence's text.
struct Field {
  std::size_t begin = 0;
  std::size_t size = 0;
};
using Row = std::array<Field, kColumns>;

struct Word {
  Row row;
  std::size_t line;   // in the file
  std::int32_t head;  // 0-based, or kRoot, or kNoHead
};

struct Range {
  std::int32_t start;  // 0-based, half-open
  std::int32_t end;
  std::size_t line;
  Row row;
};

struct EmptyNode {
  std::int32_t after;  // the number of words before it
  Row row;
};

// How the sentence ended. All but the last sentence of a file end in a blank line.
enum class Ending { kBlankLine = 0, kNoBlankLine = 1, kNoLineEnd = 2 };

struct Sentence {
  std::vector<Word> words;
  std::vector<Range> ranges;
  std::vector<EmptyNode> empty_nodes;
  std::vector<Field> comments;
  Field id;  // the value of the first "# sent_id = ..."
  bool has_heads = false;
  Ending ending = Ending::kBlankLine;

  std::string_view text(Field field) const { return {base + field.begin, field.size}; }

  const char* base = nullptr;  // where the sentence starts in the scanner's memory
};

class Scanner {
 public:
  // first_line is the number of the first line fed, for text that was cut out of a file.
  explicit Scanner(std::size_t first_line = 1) : line_(first_line - 1) {}

  void feed(std::string_view bytes);

  // No more input will come: what is left is the last sentence.
  void finish() { finished_ = true; }

  // The next complete sentence, or nullptr if more input is needed or there is none left. Throws Error; then the
  // scanner stays at the error.
  const Sentence* next();

 private:
  const Sentence* scan();
  void start_sentence();
  bool take_line(std::string_view& line, bool& ended);
  void check_start(std::string_view line);
  void read_line(std::string_view line);
  void read_comment(std::string_view line);
  void read_word(std::string_view line, const Row& row);
  void read_range(std::string_view line, const Row& row);
  void read_empty_node(std::string_view line, const Row& row);
  bool split(std::string_view line, Row& row) const;
  void refuse_columns(std::string_view line) const;
  void finish_sentence();
  void check_heads();
  void check_cycle(bool has_root);

  std::string_view text(Field field) const { return {buffer_.data() + begin_ + field.begin, field.size}; }
  std::string name(std::size_t word) const;
  [[noreturn]] void fail(std::string_view line, std::size_t at, const std::string& message, std::string remedy) const;
  [[noreturn]] void fail(const Row& row, Column column, std::size_t line, const std::string& message,
                         std::string remedy) const;

  std::string buffer_;
  std::size_t begin_ = 0;     // where the current sentence starts in buffer_
  std::size_t position_ = 0;  // where its next line starts
  std::size_t searched_ = 0;  // no line end between position_ and here
  std::size_t line_;          // number of the last line taken
  bool at_start_ = true;      // no line has been taken yet
  bool no_word_yet_ = true;   // no line of ten columns has been seen in the whole input
  bool finished_ = false;
  bool delivered_ = false;  // sentence_ was returned by next()
  std::size_t first_comment_line_ = 0;
  std::int32_t range_end_ = 0;    // the words of all ranges so far end here
  bool range_open_ = false;       // the last line was a range, its first word must follow
  std::int32_t empty_count_ = 0;  // empty nodes since the last word
  Sentence sentence_;
  std::vector<std::int32_t> state_;  // scratch of check_cycle
  std::optional<Error> failed_;
};

}  // namespace treeglot::conllu
