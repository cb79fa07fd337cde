// Objects that a call works on without the global lock, or while it calls Python: nobody may change them until it is
// done. A call that would change one, from another thread or from a function that was called back, raises RuntimeError.
//
//   Reading use(corpus);               // before the global lock is released, so that it ends when the lock is held
//   again nb::gil_scoped_release release;
//
// Any number of calls may read at a time. What holds the global lock all the time is safe from others, but has to look
// whether one of them is at work: `Changing` in whatever changes.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <unordered_map>

namespace treeglot::bindings {

// How many calls read an object, or -1: one changes it. The global lock guards it.
inline std::unordered_map<const void*, int>& uses() {
  static std::unordered_map<const void*, int> all;
  return all;
}

template <bool kChanging>
class InUse {
 public:
  template <class... Objects>
  explicit InUse(const Objects&... objects) {
    static_assert(sizeof...(Objects) <= 3);
    for (const void* object : {static_cast<const void*>(&objects)...}) {
      // The first part of an object stands where the object does.
      if (std::find(objects_.begin(), objects_.begin() + size_, object) != objects_.begin() + size_) continue;
      check(object);
      objects_[size_++] = object;
    }
    uses().reserve(uses().size() + size_);
    for (std::size_t i = 0; i < size_; ++i) {
      if (int& count = uses()[objects_[i]]; kChanging) {
        count = -1;
      } else {
        ++count;
      }
    }
  }
  InUse(const InUse&) = delete;
  ~InUse() {
    for (std::size_t i = 0; i < size_; ++i) {
      const auto entry = uses().find(objects_[i]);
      if (kChanging || --entry->second == 0) uses().erase(entry);
    }
  }

 private:
  static void check(const void* object) {
    const auto entry = uses().find(object);
    if (entry != uses().end() && (kChanging || entry->second < 0)) {
      throw std::runtime_error("another call works on this object: wait until it is done");
    }
  }

  std::array<const void*, 3> objects_{};
  std::size_t size_ = 0;
};

using Reading = InUse<false>;
using Changing = InUse<true>;

}  // namespace treeglot::bindings
