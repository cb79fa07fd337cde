// The lexical tree aligner of Tinsley et al. 2007 (spec: phrases and subtrees, section 4): every pair of nodes is
// scored by the word translation probabilities inside and outside of both, and well-formed links are chosen greedily.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "subtrees/tree_shape.hh"

namespace treeglot::subtrees {

// P(target|source) and P(source|target) of word pairs. Words are numbers; those outside of the tables are negative.
class WordTable {
 public:
  void set(std::int32_t source, std::int32_t target, double target_given_source, double source_given_target);
  // Row by row for the words of a sentence pair; what is not in the table, or below the floor, gets the floor.
  void fill(std::span<const std::int32_t> source, std::span<const std::int32_t> target, double floor,
            std::vector<double>& target_given_source, std::vector<double>& source_given_target) const;
  std::size_t size() const { return pairs_.size(); }

 private:
  struct Chances {
    double target_given_source, source_given_target;
  };
  std::unordered_map<std::uint64_t, Chances> pairs_;
};

struct AlignerOptions {
  int score = 1;       // 1 or 2
  int skip = 2;        // 0, 1 or 2
  bool span1 = true;   // nodes over a single word come last
  bool words = true;   // words are nodes
  bool chains = true;  // nodes over the same words are one hypothesis, linked from the top
  double floor = 1e-5;
  bool empty_is_one = false;  // what a sum over no words gives: 1, or the floor like any unseen pair
  double least = 0;           // no link of two nodes that explain each other less than this
};

struct NodeLink {
  std::int32_t source, target;  // numbers of nodes in their shapes
  double log_score;
};

// Logarithms of all scores, a row for each source node; -infinity for a product of zero. If both nodes have no words
// outside of them, the outside gives 1; if only one has, the words outside of the other have nothing to come from.
std::vector<double> score_nodes(const TreeShape& source, const TreeShape& target,
                                std::span<const double> target_given_source,
                                std::span<const double> source_given_target, const AlignerOptions& options);

// How well the words under two nodes explain each other, from 0 to 1, a row for each source node: the mean, over the
// words of both, of the probability that the word comes from one under the other node (at most 1).
std::vector<double> explained(const TreeShape& source, const TreeShape& target,
                              std::span<const double> target_given_source, std::span<const double> source_given_target);

// The links in the order in which they are chosen, with their scores. `scores` as from score_nodes, `confidence` as
// from explained, or empty.
std::vector<NodeLink> choose_links(const TreeShape& source, const TreeShape& target, std::span<const double> scores,
                                   std::span<const double> confidence, const AlignerOptions& options);

// A tree with its words: their numbers, how many children each phrase has, and the children as TreeShape wants them.
struct WordTree {
  std::span<const std::int32_t> words, counts, children;

  TreeShape shape() const { return {static_cast<int>(words.size()), counts, children}; }
};

struct TreePair {
  WordTree source, target;
};

// A link by TreeShape::reference, and how well the two nodes explain each other.
struct TreeLink {
  std::int32_t source, target;
  double confidence;
};

// The links of many pairs, in several threads (0: all cores).
std::vector<std::vector<TreeLink>> align_trees(const WordTable& table, std::span<const TreePair> pairs,
                                               const AlignerOptions& options, int threads);

}  // namespace treeglot::subtrees
