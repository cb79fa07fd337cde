#include "base/words.hh"

#include <algorithm>
#include <numeric>

namespace treeglot {

WordId SymbolTable::id(std::string_view word) {
  auto entry = ids_.find(word);
  if (entry != ids_.end()) return entry->second;
  WordId fresh = static_cast<WordId>(words_.size());
  words_.emplace_back(word);
  ids_.emplace(words_.back(), fresh);
  return fresh;
}

std::vector<WordId> SymbolTable::sort() {
  std::vector<WordId> order(words_.size()), renumbered(words_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](WordId a, WordId b) { return words_[a] < words_[b]; });
  std::vector<std::string> sorted(words_.size());
  for (WordId fresh = 0; fresh < order.size(); ++fresh) {
    renumbered[order[fresh]] = fresh;
    sorted[fresh] = std::move(words_[order[fresh]]);
  }
  words_ = std::move(sorted);
  for (WordId id = 0; id < words_.size(); ++id) ids_[words_[id]] = id;
  return renumbered;
}

std::size_t SymbolTable::bytes() const {
  std::size_t sum = 0;
  for (const std::string& word : words_) sum += 2 * (sizeof(std::string) + (word.size() > 15 ? word.size() + 1 : 0));
  return sum + ids_.size() * 4 * sizeof(void*);
}

WordId stop_rank(const SymbolTable& words) {
  WordId low = 0, high = static_cast<WordId>(words.size());
  while (low < high) {
    WordId middle = low + (high - low) / 2;
    if (words.word(middle) < "|||") {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace treeglot
