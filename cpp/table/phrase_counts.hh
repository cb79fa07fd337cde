// From an aligned corpus to counted phrase pairs: extract and count in sorted passes that stay within a memory limit
// (spec: phrases and subtrees, section 2). The counts equal those of Moses' extract, score and
// lexical-reordering-score; every score of a phrase pair follows from them (phrase_table.hh).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.hh"
#include "grammars/phrase_pairs.hh"
#include "grammars/span_pairs.hh"
#include "trees/aligned_bitext.hh"

namespace treeglot {

// A distinct phrase pair with its statistics. The spans are valid during the callback.
struct PhrasePair {
  std::span<const WordId> source, target;
  // Inside the phrase: its most frequent alignment. Among equally frequent ones the two directions may differ, as in
  // Moses: lex(e|f) comes from the first, lex(f|e) from the second.
  std::span<const WordLink> links, inverse_links;
  // Counts are in units of which AlignedBitext::one() are 1.
  std::uint64_t count, source_count, target_count;
  std::array<std::uint32_t, 3> before, after;  // how often monotone, swap, discontinuous
};

struct PhraseOptions {
  int max_length = 7;
  std::size_t memory = std::size_t{1} << 30;  // for counting and sorting; the corpus is not part of it
  std::string folder = "/tmp";                // for what does not fit
  int threads = 0;                            // 0: all cores
  Progress* progress = nullptr;
  bool consistent = true;            // take the pairs that the word alignment gives
  std::span<const SpanPairs> spans;  // and these, each with a count of its own
};

struct PhraseStatistics {
  std::uint64_t occurrences = 0, pairs = 0, sources = 0;
  std::uint64_t runs = 0;  // sorted runs that went to disk
};

// Calls `take` with every distinct pair, in the byte order of the lines "source ||| target ...". The result depends
// neither on the memory nor on the number of threads.
PhraseStatistics count_phrases(const AlignedBitext& corpus, const PhraseOptions& options,
                               const std::function<void(const PhrasePair&)>& take);

}  // namespace treeglot
