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

AlignedBitext::Problem AlignedBitext::add(std::string_view source, std::string_view target, std::string_view links) {
  for_each_word(source, [&](std::string_view word) { source_.push_back(source_words.id(word)); });
  for_each_word(target, [&](std::string_view word) { target_.push_back(target_words.id(word)); });
  std::size_t source_length = source_.size() - source_starts_.back();
  std::size_t target_length = target_.size() - target_starts_.back();
  if (source_length > kMaxSentence) return {0, "a sentence of more than 65,535 words"};
  if (target_length > kMaxSentence) return {1, "a sentence of more than 65,535 words"};
  Problem problem;
  for_each_word(links, [&](std::string_view link) {
    if (problem) return;
    unsigned s = 0, t = 0;
    const char* end = link.data() + link.size();
    auto first = std::from_chars(link.data(), end, s);
    bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
    if (good) {
      auto second = std::from_chars(first.ptr + 1, end, t);
      good = second.ec == std::errc() && second.ptr == end;
    }
    if (!good) {
      problem = {2, std::string(link.substr(0, 60)).append(" is not a link such as 0-1")};
    } else if (s >= source_length || t >= target_length) {
      problem = {2, std::string("link ").append(link).append(" is outside the sentences of ") +
                        std::to_string(source_length) + " and " + std::to_string(target_length) + " words"};
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

std::size_t AlignedBitext::bytes() const {
  return (source_.capacity() + target_.capacity()) * sizeof(WordId) + links_.capacity() * sizeof(WordLink) +
         (source_starts_.capacity() + target_starts_.capacity() + link_starts_.capacity()) * sizeof(std::uint64_t) +
         source_words.bytes() + target_words.bytes();
}

void AlignedBitext::finish() {
  std::vector<WordId> fresh = source_words.sort();
  for (WordId& word : source_) word = fresh[word];
  fresh = target_words.sort();
  for (WordId& word : target_) word = fresh[word];
}

}  // namespace treeglot
