#include "tuning/chrf.hh"

#include <algorithm>

#include "tuning/metric.hh"

namespace treeglot::tuning {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Characters of a word as numbers: their bytes side by side.
void add_characters(std::string_view word, std::vector<std::uint32_t>& characters) {
  for (const char byte : word) {
    const auto value = static_cast<unsigned char>(byte);
    if (continues(byte)) {
      characters.back() = characters.back() << 8 | value;
    } else {
      characters.push_back(value);
    }
  }
}

// ASCII's.
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::int32_t ngrams(std::size_t length, int n) {
  return static_cast<std::int32_t>(std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(length) - n + 1, 0));
}

}  // namespace

template <class IdOf>
ChrfReferences::Units ChrfReferences::units(std::string_view text, IdOf id_of) const {
  Units result;
  for_each_word(text, [&](std::string_view word) {
    add_characters(word, result.characters);
    if (!words_) return;
    const bool single = std::all_of(word.begin() + 1, word.end(), continues);
    const std::size_t cut = single                         ? 0
                            : is_punctuation(word.back())  ? word.size() - 1
                            : is_punctuation(word.front()) ? 1
                                                           : 0;
    if (cut) result.words.push_back(id_of(word.substr(0, cut)));
    result.words.push_back(id_of(word.substr(cut)));
  });
  return result;
}

ChrfReferences::ChrfReferences(const std::vector<std::vector<std::string>>& references, bool words)
    : words_(words), sentences_(references.size()) {
  for (std::size_t i = 0; i < references.size(); ++i) {
    for (const std::string& text : references[i]) {
      const Units given = units(text, [&](std::string_view word) { return vocabulary_.id(word); });
      Reference& reference = sentences_[i].emplace_back();
      reference.characters.add(given.characters, kCharacterOrder);
      reference.words.add(given.words, kWordOrder);
      reference.character_count = given.characters.size();
      reference.word_count = given.words.size();
    }
  }
}

void ChrfReferences::statistics(std::size_t sentence, std::string_view text, std::int32_t* row) const {
  const Units given = units(text, [&](std::string_view word) { return vocabulary_.find(word); });
  double best = -1;
  for (const Reference& reference : sentences_.at(sentence)) {
    std::int32_t common[kCharacterOrder + kWordOrder] = {}, counts[3 * (kCharacterOrder + kWordOrder)];
    reference.characters.match(given.characters, kCharacterOrder, common);
    if (words_) reference.words.match(given.words, kWordOrder, common + kCharacterOrder);
    for (int k = 0; k < orders(); ++k) {
      const bool characters = k < kCharacterOrder;
      const int n = 1 + (characters ? k : k - kCharacterOrder);
      const std::int32_t here = ngrams(characters ? given.characters.size() : given.words.size(), n);
      const std::int32_t there = ngrams(characters ? reference.character_count : reference.word_count, n);
      counts[3 * k] = there > 0 ? here : 0;  // where the reference has none they are no mistakes
      counts[3 * k + 1] = there;
      counts[3 * k + 2] = common[k];
    }
    const double score = chrf_score(counts, orders());
    if (score <= best) continue;
    best = score;
    std::copy_n(counts, 3 * orders(), row);
  }
}

}  // namespace treeglot::tuning
