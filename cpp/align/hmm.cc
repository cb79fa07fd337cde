#include "align/hmm.hh"

#include <algorithm>
#include <cmath>

#include "base/wide.hh"

namespace treeglot::align {
namespace {

// out[i] += sum over k of factor[k] * row[i - k], for i in [0, n), k in [0, m); `row` may be read from -(m-1) to n-1.
TREEGLOT_WIDE void convolve(float* __restrict out, int n, const float* __restrict factor, int m, const float* row) {
  int k = 0;
  for (; k + 4 <= m; k += 4) {
    const float a = factor[k], b = factor[k + 1], c = factor[k + 2], d = factor[k + 3];
    const float* r = row - k;
    for (int i = 0; i < n; ++i) out[i] += ((a * r[i] + b * r[i - 1]) + (c * r[i - 2] + d * r[i - 3]));
  }
  for (; k < m; ++k) {
    const float a = factor[k];
    const float* r = row - k;
    for (int i = 0; i < n; ++i) out[i] += a * r[i];
  }
}

}  // namespace

JumpTable JumpTable::initial(float null) {
  JumpTable table;
  table.null = null;
  double sum = 0;
  for (int d = -kClip; d <= kClip; ++d) sum += 1.0 / (1 + (d - 1) * (d - 1));
  for (int d = -kClip; d <= kClip; ++d)
    table.weight[static_cast<std::size_t>(d + kClip)] = static_cast<float>(1.0 / (1 + (d - 1) * (d - 1)) / sum);
  return table;
}

void update_jumps(JumpTable& table, const JumpCounts& counts, double smoothing, const std::optional<JumpTable>& known,
                  double known_jumps) {
  double sum = 0;
  std::vector<double> fresh(JumpTable::kSize);
  const JumpTable start = JumpTable::initial(table.null);
  for (std::size_t d = 0; d < fresh.size(); ++d) {
    double taken = counts.taken[d] + smoothing * static_cast<double>(start.weight[d]);
    if (known) taken += known_jumps * static_cast<double>(known->weight[d]);
    fresh[d] = taken / (counts.possible[d] + smoothing + (known ? known_jumps : 0));
    sum += fresh[d];
  }
  for (std::size_t d = 0; d < fresh.size(); ++d) table.weight[d] = static_cast<float>(std::max(1e-6, fresh[d] / sum));
}

void JumpCounts::add(const JumpCounts& other) {
  for (int d = 0; d < JumpTable::kSize; ++d) {
    taken[static_cast<std::size_t>(d)] += other.taken[static_cast<std::size_t>(d)];
    possible[static_cast<std::size_t>(d)] += other.possible[static_cast<std::size_t>(d)];
  }
  null += other.null;
  words += other.words;
}

// State 0 is the start, states 1..n the words. in_[j * (n+1) + k] is the scaled chance of having seen j words and being
// at k, whether or not the last word came from nothing.
double HmmWorkspace::posteriors(const float* emission, const float* null_emission, int observed, int states,
                                const JumpTable& jumps, float* posterior, float* null_posterior, JumpCounts* counts) {
  const int n = states, width = n + 1;
  const auto size = static_cast<std::size_t>(width);
  const float p0 = jumps.null, p1 = 1.0f - p0;
  // weight_[n + d] is the weight of jump d, reversed_ the same backwards.
  weight_.resize(2 * size + 1);
  reversed_.resize(2 * size + 1);
  for (int d = -width; d <= width; ++d) {
    weight_[static_cast<std::size_t>(width + d)] = jumps.at(d);
    reversed_[static_cast<std::size_t>(width - d)] = jumps.at(d);
  }
  const float* weight = weight_.data() + width;
  const float* reversed = reversed_.data() + width;
  inverse_norm_.resize(size);
  for (int k = 0; k < width; ++k) {
    float total = 0;
    for (int i = 1; i <= n; ++i) total += weight[i - k];
    inverse_norm_[static_cast<std::size_t>(k)] = 1.0f / total;
  }
  in_.assign(size * static_cast<std::size_t>(observed + 1), 0.0f);
  scale_.resize(static_cast<std::size_t>(observed));
  source_.resize(size);
  prediction_.resize(size);
  float* source = source_.data();
  float* prediction = prediction_.data();
  in_[0] = 1.0f;
  double log_likelihood = 0;
  for (int j = 0; j < observed; ++j) {
    const float* in = in_.data() + static_cast<std::size_t>(j) * size;
    float* out = in_.data() + static_cast<std::size_t>(j + 1) * size;
    for (int k = 0; k < width; ++k) source[k] = in[k] * inverse_norm_[static_cast<std::size_t>(k)] * p1;
    std::fill(prediction, prediction + width, 0.0f);
    convolve(prediction + 1, n, source, width, weight + 1);
    const float* e = emission + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
    const float nothing = p0 * null_emission[j];
    float* real = posterior + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);  // kept for the second pass
    float total = nothing * in[0];
    out[0] = total;
    for (int i = 0; i < n; ++i) {
      real[i] = prediction[i + 1] * e[i];
      out[i + 1] = real[i] + nothing * in[i + 1];
      total += out[i + 1];
    }
    const float inverse = 1.0f / total;
    scale_[static_cast<std::size_t>(j)] = inverse;
    log_likelihood += std::log(static_cast<double>(total));
    for (int k = 0; k < width; ++k) out[k] *= inverse;
    for (int i = 0; i < n; ++i) real[i] *= inverse;
  }
  beta_.assign(size, 1.0f);
  ahead_.resize(size);
  float* beta = beta_.data();
  float* ahead = ahead_.data();
  if (counts) {
    taken_.assign(2 * size + 1, 0.0f);
    leaving_.assign(size, 0.0f);
  }
  for (int j = observed - 1; j >= 0; --j) {
    const float* in = in_.data() + static_cast<std::size_t>(j) * size;
    const float* e = emission + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
    float* real = posterior + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
    const float inverse = scale_[static_cast<std::size_t>(j)], nothing = p0 * null_emission[j] * inverse;
    float null_mass = nothing * in[0] * beta[0], word_mass = 0;
    for (int i = 0; i < n; ++i) {
      real[i] *= beta[i + 1];
      word_mass += real[i];
      null_mass += nothing * in[i + 1] * beta[i + 1];
    }
    const float rescale = 1.0f / (word_mass + null_mass);  // 1 up to rounding
    for (int i = 0; i < n; ++i) real[i] *= rescale;
    null_posterior[j] = null_mass * rescale;
    ahead[0] = 0;
    for (int i = 0; i < n; ++i) ahead[i + 1] = e[i] * inverse * beta[i + 1];
    std::fill(prediction, prediction + width, 0.0f);
    // prediction[k] = sum over i of weight[i - k] * ahead[i]
    convolve(prediction, width, ahead, width, reversed);
    if (counts) {
      for (int k = 0; k < width; ++k) source[k] = in[k] * inverse_norm_[static_cast<std::size_t>(k)] * p1;
      // taken[d] += sum over k of source[k] * ahead[k + d]: one row of ahead for each k, shifted
      for (int k = 0; k < width; ++k) {
        if (source[k] < 1e-9f) continue;
        float* row = taken_.data() + width - k;
        const float factor = source[k];
        for (int i = 1; i <= n; ++i) row[i] += factor * ahead[i];
      }
      for (int k = 0; k < width; ++k) leaving_[static_cast<std::size_t>(k)] += source[k] * prediction[k];
      counts->null += null_mass * rescale;
      counts->words += 1;
    }
    for (int k = 0; k < width; ++k) {
      beta[k] = prediction[k] * inverse_norm_[static_cast<std::size_t>(k)] * p1 + nothing * beta[k];
    }
  }
  if (counts) {
    for (int k = 0; k < width; ++k) {
      const double mass =
          static_cast<double>(leaving_[static_cast<std::size_t>(k)]) * inverse_norm_[static_cast<std::size_t>(k)];
      const int low = std::max(1 - k, -JumpTable::kClip), high = std::min(n - k, JumpTable::kClip);
      for (int d = low; d <= high; ++d) counts->possible[static_cast<std::size_t>(d + JumpTable::kClip)] += mass;
      if (1 - k < low) counts->possible[0] += mass * (low - (1 - k));
      if (n - k > high) counts->possible[JumpTable::kSize - 1] += mass * (n - k - high);
    }
    for (int d = -width; d <= width; ++d) {
      counts->taken[static_cast<std::size_t>(JumpTable::clipped(d))] +=
          static_cast<double>(taken_[static_cast<std::size_t>(width + d)]) * weight[d];
    }
  }
  return log_likelihood;
}

}  // namespace treeglot::align
