#include "extract/bitext.hh"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace treeglot {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Calls `take` with each word of a line.
template <class Take>
void for_each_word(std::string_view line, Take take) {
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && blank(line[i])) ++i;
    if (i >= line.size()) return;
    std::size_t start = i;
    while (i < line.size() && !blank(line[i])) ++i;
    take(line.substr(start, i - start));
  }
}

}  // namespace

WordId SymbolTable::id(std::string_view word) {
  auto found = ids_.find(word);
  if (found != ids_.end()) return found->second;
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

std::string AlignedBitext::add(std::string_view source, std::string_view target, std::string_view links) {
  for_each_word(source, [&](std::string_view word) { source_.push_back(source_words.id(word)); });
  for_each_word(target, [&](std::string_view word) { target_.push_back(target_words.id(word)); });
  std::size_t source_length = source_.size() - source_starts_.back();
  std::size_t target_length = target_.size() - target_starts_.back();
  std::string problem;
  if (source_length > kMaxSentence || target_length > kMaxSentence) problem = "a sentence of more than 65,535 words";
  for_each_word(links, [&](std::string_view link) {
    unsigned s = 0, t = 0;
    const char* end = link.data() + link.size();
    auto first = std::from_chars(link.data(), end, s);
    bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
    if (good) {
      auto second = std::from_chars(first.ptr + 1, end, t);
      good = second.ec == std::errc() && second.ptr == end;
    }
    if (!good) {
      if (problem.empty()) problem = "'" + std::string(link) + "' is not a link such as 0-1";
    } else if (s >= source_length || t >= target_length) {
      if (problem.empty()) {
        problem = "link " + std::string(link) + " is outside the sentences of " + std::to_string(source_length) +
                  " and " + std::to_string(target_length) + " words";
      }
    } else {
      links_.push_back({static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)});
    }
  });
  auto begin = links_.begin() + static_cast<std::ptrdiff_t>(link_starts_.back());
  std::sort(begin, links_.end());
  links_.erase(std::unique(begin, links_.end()), links_.end());
  source_starts_.push_back(source_.size());
  target_starts_.push_back(target_.size());
  link_starts_.push_back(links_.size());
  return problem;
}

void AlignedBitext::finish() {
  std::vector<WordId> fresh = source_words.sort();
  for (WordId& word : source_) word = fresh[word];
  fresh = target_words.sort();
  for (WordId& word : target_) word = fresh[word];
}

}  // namespace treeglot
