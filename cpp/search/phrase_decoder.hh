// The phrase-based decoder (Koehn et al. 2003; spec: search and tuning, "Phrase-based decoder"): stacks of hypotheses
// by the number of covered words, recombination, future costs, lexicalised reordering, and cube pruning over stacks or
// the plain stack search. Of parsed sentences it looks at the words alone. Why it is no search in a forest: decoder.hh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lm/model.hh"
#include "search/decoder.hh"
#include "search/phrase_options.hh"

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

class PhraseDecoder : public Decoder {
 public:
  // The table and the model must outlive the decoder. `grammar` is the name of the table's grammar, for features and
  // steps; `weights`: those of phrase_features.
  PhraseDecoder(const PhraseSource& table, const std::string& grammar, const lm::Model& model,
                const std::vector<double>& weights, const DecoderLimits& limits);
  ~PhraseDecoder() override;

 protected:
  std::unique_ptr<Worker> make_worker() const override;
  void weights_changed() override;

 private:
  class PhraseWorker;

  const std::string grammar_;
  const lm::Model& model_;
  DecoderLimits limits_;
  OptionBuilder builder_;
};

}  // namespace treeglot::search
