// Rules on their way from extraction to totals: a block of distinct rules in memory, sorted runs on disk, and their
// merge, source side by source side. Used by rule_counts.cc only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/external_sort.hh"
#include "base/hash.hh"
#include "grammars/extractor.hh"
#include "grammars/rule.hh"

namespace treeglot::counting {

// Ranks of symbols by kind and text. Categories get their ids while rules are extracted, in any order; the order of
// those that a block has is the same whenever it is asked for.
class SymbolOrder {
 public:
  SymbolOrder(const std::vector<std::uint32_t>& word_ranks, const CategoryInterner& categories);
  // 1 and above.
  std::uint64_t rank(Symbol symbol) const {
    const auto kind = static_cast<std::size_t>(symbol_kind(symbol));
    if (id_is_word(symbol)) return bases_[kind] + (*words_)[symbol_id(symbol)];
    if (symbol_kind(symbol) == SymbolKind::kPlace) return bases_[kind] + std::min(symbol_id(symbol), kPlaces - 1);
    return bases_[kind] + (symbol_id(symbol) < categories_.size() ? categories_[symbol_id(symbol)] : 0);
  }
  std::uint64_t limit() const { return limit_; }
  int compare(std::span<const Symbol> a, std::span<const Symbol> b) const;

 private:
  static constexpr std::uint32_t kPlaces = 1u << 16;
  const std::vector<std::uint32_t>* words_;
  std::vector<std::uint32_t> categories_;
  std::array<std::uint64_t, 16> bases_{};
  std::uint64_t limit_ = 1;
};

// Ranks of ids by text.
std::vector<std::uint32_t> text_ranks(std::size_t size, const std::function<const std::string&(std::uint32_t)>& text);

// The same for target symbols; a variable stands where its name (x1, x2 ...) does.
class TargetOrder {
 public:
  explicit TargetOrder(const SymbolTable& words);
  std::uint64_t rank(TargetSymbol symbol) const {
    if (is_target_word(symbol)) return words_[symbol];
    if (is_target_node(symbol)) {  // behind the words, by kind and text
      const std::uint64_t category = target_category(symbol);
      return (std::uint64_t{1} << 40) * (1 + static_cast<std::uint64_t>(target_node_kind(symbol))) +
             (category < categories_.size() ? categories_[category] : category);
    }
    std::uint32_t number = variable_number(symbol);
    return number < kNamed ? variables_[number] : words_.size() + number;
  }
  int compare(std::span<const TargetSymbol> a, std::span<const TargetSymbol> b) const;
  // Target trees have categories, which appear while rules are extracted: before comparing those that are there now.
  void rank_categories(const CategoryInterner& categories);

 private:
  static constexpr std::uint32_t kNamed = 256;  // higher ones stand behind everything
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> variables_;
  std::vector<std::uint32_t> categories_;
};

// All rules of one source side.
struct Group {
  struct Rule {
    std::uint32_t target, length;      // in `symbols`
    std::uint32_t label, label_count;  // in `labels`
    std::uint64_t count;
    float lexical_target, lexical_source;
    std::uint8_t unlinked;
  };
  std::vector<Symbol> source;
  std::vector<Rule> rules;
  std::vector<TargetSymbol> symbols;
  std::vector<StructureLabel> labels;

  void clear() {
    rules.clear();
    symbols.clear();
    labels.clear();
  }
  std::span<const TargetSymbol> target(const Rule& rule) const { return {symbols.data() + rule.target, rule.length}; }
  std::span<const StructureLabel> labels_of(const Rule& rule) const {
    return {labels.data() + rule.label, rule.label_count};
  }
  void add(std::span<const TargetSymbol> target, std::span<const StructureLabel> with, std::uint64_t count,
           float lexical_target, float lexical_source, std::uint8_t unlinked);
  // Sorts by target and makes equal rules one.
  void unite(const TargetOrder& order);
};

// A sorted list of sources with their rules.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool done() const = 0;
  virtual std::span<const Symbol> source() const = 0;
  virtual void take(Group& group) = 0;  // appends the rules of the source and goes on
};

