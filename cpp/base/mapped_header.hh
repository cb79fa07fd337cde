// The beginning of a file that is mapped: magic bytes, version, a probe of the machine, the file's size and checksums.
// A header is a plain struct that begins with magic and version and has the members probe, file_size, checksum and
// header_checksum. All that a header says of the file is checked with these functions before anything is read by it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/checksum.hh"
#include "base/mapped_file.hh"
#include "base/verified_files.hh"

namespace treeglot {

static_assert(std::endian::native == std::endian::little, "files and their hashes are made for this byte order");

[[noreturn]] inline void damaged_header() { throw std::runtime_error("damaged header"); }

// Values of known bits, and the sizes of the records that a file consists of: a file of a machine that orders bytes,
// writes numbers or lays out records in another way does not have them.
struct MachineProbe {
  std::uint64_t integer = 0x0123456789ABCDEF;
  double number = -1.0 / 3;
  float fraction = 1.0f / 3;
  std::array<std::uint8_t, 4> sizes{sizeof(float), sizeof(double), alignof(double), alignof(std::uint64_t)};
  std::array<std::uint32_t, 4> records{};

  MachineProbe() = default;
  explicit MachineProbe(std::array<std::uint32_t, 4> record_sizes) : records(record_sizes) {}
};
static_assert(sizeof(MachineProbe) == 40);  // no padding: it is compared byte by byte

// The checksum of a header, its own field taken as 0.
template <class Header>
std::uint64_t header_checksum(Header header) {
  header.header_checksum = 0;
  return checksum_of(&header, sizeof header);
}

// The header of a mapped file, copied, or std::runtime_error that says what is wrong. `kind` is what the file should
// be: "a treeglot phrase table".
template <class Header>
Header checked_header(const MappedFile& file, const char (&magic)[8], std::uint32_t version, const MachineProbe& probe,
                      const std::string& kind) {
  constexpr std::size_t kStart = sizeof magic + sizeof version;
  if (file.size() < kStart || std::memcmp(file.data(), magic, sizeof magic) != 0) {
    throw std::runtime_error("not " + kind);
  }
  std::uint32_t own;
  std::memcpy(&own, file.data() + sizeof magic, sizeof own);
  const std::uint32_t turned = own << 24 | (own & 0xFF00) << 8 | (own >> 8 & 0xFF00) | own >> 24;
  if (own != version && turned == version) {
    throw std::runtime_error("written on a machine with another byte order");
  }
  if (own != version) {
    throw std::runtime_error("written by another version of treeglot (format " + std::to_string(own) +
                             ", this one reads format " + std::to_string(version) + ")");
  }
  Header header;
  if (file.size() < sizeof header) throw std::runtime_error("truncated");
  std::memcpy(&header, file.data(), sizeof header);
  if (header_checksum(header) != header.header_checksum) damaged_header();
  if (std::memcmp(&header.probe, &probe, sizeof probe) != 0) {
    throw std::runtime_error("written on a machine with other numbers or layouts");
  }
  if (file.size() != header.file_size) {
    throw std::runtime_error("truncated: " + std::to_string(file.size()) + " bytes instead of " +
                             std::to_string(header.file_size));
  }
  return header;
}

// Whether `count` records of `size` bytes fit between two offsets. Never overflows.
inline bool fits(std::uint64_t begin, std::uint64_t count, std::uint64_t size, std::uint64_t end) {
  return begin <= end && count <= (end - begin) / size;
}

// Records of a mapped file: `count` of them at the offset `begin`, which end before the offset `end`. Throws if that
// is not inside of the file or not where such records can stand.
template <class Record>
const Record* mapped_records(const MappedFile& file, std::uint64_t begin, std::uint64_t count, std::uint64_t end) {
  if (end > file.size() || !fits(begin, count, sizeof(Record), end) || begin % alignof(Record) != 0) damaged_header();
  return reinterpret_cast<const Record*>(file.data() + begin);
}

// Where a part of `size` bytes that begins at `begin` ends and the next one begins, which is a multiple of `to`.
// Parts stand one behind the other: a header that says otherwise was not written with its file.
inline std::uint64_t next_part(std::uint64_t begin, std::uint64_t count, std::uint64_t size, std::uint64_t file_size,
                               std::uint64_t to = 8) {
  if (!fits(begin, count, size, file_size)) damaged_header();
  return (begin + count * size + to - 1) / to * to;
}

inline void need_part(bool right) {
  if (!right) damaged_header();
}

inline constexpr std::size_t kWriteBuffer = std::size_t{1} << 20;

// Compares the checksum of all that follows the header, and calls `check_structure`, which throws if the parts do not
// fit together. Once for each file (see base/verified_files.hh), or `always`.
template <class Header, class Check>
void verify_file(const MappedFile& file, const Header& header, bool always, Check check_structure) {
  const std::uint64_t whole = header_checksum(header);  // also of a header that has the file's checksum only
  if (always || !contents_are_known(file, whole)) {
    if (checksum_of(file.data() + sizeof(Header), file.size() - sizeof(Header)) != header.checksum) {
      throw std::runtime_error("damaged: the checksum does not fit");
    }
    check_mapped_files();
    contents_are_good(file, whole);
  }
  if (always || !structure_is_known(file, whole)) {
    check_structure();
    structure_is_good(file, whole);
  }
}

}  // namespace treeglot
