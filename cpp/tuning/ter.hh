// The sufficient statistics of translation edit rate (Snover et al. 2006), equal to sacreBLEU's, which follows Tercom:
// the fewest insertions, deletions, substitutions and shifts of blocks of words that a greedy search for shifts finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hh"

namespace treeglot::tuning {

// The edits that turn a sequence of words into another.
std::int32_t translation_edits(const std::vector<WordId>& hypothesis, const std::vector<WordId>& reference);

class TerReferences {
 public:
  // references[i] are the translations of sentence i.
  explicit TerReferences(const std::vector<std::vector<std::string>>& references);

  std::size_t size() const { return sentences_.size(); }
  // The fewest edits to any of the references, and the words of all references.
  void statistics(std::size_t sentence, std::string_view text, std::int32_t* row) const;

 private:
  SymbolTable words_;
  std::vector<std::vector<std::vector<WordId>>> sentences_;
};

}  // namespace treeglot::tuning