// Distinct rules in memory. Sides are known by 64-bit hashes. Finding them is a matter of cache misses, so rules are
// found in batches whose memory is asked for ahead of its use.
class RuleBlock {
 public:
  RuleBlock();
  void add(const ExtractedRule& rule, std::uint64_t count, float lexical_target, float lexical_source,
           std::uint8_t unlinked);
  std::size_t bytes() const;
  void sort(const SymbolOrder& order);  // before a cursor is made
  std::unique_ptr<Cursor> cursor() const;
  void clear();

 private:
  friend class BlockCursor;
  // Sequences of symbols with ids.
  class Sides {
   public:
    Sides() { clear(); }
    // The place where a hash is or will be comes into the cache.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
    std::uint32_t id(std::uint64_t hash, std::span<const std::uint32_t> side);
    std::size_t size() const { return starts_.size() - 1; }
    std::span<const std::uint32_t> operator[](std::uint32_t id) const {
      return {symbols_.data() + starts_[id], symbols_.data() + starts_[id + 1]};
    }
    void prefetch_start(std::uint32_t id) const { __builtin_prefetch(&starts_[id]); }
    void prefetch_side(std::uint32_t id) const { __builtin_prefetch(symbols_.data() + starts_[id]); }
    std::size_t bytes() const {
      return (symbols_.capacity() + starts_.capacity()) * 4 + slots_.capacity() * sizeof(Slot);
    }
    void clear();
    void forget_index() { std::vector<Slot>().swap(slots_); }

   private:
    struct Slot {
      std::uint64_t hash = 0;
      std::uint32_t id = 0;  // id + 1; 0: free
    };
    void grow();
    std::vector<std::uint32_t> symbols_, starts_;
    std::vector<Slot> slots_;
  };
  struct Pending {
    std::uint64_t source_hash, target_hash, count;
    std::uint32_t source_begin, target_begin, end;  // in pending_symbols_
    std::uint32_t label_begin, label_end;           // in pending_labels_
    float lexical_target, lexical_source;
    std::uint8_t unlinked;
    std::uint32_t source, target, tag;  // found on the way
  };
  struct Rule {
    std::uint32_t source, target;
    std::uint64_t count;
    float lexical_target, lexical_source;
    std::uint32_t next;         // with the same source; kEnd: none
    std::uint32_t labels : 24;  // 0: none
    std::uint32_t unlinked : 8;
  };
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  struct Slot {
    std::uint32_t tag, rule;  // rule + 1; 0: free
  };
  void grow();
  void settle();
  void put(const Pending& rule);
  std::uint32_t label_set(std::vector<StructureLabel> labels);

  static constexpr std::size_t kBatch = 32;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> pending_symbols_;
  std::vector<StructureLabel> pending_labels_;
  Sides sources_, targets_;
  std::vector<Rule> rules_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> first_;  // the newest rule of each source
  std::vector<std::uint32_t> order_;  // sources, sorted
  std::map<std::vector<StructureLabel>, std::uint32_t> label_ids_;
  std::vector<const std::vector<StructureLabel>*> label_sets_;
};

// Sorted runs on disk.
class Run {
 public:
  explicit Run(const std::string& folder) : file_(folder) {}
  void write(const Group& group);
  void finish();
  // One at a time.
  std::unique_ptr<Cursor> cursor();

 private:
  friend class RunCursor;
  TemporaryFile file_;
  std::vector<char> buffer_;
};

// Reads several cursors as one.
class Merger {
 public:
  Merger(std::vector<std::unique_ptr<Cursor>> cursors, const SymbolOrder& order, const TargetOrder& targets);
  // The next source with all its rules, each once; false at the end.
  bool next(Group& group);

 private:
  bool less(std::size_t a, std::size_t b) const;
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<std::size_t> heap_;
  const SymbolOrder& order_;
  const TargetOrder& targets_;
};

}  // namespace treeglot::counting
