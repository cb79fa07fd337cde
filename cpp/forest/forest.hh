// The translation forest (spec: search and tuning): nodes are parts of the analysed source, edges say how a node may be
// translated from others. Grammars only add edges; the search (cube_pruning.hh) sees nothing but this.
//
// An edge is a bundle: all rules with one source side, applied at one place. They share their tails and differ in their
// target sides, which are `RuleOption`s, best first. Options come from caches that outlive the forest.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/small_vector.hh"
#include "grammars/rule.hh"
#include "lm/model.hh"
#include "search/translation.hh"

namespace treeglot::forest {

// What a feature index means is the decoder's business; two are known here because the search computes them.
inline constexpr int kLanguageModelFeature = 0;  // ln p of the translation, </s> included
inline constexpr int kWordFeature = 1;           // number of target words

using search::FeatureValue;

// The target side of a rule with everything about it that does not depend on where it is applied. What the search needs
// most comes first and lies in one line of the cache.
struct alignas(64) RuleOption {
  float estimate = 0;  // score + the language model's view of the target's words alone: the order of a bundle
  float score = 0;     // weighted sum of `features` and of the number of words
  SmallVector<lm::WordId, 6> lm_words;    // the target in the language model (variables as in `target`)
  SmallVector<TargetSymbol, 6> target;    // words are numbers of the decoder's target vocabulary; variables are tails
  SmallVector<FeatureValue, 6> features;  // without language model and words
  std::vector<TargetSymbol> tree;  // the target with its nodes, in its table's numbers; empty without target trees
  std::uint32_t words : 24 = 0;    // number of target words
  std::uint32_t unlinked : 8 = 0;  // of a rule: source words without a link
  std::uint32_t rule = 0;          // its place in the answer of its table: for ties and explanations
  double log10 = 0;                // the language model's view of the target's words alone
};
using OptionList = std::vector<const RuleOption*>;  // by estimate, best first

enum class NodeKind : std::uint8_t {
  kWord,         // a single word (the head of an HDR, or a leaf)
  kSubtree,      // a dependency subtree; a leaf's is its kWord node
  kGroup,        // neighbouring members of an HDR: phrasal node, fixed or floating structure
  kConstituent,  // a phrase of the constituency tree
  kSpan,         // words [begin, end), whatever they are
  kGlue,         // words [0, end) joined by glue
  kTyped,        // words [begin, end) translated to a category of the target
  kGoal,         // the whole sentence
};

using NodeId = std::uint32_t;

struct Edge {
  const OptionList* options;
  std::uint32_t first_tail, tails;  // in Forest::tails
  std::uint16_t origin;             // which grammar (the decoder's business; for explanations)
  std::uint32_t source;             // which source side (the decoder's business; for explanations)
};

struct Node {
  NodeKind kind;
  std::uint16_t begin, end;  // words
  std::uint32_t detail;      // tells nodes of one kind and span apart (constituent number)
  std::vector<Edge> edges;
};

class Forest {
 public:
  void clear() {
    nodes_.clear();
    tails_.clear();
    goal_ = 0;
  }
  // Other options for an edge of a node; they may be empty, then the edge gives nothing.
  void set_options(NodeId node, std::size_t edge, const OptionList* options) {
    nodes_[node].edges[edge].options = options;
  }
  NodeId add_node(NodeKind kind, int begin, int end, std::uint32_t detail = 0) {
    nodes_.push_back({kind, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end), detail, {}});
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  // `options` must not be empty and must outlive the search. Tails may be any nodes as long as no node is below itself.
  void add_edge(NodeId head, const OptionList* options, std::span<const NodeId> tails, std::uint16_t origin = 0,
                std::uint32_t source = 0) {
    nodes_[head].edges.push_back(
        {options, static_cast<std::uint32_t>(tails_.size()), static_cast<std::uint32_t>(tails.size()), origin, source});
    tails_.insert(tails_.end(), tails.begin(), tails.end());
  }
  void set_goal(NodeId goal) { goal_ = goal; }

  NodeId goal() const { return goal_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::span<const NodeId> tails(const Edge& edge) const { return {tails_.data() + edge.first_tail, edge.tails}; }

 private:
  std::vector<Node> nodes_;
  std::vector<NodeId> tails_;
  NodeId goal_ = 0;
};

}  // namespace treeglot::forest
