// The forest's decoder: a set of grammars over one forest, a language model and weights. See search/decoder.hh.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forest/cube_pruning.hh"
#include "forest/matcher.hh"
#include "grammars/registry.hh"
#include "lm/model.hh"
#include "search/decoder.hh"
#include "table/phrase_source.hh"
#include "table/rule_table.hh"

namespace treeglot::forest {

struct TreeDecoderLimits {
  SearchLimits search;
  TableLimits tables;
  ForestOptions forest;
  GivenOptions grammars;  // options of the grammars, by name; one that several have is for all of them
};

class TreeDecoder : public search::Decoder {
 public:
  // Tables and model must outlive the decoder. A table's grammar decides how it is matched. `phrases` may be nullptr;
  // `phrase_grammar` is the name of their grammar. `weights`: five features, then the block of each table in this
  // order, then that of the phrases.
  TreeDecoder(std::vector<const RuleTable*> tables, const PhraseSource* phrases, const std::string& phrase_grammar,
              const lm::Model& model, const std::vector<double>& weights, const TreeDecoderLimits& limits);
  ~TreeDecoder() override;

  // Whether the rules can make exactly these words of sentence n, without pseudo rules and copied words; `phrases`:
  // with the help of bilingual phrases. For limits that leave no rule out.
  bool recovers(const ParsedCorpus& corpus, std::size_t n, std::span<const std::string_view> target,
                bool phrases) const;

 protected:
  std::unique_ptr<Worker> make_worker() const override;

 private:
  class ForestWorker;

  std::vector<const RuleTable*> tables_;
  const PhraseSource* phrases_;
  const lm::Model& model_;
  TreeDecoderLimits limits_;
  std::unique_ptr<TargetVocabulary> vocabulary_;
  std::unique_ptr<OptionScorer> scorer_;
  std::vector<GrammarBlock> blocks_;   // of each table, then of the phrases
  std::vector<OptionValues> options_;  // parallel to blocks_
};

}  // namespace treeglot::forest
