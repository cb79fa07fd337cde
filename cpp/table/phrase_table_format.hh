// Constants of the table's file format, shared by its writer and its reader.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash.hh"
#include "base/mapped_header.hh"

namespace treeglot::table_format {

inline constexpr char kMagic[8] = {'T', 'G', 'P', 'T', '\r', '\n', '\x1a', '\0'};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kBlock = 32;  // sources
inline constexpr std::size_t kChunk = kChecksumChunk;

}  // namespace treeglot::table_format
