#include "grammars/extractor.hh"

#include <mutex>
#include <stdexcept>

namespace treeglot {

CategoryInterner::CategoryInterner(const SymbolTable& categories) : categories_(categories), known_(categories.size()) {
  for (std::size_t i = 0; i < known_; ++i) {
    ids_.emplace(categories.word(static_cast<WordId>(i)), static_cast<std::uint32_t>(i));
  }
}

std::uint32_t CategoryInterner::id(std::string_view text) {
  {
    std::shared_lock lock(mutex_);
    if (auto entry = ids_.find(text); entry != ids_.end()) return entry->second;
  }
  std::unique_lock lock(mutex_);
  if (auto entry = ids_.find(text); entry != ids_.end()) return entry->second;
  const std::size_t id = known_ + added_.size();
  if (id >= (1u << 28)) throw std::length_error("more than 268 million categories");  // a Symbol has 28 bits for it
  added_.emplace_back(text);
  ids_.emplace(added_.back(), static_cast<std::uint32_t>(id));
  return static_cast<std::uint32_t>(id);
}

std::uint32_t CategoryInterner::joint(std::uint32_t label, std::span<const WordId> tags) {
  std::string category = text(label);
  char before = '[';
  for (WordId tag : tags) {
    category += before;
    category += text(tag);
    before = '_';
  }
  category += ']';
  return id(category);
}

const std::string& CategoryInterner::text(std::uint32_t id) const {
  if (id < known_) return categories_.word(id);
  std::shared_lock lock(mutex_);
  return added_.at(id - known_);
}

std::size_t CategoryInterner::size() const {
  std::shared_lock lock(mutex_);
  return known_ + added_.size();
}

}  // namespace treeglot
