// Sorted strings in a mapped file: where each begins, and where the last ends, then their text.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.hh"
#include "base/mapped_header.hh"
#include "base/text.hh"
#include "base/words.hh"

namespace treeglot {

class MappedWords {
 public:
  static constexpr std::uint64_t kMost = 0xFFFFFFFE;  // ids have 32 bits, and the number of words is one, too

  MappedWords() = default;
  // `begin` and `end` are the offsets of the part of the file that holds them. Throws if they cannot be there.
  MappedWords(const MappedFile& file, std::uint64_t begin, std::uint64_t end, std::uint64_t size) : size_(size) {
    if (size > kMost) damaged_header();
    starts_ = mapped_records<std::uint32_t>(file, begin, size + 1, end);
    text_ = reinterpret_cast<const char*>(starts_ + size + 1);
    text_size_ = end - begin - (size + 1) * sizeof(std::uint32_t);
  }

  std::uint64_t size() const { return size_; }
  // `id` must be below size(); throws if the file is damaged there.
  std::string_view word(WordId id) const {
    const std::uint32_t start = starts_[id], stop = starts_[id + 1];
    if (start > stop || stop > text_size_) ByteReader::fail();
    return {text_ + start, stop - start};
  }
  // Reads all words; throws if they are not sorted text, one behind the other up to the end of their part.
  void check() const {
    std::string_view last;
    for (std::uint64_t id = 0; id < size_; ++id) {
      const std::string_view text = word(static_cast<WordId>(id));
      if ((id > 0 && last >= text) || find_bad_utf8(text) != text.size()) ByteReader::fail();
      last = text;
    }
    if (starts_[0] != 0 || text_size_ - starts_[size_] >= 8) ByteReader::fail();
  }
  // The id, or size() if the word is not there.
  WordId id(std::string_view wanted) const {
    std::uint64_t low = 0, high = size_;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (word(static_cast<WordId>(middle)) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return static_cast<WordId>(low < size_ && word(static_cast<WordId>(low)) == wanted ? low : size_);
  }

 private:
  std::uint64_t size_ = 0;
  const std::uint32_t* starts_ = nullptr;
  const char* text_ = nullptr;
  std::uint64_t text_size_ = 0;
};

}  // namespace treeglot
