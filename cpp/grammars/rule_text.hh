// Rules as text (spec: tree-to-string, section 2, "Text form") and back: what `treeglot rules` prints and tests
// compare.
//
//   英特尔 将 ^推出 x1:本*              an HDR rule: words, the head ^, internal dependents x1:…*
//   x1:NR 款 ^x2:VP[VV_NN]              variables, a word, a phrasal node that covers the head
//   + 将 ^推出                          a run: some neighbouring members, the head among them
//   将 ^x1:推出+                        a member beside a run
//   (NP (NN 本) x1:VP)                  a tree fragment
//   das x1:X haus                       words with a gap; das x1 haus is read as the same
//
// Words and categories that would be misread are escaped: \uXXXX stands for the first character of what begins with ^
// or x<digits>: (on the target side, and beside gaps, also of x<digits>), for the last one of what ends in * or +, for
// white space, for the first bar of |||, for the backslash of what looks like an escape, and inside tree fragments for
// brackets.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammars/rule.hh"

namespace treeglot {

// The text of a word or category with this number.
using TextOf = std::function<std::string_view(std::uint32_t)>;

// Append the text of a side to `out`.
void write_source(std::span<const Symbol> source, const TextOf& word, const TextOf& category, std::string& out);
void write_target(std::span<const TargetSymbol> target, const TextOf& word, std::string& out);

// How source sides look: members of a head-dependents relation, a tree fragment, or words with gaps.
enum class RuleFamily : std::uint8_t { kMembers, kTree, kGaps };

struct SourceText {
  SymbolKind kind;
  std::string text;  // unescaped; empty for kClose and kGap
  friend bool operator==(const SourceText&, const SourceText&) = default;
};
struct TargetText {
  int variable;      // from 0; -1: a word
  std::string text;  // unescaped
  friend bool operator==(const TargetText&, const TargetText&) = default;
};

// The inverse. `is_tag` decides what the text does not say: whether an internal dependent x1:…* is constrained by a tag
// or by a word. Throw std::invalid_argument that says what is wrong; variables must be numbered from 1 in source order,
// and the target must have each of them once.
std::vector<SourceText> parse_source(std::string_view text, RuleFamily family,
                                     const std::function<bool(std::string_view)>& is_tag);
std::vector<TargetText> parse_target(std::string_view text, std::size_t variables);

// How the sides of a grammar's rules are written and read.
using IsTag = std::function<bool(std::string_view)>;
struct SymbolText {
  std::function<void(std::span<const Symbol>, const TextOf& word, const TextOf& category, std::string& out)>
      write_source;
  std::function<std::vector<SourceText>(std::string_view, const IsTag&)> parse_source;
  std::function<void(std::span<const TargetSymbol>, const TextOf& word, const TextOf& category, std::string& out)>
      write_target;
};
// That of a family.
SymbolText symbol_text(RuleFamily family);

// What is escaped in a word or category beside white space, |||, escapes and variables x<digits>:.
struct Escapes {
  bool brackets = false;   // ( and ) anywhere
  bool variable = false;   // x<digits> alone
  bool bracketed = false;  // a last ] after a [, so that a tag is not taken for a joint category
  bool marks = true;       // a first ^ and a last * or +
};
// Appends a word or category with its escapes.
void write_escaped(std::string_view text, const Escapes& escapes, std::string& out);

// Undoes the escapes of one word or category.
std::string unescape(std::string_view text);

}  // namespace treeglot
