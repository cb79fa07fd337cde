// Learning with fertilities: links of all sentences are drawn again and again, each given all others (collapsed Gibbs
// sampling), in both directions at once. A direction is drawn towards the other one's links by a bonus. Several chains
// start from the links of the hidden Markov model; the chances of their later draws are averaged.
//
// Counts change between batches of sentences only, in the order of the text, and random numbers depend on the sentence,
// the sweep and the seed: the number of threads changes nothing.
//
// Of pairs whose links are known, each word is drawn among its known links, or has none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "align/trainer.hh"

namespace treeglot::align {

inline constexpr float kLeastChance = 0.01f;  // chances of links below are not kept

// The sentences that are learnt from, and for each of their cells (source by target, row by row) the place of the word
// pair in the row of its source word.
struct Cells {
  std::vector<std::size_t> used;
  std::vector<std::uint64_t> starts;  // of all sentences, and the end
  std::vector<std::uint32_t> index;
  std::vector<std::uint32_t> same;  // of each source word: the place of a target word written alike, or ~0
  struct Extra {
    std::uint64_t pair;  // its number among all word pairs
    float target_given_source, source_given_target;
  };
  std::vector<Extra> extras;  // what evidence adds to the counts of word pairs, by number
};

// Replaces chances and jumps of the hidden Markov model by those of the sampler, and adds what it has found.
void sample_links(const Corpus& corpus, const Cells& cells, const Evidence& evidence, const TrainOptions& options,
                  Learnt& learnt, const std::function<void(int)>& report);

// The same for all pairs of the same words.
class PairKey {
 public:
  void source(std::string_view word);
  void target(std::string_view word);
  std::uint64_t value() const;

 private:
  std::uint64_t source_ = 1, target_ = 2;
};

}  // namespace treeglot::align
