#include "align/sampler.hh"

#include <algorithm>

#include "base/hash.hh"
#include "base/wide.hh"

namespace treeglot::align {
namespace {

constexpr int kLanes = 8;
constexpr float kLeastWeight = 1e-6f;  // of a fertility's weight

TREEGLOT_WIDE void multiply(float* __restrict out, const float* __restrict lexical, const float* __restrict factor,
                            const float* __restrict from, const float* __restrict to, float scale, int size) {
  for (int i = 0; i < size; ++i) out[i] = lexical[i] * factor[i] * (from[i] * to[i]) * scale;
}

TREEGLOT_WIDE void scale(float* __restrict out, const float* __restrict by, int size) {
  for (int i = 0; i < size; ++i) out[i] *= by[i];
}

// Always in the same order, however wide the processor is.
TREEGLOT_WIDE float total(const float* values, int size) {
  float lanes[kLanes] = {};
  for (int i = 0; i < size; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] += values[i + k];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// Rings of equal words: next[k] is the next place of the same word, the last points to the first.
void find_rings(const WordId* words, int size, std::vector<int>& next) {
  next.resize(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    next[static_cast<std::size_t>(i)] = i;
    for (int k = i - 1; k >= 0; --k) {
      if (words[k] == words[i]) {
        std::swap(next[static_cast<std::size_t>(i)], next[static_cast<std::size_t>(k)]);
        break;
      }
    }
  }
}

}  // namespace

std::uint64_t random_bits(std::uint64_t key, std::uint64_t place) {
  return mix(key + 0x9E3779B97F4A7C15ull * (place + 1));
}

void JumpRows::fill(const JumpTable& table, int states) {
  states_ = states;
  const int reach = states + 8;
  const auto size = static_cast<std::size_t>(2 * reach + 1);
  forward_.resize(size);
  backward_.resize(size);
  prefix_.assign(size + 1, 0.0);
  for (int d = -reach; d <= reach; ++d) {
    const auto at = static_cast<std::size_t>(d + reach);
    forward_[at] = table.at(d);
    backward_[at] = table.at(-d);
    prefix_[at + 1] = prefix_[at] + static_cast<double>(forward_[at]);
  }
}

void SentenceSampler::resize(int states, int observed) {
  states_ = states;
  observed_ = observed;
  const auto I = static_cast<std::size_t>(states), J = static_cast<std::size_t>(observed);
  stride_ = (I + kLanes - 1) / kLanes * kLanes;
  lexical_.assign(stride_ * J, 0.0f);
  paths = paths_back = nullptr;
  fertility_.assign(I * kFertilities, 1.0f);
  totals.assign(I, 1.0f);
  null.assign(J, 1.0f);
  null_total = 1;
  links.assign(J, 0);
  other_links.assign(I, 0);
}

void SentenceSampler::begin(const JumpRows& jumps, float null_chance, float bonus, const WordId* states,
                            const WordId* observed) {
  jumps_ = &jumps;
  null_chance_ = null_chance;
  bonus_ = bonus;
  counting_ = states != nullptr;
  if (counting_) {
    find_rings(states, states_, same_state_);
    find_rings(observed, observed_, same_observed_);
  }
  const auto I = static_cast<std::size_t>(states_);
  inverse_sum_.resize(I + 1);
  for (int k = 0; k <= states_; ++k) inverse_sum_[static_cast<std::size_t>(k)] = 1.0f / jumps.sum(k, states_);
  words_of_.assign(I, 0);
  for (std::uint16_t link : links)
    if (link != 0) ++words_of_[link - 1u];
  if (counting_) {
    for (int i = 0; i < states_; ++i) {
      float& own = fertility(i)[std::min(words_of_[static_cast<std::size_t>(i)], kFertilities - 1)];
      own = std::max(own - 1, kLeastWeight);
    }
  }
  factor_.assign(stride_, 0.0f);
  weights_.assign(stride_, 0.0f);
  for (int i = 0; i < states_; ++i) weigh(i);
}

// The factor of a state is the same for all words: one more word, its total, and the step away from it.
void SentenceSampler::weigh(int i) {
  const auto at = static_cast<std::size_t>(i);
  const float* weight = fertility_.data() + at * kFertilities;
  const int now = words_of_[at];
  const float one_more = now < kFertilities - 1 ? weight[now + 1] / weight[now] : kBeyond;
  factor_[at] = one_more / totals[at] * inverse_sum_[at + 1];
}

void SentenceSampler::change(int j, int i, float by) {
  const auto J = static_cast<std::size_t>(j);
  if (i < 0) {
    if (!counting_) return;
    null_total += by;
    for (auto k = J;;) {
      null[k] += by;
      k = static_cast<std::size_t>(same_observed_[k]);
      if (k == J) break;
    }
    return;
  }
  words_of_[static_cast<std::size_t>(i)] += static_cast<int>(by);
  if (!counting_) {
    weigh(i);
    return;
  }
  for (int k = i;;) {
    totals[static_cast<std::size_t>(k)] += by;
    weigh(k);
    for (int m = j;;) {
      lexical(m)[k] += by;
      m = same_observed_[static_cast<std::size_t>(m)];
      if (m == j) break;
    }
    k = same_state_[static_cast<std::size_t>(k)];
    if (k == i) break;
  }
}

void SentenceSampler::sweep(std::uint64_t key, float* sums) {
  const auto J = static_cast<std::size_t>(observed_);
  // The next linked state after each word; links before it are drawn anew when they are reached.
  next_linked_.assign(J, states_ + 1);
  for (std::size_t j = J; j-- > 1;) next_linked_[j - 1] = links[j] != 0 ? links[j] : next_linked_[j];
  // For each word, the states that the other direction links to it.
  first_agreed_.assign(J, -1);
  next_agreed_.assign(static_cast<std::size_t>(states_), -1);
  if (bonus_ != 1) {
    for (std::size_t i = 0; i < other_links.size(); ++i) {
      if (other_links[i] == 0) continue;
      next_agreed_[i] = first_agreed_[other_links[i] - 1u];
      first_agreed_[other_links[i] - 1u] = static_cast<int>(i);
    }
  }
  const int size = static_cast<int>(stride_);
  int last = 0;
  for (int j = 0; j < observed_; ++j) {
    const auto at = static_cast<std::size_t>(j);
    change(j, static_cast<int>(links[at]) - 1, -1);
    const int next = next_linked_[at];
    const float leave = inverse_sum_[static_cast<std::size_t>(last)];
    multiply(weights_.data(), lexical(j), factor_.data(), jumps_->forward() + (1 - last),
             jumps_->backward() + (1 - next), (1 - null_chance_) * leave, size);
    for (int i = first_agreed_[at]; i >= 0; i = next_agreed_[static_cast<std::size_t>(i)])
      weights_[static_cast<std::size_t>(i)] *= bonus_;
    float nothing = null_chance_ * null[at] / null_total * jumps_->forward()[next - last] * leave;
    if (paths != nullptr) {
      const auto from = static_cast<std::size_t>(last - 1) * stride_, to = static_cast<std::size_t>(next - 1);
      if (last > 0) scale(weights_.data(), paths + from, size);
      if (next <= states_) scale(weights_.data(), paths_back + to * stride_, size);
      if (last > 0 && next <= states_) nothing *= paths[from + to];
    }
    const float sum = nothing + total(weights_.data(), size);
    if (sums) {
      float* row = sums + at * (static_cast<std::size_t>(states_) + 1);
      const float inverse = 1.0f / sum;
      row[0] += nothing * inverse;
      for (int i = 0; i < states_; ++i) row[i + 1] += weights_[static_cast<std::size_t>(i)] * inverse;
    }
    float rest = static_cast<float>(random_bits(key, at) >> 40) * 0x1p-24f * sum - nothing;
    int drawn = -1;
    if (rest >= 0) {
      for (drawn = 0; drawn < states_ - 1; ++drawn) {
        rest -= weights_[static_cast<std::size_t>(drawn)];
        if (rest < 0) break;
      }
    }
    links[at] = static_cast<std::uint16_t>(drawn + 1);
    change(j, drawn, 1);
    if (drawn >= 0) last = drawn + 1;
  }
}

}  // namespace treeglot::align
