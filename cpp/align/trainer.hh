// Learning to align words without examples: IBM model 1, then a hidden Markov model, in both directions at once, by
// variational Bayes (a sparse Dirichlet prior on translations keeps rare words from explaining everything). The two
// directions share what they agree on (Liang, Taskar and Klein 2006): expected counts are products of both posteriors.
// From the links of this model, a sampler goes on with fertilities (see gibbs.hh).
//
// Results depend neither on the number of threads nor on the processor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "align/evidence.hh"
#include "align/hmm.hh"
#include "trees/aligned_bitext.hh"

namespace treeglot::align {

struct TrainOptions {
  int model1_iterations = 1;
  int hmm_iterations = 2;
  double prior = 0.1;     // of the Dirichlet distribution over the translations of a word
  double null_prior = 1;  // the same for words that come from nothing
  double null = 0.1;      // the chance that a word comes from nothing
  double agreement = 0;   // exponent of the other direction's posterior in the expected counts; 0: none
  double same = 1;        // what is added to the prior of words that are written alike
  double smoothing = 1;   // jumps that were seen before the first
  int max_length = 200;   // longer sentences take no part in learning
  int threads = 0;        // 0: all cores
  // Of the sampler.
  double sweeps = 20;            // through 5,000 sentence pairs; fewer with the root of their number; 0: no sampling
  int chains = 3;                // independent ones, whose chances are averaged
  double sampling_prior = 1e-4;  // of the Dirichlet distribution over the translations of a word, and of nothing
  double sampling_null = 0.2;    // the chance that a word comes from nothing
  double fertility_prior = 4;    // how many words' fertilities the mean of all words counts for
  double bonus = 3;              // how much likelier a link is that the other direction has too
  double tree = 1;               // exponent of the weights of paths in trees; 0: trees are not used
  double memory = 4000;          // megabytes that learning may take; pairs beyond take no part in it
  std::uint64_t seed = 1;
};

// Translation probabilities of the word pairs that occur together, by source word.
struct WordPairs {
  struct Chance {
    float target_given_source, source_given_target;
  };
  std::vector<std::uint64_t> starts{0};  // of the rows: one for each source word
  std::vector<WordId> targets;
  std::vector<Chance> chances;
  // Of each word from nothing, and of a partner that a word never met; the last entries are for unknown words.
  std::vector<float> target_given_null, source_given_null, source_unseen, target_unseen;
  float same_ratio = 1;  // how much more likely an unseen partner is that is written alike
};

// A link with its chances in the two directions, in 1/32767; the lowest bit says that it is the link of its word there.
struct LinkChance {
  std::uint16_t source, target, forward, reverse;
  static constexpr float kOne = 32767;
  static std::uint16_t pack(float chance, bool chosen) {
    return static_cast<std::uint16_t>(static_cast<unsigned>(chance * kOne + 0.5f) << 1 | (chosen ? 1u : 0u));
  }
  static float chance(std::uint16_t packed) { return static_cast<float>(packed >> 1) / kOne; }
  static bool chosen(std::uint16_t packed) { return (packed & 1) != 0; }
};

// What sampling adds to a model: weights of fertilities (kFertilities for each word, then those of unknown words), and
// the links of the pairs that were learnt from, by key (see pair_key).
struct Sampled {
  std::vector<float> source_fertility, target_fertility;
  std::vector<std::uint64_t> keys, starts{0};
  std::vector<LinkChance> links;
};

struct Learnt {
  WordPairs pairs;
  JumpTable forward, reverse;  // forward: states are source words, target words are observed
  float bonus = 0;             // of links that the other direction has; 0: nothing was sampled
  Sampled sampled;
};

class Corpus {
 public:
  SymbolTable source_words, target_words;
  std::vector<WordId> source, target;
  std::vector<std::uint64_t> source_starts{0}, target_starts{0};
  std::vector<std::int32_t> source_heads, target_heads;  // of each word in its sentence, -1: none; empty without trees
  void add(std::string_view source_line, std::string_view target_line);
  std::size_t size() const { return source_starts.size() - 1; }
  int source_length(std::size_t n) const { return static_cast<int>(source_starts[n + 1] - source_starts[n]); }
  int target_length(std::size_t n) const { return static_cast<int>(target_starts[n + 1] - target_starts[n]); }
};

// How often each direction goes through the text in each chain.
int sampling_sweeps(const TrainOptions& options, std::size_t pairs);

// `report(iteration, iterations, log likelihood of both directions)` is called after each iteration,
// sweeps of the sampler among them (without a likelihood).
// The evidence's pairs are joined.
Learnt learn(const Corpus& corpus, const TrainOptions& options, const std::function<void(int, int, double)>& report,
             const Evidence& evidence = {});

}  // namespace treeglot::align
