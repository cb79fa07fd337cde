// Phrase pairs that are given rather than found: spans under linked nodes of aligned trees, for instance (spec: phrases
// and subtrees, section 5). They are counted like those that the word alignment gives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammars/phrase_pairs.hh"

namespace treeglot {

class SpanPairs {
 public:
  // `only_new`: spans that the word alignment gives too do not count again.
  explicit SpanPairs(bool only_new = false) : only_new_(only_new) {}
  bool only_new() const { return only_new_; }

  // Adds the spans of the next sentence pair: "0-2:1-3 2-3:0-1", half-open spans of the source and the target. Returns
  // what is wrong, or nothing.
  std::string add(std::string_view line, std::size_t source_length, std::size_t target_length);

  void add(std::span<const PhraseSpan> spans) {
    spans_.insert(spans_.end(), spans.begin(), spans.end());
    starts_.push_back(spans_.size());
  }

  std::size_t size() const { return starts_.size() - 1; }
  std::size_t bytes() const { return spans_.size() * sizeof(PhraseSpan) + starts_.size() * sizeof(std::uint64_t); }
  std::span<const PhraseSpan> operator[](std::size_t n) const {
    return {spans_.data() + starts_[n], spans_.data() + starts_[n + 1]};
  }

 private:
  bool only_new_;
  std::vector<PhraseSpan> spans_;
  std::vector<std::uint64_t> starts_{0};
};

}  // namespace treeglot
