#include "base/gzip.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>

namespace treeglot {

namespace {

constexpr std::size_t kMostMatch = 258;
constexpr std::size_t kLook = 8;  // bytes that are looked at to find a match; six of them decide
constexpr std::size_t kLiterals = 286, kDistances = 30, kLengths = 19;  // sizes of the three alphabets
constexpr std::size_t kEndOfBlock = 256;
constexpr std::uint32_t kMatchBit = 0x80000000u;

// CRC-32, eight bytes at a time.
constexpr auto kChecksums = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0xEDB88320u : value >> 1;
    tables[0][byte] = value;
  }
  for (std::size_t t = 1; t < 8; ++t) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      tables[t][byte] = tables[t - 1][byte] >> 8 ^ tables[0][tables[t - 1][byte] & 0xFF];
    }
  }
  return tables;
}();

std::uint32_t checksum(std::uint32_t value, std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = value ^ (at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24);
    value = kChecksums[7][low & 0xFF] ^ kChecksums[6][low >> 8 & 0xFF] ^ kChecksums[5][low >> 16 & 0xFF] ^
            kChecksums[4][low >> 24] ^ kChecksums[3][at[4]] ^ kChecksums[2][at[5]] ^ kChecksums[1][at[6]] ^
            kChecksums[0][at[7]];
  }
  for (; left > 0; --left) value = value >> 8 ^ kChecksums[0][(value ^ *at++) & 0xFF];
  return value;
}

// Lengths and distances are written as a code and some more bits.
struct Code {
  std::uint16_t code, base;
  std::uint8_t bits;
};
constexpr auto kLengthCodes = [] {
  std::array<Code, kMostMatch + 1> codes{};
  int length = 3;
  for (int code = 257; code < 285; ++code) {
    const int bits = code < 265 ? 0 : (code - 261) / 4, base = length;
    for (int i = 0; i < 1 << bits && length < 258; ++i, ++length) {
      codes[static_cast<std::size_t>(length)] = {static_cast<std::uint16_t>(code), static_cast<std::uint16_t>(base),
                                                 static_cast<std::uint8_t>(bits)};
    }
  }
  codes[258] = {285, 258, 0};
  return codes;
}();

constexpr auto kDistanceBases = [] {
  std::array<Code, kDistances> codes{};
  int distance = 1;
  for (std::size_t code = 0; code < kDistances; ++code) {
    const int bits = code < 4 ? 0 : static_cast<int>(code / 2) - 1;
    codes[code] = {static_cast<std::uint16_t>(code), static_cast<std::uint16_t>(distance),
                   static_cast<std::uint8_t>(bits)};
    distance += 1 << bits;
  }
  return codes;
}();
// By distance - 1 below 256, then by every 128th of it: from there on 128 neighbours have one code.
constexpr auto kDistanceCodes = [] {
  std::array<std::uint8_t, 512> codes{};
  for (std::size_t n = 0, code = 0; n < 512; ++n) {
    const std::size_t distance = (n < 256 ? n : (n - 256) * 128) + 1;
    if (n == 256) code = 0;
    while (code + 1 < kDistances && kDistanceBases[code + 1].base <= distance) ++code;
    codes[n] = static_cast<std::uint8_t>(code);
  }
  return codes;
}();
std::uint32_t distance_code(std::size_t less) { return kDistanceCodes[less < 256 ? less : 256 + (less >> 7)]; }

// What a block is made of: a byte, or a match: 9 bits of length, 15 of distance - 1, and the code of the distance.
std::uint32_t match_token(std::size_t length, std::size_t less, std::uint32_t code) {
  return kMatchBit | code << 24 | static_cast<std::uint32_t>(length) << 15 | static_cast<std::uint32_t>(less);
}
std::uint32_t token_length(std::uint32_t token) { return token >> 15 & 0x1FF; }
std::uint32_t token_distance(std::uint32_t token) { return (token & 0x7FFF) + 1; }
std::uint32_t token_code(std::uint32_t token) { return token >> 24 & 0x1F; }

