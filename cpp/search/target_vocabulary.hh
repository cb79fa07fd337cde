// The target words of all tables of a decoder in one numbering, with their ids in the language model.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "grammars/rule.hh"
#include "lm/model.hh"
#include "table/phrase_source.hh"
#include "table/rule_table.hh"

namespace treeglot::search {

class TargetVocabulary {
 public:
  explicit TargetVocabulary(const lm::Model& model) : model_(model) {}
  // Before any use; returns the number of the table's first word. Tables must outlive this.
  std::uint32_t add(const RuleTable& table);
  std::uint32_t add(const PhraseSource& phrases);
  void finish();

  std::uint32_t size() const { return size_; }  // from here on numbers are free for copied words
  std::string_view word(TargetSymbol word) const;
  // Found when first needed; from any thread.
  lm::WordId lm_id(TargetSymbol word) const;
  // One number for a word, whichever tables have it, so that equal translations look equal: that of the first table.
  TargetSymbol canonical(TargetSymbol word) const;
  // The same for any text; size() if no table has it.
  TargetSymbol find(std::string_view text) const { return find(text, parts_.size()); }
  const lm::Model& model() const { return model_; }

 private:
  struct Part {
    std::uint32_t first;
    const RuleTable* rules;
    const PhraseSource* phrases;
  };
  std::size_t part_of(TargetSymbol word) const;
  TargetSymbol find(std::string_view text, std::size_t parts) const;  // in the first parts

  const lm::Model& model_;
  std::vector<Part> parts_;
  std::uint32_t size_ = 0;
  struct Known {
    std::atomic<lm::WordId> lm_id;
    std::atomic<TargetSymbol> canonical;
  };
  mutable std::unique_ptr<Known[]> known_;
};

}  // namespace treeglot::search
