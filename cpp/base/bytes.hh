// Writing and reading compact byte streams: variable-length integers and plain values.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace treeglot {

class ByteWriter {
 public:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes.push_back(static_cast<char>(value));
  }
  template <class T>
  void plain(const T& value) {
    const char* data = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof value);
  }
  void append(const ByteWriter& other) { bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end()); }
  void append(const char* data, std::size_t size) { bytes.insert(bytes.end(), data, data + size); }

  std::vector<char> bytes;
};

// Never reads beyond its end: a damaged file ends in an exception.
class ByteReader {
 public:
  ByteReader(const char* data, const char* end) : data_(data), end_(end) {}
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (data_ == end_) fail();
      auto byte = static_cast<unsigned char>(*data_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }
  template <class T>
  T plain() {
    T value;
    need(sizeof value);
    std::memcpy(&value, data_, sizeof value);
    data_ += sizeof value;
    return value;
  }
  // Up to eight bytes as a little-endian number.
  std::uint64_t bits(std::size_t bytes) {
    std::uint64_t value = 0;
    need(bytes);
    std::memcpy(&value, data_, bytes);
    data_ += bytes;
    return value;
  }
  void skip(std::size_t bytes) {
    need(bytes);
    data_ += bytes;
  }
  const char* position() const { return data_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - data_); }
  [[noreturn]] static void fail() { throw std::runtime_error("damaged: the contents make no sense"); }

 private:
  void need(std::size_t bytes) const {
    if (static_cast<std::size_t>(end_ - data_) < bytes) fail();
  }

  const char* data_;
  const char* end_;
};

}  // namespace treeglot
