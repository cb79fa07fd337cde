// Rules of multi-word units from an aligned pair (paper "mwu-forest"; spec: mwu-forest, section 2). A unit whose words
// have a consistent target span gives a lexical rule, an edge whose head and tails have consistent spans a structural
// one; they count as much as unit or edge are probable.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "forest/target_spans.hh"
#include "grammars/extractor.hh"
#include "grammars/mwu/forest.hh"
#include "grammars/mwu/source_side.hh"

namespace treeglot::mwu {

struct ExtractOptions {
  ForestOptions forest;
  bool paper_consistency = false;  // words outside may be linked into a span, but not also outside of it
  bool word_labels = false;        // variables are labelled by words rather than tags
  bool unaligned_source = false;   // tails without links are words of the rule, without a trace on the target side
  bool unaligned_target = false;   // rules reach over unaligned target words
  bool consistent_first = false;   // groups that no rule can have are left out before the k best edges are taken
};

// The target positions that some source words are linked to, as a span.
struct LinkedSpan {
  std::int32_t first = 0x7FFFFFFF, last = -1;
  std::uint32_t links = 0;
  bool empty() const { return links == 0; }
  void add(const LinkedSpan& other) {
    first = other.first < first ? other.first : first;
    last = other.last > last ? other.last : last;
    links += other.links;
  }
};

class UnitExtractor : public RuleExtractor {
 public:
  static constexpr std::size_t kMaxVariants = 16;  // with unaligned words

  UnitExtractor(const ExtractOptions& options, const ParsedCorpus& source, CategoryInterner& interner);

  // A pair without a dependency tree, links or target words has no rules.
  void extract(const ParsedPair& pair, const RuleSink& sink) override;
  // "recovered", "root": the root's span is not the whole target, "word": a word is in no rule, or "combination": no
  // derivation fits. Decided exactly, by the spans of the target that each unit can produce.
  std::string_view recovery(const ParsedPair& pair) override;
  // cut_units: words for which the cap left units out; cut_groupings: units with too many groupings, without delta.
  ExtractStatistics statistics() const override {
    return {{"cut_units", forest_.unit_cuts()}, {"cut_groupings", forest_.grouping_cuts()}};
  }

 private:
  void find_spans();
  LinkedSpan whole_span(std::size_t tree, std::span<const Place> sigma) const;
  bool consistent(const LinkedSpan& span) const;
  void prepare(const ParsedPair& pair);
  void extract_lexical(VertexId vertex);
  void extract_structural(EdgeId edge);
  void emit(std::span<const Place> words, const LinkedSpan& outer, double count);
  bool overlap();
  void write_target(std::int32_t first, std::int32_t last);
  std::uint32_t label(Place word);

  const ExtractOptions options_;
  const ParsedCorpus& source_;
  CategoryInterner& interner_;
  Forest forest_;
  const ParsedPair* pair_ = nullptr;
  const RuleSink* sink_ = nullptr;
  std::vector<LinkedSpan> own_;                 // by source word: its links
  std::vector<std::vector<LinkedSpan>> below_;  // by tree, source word: the links of its subtree
  std::vector<std::uint32_t> links_before_;     // by target position
  std::vector<std::uint32_t> link_starts_;      // by source word, in the pair's links
  std::vector<std::int32_t> lowest_, highest_;  // by target position: what the words linked to it are linked to
  // By vertex: the span of what it covers, and whether it is consistent.
  struct Whole {
    LinkedSpan span;
    bool consistent;
  };
  std::vector<Whole> wholes_;
  SourceSide side_;
  std::vector<Place> sigma_;
  std::vector<LinkedSpan> variables_;
  std::vector<std::uint16_t> target_place_;  // by target position, in the rule
  std::vector<std::uint16_t> variable_at_;   // by target position: the variable that begins there
  std::set<std::vector<TargetSymbol>> variants_;
  struct Variant {
    std::int32_t first, last;
  };
  std::vector<Variant> distinct_;
  ExtractedRule rule_;

  // While recovery is decided.
  using Templates = std::map<std::vector<Symbol>, std::set<std::vector<TargetSymbol>>>;  // by source side
  void find_spans_of(VertexId vertex, const Templates& rules);
  void try_tails(EdgeId edge, const Templates& rules, forest::TargetSpans& result);
  std::vector<forest::TargetSpans> spans_;  // by vertex
};

}  // namespace treeglot::mwu
