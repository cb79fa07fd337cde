// The rules of parsed, aligned pairs as text: what `treeglot rules extract` prints and tests compare.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammars/registry.hh"

namespace treeglot {

inline constexpr std::string_view kBetweenSides = " ||| ";

struct TextRule {
  std::size_t source_size = 0;  // of the key "source ||| target ||| "
  double count = 0;
  std::vector<StructureLabel> labels;
};
using TextRules = std::map<std::string, TextRule>;  // by bytes, which is by code points

// The extractor of a grammar for a bitext that is complete and stays alive.
class TextExtractor {
 public:
  // Throws std::invalid_argument for unknown grammars and options that do not fit.
  TextExtractor(const ParsedBitext& bitext, std::string_view grammar, const GivenOptions& options);

  // The rules of pair n: equal ones are one, with counts added up and labels united. Throws std::out_of_range.
  TextRules rules(std::size_t n);
  // The rules of pairs [begin, end) as lines "source ||| target ||| count", an empty line after each pair.
  std::string lines(std::size_t begin, std::size_t end);
  // How many rules the pairs [begin, end) have, equal ones counted as often as they are there: extraction alone.
  std::size_t count(std::size_t begin, std::size_t end);
  // Whether they can make the target of pair n, as the grammar decides it (RuleExtractor::recovery). std::out_of_range.
  std::string_view recovery(std::size_t n);
  const ParsedBitext& bitext() const { return bitext_; }
  ExtractStatistics statistics() const { return extractor_->statistics(); }

 private:
  const ParsedBitext& bitext_;
  std::size_t size_;
  CategoryInterner interner_;
  const Grammar& grammar_;
  std::unique_ptr<RuleExtractor> extractor_;
};

}  // namespace treeglot
