#include "base/mapped_writer.hh"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace treeglot {
namespace {

[[noreturn]] void cannot_write() { throw std::runtime_error("cannot write the file (is the disk full?)"); }

}  // namespace

MappedWriter::MappedWriter(const std::string& path, std::size_t header_size) : file_(std::fopen(path.c_str(), "wb")) {
  if (!file_) throw std::runtime_error("cannot create the file");
  const std::vector<char> nothing(header_size);
  if (std::fwrite(nothing.data(), 1, header_size, file_.get()) != header_size) cannot_write();
  position_ = header_size;
  buffer_.reserve(kWriteBuffer);
}

void MappedWriter::write(const void* from, std::size_t size) {
  const char* data = static_cast<const char*>(from);
  position_ += size;
  while (size > 0) {
    const std::size_t part = std::min(size, kWriteBuffer - buffer_.size());
    buffer_.insert(buffer_.end(), data, data + part);
    data += part;
    size -= part;
    if (buffer_.size() == kWriteBuffer) flush();
  }
}

void MappedWriter::flush() {
  if (buffer_.empty()) return;
  checksum_.add(buffer_.data(), buffer_.size());
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) cannot_write();
  buffer_.clear();
}

std::uint64_t MappedWriter::align(std::size_t to) {
  static constexpr char zeros[64] = {};
  write(zeros, (to - position_ % to) % to);
  return position_;
}

void MappedWriter::close(const void* header, std::size_t size) {
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0 || std::fwrite(header, size, 1, file_.get()) != 1 ||
      std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) {
    cannot_write();
  }
  file_.reset();
}

}  // namespace treeglot
