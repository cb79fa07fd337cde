#include "base/mapped_file.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace treeglot {

MappedFile::MappedFile(const std::string& path) {
  int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) throw std::runtime_error("cannot open the file");
  struct stat info;
  if (::fstat(handle, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(handle);
    throw std::runtime_error("not a regular file");
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ > 0) {
    void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, handle, 0);
    if (memory == MAP_FAILED) {
      ::close(handle);
      throw std::runtime_error("cannot map the file into memory");
    }
    data_ = static_cast<const char*>(memory);
  }
  ::close(handle);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace treeglot