// Prefix codes of at most `limit` bits for an alphabet, by how often each symbol is used (Huffman 1952).
template <std::size_t Size>
struct Codes {
  std::array<std::uint8_t, Size> lengths{};
  std::array<std::uint16_t, Size> bits{};  // the first one lowest, as they are written

  void make(const std::array<std::uint32_t, Size>& counts, int limit) {
    std::array<std::uint16_t, Size> order;
    std::size_t used = 0;
    for (std::size_t s = 0; s < Size; ++s) {
      if (counts[s] > 0) order[used++] = static_cast<std::uint16_t>(s);
    }
    lengths.fill(0);
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(used),
              [&](std::uint16_t a, std::uint16_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
    std::array<std::uint32_t, 64> of_length{};
    if (used > 1) count_lengths(counts, order, used, of_length);
    if (used == 1) of_length[1] = 1;
    shorten(of_length, limit);
    for (std::size_t length = static_cast<std::size_t>(limit), next = 0; length > 0; --length) {  // the rarest first
      for (std::uint32_t i = 0; i < of_length[length]; ++i) lengths[order[next++]] = static_cast<std::uint8_t>(length);
    }
    std::array<std::uint32_t, 17> first{};
    for (int length = 1; length <= limit; ++length) {
      first[length + 1] = (first[length] + of_length[static_cast<std::size_t>(length)]) << 1;
    }
    for (std::size_t s = 0; s < Size; ++s) {
      if (lengths[s] == 0) continue;
      std::uint32_t code = first[lengths[s]]++, reversed = 0;
      for (int i = 0; i < lengths[s]; ++i, code >>= 1) reversed = reversed << 1 | (code & 1);
      bits[s] = static_cast<std::uint16_t>(reversed);
    }
  }

 private:
  // Two queues: symbols by count, and what was made of them, which comes by count by itself.
  static void count_lengths(const std::array<std::uint32_t, Size>& counts, const std::array<std::uint16_t, Size>& order,
                            std::size_t used, std::array<std::uint32_t, 64>& of_length) {
    std::array<std::uint32_t, Size> sums{};
    std::array<std::uint16_t, 2 * Size> parents{};
    std::size_t leaf = 0, inner = 0;
    auto take = [&](std::size_t merged, std::size_t parent) {
      const bool is_leaf = leaf < used && (inner == merged || counts[order[leaf]] <= sums[inner]);
      parents[is_leaf ? leaf : used + inner] = static_cast<std::uint16_t>(parent);
      return is_leaf ? counts[order[leaf++]] : sums[inner++];
    };
    for (std::size_t merged = 0; merged + 1 < used; ++merged) {
      const std::uint32_t first = take(merged, used + merged);
      sums[merged] = first + take(merged, used + merged);
    }
    std::array<std::uint8_t, 2 * Size> depths{};
    for (std::size_t n = 2 * used - 2; n-- > 0;) {
      depths[n] = static_cast<std::uint8_t>(depths[parents[n]] + 1);
      if (n < used) ++of_length[std::min<std::size_t>(depths[n], 63)];
    }
  }

  // Codes above the limit get the limit, and others grow until all fit again.
  static void shorten(std::array<std::uint32_t, 64>& of_length, int limit) {
    const auto most = static_cast<std::size_t>(limit);
    for (std::size_t length = most + 1; length < of_length.size(); ++length) {
      of_length[most] += of_length[length];
      of_length[length] = 0;
    }
    std::uint64_t room = 0;
    for (std::size_t length = 1; length <= most; ++length) room += std::uint64_t{of_length[length]} << (most - length);
    for (; room > std::uint64_t{1} << most; --room) {
      --of_length[most];
      std::size_t length = most - 1;
      while (of_length[length] == 0) --length;
      --of_length[length];
      of_length[length + 1] += 2;
    }
  }
};

std::uint32_t four_bytes(const char* text) {
  std::uint32_t value;
  std::memcpy(&value, text, sizeof value);
  return value;
}

std::size_t common_length(const char* a, const char* b, std::size_t limit) {
  std::size_t length = 0;
  while (length + 8 <= limit) {
    std::uint64_t left, right;
    std::memcpy(&left, a + length, 8);
    std::memcpy(&right, b + length, 8);
    if (left != right) {
      const std::uint64_t different = left ^ right;
      return length + static_cast<std::size_t>(std::endian::native == std::endian::little
                                                   ? std::countr_zero(different)
                                                   : std::countl_zero(different)) /
                          8;
    }
    length += 8;
  }
  while (length < limit && a[length] == b[length]) ++length;
  return length;
}

}  // namespace

