// Matching of head-dependents rules (spec: tree-to-string, sections 2 to 4).
//
// At every word with dependents the table is walked member by member. A member may be read as several symbols: its
// word, its tag, the begin of a phrasal node. Prefixes that the table does not have end a walk at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "forest/matcher.hh"
#include "grammars/hdr/decompose.hh"
#include "table/rule_table.hh"

namespace treeglot::forest {

struct HdrMatchOptions {
  bool structures = false;         // rules are built on the fly over fixed and floating structures
  bool phrasal = false;            // rules have phrasal nodes
  int max_phrasal_nodes = 2;       // in one rule
  int label_sets = 16;             // sets of fixed and floating structures for one rule
  bool phrasal_recursion = false;  // rules also for phrasal nodes
  bool pseudo_always = false;      // pseudo rules also where rules match
  bool drop_words = false;         // words that had no link in training may be translated by nothing
  bool relations = false;          // generalised members are tag/relation
  Decompose decompose;             // every run of members around a head is a node
};

class HdrMatcher : public Matcher {
 public:
  HdrMatcher(const RuleTable& table, const GrammarBlock& block, const HdrMatchOptions& options);

  void match(SentenceForest& forest) override;

 private:
  // Some neighbouring members of an HDR, and the node that their rules go to.
  struct Part {
    NodeId node;
    std::span<const HdrMember> members;
    std::span<const PhrasalNode> phrasal;  // inside the part; places relative to the HDR
    std::size_t offset;                    // of the part in the HDR
    bool whole;
    RuleClass use = RuleClass::kComplete;  // how its members are taken
    bool decomposed = false;               // the runs of the HDR are nodes
  };

  bool match_part(SentenceForest& forest, const Part& part);
  void walk(SentenceForest& forest, const Part& part, std::size_t place, int phrasal, WalkKey key);
  bool decompose(SentenceForest& forest, int head_word, NodeId node, std::span<const HdrMember> members);
  void attach(SentenceForest& forest, NodeId node, const HdrMember& member, const HdrMember& head, NodeId inner);
  void drop_words(SentenceForest& forest);
  void begin_rules();
  void keep_best(SentenceForest& forest, NodeId node, std::size_t before);
  const GrammarBlock& block_of(RuleClass use) const { return blocks_[static_cast<std::size_t>(use)]; }
  std::uint16_t origin() const { return static_cast<std::uint16_t>(block_.number); }
  void take(SentenceForest& forest, const Part& part, WalkKey key);
  float least_score(const TableLimits& limits);
  void build_on_the_fly(SentenceForest& forest, const Part& part, const CachedOptions& rules, std::uint64_t place);
  bool covers_head(const StructureLabel& label) const;
  std::uint32_t joint_category(SentenceForest& forest, const PhrasalNode& node);
  std::uint32_t known_category();
  void relate(const SentenceForest& forest);

  const RuleTable& table_;
  const GrammarBlock block_;
  const HdrMatchOptions options_;
  std::array<GrammarBlock, kRuleClasses> blocks_;  // with the features of each class
  int drop_feature_ = 0;

  TableIds ids_;
  std::vector<Symbol> symbols_;
  struct Tail {
    NodeId node;
    std::uint8_t symbol;  // place in the source side
  };
  std::vector<Tail> tails_;
  std::vector<std::uint16_t> begins_, ends_;  // of each symbol, in words
  std::unordered_set<WalkKey> seen_;
  std::unordered_set<NodeId> asked_;  // groups that a rule of this table has as a tail
  int steps_ = 0;
  std::vector<float> scores_;                             // of the table's rules for the part at hand
  std::unordered_map<std::string, std::uint32_t> joint_;  // joint categories in the table, and tags with relations
  std::string text_;
};

}  // namespace treeglot::forest
