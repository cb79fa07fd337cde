// The search for the best translations in a forest (spec: search and tuning, "Search"): bottom-up over the nodes that
// the goal needs, cube pruning (Chiang 2007) with language model state, stack limit and stack threshold, then lazy
// k-best derivations (Huang & Chiang 2005, algorithm 3) from what the search has kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "forest/forest.hh"
#include "lm/model.hh"

namespace treeglot::forest {

struct SearchLimits {
  int stack_limit = 300;          // states kept for a node; 0: all
  double stack_threshold = 1e-3;  // drop states whose probability is below this share of the node's best; 0: none
  int pop_limit = 0;              // hypotheses made for a node; 0: as many as the stack limit (all if that is 0)
};

using search::NBestRequest;

// One application of a rule in a derivation, in preorder.
struct DerivationStep {
  NodeId node;
  std::uint32_t edge;  // of the node
  const RuleOption* option;
  std::vector<std::uint32_t> below;  // steps that fill the tails, in the order of the edge's tails
};

struct ForestDerivation {
  double score = 0;
  std::vector<double> features;       // dense, as many as weights
  std::vector<TargetSymbol> words;    // of the decoder's target vocabulary
  std::vector<DerivationStep> steps;  // steps[0] is the goal's
};

// How much work a run was.
struct SearchCounts {
  std::size_t nodes = 0;       // that the goal needs
  std::size_t hypotheses = 0;  // that were scored
  std::size_t states = 0;      // that were kept
};

// Fills `words`, `log10`, `score`, `estimate` and the variables in `lm_words` of an option from its other fields. The
// language model looks at each run of words between variables on its own.
void prepare_option(const lm::Model& model, const std::vector<double>& weights, RuleOption& option);
// Only `score` and `estimate`, for other weights.
void weigh_option(const std::vector<double>& weights, RuleOption& option);

// Keeps its buffers from sentence to sentence; one for each thread.
class ForestSearch {
 public:
  // `weights`: by feature, at least those that are known here (std::invalid_argument otherwise);
  // weights[kLanguageModelFeature] is for natural logarithms. The model must outlive the search.
  ForestSearch(const lm::Model& model, const std::vector<double>& weights, const SearchLimits& limits);
  ~ForestSearch();

  // Derivations of the goal, best first; empty only if the goal cannot be reached. The forest must have no cycle below
  // the goal (std::invalid_argument otherwise), and each target must have each tail as a variable exactly once. With
  // `with_steps` false the derivations have no steps. A list of distinct ones may be shorter than it could be: only 50
  // derivations are looked at for each one wanted.
  std::vector<ForestDerivation> run(const Forest& forest, const NBestRequest& request, bool with_steps);
  // Of the last run.
  SearchCounts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace treeglot::forest
