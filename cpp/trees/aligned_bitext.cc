#include "trees/aligned_bitext.hh"

#include <algorithm>
#include <charconv>
#include <string>

#include "trees/link_columns.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

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
  sort_links(links_, link_starts_.back());
  source_starts_.push_back(source_.size());
  target_starts_.push_back(target_.size());
  link_starts_.push_back(links_.size());
  return problem;
}

void AlignedBitext::add_links(std::span<const WordLink> links, std::span<const std::uint64_t> starts) {
  check_link_starts(links.size(), starts, sentences());
  std::vector<WordLink> sorted;
  std::vector<std::uint64_t> ends;
  for (std::size_t n = 0; n < sentences(); ++n) {
    const auto of_pair = links.subspan(starts[n], starts[n + 1] - starts[n]);
    const SentencePair pair = (*this)[n];
    check_links(of_pair, pair.source.size(), pair.target.size(), n);
    append_sorted(of_pair, sorted);
    ends.push_back(links_.size() + sorted.size());
  }
  links_.insert(links_.end(), sorted.begin(), sorted.end());
  link_starts_.insert(link_starts_.end(), ends.begin(), ends.end());
}

std::size_t AlignedBitext::bytes() const {
  return (source_.capacity() + target_.capacity()) * sizeof(WordId) + links_.capacity() * sizeof(WordLink) +
         (source_starts_.capacity() + target_starts_.capacity() + link_starts_.capacity()) * sizeof(std::uint64_t) +
         source_words.bytes() + target_words.bytes();
}

void AlignedBitext::take(const ParsedBitext& bitext) {
  auto add_side = [](const ParsedCorpus& corpus, std::size_t n, SymbolTable& words, std::vector<WordId>& ids,
                     std::vector<std::uint64_t>& starts) {
    for (WordId word : corpus[n].words) ids.push_back(words.id(corpus.words.word(word)));
    starts.push_back(ids.size());
  };
  for (std::size_t n = 0; n < bitext.sentences(); ++n) {
    add_side(bitext.source(), n, source_words, source_, source_starts_);
    add_side(bitext.target(), n, target_words, target_, target_starts_);
  }
  for (std::size_t n = 0; n < bitext.size(); ++n) {
    const std::span<const WordLink> links = bitext[n].links;
    links_.insert(links_.end(), links.begin(), links.end());
    link_starts_.push_back(links_.size());
  }
  weights_ = bitext.weights();
  finish();
}

void AlignedBitext::finish() {
  std::vector<WordId> fresh = source_words.sort();
  for (WordId& word : source_) word = fresh[word];
  fresh = target_words.sort();
  for (WordId& word : target_) word = fresh[word];
}

}  // namespace treeglot
