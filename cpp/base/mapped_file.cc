#include "base/mapped_file.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/mapping_guard.hh"

namespace treeglot {
namespace {

class Handle {
 public:
  explicit Handle(int number) : number_(number) {}
  Handle(const Handle&) = delete;
  ~Handle() {
    if (number_ >= 0) ::close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

void read_all(int handle, char* to, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t now = ::read(handle, to + done, size - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) throw std::runtime_error("cannot read the file");
    done += static_cast<std::size_t>(now);
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // A FIFO would wait for a writer.
  const Handle handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (handle < 0) throw std::runtime_error(std::string("cannot open the file: ") + std::strerror(errno));
  struct stat info;
  if (::fstat(handle, &info) != 0 || !S_ISREG(info.st_mode)) throw std::runtime_error("not a regular file");
  size_ = static_cast<std::size_t>(info.st_size);
  stamp_ = {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino), size_,
            nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
  if (size_ == 0) return;
  const bool copied = size_ <= kCopied;
  void* memory = copied ? ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                        : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, handle, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map the file into memory");
  data_ = static_cast<const char*>(memory);
  try {
    if (copied) {
      read_all(handle, static_cast<char*>(memory), size_);
    } else {
      guard_ = guard_mapping(data_, size_, path_);
    }
  } catch (...) {
    ::munmap(memory, size_);
    throw;
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(other.data_), size_(other.size_), guard_(other.guard_), stamp_(other.stamp_), path_(other.path_) {
  other.data_ = nullptr;
  other.guard_ = -1;
}

MappedFile::~MappedFile() {
  if (guard_ >= 0) release_mapping(guard_);
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace treeglot
