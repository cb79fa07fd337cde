// Packing text as gzip (RFC 1951, 1952), twice as fast as zlib's fastest level on tables and a little smaller. What
// comes out depends on what goes in and on nothing else: neither on the size of the pieces nor on a library's version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

class GzipPacker {
 public:
  GzipPacker();
  // Appends packed bytes to `out`, now or with a later call.
  void add(std::string_view text, std::string& out);
  // Appends the rest; nothing may be added after it.
  void finish(std::string& out);

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 17;   // text of one block, with codes of its own
  static constexpr std::size_t kWindow = std::size_t{1} << 15;  // how far back a match may be
  static constexpr int kHashBits = 15;

  void pack(std::size_t size, bool last, std::string& out);
  void find_matches(std::size_t begin, std::size_t end);
  void write_block(bool last);
  void put(std::uint64_t value, int bits);
  void put_bytes();

  std::vector<char> text_;             // what matches may point to, then what is not packed yet
  std::size_t done_ = 0;               // of text_
  std::vector<std::uint32_t> places_;  // by hash of six bytes: one more than where they stand in text_
  std::size_t token_count_ = 0;
  std::vector<std::uint32_t> tokens_;                // of the block: bytes and matches
  std::array<std::uint32_t, 286> literal_counts_{};  // how often it has each byte and each code of a length,
  std::array<std::uint32_t, 30> distance_counts_{};  // and each code of a distance
  std::vector<char> packed_;                         // the block as it is written
  std::size_t packed_size_ = 0;
  std::uint64_t bits_ = 0;  // not written yet
  int bit_count_ = 0;
  std::uint32_t checksum_ = 0xFFFFFFFF;
  std::uint32_t size_ = 0;
  bool started_ = false;
};

}  // namespace treeglot
