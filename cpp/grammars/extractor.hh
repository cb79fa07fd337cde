// The interface of every tree-to-string grammar's extraction: one parsed, aligned pair in, its rules out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammars/rule.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// Categories of rules: those of a corpus with their ids, and after them new ones such as the joint category
// "VP[VV_NN]". Threads share one; which id a new category gets depends on them, its text does not. The corpus must be
// complete and stay alive.
class CategoryInterner {
 public:
  explicit CategoryInterner(const SymbolTable& categories);

  std::uint32_t id(std::string_view text);
  // The joint category of a phrasal node: its label and the tags of its members, LABEL[TAG_TAG].
  std::uint32_t joint(std::uint32_t label, std::span<const WordId> tags);
  // Valid as long as the interner.
  const std::string& text(std::uint32_t id) const;
  std::size_t size() const;

 private:
  const SymbolTable& categories_;
  const std::size_t known_;
  mutable std::shared_mutex mutex_;
  std::deque<std::string> added_;  // a deque: strings stay where they are
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

// Which target spans make an HDR acceptable (spec: tree-to-string, sections 1 and 2).
enum class SpanMode : std::uint8_t { kGhkm, kXie };

struct ExtractOptions {
  int max_variants = 16;  // placements of unaligned target words; beyond them only the shortest target is kept

  // dep2str, augmented, consdep2str
  SpanMode span_mode = SpanMode::kGhkm;
  int max_phrasal_nodes = 2;    // in one fragment
  int max_structure_words = 7;  // of a fixed or floating structure

  // cons2str (GhkmOptions says more)
  int max_height = 3;
  int max_leaves = 7;
  int max_fragments = 1000;
  bool composed = true;

  // hierarchical (HierarchicalOptions says more)
  int max_initial_phrase = 10;
  int max_source_symbols = 5;
  int max_gaps = 2;
  int min_gap = 2;
  bool fractional = true;
  bool tight = false;
  int max_rules = 20000;
};

// What an extractor has left out so far.
struct ExtractStatistics {
  std::uint64_t phrasal_nodes = 0;  // constituents that are phrasal nodes (consdep2str)
  std::uint64_t crossing = 0;       // ... and those that are neither subtrees nor representable
  std::uint64_t cut = 0;            // relations, nodes or phrases with more rules than the bounds allow
};

class RuleExtractor {
 public:
  virtual ~RuleExtractor() = default;
  // Gives every rule of the pair to `sink`, in an order that depends on the pair alone; equal rules of different
  // fragments come one by one. Keeps buffers, so each thread has an extractor of its own.
  virtual void extract(const ParsedPair& pair, const RuleSink& sink) = 0;
  virtual ExtractStatistics statistics() const { return {}; }
};

// The names that make_extractor knows.
std::span<const std::string_view> extractor_names();

// Which trees of the source a grammar needs.
struct NeededTrees {
  bool dependency, constituency;
};
NeededTrees needed_trees(std::string_view grammar);

// The extractor of a grammar: "dep2str", "augmented", "consdep2str", "cons2str" or "hierarchical". Throws
// std::invalid_argument for other names and for options that do not fit. `corpus` (whose ids the pairs have) and
// `interner` must outlive it.
std::unique_ptr<RuleExtractor> make_extractor(std::string_view grammar, const ExtractOptions& options,
                                              const ParsedCorpus& corpus, CategoryInterner& interner);

}  // namespace treeglot
