// XXH64, the checksum of what is in files: fast (four lanes of eight bytes), and the same as that of any other program
// that computes it, so that a file can be checked without this one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace treeglot {

// Of bytes that come in parts; the parts do not change the result.
class Checksum {
 public:
  explicit Checksum(std::uint64_t seed = 0);
  void add(const void* data, std::size_t size);
  std::uint64_t value() const;

 private:
  static constexpr std::size_t kStripe = 32;
  std::array<std::uint64_t, 4> lanes_;
  std::uint64_t seed_, total_ = 0;
  std::array<unsigned char, kStripe> rest_{};  // the last bytes, fewer than a stripe
};

inline std::uint64_t checksum_of(const void* data, std::size_t size, std::uint64_t seed = 0) {
  Checksum checksum(seed);
  checksum.add(data, size);
  return checksum.value();
}

}  // namespace treeglot
