#include "base/checksum.hh"

#include <algorithm>
#include <bit>
#include <cstring>

namespace treeglot {
namespace {

// The five primes of the algorithm's definition.
constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87ull, kPrime2 = 0xC2B2AE3D27D4EB4Full,
                        kPrime3 = 0x165667B19E3779F9ull, kPrime4 = 0x85EBCA77C2B2AE63ull,
                        kPrime5 = 0x27D4EB2F165667C5ull;

template <class Word>
inline Word word_at(const unsigned char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

inline std::uint64_t stirred(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

inline std::uint64_t merged(std::uint64_t value, std::uint64_t lane) {
  return (value ^ stirred(0, lane)) * kPrime1 + kPrime4;
}

}  // namespace

Checksum::Checksum(std::uint64_t seed)
    : lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1}, seed_(seed) {}

void Checksum::add(const void* data, std::size_t size) {
  if (size == 0) return;
  const auto* at = static_cast<const unsigned char*>(data);
  const unsigned char* end = at + size;
  const std::size_t waiting = total_ % kStripe;
  total_ += size;
  if (waiting > 0) {
    const std::size_t taken = std::min(size, kStripe - waiting);
    std::memcpy(rest_.data() + waiting, at, taken);
    if (waiting + taken < kStripe) return;
    at += taken;
    for (std::size_t i = 0; i < 4; ++i) {
      lanes_[i] = stirred(lanes_[i], word_at<std::uint64_t>(rest_.data() + 8 * i));
    }
  }
  std::uint64_t first = lanes_[0], second = lanes_[1], third = lanes_[2], fourth = lanes_[3];
  for (; static_cast<std::size_t>(end - at) >= kStripe; at += kStripe) {
    first = stirred(first, word_at<std::uint64_t>(at));
    second = stirred(second, word_at<std::uint64_t>(at + 8));
    third = stirred(third, word_at<std::uint64_t>(at + 16));
    fourth = stirred(fourth, word_at<std::uint64_t>(at + 24));
  }
  lanes_ = {first, second, third, fourth};
  if (at < end) std::memcpy(rest_.data(), at, static_cast<std::size_t>(end - at));
}

std::uint64_t Checksum::value() const {
  std::uint64_t value = seed_ + kPrime5;
  if (total_ >= kStripe) {
    value = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (std::uint64_t lane : lanes_) value = merged(value, lane);
  }
  value += total_;
  const unsigned char *at = rest_.data(), *end = at + total_ % kStripe;
  for (; end - at >= 8; at += 8) {
    value = std::rotl(value ^ stirred(0, word_at<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    value = std::rotl(value ^ word_at<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at) value = std::rotl(value ^ *at * kPrime5, 11) * kPrime1;
  value = (value ^ value >> 33) * kPrime2;
  value = (value ^ value >> 29) * kPrime3;
  return value ^ value >> 32;
}

}  // namespace treeglot
