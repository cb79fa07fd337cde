// A vector whose first N elements lie inside it: most sides of rules are short, and a decoder makes millions of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace treeglot {

template <class T, std::uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && N > 0);

 public:
  using value_type = T;

  SmallVector() {}  // its elements are nothing yet
  SmallVector(std::initializer_list<T> elements) { append(elements.begin(), elements.size()); }
  explicit SmallVector(std::span<const T> elements) { append(elements.data(), elements.size()); }
  SmallVector(const SmallVector& other) { append(other.data(), other.size_); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      if (!is_inside()) delete[] heap_;
      take(other);
    }
    return *this;
  }
  ~SmallVector() {
    if (!is_inside()) delete[] heap_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return is_inside() ? inside_ : heap_; }
  const T* data() const { return is_inside() ? inside_ : heap_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  void push_back(T element) {  // by value: it may be one of ours
    if (size_ == capacity_) grow(std::size_t{size_} + 1);
    data()[size_++] = element;
  }
  // New elements are zero.
  void resize(std::size_t size) {
    reserve(size);
    if (size > size_) std::fill(data() + size_, data() + size, T{});
    size_ = static_cast<std::uint32_t>(size);
  }
  // Of elements that are not ours.
  void assign(const T* first, const T* last) {
    clear();
    append(first, static_cast<std::size_t>(last - first));
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_inside() const { return capacity_ == N; }
  void append(const T* elements, std::size_t count) {
    reserve(size_ + count);
    std::copy_n(elements, count, data() + size_);
    size_ += static_cast<std::uint32_t>(count);
  }
  void grow(std::size_t wanted) {
    const std::size_t capacity = std::max(wanted, std::size_t{capacity_} * 2);
    T* fresh = new T[capacity];
    std::copy_n(data(), size_, fresh);
    if (!is_inside()) delete[] heap_;
    heap_ = fresh;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  // What `other` has; our own is gone already.
  void take(SmallVector& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (other.is_inside()) {
      std::copy_n(other.inside_, size_, inside_);
    } else {
      heap_ = other.heap_;
      other.capacity_ = N;
    }
    other.size_ = 0;
  }

  std::uint32_t size_ = 0, capacity_ = N;
  union {
    T inside_[N];
    T* heap_;
  };
};

}  // namespace treeglot
