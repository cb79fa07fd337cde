// Many independent pieces of work in several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace treeglot {

inline std::size_t thread_count(int threads, std::size_t pieces) {
  std::size_t wanted =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  return std::min(wanted, std::max<std::size_t>(pieces, 1));
}

// Calls worker(i) for every i below `pieces`, each once, in any order; `make_worker()` is called once in every thread
// (0 threads: all cores). `progress`, if given, is called now and then in the calling thread with the number of
// finished pieces; it may throw to stop. The first exception ends the work and is thrown again.
template <class MakeWorker>
void for_each_piece(std::size_t pieces, int threads, MakeWorker&& make_worker,
                    const std::function<void(std::size_t)>& progress = {}) {
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&](bool report) {
    try {
      auto worker = make_worker();
      auto last = std::chrono::steady_clock::now();
      for (std::size_t i; !stop && (i = next++) < pieces;) {
        worker(i);
        ++done;
        if (report && progress && std::chrono::steady_clock::now() - last > std::chrono::milliseconds(100)) {
          progress(done);
          last = std::chrono::steady_clock::now();
        }
      }
    } catch (...) {
      stop = true;
      std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  const std::size_t workers = thread_count(threads, pieces);
  for (std::size_t i = 1; i < workers; ++i) pool.emplace_back(work, false);
  work(true);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
  if (progress) progress(done);
}

}  // namespace treeglot
