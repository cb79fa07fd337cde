// Rules between trees or sequences of trees on both sides: STSG and STSSG (Zhang et al. 2007, 2008; spec: tree-to-tree,
// section 2).
//
// For an outer unit pair and a set of inner ones, the rule is both covers cut off at the inner covers, which become the
// variables. All sets within the limits are taken, and for each outer pair the minimal rule, which has the largest
// single trees inside as variables and need not keep to the limits.
//
// Work is bounded: outer spans of more than `span_limit` words have their minimal rule and wordless rules of two
// variables only, so that the rules of a sentence are linear in its words but for a square of the spans.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grammars/extractor.hh"
#include "grammars/tree2tree/units.hh"

namespace treeglot {

// Which unit pairs rules are made of: those of the word links; DirC: these and, counted beside them, those that node
// links license; EWoS: both at once.
enum class LinkUse : std::uint8_t { kBase, kDirc, kEwos };

struct TreeToTreeOptions {
  UnitOptions units;
  int max_variables = 3;
  int max_symbols = 6;  // words and variables of a source side
  int max_words = 7;    // a side
  int max_height = 6;   // either side
  int span_limit = 10;  // source words under a rule with words
  LinkUse links = LinkUse::kBase;
};

class TreeToTreeExtractor : public RuleExtractor {
 public:
  static constexpr std::size_t kMinimalSymbols = 40;  // words and variables of a side of a minimal rule

  static constexpr int kWordlessVariables = 2;  // of a rule without words that is not minimal

  // `target_categories` are the labels of the target trees; they get numbers of `interner`.
  TreeToTreeExtractor(const TreeToTreeOptions& options, const SymbolTable& target_categories,
                      CategoryInterner& interner);

  // A pair has rules if both sides have constituency trees; a side of one word is a tree.
  void extract(const ParsedPair& pair, const RuleSink& sink) override;

  // cut_rules: rules of outer pairs of at most `span_limit` words that other limits left out (source sides that are
  // beyond them count once); cut_minimal: minimal rules of more than kMinimalSymbols symbols.
  // neighbours: rules that two minimal ones make, one in a variable of the other; cut_neighbours: those that limits
  // left out, and beyond_LIMIT: how many of these are beyond it.
  ExtractStatistics statistics() const override;

 private:
  struct Variable {
    WordSpan source, target;
  };
  // A side of a rule that is looked at: words and height.
  struct Shape {
    std::uint32_t words = 0, height = 0;
  };

  // What a rule is beyond, as bits.
  enum Limit : unsigned { kVariables = 1, kSymbols = 2, kWords = 4, kHeight = 8, kSpan = 16 };
  static constexpr std::size_t kLimits = 5;
  // The minimal rule of a unit pair: a part of minimal_variables_.
  struct MinimalRule {
    WordSpan source, target;
    std::size_t first, size;
  };

  void extract_units(UnitKind kind);
  void keep_minimal();
  void count_neighbours();
  void extract_at(const Unit& unit, WordSpan target);
  void choose_sources(std::size_t first);
  void choose_targets(std::size_t next);
  void take_set();
  bool find_minimal();
  bool has_words() const;
  bool is_rule() const;
  unsigned beyond();
  bool within_limits() { return beyond() == 0; }
  Shape shape(const TreeCovers& covers, WordSpan outer, std::span<const WordSpan> inner);
  void emit(double count);
  void write_source();
  void write_target();
  std::uint32_t target_label(std::uint32_t node);

  TreeToTreeOptions options_;
  const SymbolTable& target_categories_;
  CategoryInterner& interner_;
  std::vector<std::uint32_t> category_ids_;  // of the target's labels, as far as they were asked for
  const ParsedPair* pair_ = nullptr;
  const RuleSink* sink_ = nullptr;
  UnitFinder finder_;
  std::vector<Unit> units_;
  struct SinglePair {
    WordSpan source, target;
  };
  std::vector<SinglePair> singles_;  // unit pairs of single trees, in the order of minimal rules

  // The outer pair that is being looked at.
  WordSpan outer_source_, outer_target_;
  double weight_ = 1;
  std::vector<const Unit*> inside_;  // units in the outer source, by begin
  std::vector<const Unit*> chosen_;  // of the set of inner source spans
  std::vector<Variable> variables_;  // of the rule, by source
  std::vector<std::vector<Variable>> choices_;
  std::vector<WordSpan> spans_;
  std::vector<std::uint32_t> cover_, stack_;
  std::vector<std::int32_t> variable_of_;  // by node, while a side is written
  std::vector<std::uint16_t> source_place_, target_place_;
  ExtractedRule rule_;
  std::vector<MinimalRule> minimal_;  // by source, then target
  std::vector<Variable> minimal_variables_;
  std::uint64_t cut_rules_ = 0, cut_minimal_ = 0, neighbours_ = 0, cut_neighbours_ = 0;
  std::array<std::uint64_t, kLimits> beyond_{};
};

}  // namespace treeglot
