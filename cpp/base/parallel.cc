#include "base/parallel.hh"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace treeglot {
namespace {

std::atomic<ThreadStartHook> start_hook{nullptr};

// Thrown in pieces that are given up; the exception for which they are is the one that the caller gets.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

thread_local parallel::Watch* watch = nullptr;
constexpr unsigned kEvery = 64;  // calls between looks at the clock

}  // namespace

void set_thread_start_hook(ThreadStartHook hook) { start_hook = hook; }

void check_stopped() {
  if (!watch || ++watch->calls % kEvery != 0) return;
  if (watch->stop) throw Stopped();
  if (watch->tick) watch->tick();
}

parallel::Watched::Watched(Watch& own) : outer_(watch) { watch = &own; }
parallel::Watched::~Watched() { watch = outer_; }

std::size_t thread_count(int threads, std::size_t pieces) {
  const std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(std::min(wanted, pieces), 1, kMaxThreads);
}

void run_threads(std::size_t threads, const std::function<void(std::size_t)>& work,
                 const std::function<void()>& failed) {
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto guarded = [&](std::size_t thread) {
    try {
      work(thread);
    } catch (...) {
      {
        std::lock_guard guard(failure_lock);
        if (!failure) failure = std::current_exception();
      }
      failed();  // after that the others may throw because they are stopped
    }
  };
  std::vector<std::thread> others;
  try {
    others.reserve(threads - 1);
    for (std::size_t i = 1; i < threads; ++i) {
      if (const ThreadStartHook hook = start_hook) hook();
      others.emplace_back(guarded, i);
    }
  } catch (const std::system_error&) {  // a limit of the system: those that run do the work
  } catch (const std::bad_alloc&) {
  }
  guarded(0);
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace treeglot
