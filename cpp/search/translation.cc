#include "search/translation.hh"

#include <cstdlib>

namespace treeglot::search {

std::string Translation::text(std::size_t derivation) const {
  std::string result;
  for (const Derivation::Step& step : derivations.at(derivation).steps) {
    if (!result.empty()) result += ' ';
    result += phrases[step.phrase].text;
  }
  return result;
}

FeatureVector Translation::step_features(std::size_t derivation, std::size_t n) const {
  const std::vector<Derivation::Step>& steps = derivations.at(derivation).steps;
  const UsedPhrase& phrase = phrases[steps[n].phrase];
  FeatureVector result{};
  result[kLanguageModel] = steps[n].lm;
  result[kWordPenalty] = -static_cast<double>(phrase.words);
  result[kPhrasePenalty] = 1;
  if (phrase.unknown) {
    result[kUnknownWord] = kLowestScore;
  } else {
    for (int i = 0; i < 4; ++i) result[kTranslation + i] = phrase.scores[i];
  }
  // Before the first phrase stands an empty one at the sentence's start, which has no reordering scores of its own.
  const UsedPhrase* before = n > 0 ? &phrases[steps[n - 1].phrase] : nullptr;
  std::uint32_t previous_end = before ? before->end : 0;
  result[kDistortion] = -std::abs(static_cast<double>(phrase.begin) - static_cast<double>(previous_end));
  int o = before ? orientation(before->begin, before->end, phrase.begin, phrase.end) : phrase.begin == 0 ? 0 : 2;
  result[kReordering + o] = phrase.reordering[o];
  if (before) result[kReordering + 3 + o] = before->reordering[3 + o];
  return result;
}

}  // namespace treeglot::search
