// The names of features, one scheme for both searches, and the places of those of the phrase search. Natural logarithms
// throughout; Moses' names and signs are a matter of export and import (treeglot.search.weights).
//
// The phrase search has Moses' default features in Moses' order. A forest has five of its own, then a block for each
// grammar, which starts with the five of kBlockFeatures.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace treeglot::search {

enum Feature : int {
  kDistortion = 0,     // -|begin of a phrase - end of the one before it|
  kLanguageModel = 1,  // ln p of the words and the sentence's end
  kWords = 2,          // 1 for each target word
  kPhrases = 3,        // 1 for each phrase
  kTranslation = 4,    // ln of p(s|t), lex(s|t), p(t|s), lex(t|s): TableScores
  kReordering = 8,     // ln of monotone, swap, discontinuous: towards the phrase before, then towards the one after
  kCopied = 14,        // 1 for each copied word
  kFeatures = 15,
};

// Those that begin with a dot have the name of the grammar before it.
inline constexpr std::array<const char*, kFeatures> kPhraseFeatures{"distortion",
                                                                    "lm",
                                                                    "words",
                                                                    ".rules",
                                                                    ".p_st",
                                                                    ".lex_st",
                                                                    ".p_ts",
                                                                    ".lex_ts",
                                                                    ".reorder_before_monotone",
                                                                    ".reorder_before_swap",
                                                                    ".reorder_before_discontinuous",
                                                                    ".reorder_after_monotone",
                                                                    ".reorder_after_swap",
                                                                    ".reorder_after_discontinuous",
                                                                    "copied"};

inline std::vector<std::string> phrase_features(const std::string& grammar) {
  std::vector<std::string> names;
  for (const char* name : kPhraseFeatures) names.push_back(*name == '.' ? grammar + name : name);
  return names;
}

inline constexpr std::array<const char*, 5> kForestFeatures{"lm", "words", "copied", "pseudo", "glue"};
inline constexpr std::array<const char*, 5> kBlockFeatures{"p_ts", "p_st", "lex_ts", "lex_st", "rules"};

using Weights = std::array<double, kFeatures>;
using FeatureVector = std::array<double, kFeatures>;

inline double dot(const Weights& weights, const FeatureVector& features) {
  double total = 0;
  for (int i = 0; i < kFeatures; ++i) total += weights[i] * features[i];
  return total;
}

}  // namespace treeglot::search
