#include "base/parallel.hh"

#include <boost/test/unit_test.hpp>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using treeglot::for_each_piece;
using treeglot::thread_count;

namespace {

int starts_left = 0;  // how many threads the hooks below let start

void refuse_start() {
  if (starts_left-- <= 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}
void exhaust_memory() {
  if (starts_left-- <= 0) throw std::bad_alloc();
}

struct HookGuard {
  explicit HookGuard(treeglot::ThreadStartHook hook) { treeglot::set_thread_start_hook(hook); }
  ~HookGuard() { treeglot::set_thread_start_hook(nullptr); }
};

std::vector<std::size_t> squares(std::size_t pieces, int threads) {
  std::vector<std::size_t> result(pieces);
  for_each_piece(pieces, threads, [&] { return [&](std::size_t i) { result[i] += i * i; }; });
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parallel_pieces)

BOOST_AUTO_TEST_CASE(every_piece_is_done_once_whatever_the_threads) {
  for (std::size_t pieces : {0, 1, 2, 1000}) {
    const std::vector<std::size_t> expected = squares(pieces, 1);
    for (std::size_t i = 0; i < pieces; ++i) BOOST_TEST(expected[i] == i * i);
    for (int threads : {2, 7, 0, -1, 100000}) BOOST_TEST((squares(pieces, threads) == expected));
  }
}

BOOST_AUTO_TEST_CASE(counts_are_clamped) {
  BOOST_TEST(thread_count(3) == 3);
  BOOST_TEST(thread_count(3, 2) == 2);
  BOOST_TEST(thread_count(3, 0) == 1);
  BOOST_TEST(thread_count(2'000'000'000) == treeglot::kMaxThreads);
  const std::size_t cores = thread_count(0);
  BOOST_TEST(cores >= 1);
  BOOST_TEST(thread_count(-5) == cores);
}

BOOST_AUTO_TEST_CASE(an_exception_in_any_thread_reaches_the_caller) {
  for (int threads : {1, 2, 7}) {
    for (std::size_t bad : {0, 5, 99}) {
      auto work = [&] {
        for_each_piece(100, threads, [&] {
          return [&](std::size_t i) {
            if (i == bad) throw std::out_of_range("piece " + std::to_string(i));
          };
        });
      };
      BOOST_CHECK_EXCEPTION(work(), std::out_of_range,
                            [&](const auto& error) { return error.what() == "piece " + std::to_string(bad); });
    }
    BOOST_CHECK_THROW(
        for_each_piece(100, threads, [&]() -> std::function<void(std::size_t)> { throw std::bad_alloc(); }),
        std::bad_alloc);
  }
  // Only the other thread throws: this one waits for it in its first piece.
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> thrown{false};
  BOOST_CHECK_THROW(for_each_piece(2, 2,
                                   [&] {
                                     return [&](std::size_t) {
                                       if (std::this_thread::get_id() != caller) {
                                         thrown = true;
                                         throw std::runtime_error("elsewhere");
                                       }
                                       while (!thrown) std::this_thread::yield();
                                     };
                                   }),
                    std::runtime_error);
}

BOOST_AUTO_TEST_CASE(progress_may_stop_the_work) {
  BOOST_CHECK_THROW(
      for_each_piece(
          1, 1, [] { return [](std::size_t) {}; }, [](std::size_t) { throw std::runtime_error("enough"); }),
      std::runtime_error);
}

BOOST_AUTO_TEST_CASE(threads_that_do_not_start_are_made_up_for) {
  for (treeglot::ThreadStartHook hook : {&refuse_start, &exhaust_memory}) {
    for (int allowed : {0, 1, 3}) {
      HookGuard guard(hook);
      starts_left = allowed;
      std::mutex lock;
      std::set<std::thread::id> seen;
      std::vector<int> done(1000);
      for_each_piece(done.size(), 7, [&] {
        {
          std::lock_guard held(lock);
          seen.insert(std::this_thread::get_id());
        }
        return [&](std::size_t i) { ++done[i]; };
      });
      BOOST_TEST(seen.size() <= static_cast<std::size_t>(allowed) + 1);
      BOOST_TEST((done == std::vector<int>(1000, 1)));
      starts_left = allowed;
      BOOST_CHECK_THROW(for_each_piece(1000, 7,
                                       [] {
                                         return [](std::size_t i) {
                                           if (i == 500) throw std::runtime_error("middle");
                                         };
                                       }),
                        std::runtime_error);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
