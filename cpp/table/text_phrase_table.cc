#include "table/text_phrase_table.hh"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/hash.hh"
#include "base/numbers.hh"
#include "table/moses_words.hh"

namespace treeglot {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  return text;
}

// Columns between " ||| "; an empty column may touch the end of the line.
int columns(std::string_view line, std::array<std::string_view, 8>& out) {
  int count = 0;
  while (count < 8) {
    std::size_t bar = line.find("|||");
    out[count++] = trim(line.substr(0, bar));
    if (bar == std::string_view::npos) break;
    line.remove_prefix(bar + 3);
  }
  return count;
}

bool next_token(std::string_view& text, std::string_view& token) {
  std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return false;
  std::size_t stop = std::min(text.find_first_of(" \t", start), text.size());
  token = text.substr(start, stop - start);
  text.remove_prefix(stop);
  return true;
}

std::string refusal(std::string_view token, const char* why) {
  std::string text = "'";
  text.append(token).append("' ").append(why);
  return text;
}

template <std::size_t n>
std::string read_scores(std::string_view text, std::array<float, n>& out) {
  std::string_view token;
  std::size_t count = 0;
  while (next_token(text, token)) {
    double value = 0;
    if (!parse_number(token, value) || !(value >= 0) || std::isinf(value)) {
      return refusal(token, "is not a probability");
    }
    if (count < n) out[count] = value > 0 ? std::max(static_cast<float>(std::log(value)), kLowestScore) : kLowestScore;
    ++count;
  }
  if (count < n || (n == 6 && count != n)) {
    return std::to_string(count) + " scores instead of " + std::to_string(n);
  }
  return "";
}

std::uint64_t hash_words(std::span<const WordId> words, std::uint64_t seed = 0) {
  return hash_bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes(), seed);
}

bool read_words(std::string_view text, SymbolTable& table, std::vector<WordId>& out) {
  out.clear();
  std::string_view token;
  std::string buffer;
  while (next_token(text, token)) out.push_back(table.id(read_moses_word(token, buffer)));
  return !out.empty();
}

}  // namespace

std::uint32_t TextPhraseTable::find_source(std::span<const WordId> words) const {
  for (std::uint64_t hash = hash_words(words);; ++hash) {
    auto entry = source_index_.find(hash);
    if (entry == source_index_.end()) return kNone;
    const SourcePhrase& phrase = source_phrases_[entry->second];
    if (std::ranges::equal(words, std::span(words_.data() + phrase.words, phrase.word_count))) return entry->second;
  }
}

std::string TextPhraseTable::add_phrase(std::string_view line) {
  if (finished_) return "the table is finished";
  std::array<std::string_view, 8> parts;
  int count = columns(line, parts);
  if (count < 3) return std::to_string(count) + " columns instead of source ||| target ||| scores";
  if (!read_words(parts[0], source_words_, source_buffer_)) return "an empty source phrase";
  if (!read_words(parts[1], target_words_, target_buffer_)) return "an empty target phrase";
  if (source_buffer_.size() > 1000 || target_buffer_.size() > 1000) return "a phrase of more than 1000 words";
  Entry entry{};
  if (std::string problem = read_scores(parts[2], entry.scores); !problem.empty()) return problem;
  std::size_t first_link = links_.size();
  if (count > 3) {
    std::string_view text = parts[3], token;
    while (next_token(text, token)) {
      unsigned source = 0, target = 0;
      const char* end = token.data() + token.size();
      auto [dash, error] = std::from_chars(token.data(), end, source);
      bool good = error == std::errc() && dash < end && *dash == '-';
      if (good) {
        auto [stop, error2] = std::from_chars(dash + 1, end, target);
        good = error2 == std::errc() && stop == end;
      }
      if (!good || source >= source_buffer_.size() || target >= target_buffer_.size()) {
        links_.resize(first_link);
        return refusal(token, "is not a link inside the phrase");
      }
      links_.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)});
    }
  }
  // Most files are sorted: the source is usually that of the line before.
  std::uint32_t source = kNone;
  if (!entries_.empty()) {
    const SourcePhrase& last = source_phrases_[entries_.back().source];
    if (std::ranges::equal(source_buffer_, std::span(words_.data() + last.words, last.word_count))) {
      source = entries_.back().source;
    }
  }
  if (source == kNone) source = find_source(source_buffer_);
  if (source == kNone) {
    source = static_cast<std::uint32_t>(source_phrases_.size());
    std::uint64_t hash = hash_words(source_buffer_);
    while (!source_index_.emplace(hash, source).second) ++hash;
    source_phrases_.push_back(
        {static_cast<std::uint32_t>(words_.size()), static_cast<std::uint32_t>(source_buffer_.size()), 0, 0});
    words_.insert(words_.end(), source_buffer_.begin(), source_buffer_.end());
    longest_ = std::max(longest_, static_cast<int>(source_buffer_.size()));
  }
  entry.source = source;
  entry.words = static_cast<std::uint32_t>(words_.size());
  entry.word_count = static_cast<std::uint16_t>(target_buffer_.size());
  words_.insert(words_.end(), target_buffer_.begin(), target_buffer_.end());
  entry.links = static_cast<std::uint32_t>(first_link);
  entry.link_count = static_cast<std::uint16_t>(links_.size() - first_link);
  entries_.push_back(entry);
  return "";
}

