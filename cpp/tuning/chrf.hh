// The sufficient statistics of chrF (Popović 2015), equal to sacreBLEU's: n-grams of characters up to 6, white space
// left out; for chrF++ (Popović 2017) also of words up to 2, with punctuation at their ends cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hh"
#include "tuning/ngrams.hh"

namespace treeglot::tuning {

inline constexpr int kCharacterOrder = 6, kWordOrder = 2;

class ChrfReferences {
 public:
  // references[i] are the translations of sentence i, UTF-8 with nothing but blanks between words.
  ChrfReferences(const std::vector<std::vector<std::string>>& references, bool words);

  int orders() const { return kCharacterOrder + (words_ ? kWordOrder : 0); }
  std::size_t size() const { return sentences_.size(); }
  // Of each order the n-grams of the hypothesis, of the best reference, and common ones; 3 * orders() numbers.
  void statistics(std::size_t sentence, std::string_view text, std::int32_t* row) const;

 private:
  struct Units {
    std::vector<std::uint32_t> characters, words;
  };
  struct Reference {
    NgramLimits characters, words;
    std::size_t character_count = 0, word_count = 0;
  };
  template <class IdOf>
  Units units(std::string_view text, IdOf id_of) const;

  bool words_;
  SymbolTable vocabulary_;
  std::vector<std::vector<Reference>> sentences_;
};

}  // namespace treeglot::tuning
