// Lexical weights of rules (Koehn 2003): every terminal of one side has the mean word probability over its links inside
// the rule, or that of nothing if it has none; the weight is their product.
#pragma once

#include <algorithm>
#include <vector>

#include "base/hash.hh"
#include "grammars/rule.hh"
#include "table/lexical_table.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// The word table of a corpus, frozen: one probe gives both directions.
class RuleLexicon {
 public:
  explicit RuleLexicon(const ParsedBitext& corpus) {
    LexicalTable table;
    for (std::size_t n = 0; n < corpus.size(); ++n) {
      ParsedPair pair = corpus[n];
      table.count({pair.source.words, pair.target.words, pair.links}, corpus.weights().units(n / corpus.sentences()));
    }
    std::size_t slots = 1024;
    while (slots < 2 * table.size()) slots *= 2;
    cells_.resize(slots);
    no_target_.assign(corpus.source().words.size(), kFloor);
    no_source_.assign(corpus.target().words.size(), kFloor);
    for (const LexicalTable::Item& item : table.items()) {
      auto probability = [&](std::uint64_t total) {
        return static_cast<float>(std::max(kFloor, LexicalTable::kUnit * LexicalTable::units(item.count, total)));
      };
      if (item.source == LexicalTable::kNull) {
        no_source_[item.target] = probability(table.source_total(item.source));
      } else if (item.target == LexicalTable::kNull) {
        no_target_[item.source] = probability(table.target_total(item.target));
      } else {
        std::size_t place = find(item.source, item.target);
        cells_[place] = {key(item.source, item.target), probability(table.source_total(item.source)),
                         probability(table.target_total(item.target))};
      }
    }
  }

  // For words that were never linked: one unit of the word table.
  static constexpr double kFloor = LexicalTable::kUnit;
  // Products below this become this.
  static constexpr float kSmallest = 1e-37f;

  struct Weights {
    float target, source;   // Plex(t|s), Plex(s|t)
    std::uint8_t unlinked;  // source words without a link, at most 255
  };
  class Scratch {
    friend class RuleLexicon;
    struct Mean {
      float sum = 0;
      std::uint32_t degree = 0;
    };
    std::vector<Mean> source, target;
  };
  Weights weights(const ExtractedRule& rule, Scratch& scratch) const {
    scratch.source.assign(rule.source.size(), {});
    scratch.target.assign(rule.target.size(), {});
    for (const WordLink& link : rule.links) {
      const Cell& cell = cells_[find(symbol_id(rule.source[link.source]), rule.target[link.target])];
      const float floor = static_cast<float>(kFloor);
      scratch.target[link.target].sum += cell.key ? cell.target : floor;
      scratch.source[link.source].sum += cell.key ? cell.source : floor;
      ++scratch.target[link.target].degree;
      ++scratch.source[link.source].degree;
    }
    double target = 1, source = 1;
    std::uint8_t unlinked = 0;
    for (std::size_t t = 0; t < rule.target.size(); ++t) {
      if (!is_target_word(rule.target[t])) continue;
      const Scratch::Mean& mean = scratch.target[t];
      target *= mean.degree == 0   ? no_source_[rule.target[t]]
                : mean.degree == 1 ? mean.sum
                                   : mean.sum / static_cast<float>(mean.degree);
    }
    for (std::size_t s = 0; s < rule.source.size(); ++s) {
      if (!has_word(rule.source[s])) continue;
      const Scratch::Mean& mean = scratch.source[s];
      if (mean.degree == 0 && unlinked < 255) ++unlinked;
      source *= mean.degree == 0   ? no_target_[symbol_id(rule.source[s])]
                : mean.degree == 1 ? mean.sum
                                   : mean.sum / static_cast<float>(mean.degree);
    }
    return {std::max(kSmallest, static_cast<float>(target)), std::max(kSmallest, static_cast<float>(source)), unlinked};
  }

 private:
  struct Cell {
    std::uint64_t key = 0;  // 0: free
    float target = 0, source = 0;
  };
  static std::uint64_t key(WordId source, WordId target) {
    return ((std::uint64_t{source} + 1) << 32) | target;  // never 0
  }
  std::size_t find(WordId source, WordId target) const {
    const std::uint64_t wanted = key(source, target);
    const std::size_t mask = cells_.size() - 1;
    std::size_t place = (wanted * 0x9FB21C651E98DF25ull) >> 20 & mask;
    while (cells_[place].key != 0 && cells_[place].key != wanted) place = (place + 1) & mask;
    return place;
  }

  std::vector<Cell> cells_;  // open addressing; a power of two
  std::vector<double> no_target_, no_source_;
};

}  // namespace treeglot
