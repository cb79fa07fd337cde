// Word translation probabilities by relative frequency of links, both ways; words without a link are linked to nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/numbers.hh"
#include "trees/aligned_bitext.hh"

namespace treeglot {

class LexicalTable {
 public:
  static constexpr WordId kNull = 0xFFFFFFFF;

  // Every link of the pair counts so many times.
  void count(const SentencePair& pair, std::uint64_t times = 1);

  double target_given_source(WordId target, WordId source) const;  // w(e|f)
  double source_given_target(WordId source, WordId target) const;  // w(f|e)

  // How many links a word has, that to nothing included.
  std::uint64_t source_total(WordId source) const { return total(sources_, source); }
  std::uint64_t target_total(WordId target) const { return total(targets_, target); }

  // All word pairs that occurred, sorted by source and target.
  struct Item {
    WordId source, target;
    std::uint64_t count;
  };
  std::vector<Item> items() const;
  std::size_t size() const { return used_; }
  std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

  // Moses reads its word table from text with seven decimals; its scores can only be met with the same rounding, that
  // of printf (1/256 is 0.0039062). Probabilities are therefore whole numbers of 1e-7; value() is what reading the text
  // gives, to the last bit.
  static constexpr double kUnit = 1e-7;
  static std::uint32_t units(std::uint64_t part, std::uint64_t whole) {
    return static_cast<std::uint32_t>(round_decimal(static_cast<double>(part) / static_cast<double>(whole), 1e7));
  }
  static double value(std::uint32_t units) { return units / 1e7; }

 private:
  struct Cell {
    std::uint64_t key = 0, count = 0;  // count 0: free
  };
  static std::uint64_t key(WordId source, WordId target) { return (std::uint64_t{source} << 32) | target; }
  // The totals stand at id + 1, that of kNull at 0.
  static std::uint64_t total(const std::vector<std::uint64_t>& totals, WordId id) {
    std::size_t place = static_cast<WordId>(id + 1);
    return place < totals.size() ? totals[place] : 0;
  }
  static void add(std::vector<std::uint64_t>& totals, WordId id, std::uint64_t times) {
    std::size_t place = static_cast<WordId>(id + 1);
    if (place >= totals.size()) totals.resize(place + 1 + place / 2);
    totals[place] += times;
  }
  // The cell of a pair, or the free one where it belongs.
  std::size_t cell(std::uint64_t key) const;
  void grow();

  std::vector<Cell> cells_;  // open addressing; a power of two
  std::size_t used_ = 0;
  std::vector<std::uint64_t> sources_, targets_;
  std::vector<char> source_linked_, target_linked_;
};

}  // namespace treeglot
