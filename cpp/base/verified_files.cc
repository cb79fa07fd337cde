#include "base/verified_files.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "base/across_forks.hh"

namespace treeglot {
namespace {

// Raised when more is verified than before: then what was noted is not enough.
constexpr int kRules = 1;
constexpr off_t kLongestNotes = 65536;

std::mutex known_lock;
std::set<std::tuple<FileStamp, std::uint64_t>> known_contents;
std::set<std::uint64_t> known_structures;

std::string notes_of(const MappedFile& file) {
  const std::size_t slash = file.path().rfind('/');
  return (slash == std::string::npos ? "" : file.path().substr(0, slash + 1)) + ".treeglot-verified";
}

std::string contents_note(const FileStamp& stamp, std::uint64_t checksum) {
  char line[200];
  std::snprintf(line, sizeof line,
                "contents %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %016" PRIx64, kRules,
                stamp.device, stamp.inode, stamp.size, stamp.modified, stamp.changed, checksum);
  return line;
}

std::string structure_note(std::uint64_t checksum) {
  char line[64];
  std::snprintf(line, sizeof line, "structure %d %016" PRIx64, kRules, checksum);
  return line;
}

bool is_noted(const MappedFile& file, const std::string& note) {
  std::ifstream notes(notes_of(file));
  for (std::string line; std::getline(notes, line);) {
    if (line == note) return true;
  }
  return false;
}

// A line is written at once, so that processes do not disturb each other; if it cannot be, nothing is lost.
void put_note(const MappedFile& file, std::string note) {
  const std::string path = notes_of(file);
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && (!S_ISREG(info.st_mode) || info.st_size > kLongestNotes)) {
    if (!S_ISREG(info.st_mode) || ::unlink(path.c_str()) != 0) return;
  }
  const int handle = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (handle < 0) return;
  note += '\n';
  [[maybe_unused]] const ssize_t written = ::write(handle, note.data(), note.size());
  ::close(handle);
}

// A file that has just been written may be written again without another time stamp.
bool is_settled(const FileStamp& stamp) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t latest = (std::int64_t{now.tv_sec} - 1) * 1'000'000'000 + now.tv_nsec;
  return stamp.modified < latest && stamp.changed < latest;
}

}  // namespace

bool contents_are_known(const MappedFile& file, std::uint64_t checksum) {
  {
    guard_across_forks<known_lock>();
    std::lock_guard guard(known_lock);
    if (known_contents.contains({file.stamp(), checksum})) return true;
  }
  return file.size() >= kNotedContents && is_noted(file, contents_note(file.stamp(), checksum));
}

void contents_are_good(const MappedFile& file, std::uint64_t checksum) {
  if (!is_settled(file.stamp())) return;
  {
    guard_across_forks<known_lock>();
    std::lock_guard guard(known_lock);
    known_contents.insert({file.stamp(), checksum});
  }
  if (file.size() >= kNotedContents) put_note(file, contents_note(file.stamp(), checksum));
}

bool structure_is_known(const MappedFile& file, std::uint64_t checksum) {
  {
    guard_across_forks<known_lock>();
    std::lock_guard guard(known_lock);
    if (known_structures.contains(checksum)) return true;
  }
  return file.size() >= kNotedStructure && is_noted(file, structure_note(checksum));
}

void structure_is_good(const MappedFile& file, std::uint64_t checksum) {
  {
    guard_across_forks<known_lock>();
    std::lock_guard guard(known_lock);
    known_structures.insert(checksum);
  }
  if (file.size() >= kNotedStructure) put_note(file, structure_note(checksum));
}

}  // namespace treeglot
