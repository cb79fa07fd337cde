// From a parsed, aligned corpus to counted and scored rules, for every tree-to-string grammar (spec: tree-to-string,
// section 8). Rules are extracted by several threads into blocks that stay within a memory limit; full blocks go to
// disk as sorted runs, and merging the runs twice gives first the totals of the target sides, then the rules.
//
// With several alignments of the text a rule counts what the alignment weighs under which it is found.
//
// Fractional counts are summed as whole numbers of 1/kCountUnit, so the sums do not depend on their order: the result
// is the same for any number of threads and any memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/progress.hh"
#include "grammars/extractor.hh"
#include "grammars/rule.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// A multiple of every number up to 16, so 1/m is exact up to the default limit of variants.
inline constexpr std::uint64_t kCountUnit = 720720ull * 1024;

// A count of 1/m, or any other, in units.
std::uint64_t count_units(double count);
inline double count_value(std::uint64_t units) { return static_cast<double>(units) / static_cast<double>(kCountUnit); }

// What P(t|s) and P(s|t) are made of.
enum class Discounting : std::uint8_t {
  kNone,        // relative frequencies
  kGoodTuring,  // c d(c) / total: what is taken away stays with rules that were not seen
  kKneserNey,   // (c - D(c)) / total + taken / total * share of the other side among distinct rules (modified KN)
};

struct RuleCountOptions {
  double min_count = 0;  // rules below it are left out; probabilities are those with them
  Discounting discounting = Discounting::kNone;
  std::size_t memory = std::size_t{1} << 30;  // for counting and sorting; the corpus is not part of it
  std::string folder = "/tmp";                // for what does not fit
  int threads = 0;                            // 0: all cores
  Progress* progress = nullptr;
  // Rules of different classes are rules of different kinds: P(s|t) is made within a class. Empty: all are of class 0.
  std::function<unsigned(std::span<const Symbol> source)> rule_class;
};

struct RuleStatistics {
  std::uint64_t sentences = 0, occurrences = 0;
  std::uint64_t rules = 0, sources = 0, targets = 0;  // distinct; rules below the minimum are not part of `rules`
  std::uint64_t dropped = 0;                          // rules below the minimum
  std::uint64_t runs = 0;                             // sorted runs that went to disk
  ExtractStatistics counters;                         // what the extractors counted beside rules
  std::array<double, 10> discounts{};  // Good-Turing: d(1) ... d(10); Kneser-Ney: D(1), D(2), D(3+); else zeros
};

// Numbers are those of the corpus and the interner; spans are valid during the callback.
struct CountedRule {
  std::span<const TargetSymbol> target;
  std::span<const StructureLabel> labels;           // united over the alignments, sorted
  std::uint64_t count, target_total;                // in units
  double target_given_source, source_given_target;  // P(t|s), P(s|t)
  float lexical_target, lexical_source;             // Plex(t|s), Plex(s|t): the highest over the alignments
  std::uint8_t unlinked;  // source words without a link, at most 255: the fewest over the alignments
};
struct CountedSource {
  std::span<const Symbol> source;
  std::span<const CountedRule> rules;  // highest P(t|s) first, then by text
  std::uint64_t total;                 // in units
};

// How often each symbol stands in the distinct sides: what a writer wants to know before the first rule.
struct SymbolUse {
  std::array<std::vector<std::uint64_t>, 16> source;  // by kind, id
  std::vector<std::uint64_t> target;                  // by word
  std::vector<std::uint64_t> variables;               // by number
  std::array<std::vector<std::uint64_t>, 3> nodes;    // of target trees: by kind, category
};

class RuleConsumer {
 public:
  virtual ~RuleConsumer() = default;
  virtual void begin(const SymbolUse& use) = 0;
  // Sources come by kind and text of their symbols, one after another, shorter ones first.
  virtual void take(const CountedSource& source) = 0;
};

// `make` gives each thread its extractor; `categories` is the interner they share.
RuleStatistics count_rules(const ParsedBitext& corpus, const CategoryInterner& categories,
                           const std::function<std::unique_ptr<RuleExtractor>()>& make, const RuleCountOptions& options,
                           RuleConsumer& consumer);

}  // namespace treeglot
