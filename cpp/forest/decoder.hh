// The tree decoder: a set of grammars over one forest, a language model and weights; many sentences in many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "forest/cube_pruning.hh"
#include "forest/matcher.hh"
#include "grammars/registry.hh"
#include "lm/model.hh"
#include "table/phrase_source.hh"
#include "table/rule_table.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot::forest {

struct TreeDecoderLimits {
  SearchLimits search;
  TableLimits tables;
  ForestOptions forest;
  GivenOptions grammars;  // options of the grammars, by name; one that several have is for all of them
};

// One application of a rule, ready to be shown.
struct RuleUse {
  std::string grammar;  // of the rule, or phrases, copy, pseudo, glue, join
  NodeKind kind;
  std::uint16_t begin, end;            // source words
  std::string label;                   // of a constituent
  std::string source;                  // the rule's source side as text; empty for phrases and copied words
  std::vector<std::string> target;     // words; a variable is an empty string
  std::vector<std::uint32_t> places;   // parallel to target: which of `below` fills a variable
  std::vector<std::uint32_t> below;    // steps that fill the variables
  std::vector<FeatureValue> features;  // what this step adds, words included, language model not
};

struct TreeDerivation {
  double score = 0;
  std::vector<double> features;
  std::string text;
  std::vector<RuleUse> steps;  // preorder; empty if not asked for
};

struct TreeTranslation {
  std::vector<TreeDerivation> derivations;
  std::size_t nodes = 0, edges = 0, options = 0;  // of the forest
};

class TreeDecoder {
 public:
  // Tables and model must outlive the decoder. A table's grammar decides how it is matched. `phrases` may be nullptr;
  // `phrase_grammar` is the name of their grammar. `weights`: five features, then the block of each table in this
  // order, then that of the phrases.
  TreeDecoder(std::vector<const RuleTable*> tables, const PhraseSource* phrases, const std::string& phrase_grammar,
              const lm::Model& model, const std::vector<double>& weights, const TreeDecoderLimits& limits);
  ~TreeDecoder();

  // The result does not depend on `threads` (0: all cores). `progress`, if given, is called now and then in the calling
  // thread; it may throw to stop.
  std::vector<TreeTranslation> translate(const ParsedCorpus& corpus, std::size_t first, std::size_t last,
                                         const NBestRequest& request, bool with_steps, int threads,
                                         const std::function<void(std::size_t)>& progress = {}) const;

 private:
  struct Worker;
  std::unique_ptr<Worker> worker() const;

  std::vector<const RuleTable*> tables_;
  const PhraseSource* phrases_;
  const lm::Model& model_;
  std::vector<double> weights_;
  TreeDecoderLimits limits_;
  std::unique_ptr<TargetVocabulary> vocabulary_;
  std::unique_ptr<OptionScorer> scorer_;
  std::vector<GrammarBlock> blocks_;   // of each table, then of the phrases
  std::vector<OptionValues> options_;  // parallel to blocks_
};

}  // namespace treeglot::forest
