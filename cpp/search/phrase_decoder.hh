// The phrase-based decoder (Koehn et al. 2003; spec: search and tuning, "Phrase-based decoder"): stacks of hypotheses
// by the number of covered words, recombination, future costs, lexicalised reordering, and cube pruning over stacks or
// the plain stack search.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lm/model.hh"
#include "search/phrase_options.hh"
#include "search/translation.hh"

namespace treeglot::search {

struct DecoderLimits {
  int distortion = 6;         // longest jump in source words; 0: monotone, -1: any
  int phrase_length = 20;     // source words
  int table_limit = 20;       // translations of one source phrase; 0: all
  bool cube_pruning = true;   // false: extend every hypothesis by every option
  int pop_limit = 500;        // cube pruning: hypotheses made for a stack; 0: all
  int stack_size = 200;       // hypotheses kept in a stack; 0: all
  double beam_threshold = 0;  // drop hypotheses whose probability is below this share of the best; 0: none
};

struct NBest {
  int size = 1;
  bool distinct = false;  // no two with the same words
};

class PhraseDecoder {
 public:
  // The table and the model must outlive the decoder.
  PhraseDecoder(const PhraseSource& table, const lm::Model& model, const Weights& weights, const DecoderLimits& limits);
  ~PhraseDecoder();

  // Translates lines of words separated by blanks. The result does not depend on `threads` (0: all cores). `progress`,
  // if given, is called now and then in the calling thread; it may throw to stop.
  std::vector<Translation> translate(const std::vector<std::string>& sentences, const NBest& nbest, int threads,
                                     const std::function<void(std::size_t)>& progress = {}) const;

 private:
  const lm::Model& model_;
  Weights weights_;
  DecoderLimits limits_;
  std::unique_ptr<OptionBuilder> builder_;
};

}  // namespace treeglot::search
