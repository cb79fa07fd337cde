#include "table/lexical_table.hh"

#include <algorithm>
#include <tuple>

#include "base/hash.hh"

namespace treeglot {

std::size_t LexicalTable::cell(std::uint64_t key) const {
  std::size_t mask = cells_.size() - 1, place = mix(key) & mask;
  while (cells_[place].count != 0 && cells_[place].key != key) place = (place + 1) & mask;
  return place;
}

void LexicalTable::grow() {
  std::vector<Cell> old(std::max<std::size_t>(1024, cells_.size() * 2));
  old.swap(cells_);
  for (const Cell& entry : old) {
    if (entry.count) cells_[cell(entry.key)] = entry;
  }
}

void LexicalTable::count(const SentencePair& pair, std::uint64_t times) {
  source_linked_.assign(pair.source.size(), 0);
  target_linked_.assign(pair.target.size(), 0);
  auto link_words = [&](WordId source, WordId target) {
    if (3 * (used_ + 1) > 2 * cells_.size()) grow();
    std::uint64_t both = key(source, target);
    Cell& entry = cells_[cell(both)];
    used_ += entry.count == 0;
    entry.key = both;
    entry.count += times;
    add(sources_, source, times);
    add(targets_, target, times);
  };
  for (const WordLink& link : pair.links) {
    source_linked_[link.source] = target_linked_[link.target] = 1;
    link_words(pair.source[link.source], pair.target[link.target]);
  }
  for (std::size_t i = 0; i < pair.source.size(); ++i) {
    if (!source_linked_[i]) link_words(pair.source[i], kNull);
  }
  for (std::size_t i = 0; i < pair.target.size(); ++i) {
    if (!target_linked_[i]) link_words(kNull, pair.target[i]);
  }
}

double LexicalTable::target_given_source(WordId target, WordId source) const {
  if (cells_.empty()) return 0;
  const Cell& entry = cells_[cell(key(source, target))];
  return entry.count ? value(units(entry.count, source_total(source))) : 0;
}

double LexicalTable::source_given_target(WordId source, WordId target) const {
  if (cells_.empty()) return 0;
  const Cell& entry = cells_[cell(key(source, target))];
  return entry.count ? value(units(entry.count, target_total(target))) : 0;
}

std::vector<LexicalTable::Item> LexicalTable::items() const {
  std::vector<Item> all;
  all.reserve(used_);
  for (const Cell& entry : cells_) {
    if (entry.count) all.push_back({static_cast<WordId>(entry.key >> 32), static_cast<WordId>(entry.key), entry.count});
  }
  std::sort(all.begin(), all.end(),
            [](const Item& a, const Item& b) { return std::tie(a.source, a.target) < std::tie(b.source, b.target); });
  return all;
}

}  // namespace treeglot
