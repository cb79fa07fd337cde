// Head words of phrases by percolation tables (treeglot.trees.heads). The tables are data of treeglot.trees.headtables:
// a tree is read by the one that knows most of its labels, tags and functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/words.hh"

namespace treeglot {

struct HeadStep {
  bool from_right, ranked;
  std::vector<std::string> items;
};

struct HeadTable {
  std::vector<std::pair<std::string, std::vector<HeadStep>>> rules;
  std::vector<HeadStep> fallback;  // for other labels and when no step finds a child
  std::vector<std::string> punctuation, coordinators;
  std::vector<std::string> vocabulary;  // labels, tags and :functions by which the table is recognised
};

// Keeps its buffers from tree to tree.
class HeadFinder {
 public:
  explicit HeadFinder(std::span<const HeadTable> tables);

  struct Phrase {
    std::string_view label, function;
    std::int32_t begin, end, parent;
  };
  // The head word of each phrase; phrases are in preorder. Nothing without tables.
  std::span<const std::uint16_t> head_words(std::span<const Phrase> phrases, std::span<const std::string_view> tags,
                                            std::span<const std::string_view> word_functions);

  // A tree that may have gaps: the children of phrase n, by their first word, are those from starts[n] to starts[n +
  // 1], phrases as their numbers and word j as ~j.
  struct Children {
    std::span<const std::string_view> labels, functions;
    std::span<const std::int32_t> children;
    std::span<const std::uint32_t> starts;
  };
  // The head child of each phrase. There must be tables.
  std::span<const std::int32_t> head_children(const Children& tree, std::span<const std::string_view> tags,
                                              std::span<const std::string_view> word_functions);

 private:
  using Id = std::uint32_t;
  struct Item {
    Id text;            // which label it is; kAny: each
    bool prefix;        // or how the label begins
    bool has_function;  // and this function
    Id function;
  };
  struct Step {
    bool from_right, ranked;
    std::vector<Item> items;
  };
  using Steps = std::vector<Step>;
  struct Table {
    std::unordered_map<Id, Steps> rules;
    Steps fallback;
    std::vector<Item> coordinators;
  };
  // What is known about a label or tag (without function) or a function.
  struct Symbol {
    std::uint32_t known_by = 0;        // a bit for each table that has it in its vocabulary
    std::uint32_t punctuation_of = 0;  // or among its punctuation
    std::uint32_t initial = 0;         // its first character
  };
  struct Child {
    bool is_word;
    std::uint32_t node;  // number of the phrase, or of the word
    std::uint32_t word;  // its head word
    Id label, function;
  };

  Id symbol(std::string_view text);
  Id base(std::string_view label);  // without functions, indices and marks of binarisation
  Item item(const std::string& text);
  Steps compile(const std::vector<HeadStep>& steps);
  void clear_symbols();
  Id function_symbol(std::string_view function);
  void add_words(std::span<const std::string_view> tags, std::span<const std::string_view> functions);
  std::size_t guess_table() const;
  void collect_children(std::span<const Phrase> phrases, std::size_t words);
  const Child& head_child(std::span<const Child> children, Id label, std::size_t table);
  const Child* first_conjunct(std::span<const Child> children, const Steps* rule, const Table& table,
                              std::size_t number, const Child* head);
  const Child* search(const Steps* rule, const Table& table);
  const Child* find(const Steps& steps);
  bool matches(const Child& child, const Item& item) const;
  bool is_punctuation(const Child& child, std::size_t table) const {
    return (symbols_[tags_[child.word]].punctuation_of >> table & 1) != 0;
  }

  SymbolTable texts_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, Id> bases_;
  std::vector<Table> tables_;
  std::vector<Id> labels_, functions_, tags_, word_functions_;
  std::vector<Child> children_;
  std::vector<std::uint32_t> child_starts_, filled_, word_parents_, open_;
  std::vector<const Child*> candidates_;
  std::vector<std::uint16_t> heads_;
  std::vector<std::int32_t> head_children_;
};

}  // namespace treeglot
