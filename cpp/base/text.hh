// Text from files: what may not stand in it, lines with their numbers, and errors that say where something is wrong.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace treeglot {

// A line longer than this is refused: it is nearly always a file of another format.
inline constexpr std::size_t kMaxLineBytes = 1'000'000;

inline constexpr std::string_view kBom = "\xef\xbb\xbf";

// What is wrong, where (both 1-based; column counts characters, 0 means the whole line), and what the user can do.
class InputError : public std::runtime_error {
 public:
  InputError(std::size_t line, std::size_t column, const std::string& message, std::string remedy)
      : std::runtime_error(message), line(line), column(column), remedy(std::move(remedy)) {}
  std::size_t line;
  std::size_t column;
  std::string remedy;
};

// The position of the first byte of `text` that is no part of well-formed UTF-8, or text.size().
std::size_t find_bad_utf8(std::string_view text);

// Throws InputError if a line has a NUL byte or is not UTF-8.
void check_text(std::string_view line, std::size_t number);

std::size_t count_characters(std::string_view text);

// User text inside a message: short, and never cut inside a character.
std::string shown(std::string_view text);
std::string quoted(std::string_view text);

inline constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
inline constexpr std::uint64_t kHighBits = kOnes * 0x80;

inline std::uint64_t load_word(const char* data) {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// The high bit of each byte that equals `byte`, exactly.
inline std::uint64_t bytes_equal(std::uint64_t word, unsigned char byte) {
  const std::uint64_t mixed = word ^ (kOnes * byte);
  return ~(((mixed & ~kHighBits) + ~kHighBits) | mixed) & kHighBits;
}

// Whether the line is ASCII without NUL and carriage return, as most lines are.
inline bool is_plain_ascii(std::string_view line) {
  const char* data = line.data();
  std::size_t left = line.size();
  for (; left >= 8; left -= 8, data += 8) {
    const std::uint64_t word = load_word(data);
    if (((word & kHighBits) | bytes_equal(word, 0) | bytes_equal(word, '\r')) != 0) return false;
  }
  for (; left > 0; --left, ++data) {
    const auto byte = static_cast<unsigned char>(*data);
    if (byte == 0 || byte >= 0x80 || byte == '\r') return false;
  }
  return true;
}

// Cuts text into lines; the pieces that it is fed may end anywhere. A byte-order mark at the beginning is dropped, and
// lines end in \n or \r\n.
class LineScanner {
 public:
  explicit LineScanner(std::size_t max_bytes = kMaxLineBytes) : max_bytes_(max_bytes) {}

  void feed(std::string_view bytes);
  // No more input will come.
  void finish() { finished_ = true; }
  bool finished() const { return finished_; }

  // The next line without its end, good until the next call of next() or feed(); false if more input is needed or none
  // is left. Throws InputError.
  bool next(std::string_view& line);
  std::size_t number() const { return number_; }  // of that line

 private:
  std::size_t max_bytes_;
  std::string buffer_;
  std::size_t position_ = 0;  // where the next line starts
  std::size_t searched_ = 0;  // no line end between position_ and here
  std::size_t number_ = 0;
  bool finished_ = false;
};

}  // namespace treeglot
