// Word links across the Python border: an array of (source, target) numbers, and where those of each sentence pair
// start.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/words.hh"

namespace treeglot::bindings {

namespace nb = nanobind;

using LinkArray = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using StartArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A vector that becomes a numpy array without a copy.
template <class T, class... Shape>
nb::object as_array(std::vector<T> values, Shape... shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {static_cast<std::size_t>(shape)...}, owner));
}

inline std::vector<WordLink> links_of(const LinkArray& array) {
  std::vector<WordLink> links;
  links.reserve(array.shape(0));
  for (std::size_t k = 0; k < array.shape(0); ++k) {
    const std::int32_t source = array.data()[2 * k], target = array.data()[2 * k + 1];
    if (source < 0 || target < 0 || source > 65535 || target > 65535) {
      throw std::invalid_argument("a link that no sentence can have");
    }
    links.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)});
  }
  return links;
}

inline std::vector<std::uint64_t> starts_of(const StartArray& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// Grows pair by pair, then becomes two arrays.
class LinkColumns {
 public:
  void add(std::uint32_t source, std::uint32_t target) {
    numbers_.push_back(static_cast<std::int32_t>(source));
    numbers_.push_back(static_cast<std::int32_t>(target));
  }
  void end_pair() { starts_.push_back(static_cast<std::int64_t>(numbers_.size() / 2)); }
  nb::tuple arrays() {
    const std::size_t links = numbers_.size() / 2, starts = starts_.size();
    return nb::make_tuple(as_array(std::move(numbers_), links, 2), as_array(std::move(starts_), starts));
  }

 private:
  std::vector<std::int32_t> numbers_;
  std::vector<std::int64_t> starts_{0};
};

}  // namespace treeglot::bindings
