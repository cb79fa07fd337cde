// GHKM rules from source constituency trees to target strings (Galley et al. 2004, 2006; Liu et al. 2006; spec:
// tree-to-string, section 5).
//
// Nodes are constituents and pre-terminals (the words with their tags). The span of a node is the closure of the target
// words linked to its words; a node is a *frontier* node when that span is not empty and holds no word linked to a
// source word outside the node (spec: notation, "consistent").
//
// A fragment has a frontier node as root. Every other node in it is either expanded, with all of its children, or a
// frontier node that is a *site*, a variable constrained by its label. Pre-terminals are expanded to their words or are
// sites; words without links therefore stay inside. A fragment whose frontier nodes but the root are all sites is a
// minimal rule, the others are composed of minimal rules.
//
// Height counts edges from the root down to the lowest leaf: (NN x) has height 1, (NP (NN x)) 2, (IP x1:NP x2:VP) 1.
// Leaves are words and sites. Both limits hold for minimal rules too.
//
// Unaligned target words. A run of unaligned words goes as a whole to one node. *Highest*: the lowest frontier node
// whose span has the run inside; the root of the tree for runs at the ends of the sentence. *Lowest*: the lowest
// frontier node whose span touches the run. So in a rule
//   - a run inside the root's span that touches a site is shown (highest) or left to the site (lowest);
//   - a run inside that touches no site is shown;
//   - a run that touches the root's span from outside is shown (lowest) or not (highest) if a word of the fragment, not
//     a site, is at that end, and is not shown otherwise.
// The span of the tree's root is the whole target sentence here. The m distinct target sides of a fragment count 1/m
// each; if there are more than `max_variants` ways to show runs or not, only the one that shows no such run is kept,
// with count 1.
#pragma once

#include <cstdint>
#include <vector>

#include "grammars/extractor.hh"
#include "grammars/rule.hh"
#include "trees/constituency_nodes.hh"

namespace treeglot {

struct GhkmOptions {
  int max_height = 3;
  int max_leaves = 7;
  int max_variants = 16;
  // Fragments with one root: those of the fewest minimal rules first, the rest is dropped. 0: no limit.
  int max_fragments = 1000;
  bool composed = true;  // false: minimal rules only

  // Throws std::invalid_argument that says what is wrong.
  void check() const;
};

class GhkmExtractor : public RuleExtractor {
 public:
  explicit GhkmExtractor(const GhkmOptions& options);

  // Rules by root: the constituents in preorder, then the words. A sentence without a constituency tree has none,
  // unless it is one word, whose pre-terminal then is the tree.
  void extract(const ParsedPair& pair, const RuleSink& sink) override;

  // How many nodes had more fragments than `max_fragments`.
  std::uint64_t cut() const { return cut_; }
  ExtractStatistics statistics() const override { return {{"cut", cut_}}; }

 private:
  struct TreeNode {
    Symbol open, site;
    std::uint32_t word = 0;  // of a pre-terminal
    std::uint32_t source_begin = 0, source_end = 0;
    std::uint32_t begin = 0, end = 0;  // target span; begin == end: no link
    bool frontier = false;
    // Of the smallest fragment part that begins by expanding this node: ...
    int least_leaves = 0, least_height = 0;
  };
  struct Leaf {  // of the fragment that is being built
    std::uint32_t node;
    std::uint16_t place;  // in the source side
    bool site;
  };
  // A piece of the target side, words [begin, end): a site, a linked word, or a run of unaligned words.
  struct Piece {
    enum Kind : std::uint8_t { kSite, kWord, kShownRun, kOptionalRun } kind;
    std::uint8_t number;  // of the variable or the optional run
    std::uint32_t begin, end;
  };
  struct Pending {
    std::uint32_t node;
    std::int32_t depth;  // -1: close a bracket
  };

  int leaves_needed(const TreeNode& node) const { return node.frontier ? 1 : node.least_leaves; }
  int height_needed(const TreeNode& node) const { return node.frontier ? 0 : node.least_height; }

  void build_tree();
  void find_spans();
  void bound_fragments();
  void extract_at(std::uint32_t root);
  bool enumerate(std::uint32_t root, int most, bool exactly);
  bool step();
  bool step_expanded(const Pending& item);
  bool finish_fragment();
  void find_pieces();
  void write_variants();
  void write_target(std::uint32_t shown);

  GhkmOptions options_;
  const ParsedPair* pair_ = nullptr;
  const RuleSink* sink_ = nullptr;
  ConstituencyNodes tree_;
  std::vector<TreeNode> nodes_;              // parallel to tree_
  std::vector<std::uint32_t> links_before_;  // links of target words before each place
  std::vector<std::uint32_t> first_link_;    // of each source word
  std::vector<std::uint32_t> bounds_;        // at most so many fragments, by node and height

  // The fragment that is being built: its symbols are in rule_.source.
  std::uint32_t root_ = 0;
  std::vector<Pending> pending_;              // still to do, the next one last
  int pending_leaves_ = 0;                    // the least number of leaves that pending_ needs
  int expansions_ = 0, most_expansions_ = 0;  // of frontier nodes below the root
  bool exactly_ = false;
  std::size_t fragments_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<std::uint32_t> sites_;  // numbers of variables in target order
  std::vector<std::uint32_t> site_nodes_;
  std::vector<Piece> pieces_;
  std::uint32_t optional_runs_ = 0;
  std::vector<std::uint16_t> target_place_;
  std::vector<std::vector<TargetSymbol>> targets_;
  std::vector<std::uint32_t> shown_;
  ExtractedRule rule_;
  std::uint64_t cut_ = 0;
};

}  // namespace treeglot
