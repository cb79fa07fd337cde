// Values of one type, one after the other: one's own, which may grow, or those of a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace treeglot {

template <class T>
class Column {
 public:
  Column() = default;
  Column(std::vector<T> values) : own_(std::move(values)) {}
  // Values that somebody else keeps.
  explicit Column(std::span<const T> view) : view_(view), is_view_(true) {}

  std::span<const T> all() const { return is_view_ ? view_ : std::span<const T>(own_); }
  std::size_t size() const { return is_view_ ? view_.size() : own_.size(); }
  const T& operator[](std::size_t n) const { return all()[n]; }
  std::span<const T> part(std::size_t begin, std::size_t end) const { return all().subspan(begin, end - begin); }
  // For changes: what belongs to somebody else is copied first.
  std::vector<T>& own() {
    if (is_view_) {
      own_.assign(view_.begin(), view_.end());
      is_view_ = false;
    }
    return own_;
  }
  std::size_t bytes() const { return own_.capacity() * sizeof(T); }

 private:
  std::vector<T> own_;
  std::span<const T> view_;
  bool is_view_ = false;
};

// Where the values of each item start; one more for the end.
using Starts = Column<std::uint64_t>;

template <class T>
std::span<const T> part_of(const Column<T>& values, const Starts& starts, std::size_t n) {
  return values.part(starts[n], starts[n + 1]);
}

}  // namespace treeglot
