// Writes a file that will be mapped: room for the header, then the parts as they come, with their checksum, and
// the header last, so that an unfinished file is recognised as such.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/checksum.hh"
#include "base/mapped_header.hh"

namespace treeglot {

class MappedWriter {
 public:
  // Throws std::runtime_error if the file cannot be created. `header_size` bytes stay free at its beginning.
  MappedWriter(const std::string& path, std::size_t header_size);

  std::uint64_t position() const { return position_; }
  void write(const void* data, std::size_t size);
  template <class T>
  void plain(const T& value) {
    write(&value, sizeof value);
  }
  // Goes on to a multiple of `to` (at most 64); returns where that is.
  std::uint64_t align(std::size_t to = 8);

  // Completes the header, whose other fields are set, and the file.
  template <class Header>
  void finish(Header& header) {
    flush();
    header.file_size = position_;
    header.checksum = checksum_.value();
    header.header_checksum = header_checksum(header);
    close(&header, sizeof header);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void flush();
  void close(const void* header, std::size_t size);

  std::unique_ptr<std::FILE, Close> file_;
  std::vector<char> buffer_;
  std::uint64_t position_ = 0;
  Checksum checksum_;
};

}  // namespace treeglot
