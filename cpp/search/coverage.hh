// Which source words a hypothesis has translated. Equal coverages of a sentence are one object with one id; a coverage
// is kept as its first gap and the bits behind it, so that long sentences cost no more than the reordering window.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/hash.hh"

namespace treeglot::search {

struct Coverage {
  std::uint32_t first_gap = 0;        // all words before it are covered, it is not (unless it is the sentence's end)
  std::uint32_t covered = 0;          // number of words
  std::uint32_t bits = 0, words = 0;  // bit i of the words: first_gap + i is covered
  double future = 0;                  // estimate for the uncovered words
};

class CoverageTable {
 public:
  // Empties the table and adds the empty coverage as number 0.
  void reset() {
    coverages_.clear();
    bits_.clear();
    bits_.reserve(64);  // hashing wants a valid address
    ids_.clear();
    Coverage empty;
    coverages_.push_back(empty);
    ids_.emplace(hash(empty), 0);
  }

  const Coverage& operator[](std::uint32_t id) const { return coverages_[id]; }

  bool covers(std::uint32_t id, std::uint32_t word) const {
    const Coverage& c = coverages_[id];
    if (word < c.first_gap) return true;
    std::uint32_t i = word - c.first_gap;
    return i / 64 < c.words && (bits_[c.bits + i / 64] >> (i % 64) & 1);
  }

  // The coverage with begin...end-1 added, none of which it covers. `future` is called with a new coverage's id.
  template <class Future>
  std::uint32_t add(std::uint32_t id, std::uint32_t begin, std::uint32_t end, Future&& future) {
    Coverage c = coverages_[id];
    std::uint32_t last = end - c.first_gap;  // bits needed
    scratch_.assign(bits_.begin() + c.bits, bits_.begin() + c.bits + c.words);
    if (scratch_.size() * 64 < last) scratch_.resize((last + 63) / 64, 0);
    for (std::uint32_t i = begin - c.first_gap; i < last; ++i) scratch_[i / 64] |= std::uint64_t{1} << (i % 64);
    c.covered += end - begin;
    std::size_t skip = 0;
    while (skip < scratch_.size() && scratch_[skip] == ~std::uint64_t{0}) ++skip;
    int ones = skip < scratch_.size() ? std::countr_one(scratch_[skip]) : 0;
    c.first_gap += static_cast<std::uint32_t>(skip) * 64 + ones;
    scratch_.erase(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(skip));
    if (ones) {
      for (std::size_t i = 0; i < scratch_.size(); ++i) {
        scratch_[i] >>= ones;
        if (i + 1 < scratch_.size()) scratch_[i] |= scratch_[i + 1] << (64 - ones);
      }
    }
    while (!scratch_.empty() && scratch_.back() == 0) scratch_.pop_back();
    c.bits = static_cast<std::uint32_t>(bits_.size());
    c.words = static_cast<std::uint32_t>(scratch_.size());
    bits_.insert(bits_.end(), scratch_.begin(), scratch_.end());
    std::uint64_t key = hash(c);
    auto [first, stop] = ids_.equal_range(key);
    for (; first != stop; ++first) {
      if (same(coverages_[first->second], c)) {
        bits_.resize(c.bits);
        return first->second;
      }
    }
    std::uint32_t fresh = static_cast<std::uint32_t>(coverages_.size());
    coverages_.push_back(c);
    ids_.emplace(key, fresh);
    coverages_[fresh].future = future(fresh);
    return fresh;
  }

 private:
  std::uint64_t hash(const Coverage& c) const {
    return hash_bytes(reinterpret_cast<const char*>(bits_.data() + c.bits), c.words * 8, c.first_gap);
  }
  bool same(const Coverage& a, const Coverage& b) const {
    if (a.first_gap != b.first_gap || a.words != b.words) return false;
    for (std::uint32_t i = 0; i < a.words; ++i) {
      if (bits_[a.bits + i] != bits_[b.bits + i]) return false;
    }
    return true;
  }

  std::vector<Coverage> coverages_;
  std::vector<std::uint64_t> bits_, scratch_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> ids_;
};

}  // namespace treeglot::search
