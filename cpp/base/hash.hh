// Hashing that never changes: files on disk depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace treeglot {

// A 64-bit finaliser (the mixing constants of splitmix64).
inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Eight bytes at a time; for words and for checksums of files.
inline std::uint64_t hash_bytes(const char* data, std::size_t size, std::uint64_t seed = 0) {
  std::uint64_t hash = mix(seed + 0x9E3779B97F4A7C15ull * (size + 1));
  while (size >= 8) {
    std::uint64_t part;
    std::memcpy(&part, data, 8);
    hash = mix(hash ^ part) * 0x9FB21C651E98DF25ull;
    data += 8;
    size -= 8;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, data, size);
  return mix(hash ^ rest ^ (std::uint64_t{size} << 56));
}

inline std::uint64_t hash_bytes(std::string_view text) { return hash_bytes(text.data(), text.size()); }

}  // namespace treeglot
