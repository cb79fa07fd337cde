// Writes counted rules as a rule table (rule_table.hh), source by source as they come.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/bytes.hh"
#include "base/external_sort.hh"
#include "base/mapped_writer.hh"
#include "grammars/extractor.hh"
#include "table/rule_counts.hh"
#include "table/rule_table_format.hh"

namespace treeglot {

class RuleTableWriter : public RuleConsumer {
 public:
  struct Options {
    std::string grammar;      // at most 31 bytes
    std::string description;  // any text; kept with the table
    bool labels = false;      // rules have structures
    bool discounted = false;  // probabilities do not follow from the counts
    bool shares = false;      // the share of its occurrences in which a source word has no link
    std::string folder = "/tmp";
    std::size_t memory = std::size_t{1} << 28;  // for sorting the index
    unsigned place_bits = 0;                    // of a slot, at least: leaves fewer bits of the key (for tests)
  };
  // Corpus and categories must outlive the writer.
  RuleTableWriter(const std::string& path, const ParsedBitext& corpus, const CategoryInterner& categories,
                  Options options);

  void begin(const SymbolUse& use) override;
  void take(const CountedSource& source) override;
  // Completes the file; returns its size.
  std::uint64_t finish(const RuleStatistics& statistics);

 private:
  struct Item {
    std::uint64_t key, value;  // twice (place + 1), and whether longer sources begin with it
  };
  struct ItemLess {
    bool operator()(const Item& a, const Item& b) const { return a.key != b.key ? a.key < b.key : a.value > b.value; }
  };

  std::uint64_t put_strings(const std::vector<const std::string*>& texts);
  void put_rule(const CountedSource& source, std::uint64_t source_code, const CountedRule& rule);
  void put_index();
  void find_shares();

  MappedWriter file_;
  Options options_;
  const ParsedBitext& corpus_;
  const CategoryInterner& categories_;
  rule_format::Header header_{};
  std::vector<std::uint32_t> word_ids_, category_ids_, target_ids_;  // of the corpus -> of the table
  std::array<std::vector<std::uint32_t>, 16> source_ranks_;          // kind, id of the corpus -> rank
  std::vector<std::uint32_t> target_ranks_, variable_ranks_;
  std::array<std::vector<std::uint32_t>, 3> node_ranks_;  // of target trees: by kind, category
  ExternalSorter<Item, ItemLess> items_;
  std::vector<float> shares_;        // of words without links, by id of the corpus, then of the table
  std::vector<Symbol> previous_;     // the last source, in the table's symbols
  std::vector<std::uint64_t> walk_;  // keys of its prefixes
  Item pending_{};                   // its item
  std::size_t pending_length_ = 0;
  ByteWriter out_;
};

}  // namespace treeglot
