// From an aligned corpus to scored phrase pairs: extract, count and score in sorted passes that stay within a memory
// limit (spec: phrases and subtrees, section 2). The results equal those of Moses' extract, score and
// lexical-reordering-score.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "extract/bitext.hh"
#include "extract/phrases.hh"

namespace treeglot {

// Word translation probabilities by relative frequency of links; words without a link are linked to nothing (kNull).
class LexicalTable {
 public:
  static constexpr WordId kNull = 0xFFFFFFFF;

  void count(const SentencePair& pair);

  double target_given_source(WordId target, WordId source) const;  // w(e|f)
  double source_given_target(WordId source, WordId target) const;  // w(f|e)

  // How often a target word occurred (kNull aside: in links).
  std::uint64_t target_total(WordId target) const;

  // All word pairs that occurred, sorted by source and target: (source, target, count).
  struct Item {
    WordId source, target;
    std::uint64_t count;
  };
  std::vector<Item> items() const;

 private:
  static std::uint64_t key(WordId source, WordId target) { return (std::uint64_t{source} << 32) | target; }
  std::unordered_map<std::uint64_t, std::uint64_t> pairs_;
  std::unordered_map<WordId, std::uint64_t> sources_, targets_;
};

// A distinct phrase pair with its statistics. The spans are valid during the callback.
struct PhrasePair {
  std::span<const WordId> source, target;
  std::span<const WordLink> links;  // inside the phrase; those of its most frequent alignment
  std::uint64_t count, source_count, target_count;
  double lexical_target, lexical_source;       // lex(e|f), lex(f|e)
  std::array<std::uint32_t, 3> before, after;  // how often monotone, swap, discontinuous
};

struct PhraseOptions {
  int max_length = 7;
  std::size_t memory = std::size_t{1} << 30;
  std::string folder = "/tmp";
  int threads = 0;  // 0: all cores
};

struct PhraseStatistics {
  std::uint64_t occurrences = 0, pairs = 0, sources = 0;
};

// Calls `take` with every distinct pair, in the byte order of the lines "source ||| target ...".
PhraseStatistics score_phrases(const AlignedBitext& corpus, const LexicalTable& lexicon, const PhraseOptions& options,
                               const std::function<void(const PhrasePair&)>& take);

}  // namespace treeglot
