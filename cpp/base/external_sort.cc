#include "base/external_sort.hh"

#include <unistd.h>

namespace treeglot {

TemporaryFile::TemporaryFile(const std::string& folder) {
  std::string name = folder + "/.treeglot-sort-XXXXXX";
  int handle = ::mkstemp(name.data());
  if (handle < 0) throw std::runtime_error("cannot create a temporary file in " + folder);
  ::unlink(name.c_str());
  file_.reset(::fdopen(handle, "w+b"));
  if (!file_) {
    ::close(handle);
    throw std::runtime_error("cannot open a temporary file in " + folder);
  }
}

void TemporaryFile::rewind() {
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0) {
    throw std::runtime_error("cannot write a temporary file (is the disk full?)");
  }
  left_ = size_;
}

std::size_t TemporaryFile::read(void* data, std::size_t bytes) {
  bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
  if (bytes > 0 && std::fread(data, 1, bytes, file_.get()) != bytes) {
    throw std::runtime_error("cannot read a temporary file again (is the disk sound? another folder can be given)");
  }
  left_ -= bytes;
  return bytes;
}

}  // namespace treeglot
