// The search for the translations of one sentence after another; see phrase_decoder.hh, which runs it in many threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  PhraseSearch(const OptionBuilder& builder, const lm::Model& model, const Weights& weights,
               const DecoderLimits& limits)
      : model_(model),
        weights_(weights),
        limits_(limits),
        builder_(builder),
        cache_(builder),
        lm_weight_(weights[kLanguageModel] * kLn10),
        forward_(weights[kReordering + 3] != 0 || weights[kReordering + 4] != 0 || weights[kReordering + 5] != 0),
        stack_(vertices_, forward_, limits.beam_threshold > 0 ? std::log(limits.beam_threshold) : kNever) {}

  Translation run(std::string_view sentence, const NBest& nbest);

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
  void add_derivation(const Path& path, double score, Translation& result);

  const lm::Model& model_;
  const Weights& weights_;
  const DecoderLimits& limits_;
  const OptionBuilder& builder_;
  OptionCache cache_;
  const double lm_weight_;
  const bool forward_;

  std::vector<std::string_view> words_;
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

  std::unordered_map<const PhraseOption*, std::vector<std::pair<std::uint32_t, std::uint32_t>>> used_;
};

}  // namespace treeglot::search
