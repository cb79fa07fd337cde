// Sub-fragments of head-dependents relations (spec: tree-to-string, section 2): what there are and how they score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "grammars/rule.hh"

namespace treeglot {

// Which sub-fragments there are beside complete HDRs. A run is some neighbouring members of an HDR, the head among
// them; an attachment is a member beside a run.
struct Decompose {
  bool runs = false, attachments = false;
  bool any() const { return runs || attachments; }
};
// Runs of more members have no rules of their own, in extraction and in decoding.
inline constexpr std::size_t kMaxRunMembers = 8;

// Classes of uses of rules, each with features of its own. A partial use is that of the rule of a complete HDR for a
// run with just these members.
enum class RuleClass : std::uint8_t { kComplete, kRun, kPartial, kAttachment };
inline constexpr std::size_t kRuleClasses = 4;

// The class that the source side says: kComplete, kRun or kAttachment.
inline RuleClass rule_class(std::span<const Symbol> source) {
  for (Symbol symbol : source) {
    const SymbolKind kind = symbol_kind(symbol);
    if (kind == SymbolKind::kRunWord || kind == SymbolKind::kRunTag) return RuleClass::kAttachment;
  }
  return !source.empty() && symbol_kind(source.back()) == SymbolKind::kClose ? RuleClass::kRun : RuleClass::kComplete;
}

}  // namespace treeglot
