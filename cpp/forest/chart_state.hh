// The language model's view of a part of a translation (after Li and Khudanpur 2008 and Heafield et al. 2011): what may
// still change when words are put before it, and what it remembers for the words after it. Both sides are as short as
// the model allows, so that as many partial translations as possible are alike.
//
// The left words w1 ... wk are those whose whole n-gram w1 ... wi is in the model and is the end of a longer one. As
// soon as one is not, nothing before w1 matters to later words, but for the back-offs of contexts that reach from w_k
// to words before w1: these are charged when the part is put behind something.
#pragma once

#include <array>
#include <cstdint>

#include "base/hash.hh"
#include "lm/model.hh"

namespace treeglot::forest {

struct ChartState {
  std::array<std::uint64_t, lm::kMaxOrder - 1> keys;   // of w1 ... wi, by i
  std::array<float, lm::kMaxOrder - 1> probabilities;  // log10 of wi after w1 ... w(i-1), by i
  std::array<lm::WordId, lm::kMaxOrder - 1> left;      // w1 ... wk
  lm::State right;                                     // back-offs are valid for all left words if it is open
  std::uint8_t left_length = 0;                        // k
  bool closed = false;  // more words follow, which are known but for back-offs, or k is as long as can be

  // Equal states have equal hashes, and others differ but for once in 2^64.
  std::uint64_t hash() const {
    std::uint64_t hash = left_length > 0 ? keys[left_length - 1] : 0x9E3779B97F4A7C15ull;
    if (!closed) return ~hash;  // the right side follows from the left
    for (int i = 0; i < right.length; ++i) hash = (hash ^ (hash >> 31) ^ right.words[i]) * 0x9FB21C651E98DF25ull;
    return mix(hash + right.length);
  }
};

// Scores a part of a translation from left to right, out of words and smaller parts, and makes its state.
class ChartScorer {
 public:
  // `state` is made empty. It and the model must outlive the scorer.
  ChartScorer(const lm::Model& model, ChartState& state) : model_(model), state_(state) {
    state.left_length = 0;
    state.closed = false;
    state.right.length = 0;
  }

  void begin_sentence() {  // before anything else
    state_.right = model_.begin_state();
    state_.closed = true;
  }
  void word(lm::WordId word) {
    lm::State next;
    lm::Score score = model_.score(state_.right, word, next);
    log10_ += score.log10;
    if (!state_.closed) {
      if (score.extends && score.used == state_.left_length + 1) {
        open_word(word, score.key, score.log10);
      } else {
        state_.closed = true;
      }
    }
    state_.right = next;
  }
  // A part that was scored before, by its state; its own score is not added.
  void part(const ChartState& part);

  // Of the words, and the change of the parts.
  float log10() const { return log10_; }

 private:
  void open_word(lm::WordId word, std::uint64_t key, float probability) {
    int k = state_.left_length++;
    state_.left[k] = word;
    state_.keys[k] = key;
    state_.probabilities[k] = probability;
    state_.closed = k + 2 == model_.order();
  }

  const lm::Model& model_;
  ChartState& state_;
  float log10_ = 0;
};

}  // namespace treeglot::forest
