// The one place that starts threads: many independent pieces of work, done by as many threads as there are.
//
//   for_each_piece(pieces, threads, [&] {            // once in every thread: its own buffers
//     return [&, buffer = Buffer()](std::size_t i) mutable { ... };
//   });
//
// A piece that may take long calls check_stopped() now and then: so an interruption ends it, too.
//
// Pieces are taken from a common counter, so it does not matter how many threads there really are: if the system
// refuses one, those that run do its work. The first exception in any of them ends the work and is thrown again in the
// calling thread, after all have ended.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>

namespace treeglot {

inline constexpr std::size_t kMaxThreads = 512;

// How many threads work on so many pieces: 0 or less for all cores, never more than pieces or kMaxThreads, at least 1.
std::size_t thread_count(int threads, std::size_t pieces = std::numeric_limits<std::size_t>::max());

// Calls work(0) in this thread and work(1) ... work(threads - 1) in others, waits for all, and throws the first
// exception again. Threads that cannot be started are left out; `failed` is called in a thread where work has thrown.
void run_threads(std::size_t threads, const std::function<void(std::size_t)>& work,
                 const std::function<void()>& failed);

// For tests: called before a thread is started; what it throws (std::system_error, std::bad_alloc) counts as refusal.
using ThreadStartHook = void (*)();
void set_thread_start_hook(ThreadStartHook hook);

// Ends a piece of for_each_piece with an exception if its work is to end, and calls `progress` when it is time. Nothing
// else where no such work is done. Cheap enough for a loop whose rounds take a tenth of a microsecond.
void check_stopped();

namespace parallel {

// What a thread works on, for check_stopped().
struct Watch {
  const std::atomic<bool>& stop;
  const std::function<void()>& tick;  // in the calling thread; empty in others
  unsigned calls = 0;
};

// Makes a watch the thread's, until the end of a block.
class Watched {
 public:
  explicit Watched(Watch& watch);
  Watched(const Watched&) = delete;
  ~Watched();

 private:
  Watch* outer_;
};

}  // namespace parallel

// Calls worker(i) for every i below `pieces`, each once, in any order; `make_worker()` is called once in every thread.
// `progress`, if given, is called now and then in the calling thread with the number of finished pieces; it may throw
// to stop.
template <class MakeWorker>
void for_each_piece(std::size_t pieces, int threads, MakeWorker&& make_worker,
                    const std::function<void(std::size_t)>& progress = {}) {
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  std::mutex waiting_lock;
  std::condition_variable waiting;
  auto last = std::chrono::steady_clock::now();
  const std::function<void()> nothing;
  const std::function<void()> tick = [&] {
    if (std::chrono::steady_clock::now() - last <= std::chrono::milliseconds(100)) return;
    progress(done);
    last = std::chrono::steady_clock::now();
  };
  auto wake = [&] {
    std::lock_guard guard(waiting_lock);
    waiting.notify_all();
  };
  auto work = [&](std::size_t thread) {
    const bool reports = thread == 0 && progress;
    parallel::Watch watch{stop, reports ? tick : nothing};
    const parallel::Watched watched(watch);
    auto worker = make_worker();
    for (std::size_t i; !stop && (i = next++) < pieces;) {
      worker(i);
      if (++done == pieces) wake();
      if (reports) tick();
    }
    if (!reports) return;
    // The last pieces of the others may take long.
    for (std::unique_lock guard(waiting_lock); !stop && done < pieces;) {
      waiting.wait_for(guard, std::chrono::milliseconds(100));
      guard.unlock();
      tick();
      guard.lock();
    }
  };
  run_threads(thread_count(threads, pieces), work, [&] {
    stop = true;
    wake();
  });
  if (progress) progress(done);
}

}  // namespace treeglot
