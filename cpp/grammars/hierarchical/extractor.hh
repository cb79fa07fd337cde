// Hierarchical phrase pairs (Chiang 2007; spec: tree-to-string, section 6): rules of words and at most two gaps from
// word-aligned sentence pairs. They need no tree.
//
// An *initial phrase* is a phrase pair (grammars/phrase_pairs.hh) of at most `max_span` words a side. A rule is an
// initial phrase in which smaller initial phrases (of at least `min_gap` source words) have become gaps. It has at most
// `max_gaps` gaps, never neighbours on the source side, at most `max_symbols` source symbols, and at least one pair of
// linked words that are not in a gap. Every initial phrase has a weight of 1 that its rules share.
//
// With the defaults this is what Moses' extract-rules does. `tight` is Chiang's: initial phrases neither begin nor end
// with an unaligned word, on either side.
#pragma once

#include <cstdint>
#include <vector>

#include "grammars/extractor.hh"
#include "grammars/phrase_pairs.hh"
#include "grammars/rule.hh"

namespace treeglot {

struct HierarchicalOptions {
  int max_span = 10;       // words of an initial phrase, on either side
  int max_gaps = 2;        // 0, 1 or 2
  int max_symbols = 5;     // words and gaps of a source side
  int min_gap = 2;         // source words of a gap
  bool fractional = true;  // the rules of an initial phrase share a count of 1; otherwise each counts 1
  bool tight = false;      // initial phrases begin and end with aligned words
  int max_rules = 20000;   // of one initial phrase; the rest (those with most gaps) is dropped. 0: no limit

  // Throws std::invalid_argument that says what is wrong.
  void check() const;
};

class HierarchicalExtractor : public RuleExtractor {
 public:
  explicit HierarchicalExtractor(const HierarchicalOptions& options);

  // Rules by initial phrase (source begin, source end, target), those with fewer gaps first.
  void extract(const ParsedPair& pair, const RuleSink& sink) override;

  // How many initial phrases had more rules than `max_rules`.
  std::uint64_t cut() const { return cut_; }
  ExtractStatistics statistics() const override { return {{"cut", cut_}}; }

 private:
  struct Gaps {  // numbers of initial phrases, in source order; -1: no gap
    std::int32_t first, second;
  };
  static constexpr std::int32_t kNoGap = -1;

  void prepare(const ParsedPair& pair);
  // The initial phrases over source words [begin, end) that may be gaps: numbers [first, last).
  struct Range {
    std::int32_t first, last;
  };
  Range gaps(int begin, int end) const;
  int aligned(int begin, int end) const { return aligned_before_[end] - aligned_before_[begin]; }
  void find_gaps(const PhraseSpan& phrase);
  bool full() const { return options_.max_rules > 0 && found_.size() >= static_cast<std::size_t>(options_.max_rules); }
  void write(const ParsedPair& pair, const PhraseSpan& phrase, const Gaps& gaps);

  HierarchicalOptions options_;
  PhraseExtractor phrases_;
  std::vector<PhraseSpan> spans_;             // initial phrases
  std::vector<std::int32_t> index_;           // first number for each source begin and length
  std::vector<std::int32_t> aligned_before_;  // aligned source words before each place
  std::vector<std::uint32_t> first_link_;     // of each source word
  std::vector<bool> target_aligned_;
  std::vector<Gaps> found_;
  std::vector<std::uint16_t> target_place_;
  ExtractedRule rule_;
  std::uint64_t cut_ = 0;
};

}  // namespace treeglot
