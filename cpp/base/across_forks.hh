// A lock of the whole process that a fork cannot leave locked: a child has only the thread that forked, and what
// another thread had locked at that moment would stay so for ever.
#pragma once

#include <pthread.h>

#include <mutex>

namespace treeglot {

// Before each use of a static lock; such locks are never held at the same time.
template <std::mutex& lock>
void guard_across_forks() {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); });
}

}  // namespace treeglot
