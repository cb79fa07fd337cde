// Writing and reading compact byte streams: variable-length integers and plain values.
#pragma once

#include <cstdint>
#include <cstring>
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
  void align(std::size_t unit) { bytes.resize((bytes.size() + unit - 1) / unit * unit); }

  std::vector<char> bytes;
};

class ByteReader {
 public:
  explicit ByteReader(const char* data) : data_(data) {}
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      auto byte = static_cast<unsigned char>(*data_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  template <class T>
  T plain() {
    T value;
    std::memcpy(&value, data_, sizeof value);
    data_ += sizeof value;
    return value;
  }
  const char* position() const { return data_; }
  void skip(std::size_t bytes) { data_ += bytes; }

 private:
  const char* data_;
};

}  // namespace treeglot
