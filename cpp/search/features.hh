// The features of the phrase-based model and their weights: the same meanings, order and names as Moses' defaults, so
// that its tables and weights give the same model scores. Natural logarithms throughout.
#pragma once

#include <array>

namespace treeglot::search {

enum Feature : int {
  kDistortion = 0,     // -|begin of a phrase - end of the one before it|
  kLanguageModel = 1,  // ln p of the words and the sentence's end
  kWordPenalty = 2,    // -1 for each target word
  kPhrasePenalty = 3,  // 1 for each phrase
  kTranslation = 4,    // ln of p(f|e), lex(f|e), p(e|f), lex(e|f)
  kReordering = 8,     // ln of monotone, swap, discontinuous: towards the phrase before, then towards the one after
  kUnknownWord = 14,   // -100 for each copied word
  kFeatures = 15,
};

inline constexpr std::array<const char*, kFeatures> kFeatureNames{"Distortion0",          "LM0",
                                                                  "WordPenalty0",         "PhrasePenalty0",
                                                                  "TranslationModel0_1",  "TranslationModel0_2",
                                                                  "TranslationModel0_3",  "TranslationModel0_4",
                                                                  "LexicalReordering0_1", "LexicalReordering0_2",
                                                                  "LexicalReordering0_3", "LexicalReordering0_4",
                                                                  "LexicalReordering0_5", "LexicalReordering0_6",
                                                                  "UnknownWordPenalty0"};

using Weights = std::array<double, kFeatures>;
using FeatureVector = std::array<double, kFeatures>;

inline double dot(const Weights& weights, const FeatureVector& features) {
  double total = 0;
  for (int i = 0; i < kFeatures; ++i) total += weights[i] * features[i];
  return total;
}

}  // namespace treeglot::search
