// Rules of the dependency-based grammars (spec: tree-to-string, sections 1 to 4):
//   dep2str       the HDRs whose parts have consistent target spans, in up to eight lexicalised and generalised forms
//   augmented     the same rules with the fixed and floating structures that cover only variables of a form as labels
//   consdep2str   the same rules, and those in which phrasal nodes take the places of the members they cover
// All of them also have sub-fragments, if asked for (section 2): runs, which are neighbouring members with the head,
// and attachments, a member beside a run.
//
// Bounds for trees that are no linguistic trees: a rule has at most kMaxSymbols source symbols, and the phrasal
// fragments of one HDR stop (sets of one node before sets of two) when kMaxSets sets have been looked at or the
// fragments have kMaxFragmentSymbols symbols together; runs have at most kMaxRunMembers members, and HDRs with more
// than kMaxDecomposed members no attachments. So a flat HDR of hundreds of members costs a bounded time.
#pragma once

#include <unordered_map>
#include <vector>

#include "grammars/extractor.hh"
#include "grammars/hdr/decompose.hh"
#include "trees/head_dependents.hh"

namespace treeglot {

// Which target spans make an HDR acceptable (spec: tree-to-string, sections 1 and 2).
enum class SpanMode : std::uint8_t { kGhkm, kXie };
// What becomes of unaligned target words beside the parts with the spans of Xie et al.: nothing, or lexicalised heads
// and leaves take any number of those next to them.
enum class XieUnaligned : std::uint8_t { kDrop, kExtend };

struct HdrOptions {
  bool structures = false;       // rules carry fixed and floating structures as labels
  bool phrasal = false;          // phrasal nodes take the places of members
  bool label_unaligned = false;  // ... also over members without links, not over variables alone
  SpanMode span_mode = SpanMode::kGhkm;
  bool xie_linked_leaves = false;  // xie: no HDR with a leaf that has links but no consistent span
  XieUnaligned xie_unaligned = XieUnaligned::kDrop;
  bool closed = false;        // xie: no HDR with a target word between its parts that is linked outside of the subtree
  int max_variants = 16;      // placements of unaligned target words; beyond them only the shortest target is kept
  int max_phrasal_nodes = 2;  // in one fragment
  int max_structure_words = 7;  // of a fixed or floating structure
  Decompose decompose;          // with the spans of ghkm only
  bool relations = false;       // generalised members are tag/relation
};

class HdrExtractor final : public RuleExtractor {
 public:
  static constexpr std::size_t kMaxSymbols = 255;  // StructureLabel counts in bytes
  static constexpr std::size_t kMaxSets = 4096;
  static constexpr std::size_t kMaxFragmentSymbols = 16384;
  static constexpr std::size_t kMaxDecomposed = 64;

  // Throws std::invalid_argument for options that do not fit.
  HdrExtractor(const HdrOptions& options, const ParsedCorpus& corpus, CategoryInterner& interner);
  void extract(const ParsedPair& pair, const RuleSink& sink) override;
  ExtractStatistics statistics() const override {
    ExtractStatistics counters{{"cut", cut_hdrs_}};
    if (options_.phrasal) {
      counters["phrasal_nodes"] = phrasal_nodes_;  // constituents that are phrasal nodes
      counters["crossing"] = crossing_;            // ... and those that are neither subtrees nor representable
    }
    return counters;
  }

 private:
  // Target words [low, high]; empty if high < low.
  struct Span {
    int low = 1, high = 0;
    bool empty() const { return high < low; }
    void join(const Span& other);
  };
  // What becomes one source symbol: a member of the HDR or a phrasal node.
  struct Unit {
    Symbol lexical, general;  // the same for a phrasal node
    Span span;
    std::uint16_t place;     // of the word of a head or leaf
    std::uint8_t type;       // a bit: 1 head or inner run, 2 internal, 4 leaf; 0 phrasal node
    std::uint16_t position;  // where its target words begin in the rule being made
  };
  // A stretch of lexicalised units, order_[first, last), and the (left, right) numbers of unaligned words around it
  // that give different strings: choices_[begin, end).
  struct Block {
    std::uint32_t first, last, begin, end, chosen;
  };
  struct Choice {
    std::uint16_t left, right;
  };
  // The target words of a block with some unaligned ones (XieUnaligned::kExtend), and where those of its units begin.
  struct Extended {
    std::vector<WordId> words;
    std::vector<std::uint16_t> positions;
  };
  struct SequenceHash {
    using is_transparent = void;
    std::size_t operator()(std::span<const std::uint32_t> key) const;
  };
  struct SequenceEqual {
    using is_transparent = void;
    bool operator()(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) const;
  };

  void annotate(const ParsedPair& pair);
  bool consistent(int begin, int end, const Span& span) const;
  Span member_span(const HdrMember& member) const;
  bool acceptable(const HdrMember& member) const;
  void extract_hdr(int n, const RuleSink& sink);
  void extract_xie(int n, const RuleSink& sink);
  void extract_phrasal(int n, const RuleSink& sink);
  void choose_phrasal(std::span<const HdrMember> members, std::size_t next, int left, const RuleSink& sink);
  void extract_runs(std::span<const HdrMember> members, std::size_t head, const RuleSink& sink);
  void extract_attachments(std::span<const HdrMember> members, std::size_t head, const RuleSink& sink);
  void fragment(std::span<const HdrMember> members, const RuleSink& sink);
  bool sort_units();
  void add_unit(const HdrMember& member);
  void find_labels(std::span<const HdrMember> members);
  void induce(const RuleSink& sink);
  void make_form(unsigned generalised, const RuleSink& sink);
  bool make_choices(const Block& block);
  bool extend_block(const Block& block);
  bool is_open(std::span<const HdrMember> members) const;
  void emit(bool shortest, const RuleSink& sink);
  int unaligned_before(int target) const;
  int unaligned_after(int target) const;
  std::uint32_t category(const HdrMember& member);
  std::uint32_t joint_category(const PhrasalNode& node, std::span<const HdrMember> members);

  const HdrOptions options_;
  const ParsedCorpus& corpus_;
  CategoryInterner& interner_;
  std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, SequenceHash, SequenceEqual> joint_;
  std::vector<std::uint32_t> joint_key_;
  std::unordered_map<std::uint64_t, std::uint32_t> related_;  // categories of tags with relations

  ParsedPair pair_;
  HdrView view_;
  std::vector<std::uint32_t> source_links_, target_links_;  // how many links the words before have
  std::vector<Span> words_, subtrees_;                      // nsp and tsp (xie: hsp and dsp)

  std::vector<std::uint16_t> bad_;  // how many of the members before have no acceptable span
  std::vector<PhrasalNode> candidates_;
  std::vector<Span> candidate_spans_;
  std::vector<std::uint32_t> chosen_;
  std::size_t sets_ = 0, fragment_symbols_ = 0;

  std::vector<Span> run_spans_;  // of the runs of an HDR
  bool run_ = false;             // the fragment at hand is a run
  double share_ = 1;             // of the count that an attachment's rules have

  std::vector<Unit> units_;
  std::vector<std::uint16_t> order_;  // units with a target span, from left to right
  std::vector<Block> blocks_;
  std::vector<Choice> choices_;
  std::vector<Extended> extended_;      // in place of choices_
  std::vector<StructureLabel> labels_;  // consistent structures of the HDR
  std::vector<std::uint16_t> fixed_symbols_;
  ExtractedRule rule_;
  bool cut_ = false;  // the HDR at hand
  std::uint64_t cut_hdrs_ = 0, phrasal_nodes_ = 0, crossing_ = 0;
};

}  // namespace treeglot
