#include "forest/chart_state.hh"

#include <algorithm>

namespace treeglot::forest {

void ChartScorer::part(const ChartState& part) {
  const int size = part.left_length;
  if (size == 0 && !part.closed) return;  // no words
  if (!state_.closed && state_.left_length == 0) {
    state_ = part;
    return;
  }
  const lm::State& before = state_.right;                   // until the end
  const int own = state_.closed ? -1 : state_.left_length;  // all words of an open state
  int in_use = before.length;                               // how many words before the part still matter
  int context = 0;
  const float* charged = before.backoff.data();  // back-offs of contexts that reach out of the part, shortest first
  float backoff[2][lm::kMaxOrder];
  int i = 0;
  for (; i < size && in_use > 0; ++i) {
    float* next = backoff[i & 1];
    lm::Extension longer = model_.extend(part.keys[i], part.probabilities[i], i + 1, before.words.data(), in_use, next);
    log10_ += longer.probability - part.probabilities[i];
    for (int j = longer.context; j < in_use; ++j) log10_ += charged[j];
    if (!state_.closed) {
      if (longer.extends && longer.context == own) {
        open_word(part.left[i], longer.key, longer.probability);
      } else {
        state_.closed = true;
      }
    }
    charged = next;
    in_use = longer.kept;
    context = longer.context;
  }
  if (i < size || part.closed) {
    // Nothing before the part matters to its words from here on but for what is charged to the next one.
    if (i == size) {
      for (int j = 0; j < in_use; ++j) log10_ += charged[j];
    }
    state_.right = part.right;
    state_.closed = true;
    return;
  }
  // All words of the part are left words: its context goes on into the words before.
  lm::State after = part.right;
  context = std::min(context, model_.order() - 1 - size);
  for (int j = 0; j < context; ++j) after.backoff[size + j] = charged[j];
  if (in_use > 0) {
    for (int j = 0; j < size; ++j) after.words[j] = part.left[size - 1 - j];
    for (int j = 0; j < in_use; ++j) after.words[size + j] = before.words[j];
    after.length = static_cast<std::uint8_t>(size + in_use);
  }
  state_.right = after;
}

}  // namespace treeglot::forest
