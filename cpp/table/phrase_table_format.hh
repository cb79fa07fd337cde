// Constants of the table's file format, shared by its writer and its reader.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/phrase_table.hh"

namespace treeglot::table_format {

inline constexpr char kMagic[8] = {'T', 'G', 'P', 'T', '\r', '\n', '\x1a', '\0'};
inline constexpr std::uint32_t kVersion = 4;  // 4: XXH64
inline constexpr std::size_t kBlock = 32;     // sources
inline constexpr std::uint32_t kAllFlags = kExplicitScores | kHasReordering | kHasCounts | kHundredths;

inline MachineProbe probe() { return MachineProbe({sizeof(LexicalItem), sizeof(WordId), kBlock, kMaxPhrase}); }

}  // namespace treeglot::table_format
