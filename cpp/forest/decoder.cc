#include "forest/decoder.hh"

#include <stdexcept>

#include "base/parallel.hh"
#include "forest/closing.hh"

namespace treeglot::forest {

// What one thread needs, kept from sentence to sentence.
struct TreeDecoder::Worker {
  Worker(const TreeDecoder& decoder)
      : owner(decoder),
        cache(*decoder.scorer_, decoder.limits_.tables),
        forest(cache, decoder.phrases_, decoder.blocks_.back(), decoder.limits_.forest),
        search(decoder.model_, decoder.weights_, decoder.limits_.search) {
    for (std::size_t i = 0; i < decoder.blocks_.size(); ++i) {
      const RuleTable* table = i < decoder.tables_.size() ? decoder.tables_[i] : nullptr;
      matchers.push_back(decoder.blocks_[i].grammar->matcher({table, decoder.blocks_[i], decoder.options_[i]}));
    }
    matchers.push_back(std::make_unique<JoinMatcher>());
    matchers.push_back(std::make_unique<CopyMatcher>());
    matchers.push_back(std::make_unique<GoalMatcher>());
  }

  TreeTranslation run(const ParsedCorpus& corpus, std::size_t n, const NBestRequest& request, bool with_steps) {
    forest.start(corpus, n);
    for (const auto& matcher : matchers) matcher->match(forest);
    TreeTranslation result;
    const Forest& found = forest.forest();
    result.nodes = found.size();
    for (NodeId id = 0; id < found.size(); ++id) {
      result.edges += found[id].edges.size();
      for (const Edge& edge : found[id].edges) result.options += edge.options->size();
    }
    for (const ForestDerivation& derivation : search.run(found, request, with_steps)) {
      result.derivations.push_back(shown(derivation));
    }
    return result;
  }

  TreeDerivation shown(const ForestDerivation& derivation) const {
    TreeDerivation result;
    result.score = derivation.score;
    result.features = derivation.features;
    for (TargetSymbol word : derivation.words) {
      if (!result.text.empty()) result.text += ' ';
      result.text += forest.target_text(word);
    }
    for (const DerivationStep& step : derivation.steps) result.steps.push_back(shown(step));
    return result;
  }

  RuleUse shown(const DerivationStep& step) const {
    const Node& node = forest.forest()[step.node];
    const Edge& edge = node.edges[step.edge];
    RuleUse use;
    use.kind = node.kind;
    use.begin = node.begin;
    use.end = node.end;
    use.below = step.below;
    use.features = step.option->features;
    if (step.option->words > 0) {
      use.features.push_back({kWordFeature, static_cast<float>(step.option->words)});
    }
    if (node.kind == NodeKind::kConstituent) use.label = forest.label_text(static_cast<int>(node.detail) - 1);
    switch (edge.origin) {
      case kFromPhrases:
        use.grammar = owner.blocks_.back().grammar->name;
        break;
      case kFromCopy:
        use.grammar = "copy";
        break;
      case kFromPseudo:
        use.grammar = "pseudo";
        break;
      case kFromGlue:
        use.grammar = "glue";
        break;
      case kFromJoin:
        use.grammar = "join";
        break;
      default: {
        const RuleTable& table = *owner.tables_[edge.origin];
        const Grammar& grammar = *owner.blocks_[edge.origin].grammar;
        use.grammar = grammar.name;
        grammar.text.write_source(
            forest.source_side(edge), [&](std::uint32_t id) { return table.source_word(id); },
            [&](std::uint32_t id) { return table.category(id); }, use.source);
      }
    }
    for (TargetSymbol symbol : step.option->target) {
      if (is_target_variable(symbol)) {
        use.target.emplace_back();
        use.places.push_back(variable_number(symbol));
      } else {
        use.target.emplace_back(forest.target_text(symbol));
        use.places.push_back(0);
      }
    }
    return use;
  }

  const TreeDecoder& owner;
  OptionCache cache;
  SentenceForest forest;
  ForestSearch search;
  std::vector<std::unique_ptr<Matcher>> matchers;
};

TreeDecoder::TreeDecoder(std::vector<const RuleTable*> tables, const PhraseSource* phrases,
                         const std::string& phrase_grammar, const lm::Model& model, const std::vector<double>& weights,
                         const TreeDecoderLimits& limits)
    : tables_(std::move(tables)), phrases_(phrases), model_(model), weights_(weights), limits_(limits) {
  vocabulary_ = std::make_unique<TargetVocabulary>(model_);
  int feature = kFirstBlock;
  auto add_block = [&](const Grammar& grammar, std::uint32_t first_word) {
    blocks_.push_back({&grammar, static_cast<int>(blocks_.size()), feature, first_word});
    options_.emplace_back(grammar.options, limits_.grammars, true);
    feature += kBlockSize + static_cast<int>(grammar.features.size());
    if (grammar.subtree_nodes) limits_.forest.dependency_nodes = true;
  };
  for (const RuleTable* table : tables_) add_block(find_grammar(table->grammar()), vocabulary_->add(*table));
  if (phrases_) add_block(find_grammar(phrase_grammar), vocabulary_->add(*phrases_));
  if (blocks_.empty()) throw std::invalid_argument("a decoder without a table");
  if (weights_.size() != static_cast<std::size_t>(feature)) {
    throw std::invalid_argument("not as many weights as features");
  }
  vocabulary_->finish();
  scorer_ = std::make_unique<OptionScorer>(*vocabulary_, weights_);
}

TreeDecoder::~TreeDecoder() = default;

std::vector<TreeTranslation> TreeDecoder::translate(const ParsedCorpus& corpus, std::size_t first, std::size_t last,
                                                    const NBestRequest& request, bool with_steps, int threads,
                                                    const std::function<void(std::size_t)>& progress) const {
  if (first > last || last > corpus.size()) throw std::out_of_range("no such sentences");
  std::vector<TreeTranslation> results(last - first);
  for_each_piece(
      results.size(), threads,
      [&] {
        return [&, worker = std::make_shared<Worker>(*this)](std::size_t i) {
          results[i] = worker->run(corpus, first + i, request, with_steps);
        };
      },
      progress);
  return results;
}

}  // namespace treeglot::forest
