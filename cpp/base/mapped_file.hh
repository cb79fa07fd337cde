// A read-only file in memory: mapped, so that processes share it, or copied if it is small.
//
// A mapped file that another program cuts short has no content any more where it was; touching that place would end the
// process (SIGBUS). Here such a place becomes zeros, which every reader of a format bears, and check_mapped_files()
// tells afterwards which file it was: whoever gives results of mapped files away calls it first. A copy cannot change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace treeglot {

// Tells a file as it is now from all others: if anything is written to it, its times change.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // nanoseconds since 1970
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
  friend auto operator<=>(const FileStamp&, const FileStamp&) = default;
};

class MappedFile {
 public:
  static constexpr std::size_t kCopied = std::size_t{4} << 20;  // files up to this size are copied

  MappedFile() = default;
  explicit MappedFile(const std::string& path);  // throws std::runtime_error
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  const std::string& path() const { return path_; }
  const FileStamp& stamp() const { return stamp_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  int guard_ = -1;  // its place among the guarded mappings
  FileStamp stamp_;
  std::string path_;
};

// Throws std::runtime_error that names a file of which a place that is gone was read since it was mapped.
void check_mapped_files();

}  // namespace treeglot
