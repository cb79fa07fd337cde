// Rule tables as text: looking rules up by their notation, exporting them, and what a table looks like as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammars/registry.hh"
#include "table/rule_table.hh"

namespace treeglot {

// The sides of a table's rules as text, both ways, in the notation of its grammar.
class RuleTableText {
 public:
  explicit RuleTableText(const RuleTable& table);

  void source(std::span<const Symbol> side, std::string& out) const;
  void target(std::span<const TargetSymbol> side, std::string& out) const;
  // The source sides that a text may mean: more than one if a word of an internal dependent is also a tag. Throws
  // std::invalid_argument if it is not one.
  std::vector<std::vector<Symbol>> sources(std::string_view text) const;

 private:
  const RuleTable& table_;
  const Grammar& grammar_;
  TextOf word_, category_, target_;
};

// P(s|t), Plex(s|t), P(t|s), Plex(t|s): the order of Moses' files.
std::array<double, 4> moses_scores(const RuleEntry& entry);

// Where a source side is in the table.
RuleTable::Place find_source(const RuleTable& table, std::span<const Symbol> source);

// Writes "source ||| target ||| scores ||| counts" for every rule, with labels in a fifth column if there are any.
void export_text(const RuleTable& table, const std::function<void(std::string_view)>& write);

// What a table looks like as a whole. Lengths and numbers of rules are indices.
struct RuleTableShape {
  std::vector<std::uint64_t> source_lengths, target_lengths, variables;  // rules
  std::vector<std::uint64_t> ambiguity;  // sources by bit width of their number of rules
  std::uint64_t most = 0, seen_once = 0, lexical = 0, labelled = 0;
  std::string most_ambiguous;
};
RuleTableShape shape_of(const RuleTable& table);

}  // namespace treeglot
