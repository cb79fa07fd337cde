// The words of a derivation as a number, for lists of distinct derivations: a polynomial in a fixed base, so that parts
// can be put together in any order. Equal words have equal numbers, and others differ but for once in 2^64.
#pragma once

#include <cstdint>

#include "base/hash.hh"

namespace treeglot::hypergraph {

struct Yield {
  std::uint64_t value = 0, power = 1;  // power: the base to the number of words

  void append(const Yield& part) {
    value = value * part.power + part.value;
    power *= part.power;
  }
  static Yield of_word(std::uint32_t word) { return {mix(word + 0x9E3779B97F4A7C15ull), 0x9FB21C651E98DF25ull}; }
};

}  // namespace treeglot::hypergraph
