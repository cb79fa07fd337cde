// The interface of every grammar's extraction: one parsed, aligned pair in, its rules out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammars/rule.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// Categories of rules: those of a corpus with their ids, and after them new ones such as the joint category
// "VP[VV_NN]". Threads share one; which id a new category gets depends on them, its text does not. The corpus must be
// complete and stay alive.
class CategoryInterner {
 public:
  explicit CategoryInterner(const SymbolTable& categories);

  std::uint32_t id(std::string_view text);
  // The joint category of a phrasal node: its label and the tags of its members, LABEL[TAG_TAG].
  std::uint32_t joint(std::uint32_t label, std::span<const WordId> tags);
  // Valid as long as the interner.
  const std::string& text(std::uint32_t id) const;
  std::size_t size() const;

 private:
  const SymbolTable& categories_;
  const std::size_t known_;
  mutable std::shared_mutex mutex_;
  std::deque<std::string> added_;  // a deque: strings stay where they are
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

// What an extractor has counted beside rules, by name: what it left out because of its bounds, for instance.
using ExtractStatistics = std::map<std::string, std::uint64_t>;

class RuleExtractor {
 public:
  virtual ~RuleExtractor() = default;
  // Gives every rule of the pair to `sink`, in an order that depends on the pair alone; equal rules of different
  // fragments come one by one. Keeps buffers, so each thread has an extractor of its own.
  virtual void extract(const ParsedPair& pair, const RuleSink& sink) = 0;
  virtual ExtractStatistics statistics() const { return {}; }
  // Can the rules of a pair make its target from its source (spec: mwu-forest, section 3)? "recovered", or a word for
  // the reason why not. Empty: the grammar leaves that to a decoder with these rules.
  virtual std::string_view recovery(const ParsedPair&) { return {}; }
};

}  // namespace treeglot
