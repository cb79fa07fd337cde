// How n-grams become keys and keys become slots: shared by the compiler and the query. Files depend on it.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/hash.hh"
#include "lm/model.hh"

namespace treeglot::lm {

inline constexpr char kMagic[8] = {'T', 'G', 'L', 'M', '\r', '\n', '\x1a', '\0'};
inline constexpr std::uint32_t kVersion = 3;  // 3: XXH64, numbers of entries

inline MachineProbe model_probe() {
  return MachineProbe({sizeof(UnigramEntry), sizeof(MiddleEntry), sizeof(LongestEntry), sizeof(WordEntry)});
}

inline std::uint64_t first_key(WordId word) { return mix(word + 0x51ED270B8D5C4A37ull); }
inline std::uint64_t next_key(std::uint64_t key, WordId word) {
  return mix(key ^ ((word + 1) * 0x9E3779B97F4A7C15ull)) | 1;  // 0 marks a free slot
}

// Where the search for a key begins: its high bits scaled to the table's size, which need not be a power of two.
inline std::uint64_t first_slot(std::uint64_t key, std::uint64_t slots) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(key) * slots) >> 64);
}

inline void write_magic(ModelHeader& header) {
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.probe = model_probe();
}

}  // namespace treeglot::lm