GzipPacker::GzipPacker() : places_(std::size_t{1} << kHashBits), tokens_(kBlock) {}

// At most 48 bits at a time.
inline void GzipPacker::put(std::uint64_t value, int bits) {
  bits_ |= value << bit_count_;
  bit_count_ += bits;
  if (bit_count_ >= 16) put_bytes();
}

// Writes the whole bytes of what waits, with whatever stands behind them: the next call writes over that.
inline void GzipPacker::put_bytes() {
  for (int i = 0; i < 8; ++i) packed_[packed_size_ + static_cast<std::size_t>(i)] = static_cast<char>(bits_ >> 8 * i);
  const int whole = bit_count_ & ~7;
  packed_size_ += static_cast<std::size_t>(whole) / 8;
  bits_ = whole == 64 ? 0 : bits_ >> whole;
  bit_count_ -= whole;
}

void GzipPacker::add(std::string_view text, std::string& out) {
  checksum_ = checksum(checksum_, text);
  size_ += static_cast<std::uint32_t>(text.size());
  while (!text.empty()) {
    const std::size_t part = std::min(text.size(), kBlock - (text_.size() - done_));
    text_.insert(text_.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(part));
    text.remove_prefix(part);
    if (text_.size() - done_ == kBlock) pack(kBlock, false, out);
  }
}

void GzipPacker::finish(std::string& out) {
  pack(text_.size() - done_, true, out);
  for (std::uint32_t number : {~checksum_, size_}) {
    for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(number >> 8 * byte & 0xFF);
  }
}

void GzipPacker::pack(std::size_t size, bool last, std::string& out) {
  if (!started_) out.append("\x1f\x8b\x08\0\0\0\0\0\4\xff", 10);  // no name, no time; packed for speed; any system
  started_ = true;
  find_matches(done_, done_ + size);
  packed_size_ = 0;
  const std::size_t room = 6 * token_count_ + 4096;  // no token takes more than 48 bits
  if (packed_.size() < room) packed_.resize(room);
  write_block(last);
  if (last) put(0, -bit_count_ & 7);
  put_bytes();
  out.append(packed_.data(), packed_size_);
  done_ += size;
  if (done_ > 8 * kBlock) {  // only the window is needed from here on
    const std::size_t gone = done_ - kWindow;
    text_.erase(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(gone));
    done_ -= gone;
    for (std::uint32_t& place : places_) place = place > gone ? place - static_cast<std::uint32_t>(gone) : 0;
  }
}

// Takes the last place where the same six bytes stood, if the window reaches it.
void GzipPacker::find_matches(std::size_t begin, std::size_t end) {
  std::uint32_t* token = tokens_.data();
  literal_counts_ = {};
  distance_counts_ = {};
  const char* text = text_.data();
  auto place_of = [&](std::size_t at) -> std::uint32_t& {
    std::uint64_t bytes;
    std::memcpy(&bytes, text + at, sizeof bytes);
    return places_[(bytes << 16) * 0x9FB21C651E98DF25ull >> (64 - kHashBits)];
  };
  auto put_byte = [&](char byte) {
    *token++ = static_cast<unsigned char>(byte);
    ++literal_counts_[static_cast<unsigned char>(byte)];
  };
  std::size_t at = begin;
  while (at + kLook <= end) {
    std::uint32_t& place = place_of(at);
    const std::size_t before = place;  // one more than the place; 0: none
    place = static_cast<std::uint32_t>(at + 1);
    if (before > 0 && at + 1 - before <= kWindow && four_bytes(text + before - 1) == four_bytes(text + at)) {
      const std::size_t length = common_length(text + before - 1, text + at, std::min(end - at, kMostMatch));
      const std::uint32_t code = distance_code(at - before);
      *token++ = match_token(length, at - before, code);
      ++literal_counts_[kLengthCodes[length].code];
      ++distance_counts_[code];
      const std::size_t after = at + length;
      // Some of the places inside are worth remembering: where the next match of this kind may begin.
      if (after + kLook <= end) {
        place_of(at + 1) = static_cast<std::uint32_t>(at + 2);
        place_of(after - 2) = static_cast<std::uint32_t>(after - 1);
      }
      at = after;
    } else {
      put_byte(text[at++]);
    }
  }
  while (at < end) put_byte(text[at++]);
  token_count_ = static_cast<std::size_t>(token - tokens_.data());
}

