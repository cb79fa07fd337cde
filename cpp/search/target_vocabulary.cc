#include "search/target_vocabulary.hh"

namespace treeglot::search {

namespace {

constexpr std::uint32_t kUnset = 0xFFFFFFFF;

}  // namespace

std::uint32_t TargetVocabulary::add(const RuleTable& table) {
  parts_.push_back({size_, &table, nullptr});
  size_ += static_cast<std::uint32_t>(table.target_size());
  return parts_.back().first;
}

std::uint32_t TargetVocabulary::add(const PhraseSource& phrases) {
  parts_.push_back({size_, nullptr, &phrases});
  size_ += static_cast<std::uint32_t>(phrases.target_size());
  return parts_.back().first;
}

void TargetVocabulary::finish() {
  known_.reset(new Known[size_]);
  for (std::uint32_t i = 0; i < size_; ++i) {
    known_[i].lm_id.store(kUnset, std::memory_order_relaxed);
    known_[i].canonical.store(kUnset, std::memory_order_relaxed);
  }
}

std::size_t TargetVocabulary::part_of(TargetSymbol word) const {
  std::size_t n = parts_.size() - 1;
  while (parts_[n].first > word) --n;
  return n;
}

std::string_view TargetVocabulary::word(TargetSymbol word) const {
  const Part& part = parts_[part_of(word)];
  return part.rules ? part.rules->target_word(word - part.first) : part.phrases->target_word(word - part.first);
}

lm::WordId TargetVocabulary::lm_id(TargetSymbol target) const {
  std::atomic<lm::WordId>& known = known_[target].lm_id;
  lm::WordId id = known.load(std::memory_order_relaxed);
  if (id == kUnset) {
    id = model_.id(word(target));
    known.store(id, std::memory_order_relaxed);  // every thread would store the same
  }
  return id;
}

TargetSymbol TargetVocabulary::canonical(TargetSymbol target) const {
  std::atomic<TargetSymbol>& known = known_[target].canonical;
  TargetSymbol first = known.load(std::memory_order_relaxed);
  if (first == kUnset) {
    first = find(word(target), part_of(target));
    if (first == size_) first = target;
    known.store(first, std::memory_order_relaxed);
  }
  return first;
}

TargetSymbol TargetVocabulary::find(std::string_view text, std::size_t parts) const {
  for (std::size_t n = 0; n < parts; ++n) {
    const Part& part = parts_[n];
    if (part.rules) {
      if (WordId id = part.rules->target_id(text); id != RuleTable::kNone) return part.first + id;
    } else if (WordId id = part.phrases->target_id(text); id != kNoWord) {
      return part.first + id;
    }
  }
  return size_;
}

}  // namespace treeglot::search
