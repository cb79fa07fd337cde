// The beginning of a file that is mapped: magic bytes, version, the file's size and checksums. A header is a plain
// struct with the members magic, version, file_size, checksum and header_checksum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/hash.hh"
#include "base/mapped_file.hh"

namespace treeglot {

// The checksum of a header, its own field taken as 0.
template <class Header>
std::uint64_t header_checksum(Header header) {
  header.header_checksum = 0;
  return hash_bytes(reinterpret_cast<const char*>(&header), sizeof header);
}

// The header of a mapped file, or std::runtime_error that says what is wrong: `foreign` for a file of another kind,
// `outdated` for another version.
template <class Header>
const Header* checked_header(const MappedFile& file, const char (&magic)[8], std::uint32_t version, const char* foreign,
                             const char* outdated) {
  if (file.size() < sizeof(Header) || std::memcmp(file.data(), magic, sizeof magic) != 0) {
    throw std::runtime_error(foreign);
  }
  const auto* header = reinterpret_cast<const Header*>(file.data());
  if (header->version != version) throw std::runtime_error(outdated);
  if (header_checksum(*header) != header->header_checksum) throw std::runtime_error("damaged header");
  if (file.size() != header->file_size) {
    throw std::runtime_error("truncated: " + std::to_string(file.size()) + " bytes instead of " +
                             std::to_string(header->file_size));
  }
  return header;
}

inline constexpr std::size_t kChecksumChunk = std::size_t{1} << 20;

// Compares the checksum of all that follows the header, which goes over chunks so that a writer need not go back.
template <class Header>
void verify_chunks(const MappedFile& file, const Header& header) {
  std::uint64_t checksum = 0;
  for (std::size_t at = sizeof(Header); at < file.size(); at += kChecksumChunk) {
    checksum = hash_bytes(file.data() + at, std::min(kChecksumChunk, file.size() - at), checksum);
  }
  if (checksum != header.checksum) throw std::runtime_error("damaged: the checksum does not fit");
}

}  // namespace treeglot
