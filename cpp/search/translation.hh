// What a search returns: derivations, best first, over a common pool of the phrases that they use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/features.hh"
#include "table/phrase_source.hh"

namespace treeglot::search {

struct UsedPhrase {
  std::uint32_t begin, end;  // source words
  std::uint32_t words;       // target words
  bool unknown;
  std::string text;
  std::vector<WordLink> links;
  TableScores scores;
  ReorderingScores reordering;
};

struct Derivation {
  struct Step {
    std::uint32_t phrase;  // in Translation::phrases
    float lm;              // ln p of its words; the last step's includes the sentence's end
  };
  double score = 0;
  FeatureVector features{};
  std::vector<Step> steps;  // in the order of the target
};

struct Translation {
  std::vector<UsedPhrase> phrases;
  std::vector<Derivation> derivations;

  std::string text(std::size_t derivation) const;
  // What one step adds to each feature.
  FeatureVector step_features(std::size_t derivation, std::size_t step) const;
};

// Monotone, swap or discontinuous: [begin, end) after [previous_begin, previous_end), in source words.
inline int orientation(std::uint32_t previous_begin, std::uint32_t previous_end, std::uint32_t begin,
                       std::uint32_t end) {
  return begin == previous_end ? 0 : end == previous_begin ? 1 : 2;
}

}  // namespace treeglot::search
