// Matching of head-dependents rules (spec: tree-to-string, sections 2 to 4): dep2str, augmented and consdep2str.
//
// At every word with dependents the table is walked member by member. A member may be read as several symbols (word or
// tag, deleted or not, the begin of a phrasal node); the choice of lexicalised or generalised is one for all members of
// a type. Prefixes that the table does not have end a walk at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "forest/matcher.hh"
#include "table/rule_table.hh"

namespace treeglot::forest {

enum class HdrGrammar : std::uint8_t { kDep2str, kAugmented, kConsdep2str };

class HdrMatcher : public Matcher {
 public:
  HdrMatcher(const RuleTable& table, HdrGrammar grammar, int block, std::uint32_t first_word)
      : table_(table), grammar_(grammar), block_(block), first_word_(first_word) {}

  void match(SentenceForest& forest) override;

 private:
  // Some neighbouring members of an HDR, and the node that their rules go to.
  struct Part {
    NodeId node;
    std::span<const HdrMember> members;
    std::span<const PhrasalNode> phrasal;  // inside the part; places relative to the HDR
    std::size_t offset;                    // of the part in the HDR
    bool whole;
  };

  bool match_part(SentenceForest& forest, const Part& part);
  void walk(SentenceForest& forest, const Part& part, std::size_t place, int phrasal, WalkKey key);
  void add_partial(SentenceForest& forest, NodeId node, std::span<const HdrMember> members);
  void take(SentenceForest& forest, const Part& part, WalkKey key);
  void build_on_the_fly(SentenceForest& forest, const Part& part, const CachedOptions& rules, std::uint64_t place);
  std::uint32_t joint_category(SentenceForest& forest, const PhrasalNode& node);

  const RuleTable& table_;
  const HdrGrammar grammar_;
  const int block_;
  const std::uint32_t first_word_;

  TableIds ids_;
  std::vector<Symbol> symbols_;
  struct Tail {
    NodeId node;
    std::uint8_t symbol;  // place in the source side
  };
  std::vector<Tail> tails_;
  std::vector<std::uint16_t> begins_, ends_;  // of each symbol, in words
  bool general_head_ = false, general_internal_ = false, general_leaf_ = false;
  std::unordered_set<WalkKey> seen_;
  int steps_ = 0;
  std::unordered_map<std::string, std::uint32_t> joint_;  // joint categories in the table
  std::string text_;
};

// The grammar "phrases" beside tree grammars: every HDR may also be translated from left to right, with bilingual
// phrases for any neighbouring members. It costs a pseudo rule.
class FreePhraseMatcher : public Matcher {
 public:
  void match(SentenceForest& forest) override;
};

}  // namespace treeglot::forest
