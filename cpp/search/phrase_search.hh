// The search for the translations of one sentence after another; see phrase_decoder.hh, which runs it in many threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lm/model.hh"
#include "search/coverage.hh"
#include "search/hypothesis_stack.hh"
#include "search/phrase_decoder.hh"
#include "search/phrase_options.hh"
#include "search/translation.hh"

namespace treeglot::search {

// Everything that one thread needs, kept from sentence to sentence.
class PhraseSearch {
 public:
  // Good for the weights that the builder has now. All must outlive this.
  PhraseSearch(const std::string& grammar, const OptionBuilder& builder, PhraseOptionCache& cache,
               const lm::Model& model, const DecoderLimits& limits)
      : grammar_(grammar),
        model_(model),
        weights_(builder.weights()),
        limits_(limits),
        builder_(builder),
        cache_(cache),
        lm_weight_(weights_[kLanguageModel] * std::numbers::ln10),
        forward_(weights_[kReordering + 3] != 0 || weights_[kReordering + 4] != 0 || weights_[kReordering + 5] != 0),
        stack_(vertices_, forward_, limits.beam_threshold > 0 ? std::log(limits.beam_threshold) : kNever) {}

  Translation run(const std::vector<std::string_view>& words, const NBestRequest& request, bool with_steps);

 private:
  // A hypothesis as an extension with a given orientation sees it.
  struct Ranked {
    double score;  // with its reordering score towards the next phrase
    std::uint32_t hypothesis;
  };

  // All extensions of a vertex by one source span: a grid of ranked hypotheses and options.
  struct Edge {
    std::uint32_t first, count;  // ranked hypotheses
    const std::vector<const PhraseOption*>* options;
    double added;  // distortion + future cost afterwards
    std::uint32_t vertex;
    std::uint32_t begin, end;
    int orientation;
  };

  struct Cell {
    double estimate;
    std::uint32_t edge, row, column;
    bool operator<(const Cell& other) const { return estimate < other.estimate; }
  };

  void start(bool keep_others);
  void fill(int covered);
  void fill_by_cube(const std::vector<Edge>& edges);
  void fill_by_all(const std::vector<Edge>& edges);
  void extend(const Edge& edge, const Ranked& from, const PhraseOption& option);
  void settle();
  void rank(std::uint32_t first, std::uint32_t last);
  void make_edges(const std::vector<std::uint32_t>& vertices);
  std::uint32_t vertex(std::uint32_t coverage, std::uint32_t begin, std::uint32_t end);
  double future(std::uint32_t coverage) const;
  std::vector<Arrival> arrivals(std::uint32_t node) const;
  std::string text(const Path& path) const;
  Derivation derivation(const Path& path, double score, std::string text, bool with_steps) const;
  void add_features(const Path& path, std::size_t n, float lm, FeatureVector& out) const;
  std::vector<RuleUse> steps(const Path& path, const std::vector<float>& lm) const;

  const std::string& grammar_;
  const lm::Model& model_;
  const Weights& weights_;
  const DecoderLimits& limits_;
  const OptionBuilder& builder_;
  PhraseOptionCache& cache_;
  const double lm_weight_;
  const bool forward_;

  const std::vector<std::string_view>* words_ = nullptr;
  SentenceOptions options_;
  CoverageTable coverages_;
  std::vector<Vertex> vertices_;
  std::unordered_map<std::uint64_t, std::uint32_t> vertex_ids_;  // of the stacks that are not yet filled
  std::vector<Hypothesis> kept_;      // of finished stacks, by vertex and score; 0 is the start
  std::vector<OtherArrival> others_;  // only for k-best lists
  bool keep_others_ = false;
  std::vector<Ranked> ranked_;
  std::vector<std::vector<Edge>> edges_;  // by the stack that they lead to
  std::vector<Cell> queue_;

  HypothesisStack stack_;  // being filled
};

}  // namespace treeglot::search
