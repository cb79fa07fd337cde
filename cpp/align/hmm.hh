// A hidden Markov alignment of one sentence: every observed word comes from a state (a word of the other side) or from
// nothing, and the chance of the next state depends on how far it is from the last one (Vogel, Ney and Tillmann 1996;
// nothing as in Och and Ney 2003: it remembers the last state).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace treeglot::align {

// Jump d = new state - old state has the weight of its clipped value; weights are normalised within each sentence. The
// start is the state before the first word, the end the one after the last.
struct JumpTable {
  static constexpr int kClip = 40;
  static constexpr int kSize = 2 * kClip + 1;
  std::vector<float> weight = std::vector<float>(kSize, 1.0f);
  float null = 0.1f;  // the chance that a word comes from nothing

  float at(int jump) const { return weight[static_cast<std::size_t>(clipped(jump))]; }
  static int clipped(int jump) { return (jump < -kClip ? -kClip : jump > kClip ? kClip : jump) + kClip; }
  static JumpTable initial(float null);  // the next state is the likeliest one
};

// What jumps were expected, and how many were possible: a new weight is their quotient.
struct JumpCounts {
  std::vector<double> taken = std::vector<double>(JumpTable::kSize, 0.0);
  std::vector<double> possible = std::vector<double>(JumpTable::kSize, 0.0);
  double null = 0, words = 0;
  void add(const JumpCounts& other);
};

// New weights; `smoothing` jumps as at the start were seen before the first, and `known_jumps` with the known weights.
void update_jumps(JumpTable& table, const JumpCounts& counts, double smoothing,
                  const std::optional<JumpTable>& known = std::nullopt, double known_jumps = 0);

// Room for the intermediate results of one thread.
class HmmWorkspace {
 public:
  // `emission` is observed x states, row by row: the chance of the observed word given the state's word;
  // `null_emission` has one entry for each observed word. Fills the posterior of every state for every observed word
  // and of nothing. With `counts`, adds what the sentence says about jumps. Returns the natural log likelihood.
  double posteriors(const float* emission, const float* null_emission, int observed, int states, const JumpTable& jumps,
                    float* posterior, float* null_posterior, JumpCounts* counts);

 private:
  std::vector<float> in_, ahead_, weight_, reversed_, inverse_norm_, prediction_, beta_, source_, taken_, leaving_,
      scale_;
};

}  // namespace treeglot::align
