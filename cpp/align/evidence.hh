// What is known before learning: word pairs of a dictionary, counts of a model that was learnt from other text, links
// of some sentence pairs that were made by hand. All of it is counted as if it had been seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "align/hmm.hh"
#include "trees/aligned_bitext.hh"

namespace treeglot::align {

class Corpus;
class Model;

struct Evidence {
  struct Pair {
    WordId source, target;
    float target_given_source, source_given_target;  // how often the pair counts as seen, in the two directions
  };
  std::vector<Pair> pairs;
  // How often words came from nothing, and with how many words they were linked (kFertilities for each); words beyond
  // the end of these: never.
  std::vector<float> target_from_nothing, source_from_nothing, source_fertility, target_fertility;
  // Jump weights that count for so many jumps.
  std::optional<JumpTable> forward, reverse;
  double jumps = 0;

  bool empty() const { return pairs.empty() && !forward; }

  // Links made by hand, of some sentence pairs of the text: in their order, each set sorted.
  std::vector<std::size_t> known;  // numbers of sentence pairs
  std::vector<std::uint64_t> known_starts{0};
  std::vector<WordLink> known_links;
  struct Links {
    const WordLink *first, *last;
    const WordLink* begin() const { return first; }
    const WordLink* end() const { return last; }
  };
  // The links of a pair of the text, if they are known (there may be none).
  std::optional<Links> links(std::size_t pair) const;
  // Throws std::invalid_argument for a link outside of the pair, a pair that is not there, or not after the last one.
  void add_links(const Corpus& corpus, std::size_t pair, std::vector<WordLink> links);

  // What a model expects to have seen, times the weight. Its words become words of the corpus. `priors`: those it was
  // learnt with, of translations and of fertilities.
  struct ModelPriors {
    float translations, fertilities;
  };
  void add_model(Corpus& corpus, const Model& model, const ModelPriors& priors, float weight);
  // Equal pairs become one, sorted by source and target word.
  void join();
};

}  // namespace treeglot::align
