#include "tuning/bleu.hh"

#include <cstdlib>

namespace treeglot::tuning {

References::References(const std::vector<std::vector<std::string>>& references) : sentences_(references.size()) {
  for (std::size_t i = 0; i < references.size(); ++i) {
    for (const std::string& text : references[i]) {
      std::vector<WordId> words;
      for_each_word(text, [&](std::string_view word) { words.push_back(words_.id(word)); });
      sentences_[i].lengths.push_back(static_cast<std::int32_t>(words.size()));
      sentences_[i].limits.add(words, kOrder);
    }
  }
}

Statistics References::statistics(std::size_t index, std::string_view text) const {
  const Sentence& sentence = sentences_.at(index);
  std::vector<WordId> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(words_.find(word)); });
  Statistics result;
  result.length = static_cast<std::int32_t>(words.size());
  sentence.limits.match(words, kOrder, result.correct.data());
  std::int32_t best = -1;
  for (std::int32_t length : sentence.lengths) {
    std::int32_t distance = std::abs(length - result.length);
    if (best < 0 || distance < best || (distance == best && length < result.reference)) {
      best = distance;
      result.reference = length;
    }
  }
  return result;
}

}  // namespace treeglot::tuning
