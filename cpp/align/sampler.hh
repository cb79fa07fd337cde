// Drawing the links of one sentence in one direction from a hidden Markov model with fertilities, word by word, each
// given all others (Gibbs sampling; the model is that of Östling and Tiedemann 2016).
//
// The weight of all links of a sentence is the product of
// - for each linked word: (1 - null) * lexical weight / total of its state, for others: null * null weight / null
// total;
// - for each step from a linked state to the next one, from the start and to the end: its jump weight / the sum of the
//   jump weights from there into the sentence;
// - for each step from one linked state to another: the weight of its path in the tree of the states, if there is one;
// - for each state: the weight of the number of words that it has;
// - for each link that the other direction has too: the bonus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "align/hmm.hh"
#include "trees/aligned_bitext.hh"

namespace treeglot::align {

inline constexpr int kFertilities = 8;   // 0 to 7 words have weights of their own,
inline constexpr float kBeyond = 0.01f;  // every further one multiplies the weight by this

// Jump weights laid out for sentences of up to so many states.
class JumpRows {
 public:
  void fill(const JumpTable& table, int states);
  int states() const { return states_; }
  const float* forward() const { return forward_.data() + states_ + 8; }    // forward()[d]: the weight of jump d
  const float* backward() const { return backward_.data() + states_ + 8; }  // backward()[d]: the weight of jump -d
  // The sum of the weights of jumps from `state` (0: the start) to states 1 to n.
  float sum(int state, int n) const {
    const double* prefix = prefix_.data() + states_ + 8;
    return static_cast<float>(prefix[n - state + 1] - prefix[1 - state]);
  }

 private:
  int states_ = 0;
  std::vector<float> forward_, backward_;
  std::vector<double> prefix_;  // before jump d
};

// Numbers that depend on nothing but their key and place.
std::uint64_t random_bits(std::uint64_t key, std::uint64_t place);

class SentenceSampler {
 public:
  // Room for a sentence. Then the caller fills what follows and calls `begin`.
  void resize(int states, int observed);
  float* lexical(int j) { return lexical_.data() + static_cast<std::size_t>(j) * stride_; }
  std::size_t stride() const { return stride_; }  // from one observed word's lexical weights to the next
  float* fertility(int i) { return fertility_.data() + static_cast<std::size_t>(i) * kFertilities; }
  std::vector<float> totals, null;  // of states; of observed words
  float null_total = 1;
  std::vector<std::uint16_t> links;  // of observed words: 0 for nothing, or 1 + the state
  // With a tree of the states: the weights of the paths from each state to each other one, rows of stride() each, and
  // of the paths back; else null.
  const float *paths = nullptr, *paths_back = nullptr;
  std::vector<std::uint16_t> other_links;  // of states in the other direction: 0, or 1 + the observed word

  // With the words themselves, all weights are counts (with priors) that contain the links at the start: lexical and
  // null counts follow the links as they change, fertilities leave the sentence's own out. Without, all weights stay.
  void begin(const JumpRows& jumps, float null_chance, float bonus, const WordId* states = nullptr,
             const WordId* observed = nullptr);
  // Draws every word's link once, in order. `sums`, if given, is observed x (states + 1), nothing first: the chances of
  // each draw are added.
  void sweep(std::uint64_t key, float* sums);

 private:
  void weigh(int i);
  void change(int j, int i, float by);

  int states_ = 0, observed_ = 0;
  std::size_t stride_ = 0;
  bool counting_ = false;
  float null_chance_ = 0, bonus_ = 1;
  const JumpRows* jumps_ = nullptr;
  std::vector<float> lexical_, fertility_, factor_, inverse_sum_, weights_;
  std::vector<int> words_of_, next_linked_, same_state_, same_observed_, first_agreed_, next_agreed_;
};

}  // namespace treeglot::align
