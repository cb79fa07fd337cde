// Words and their ids while a model is built: ids by first appearance, strings in one arena.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace treeglot::lm {

using WordId = std::uint32_t;

inline constexpr WordId kUnknown = 0, kBegin = 1, kEnd = 2;

class Vocabulary {
 public:
  Vocabulary() {
    for (const char* word : {"<unk>", "<s>", "</s>"}) id(word);
  }
  // The id of a word, given if it is new.
  WordId id(std::string_view word) {
    auto entry = ids_.find(word);
    if (entry != ids_.end()) return entry->second;
    strings_.emplace_back(word);
    WordId fresh = static_cast<WordId>(strings_.size() - 1);
    ids_.emplace(strings_.back(), fresh);
    return fresh;
  }
  const std::string& word(WordId id) const { return strings_[id]; }
  std::size_t size() const { return strings_.size(); }

 private:
  std::deque<std::string> strings_;  // stable addresses for the views below
  std::unordered_map<std::string_view, WordId> ids_;
};

}  // namespace treeglot::lm
