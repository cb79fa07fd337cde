#include "grammars/text_rules.hh"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace treeglot {

TextExtractor::TextExtractor(const ParsedBitext& bitext, std::string_view grammar, const GivenOptions& options)
    : bitext_(bitext),
      size_(bitext.size()),
      interner_(bitext.source().categories),
      grammar_(find_grammar(grammar)),
      extractor_(make_extractor(grammar, options, bitext, interner_)) {}

TextRules TextExtractor::rules(std::size_t n) {
  if (bitext_.size() != size_) throw std::logic_error("the bitext has grown since the extractor was made");
  if (n >= size_) throw std::out_of_range("no such pair");
  TextRules result;
  std::string key;
  const TextOf word = [this](std::uint32_t id) { return std::string_view(bitext_.source().words.word(id)); };
  const TextOf category = [this](std::uint32_t id) { return std::string_view(interner_.text(id)); };
  const TextOf target_word = [this](std::uint32_t id) { return std::string_view(bitext_.target().words.word(id)); };
  extractor_->extract(bitext_[n], [&](const ExtractedRule& rule) {
    key.clear();
    grammar_.text.write_source(rule.source, word, category, key);
    const std::size_t source_size = key.size();
    key += kBetweenSides;
    grammar_.text.write_target(rule.target, target_word, category, key);
    key += kBetweenSides;
    TextRule& text_rule = result[key];
    text_rule.source_size = source_size;
    text_rule.count += rule.count;
    text_rule.labels.insert(text_rule.labels.end(), rule.labels.begin(), rule.labels.end());
  });
  for (auto& [text, rule] : result) {
    std::sort(rule.labels.begin(), rule.labels.end());
    rule.labels.erase(std::unique(rule.labels.begin(), rule.labels.end()), rule.labels.end());
  }
  return result;
}

std::size_t TextExtractor::count(std::size_t begin, std::size_t end) {
  if (begin > end || end > size_) throw std::out_of_range("no such pairs");
  std::size_t rules = 0;
  for (std::size_t n = begin; n < end; ++n) extractor_->extract(bitext_[n], [&](const ExtractedRule&) { ++rules; });
  return rules;
}

std::string_view TextExtractor::recovery(std::size_t n) {
  if (n >= size_) throw std::out_of_range("no such pair");
  return extractor_->recovery(bitext_[n]);
}

std::string TextExtractor::lines(std::size_t begin, std::size_t end) {
  std::string text;
  char count[32];
  for (std::size_t n = begin; n < end; ++n) {
    for (const auto& [line, rule] : rules(n)) {
      std::snprintf(count, sizeof count, "%.6g", rule.count);
      text += line;
      text += count;
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

}  // namespace treeglot
