#include "base/mapping_guard.hh"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>

#include "base/across_forks.hh"
#include "base/mapped_file.hh"

namespace treeglot {
namespace {

// The handler may only read these; `begin` is set last and cleared first.
struct Mapping {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<bool> lost{false};
  bool used = false;  // under the lock
  std::string path;   // under the lock
};

constexpr std::size_t kMost = 1024;
std::array<Mapping, kMost> mappings;
std::mutex mappings_lock;
std::atomic<std::size_t> used_end{0};  // none in use from here on
std::atomic<bool> any_lost{false};
std::uintptr_t page_size = 4096;
struct sigaction earlier;

// The rest of the mapping becomes zeros, so that the read goes on. mmap() is one system call and takes no lock.
void on_bus_error(int number, siginfo_t* info, void* context) {
  const auto place = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::size_t end = used_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    Mapping& mapping = mappings[i];
    const std::uintptr_t begin = mapping.begin.load(std::memory_order_acquire), stop = mapping.end.load();
    if (begin == 0 || place < begin || place >= stop) continue;
    const std::uintptr_t page = place / page_size * page_size;
    if (::mmap(reinterpret_cast<void*>(page), stop - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
      break;
    }
    mapping.lost = true;
    any_lost = true;
    return;
  }
  // Not ours: as if there were no handler of ours.
  if ((earlier.sa_flags & SA_SIGINFO) && earlier.sa_sigaction) {
    earlier.sa_sigaction(number, info, context);
  } else if (!(earlier.sa_flags & SA_SIGINFO) && earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
    earlier.sa_handler(number);
  } else {
    ::signal(SIGBUS, SIG_DFL);  // the read is tried again and ends the process
  }
}

// Again with every mapping: another library may have put its own handler there.
void install() {
  struct sigaction now{};
  if (::sigaction(SIGBUS, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error) return;
  earlier = now;
  page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

}  // namespace

int guard_mapping(const char* data, std::size_t size, const std::string& path) {
  guard_across_forks<mappings_lock>();
  std::lock_guard guard(mappings_lock);
  install();
  for (std::size_t i = 0; i < kMost; ++i) {
    Mapping& mapping = mappings[i];
    if (mapping.used) continue;
    mapping.used = true;
    mapping.path = path;
    mapping.lost = false;
    mapping.end = reinterpret_cast<std::uintptr_t>(data) + (size + page_size - 1) / page_size * page_size;
    mapping.begin.store(reinterpret_cast<std::uintptr_t>(data), std::memory_order_release);
    if (i >= used_end) used_end = i + 1;
    return static_cast<int>(i);
  }
  return -1;
}

void release_mapping(int number) {
  guard_across_forks<mappings_lock>();
  std::lock_guard guard(mappings_lock);
  Mapping& mapping = mappings[static_cast<std::size_t>(number)];
  mapping.begin = 0;
  mapping.used = false;
  mapping.lost = false;
}

void check_mapped_files() {
  if (!any_lost.load(std::memory_order_relaxed)) return;
  guard_across_forks<mappings_lock>();
  std::lock_guard guard(mappings_lock);
  for (const Mapping& mapping : mappings) {
    if (mapping.used && mapping.lost) {
      throw std::runtime_error(mapping.path + " was cut short while it was in use: nothing of it can be trusted");
    }
  }
  any_lost = false;
}

}  // namespace treeglot