void GzipPacker::write_block(bool last) {
  literal_counts_[kEndOfBlock] = 1;
  Codes<kLiterals> literals;
  Codes<kDistances> distances;
  literals.make(literal_counts_, 15);
  if (std::ranges::all_of(distance_counts_, [](std::uint32_t count) { return count == 0; })) distance_counts_[0] = 1;
  distances.make(distance_counts_, 15);

  // The lengths of all codes, runs of equal ones in short (codes 16, 17, 18).
  std::array<std::uint8_t, kLiterals + kDistances> lengths;
  std::ranges::copy(distances.lengths, std::ranges::copy(literals.lengths, lengths.begin()).out);
  struct Run {
    std::uint8_t code, more, bits;
  };
  std::vector<Run> runs;
  std::array<std::uint32_t, kLengths> run_counts{};
  for (std::size_t i = 0; i < lengths.size();) {
    std::size_t same = 1;
    while (i + same < lengths.size() && lengths[i + same] == lengths[i]) ++same;
    const std::size_t run = same;
    if (lengths[i] == 0) {
      for (; same >= 11; same -= std::min<std::size_t>(same, 138)) {
        runs.push_back({18, static_cast<std::uint8_t>(std::min<std::size_t>(same, 138) - 11), 7});
      }
      if (same >= 3) {
        runs.push_back({17, static_cast<std::uint8_t>(same - 3), 3});
        same = 0;
      }
    } else if (same > 3) {
      runs.push_back({lengths[i], 0, 0});
      for (--same; same >= 3; same -= std::min<std::size_t>(same, 6)) {
        runs.push_back({16, static_cast<std::uint8_t>(std::min<std::size_t>(same, 6) - 3), 2});
      }
    }
    for (; same > 0; --same) runs.push_back({lengths[i], 0, 0});
    i += run;
  }
  for (const Run& run : runs) ++run_counts[run.code];
  Codes<kLengths> of_lengths;
  of_lengths.make(run_counts, 7);
  constexpr std::array<std::uint8_t, kLengths> kOrder{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

  put(last ? 1 : 0, 1);
  put(2, 2);  // codes of its own
  put(kLiterals - 257, 5);
  put(kDistances - 1, 5);
  put(kLengths - 4, 4);
  for (std::uint8_t code : kOrder) put(of_lengths.lengths[code], 3);
  for (const Run& run : runs) {
    put(of_lengths.bits[run.code], of_lengths.lengths[run.code]);
    put(run.more, run.bits);
  }
  for (std::uint32_t token : std::span(tokens_).first(token_count_)) {
    if (!(token & kMatchBit)) {
      put(literals.bits[token], literals.lengths[token]);
      continue;
    }
    const std::uint32_t size = token_length(token), back = token_distance(token);
    const Code length = kLengthCodes[size], distance = kDistanceBases[token_code(token)];
    // At most 15 + 5 + 15 + 13 bits.
    std::uint64_t all = literals.bits[length.code];
    int width = literals.lengths[length.code];
    all |= std::uint64_t{size - length.base} << width;
    width += length.bits;
    all |= std::uint64_t{distances.bits[distance.code]} << width;
    width += distances.lengths[distance.code];
    all |= std::uint64_t{back - distance.base} << width;
    put(all, width + distance.bits);
  }
  put(literals.bits[kEndOfBlock], literals.lengths[kEndOfBlock]);
}

}  // namespace treeglot