void TextPhraseTable::index_pairs() {
  pair_index_.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    pair_index_.emplace(hash_words(target(entries_[i]), entries_[i].source), static_cast<std::uint32_t>(i));
  }
  pairs_indexed_ = true;
}

std::string TextPhraseTable::add_reordering(std::string_view line) {
  if (finished_) return "the table is finished";
  std::array<std::string_view, 8> parts;
  int count = columns(line, parts);
  if (count < 3) return std::to_string(count) + " columns instead of source ||| target ||| scores";
  ReorderingScores scores;
  if (std::string problem = read_scores(parts[2], scores); !problem.empty()) return problem;
  has_reordering_ = true;
  if (!read_words(parts[0], source_words_, source_buffer_)) return "an empty source phrase";
  if (!read_words(parts[1], target_words_, target_buffer_)) return "an empty target phrase";
  if (cursor_ < entries_.size()) {
    Entry& entry = entries_[cursor_];
    const SourcePhrase& phrase = source_phrases_[entry.source];
    if (std::ranges::equal(target_buffer_, target(entry)) &&
        std::ranges::equal(source_buffer_, std::span(words_.data() + phrase.words, phrase.word_count))) {
      entry.reordering = scores;
      ++cursor_;
      return "";
    }
  }
  std::uint32_t source = find_source(source_buffer_);
  if (source == kNone) return "";
  if (!pairs_indexed_) index_pairs();
  auto [first, last] = pair_index_.equal_range(hash_words(target_buffer_, source));
  for (; first != last; ++first) {
    Entry& entry = entries_[first->second];
    if (entry.source == source && std::ranges::equal(target_buffer_, target(entry))) {
      entry.reordering = scores;
      cursor_ = first->second + 1;
    }
  }
  return "";
}

void TextPhraseTable::finish() {
  if (finished_) return;
  finished_ = true;
  pair_index_ = {};
  auto by_source = [](const Entry& a, const Entry& b) { return a.source < b.source; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_source)) {
    std::stable_sort(entries_.begin(), entries_.end(), by_source);
  }
  for (SourcePhrase& phrase : source_phrases_) phrase.count = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    SourcePhrase& phrase = source_phrases_[entries_[i].source];
    if (phrase.count++ == 0) phrase.first = static_cast<std::uint32_t>(i);
  }
  source_ids_.reserve(source_words_.size());
  for (std::size_t i = 0; i < source_words_.size(); ++i) {
    source_ids_.emplace(source_words_.word(static_cast<WordId>(i)), static_cast<WordId>(i));
  }
}

WordId TextPhraseTable::source_id(std::string_view word) const {
  auto entry = source_ids_.find(word);
  return entry == source_ids_.end() ? kNoWord : entry->second;
}

void TextPhraseTable::lookup(std::span<const WordId> source, PhraseMatches& out, std::size_t) const {
  std::uint32_t index = find_source(source);
  if (index == kNone) return;
  const SourcePhrase& phrase = source_phrases_[index];
  for (std::uint32_t i = phrase.first; i < phrase.first + phrase.count; ++i) {
    const Entry& entry = entries_[i];
    out.add(target(entry), {links_.data() + entry.links, entry.link_count}, entry.scores, entry.reordering);
  }
}

}  // namespace treeglot
