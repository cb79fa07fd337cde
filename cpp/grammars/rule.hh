// What every grammar extracts: a source side of symbols, a target side of words and variables, a count,
// the links between their words, and (some grammars) labels over members of the source side.
//
// Symbols are numbers: a kind and an id. The text of a rule (spec: tree-to-string, section 2) is made in one place,
// rule_text.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/words.hh"

namespace treeglot {

enum class SymbolKind : std::uint8_t {
  kWord = 0,          // 本         a lexicalised leaf, or any terminal
  kHeadWord = 1,      // ^推出      the lexicalised head
  kVariable = 2,      // x1:NR      a generalised leaf
  kHeadVariable = 3,  // ^x1:VV     the generalised head
  kInternalWord = 4,  // x1:本*     an internal dependent constrained by its word
  kInternalTag = 5,   // x1:NN*     ... by its tag
  kRunWord = 6,       // ^x1:推出+  a run of members around the head, constrained by the head's word
  kRunTag = 7,        // ^x1:VV+    ... by its tag
  kPhrasal = 8,       // x1:VP[VV_NN]    a phrasal node
  kHeadPhrasal = 9,   // ^x1:VP[VV_NN]   one that covers the head
  kOpen = 10,         // (NP        begin of a constituent or pre-terminal inside a tree fragment
  kClose = 11,        // )          its end; id 0. Behind members of an HDR: they are a run, + in front of the text
  kSite = 12,         // x1:NP      a constituent or pre-terminal at the frontier of a tree fragment
  kGap = 13,          // x1:X       a gap that anything may fill; id 0
  kPlace = 14,        // /3         a number, for what a grammar says about the symbol before; the id is the number
  kMore = 15,         // x1:JJ      a further node of a variable that has several; id a category
};

// A source symbol: 4 bits of kind, 28 of id. Ids of kWord, kHeadWord and kInternalWord are words, others categories
// (tags, labels and joint categories such as "VP[VV_NN]").
using Symbol = std::uint32_t;
inline constexpr Symbol symbol(SymbolKind kind, std::uint32_t id) {
  return (static_cast<std::uint32_t>(kind) << 28) | id;
}
inline constexpr SymbolKind symbol_kind(Symbol symbol) { return static_cast<SymbolKind>(symbol >> 28); }
inline constexpr std::uint32_t symbol_id(Symbol symbol) { return symbol & 0x0FFFFFFFu; }
inline constexpr bool has_word(Symbol symbol) {  // a terminal: its word has links and lexical weights
  return symbol_kind(symbol) == SymbolKind::kWord || symbol_kind(symbol) == SymbolKind::kHeadWord;
}
inline constexpr bool id_is_word(Symbol symbol) {
  return has_word(symbol) || symbol_kind(symbol) == SymbolKind::kInternalWord ||
         symbol_kind(symbol) == SymbolKind::kRunWord;
}
// Whether the id is that of a word or category; otherwise it is a number.
inline constexpr bool has_id(SymbolKind kind) {
  return kind != SymbolKind::kClose && kind != SymbolKind::kGap && kind != SymbolKind::kPlace;
}
inline constexpr bool is_variable(Symbol symbol) {
  switch (symbol_kind(symbol)) {
    case SymbolKind::kVariable:
    case SymbolKind::kHeadVariable:
    case SymbolKind::kInternalWord:
    case SymbolKind::kInternalTag:
    case SymbolKind::kRunWord:
    case SymbolKind::kRunTag:
    case SymbolKind::kPhrasal:
    case SymbolKind::kHeadPhrasal:
    case SymbolKind::kSite:
    case SymbolKind::kGap:
      return true;
    default:
      return false;
  }
}

// A target symbol: a word, or with the highest bit a variable. Variable k stands for the k-th variable of the source
// side (from 0; text counts from 1), in the order of the source. Grammars with target trees also have the nodes of the
// target side: (NP opens one, ) closes it, and a frontier node stands before its variable; the further nodes of a
// variable that has several stand behind it, wherever they hang. In x1:DT x1:JJ (NP x2:NN) that is
//   node(DT) x1 node(JJ) open(NP) node(NN) x2 close.
using TargetSymbol = std::uint32_t;
inline constexpr TargetSymbol kVariableBit = 0x80000000u;
inline constexpr TargetSymbol target_variable(std::uint32_t k) { return kVariableBit | k; }
inline constexpr bool is_target_variable(TargetSymbol symbol) { return (symbol & kVariableBit) != 0; }
inline constexpr TargetSymbol kStructureBit = 0x40000000u;  // without kVariableBit
enum class TargetNode : std::uint8_t { kOpen = 0, kClose = 1, kFrontier = 2 };
inline constexpr TargetSymbol target_node(TargetNode kind, std::uint32_t category = 0) {
  return kStructureBit | (static_cast<std::uint32_t>(kind) << 28) | category;
}
inline constexpr bool is_target_node(TargetSymbol symbol) {
  return (symbol & (kVariableBit | kStructureBit)) == kStructureBit;
}
inline constexpr TargetNode target_node_kind(TargetSymbol symbol) {
  return static_cast<TargetNode>((symbol >> 28) & 3u);
}
inline constexpr std::uint32_t target_category(TargetSymbol symbol) { return symbol & 0x0FFFFFFFu; }
inline constexpr bool is_target_word(TargetSymbol symbol) { return (symbol & (kVariableBit | kStructureBit)) == 0; }
inline constexpr std::uint32_t variable_number(TargetSymbol symbol) { return symbol & ~kVariableBit; }

// A group of neighbouring members of an HDR, [begin, end) in symbols of the source side: a fixed structure (covers the
// head) or a floating one.
struct StructureLabel {
  std::uint8_t begin, end;
  friend bool operator==(const StructureLabel&, const StructureLabel&) = default;
  friend auto operator<=>(const StructureLabel&, const StructureLabel&) = default;
};

// One rule of one sentence. The vectors belong to the extractor and are valid during the callback.
struct ExtractedRule {
  std::vector<Symbol> source;
  std::vector<TargetSymbol> target;
  std::vector<WordLink> links;         // places in source and target, both terminals
  std::vector<StructureLabel> labels;  // sorted; empty in most grammars
  double count = 1;                    // 1/m, or as much as its derivations are probable
};
using RuleSink = std::function<void(const ExtractedRule&)>;

}  // namespace treeglot
