#include "forest/decoder.hh"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "forest/closing.hh"
#include "forest/explain.hh"
#include "forest/target_spans.hh"
#include "search/features.hh"

namespace treeglot::forest {

using search::Derivation;
using search::RuleUse;
using search::Translation;

namespace {

// Edges that only put parts one after the other.
bool is_helper(const Edge& edge) {
  return edge.origin == kFromPseudo || edge.origin == kFromGlue || edge.origin == kFromJoin;
}

}  // namespace

class TreeDecoder::ForestWorker : public Decoder::Worker {
 public:
  explicit ForestWorker(const TreeDecoder& decoder)
      : owner(decoder),
        cache(*decoder.scorer_, decoder.limits_.tables),
        forest(cache, decoder.phrases_, decoder.blocks_.back(), decoder.limits_.forest) {
    search.emplace(decoder.model_, decoder.current_weights(), decoder.limits_.search);
    // By name, in whatever order the tables came: of equal derivations the one whose edge is first in the forest wins.
    std::vector<std::size_t> order(decoder.blocks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(decoder.tables_.size()),
              [&](std::size_t a, std::size_t b) {
                return decoder.blocks_[a].grammar->name < decoder.blocks_[b].grammar->name;
              });
    for (std::size_t i : order) {
      const RuleTable* table = i < decoder.tables_.size() ? decoder.tables_[i] : nullptr;
      matchers.push_back(decoder.blocks_[i].grammar->matcher({table, decoder.blocks_[i], decoder.options_[i]}));
    }
    matchers.push_back(std::make_unique<JoinMatcher>());
    matchers.push_back(std::make_unique<CopyMatcher>());
    matchers.push_back(std::make_unique<GoalMatcher>());
  }

  bool recovers(const ParsedCorpus& corpus, std::size_t n, std::span<const std::string_view> target, bool phrases) {
    forest.start(corpus, n);
    for (const auto& matcher : matchers) matcher->match(forest);
    std::vector<TargetSymbol> words;
    for (std::string_view word : target) words.push_back(owner.vocabulary_->find(word));
    return makes(forest.forest(), words, [&](std::uint16_t origin) {
      return origin != kFromCopy && origin != kFromPseudo && (phrases || origin != kFromPhrases);
    });
  }

  void weights_changed() override {
    cache.weights_changed();
    search.emplace(owner.model_, owner.current_weights(), owner.limits_.search);
  }

  Translation translate(const ParsedCorpus& corpus, std::size_t n, const NBestRequest& request,
                        bool with_steps) override {
    forest.start(corpus, n);
    for (const auto& matcher : matchers) matcher->match(forest);
    Translation result;
    const Forest& graph = forest.forest();
    result.nodes = graph.size();
    for (NodeId id = 0; id < graph.size(); ++id) {
      result.edges += graph[id].edges.size();
      for (const Edge& edge : graph[id].edges) result.options += edge.options->size();
    }
    for (const ForestDerivation& derivation : search->run(graph, request, with_steps)) {
      result.derivations.push_back(shown(derivation));
    }
    return result;
  }

 private:
  Derivation shown(const ForestDerivation& derivation) {
    Derivation result;
    result.score = derivation.score;
    result.features = derivation.features;
    for (TargetSymbol word : derivation.words) {
      if (!result.text.empty()) result.text += ' ';
      result.text += forest.target_text(word);
    }
    const std::vector<double> lm = language_model_scores(owner.model_, derivation.steps);
    std::vector<RawStep> steps;
    for (std::size_t i = 0; i < derivation.steps.size(); ++i) {
      const DerivationStep& step = derivation.steps[i];
      steps.push_back({shown(step), is_helper(forest.forest()[step.node].edges[step.edge])});
      if (lm[i] != 0)
        steps[i].use.features.push_back({kLanguageModelFeature, static_cast<float>(lm[i] * std::numbers::ln10)});
    }
    result.steps = readable(std::move(steps), [&](std::uint32_t j) { return forest.word_text(static_cast<int>(j)); });
    return result;
  }

  RuleUse shown(const DerivationStep& step) {
    const Node& node = forest.forest()[step.node];
    const Edge& edge = node.edges[step.edge];
    RuleUse use;
    use.kind = kind_name(node.kind);
    use.begin = node.begin;
    use.end = node.end;
    const std::span<const std::uint32_t> scattered = forest.scattered(step.node);
    use.parts.assign(scattered.begin(), scattered.end());
    use.below = step.below;
    use.features.assign(step.option->features.begin(), step.option->features.end());
    if (step.option->words > 0) {
      use.features.push_back({kWordFeature, static_cast<float>(step.option->words)});
    }
    if (node.kind == NodeKind::kTyped) use.label = cache.category_text(node.detail);
    if (node.kind == NodeKind::kConstituent) use.label = forest.label_text(static_cast<int>(node.detail) - 1);
    switch (edge.origin) {
      case kFromPhrases: {
        use.grammar = owner.blocks_.back().grammar->name;
        const std::span<const WordLink> links = forest.phrase_links(node.begin, node.end, *step.option);
        use.links.assign(links.begin(), links.end());
        break;
      }
      case kFromCopy:
        use.grammar = "copy";
        use.links = {{0, 0}};
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
        if (!step.option->tree.empty()) {
          grammar.text.write_target(
              step.option->tree, [&](std::uint32_t id) { return table.target_word(id); },
              [&](std::uint32_t id) { return table.category(id); }, use.target_tree);
        }
        use.headed = grammar.subtree_nodes;
        use.unlinked = step.option->unlinked;
        const bool beside_run =
            std::any_of(forest.source_side(edge).begin(), forest.source_side(edge).end(), [](Symbol symbol) {
              return symbol_kind(symbol) == SymbolKind::kRunWord || symbol_kind(symbol) == SymbolKind::kRunTag;
            });
        for (NodeId tail : forest.forest().tails(edge)) {
          use.phrasal = use.phrasal || (use.headed && !beside_run && forest.forest()[tail].kind == NodeKind::kGroup);
        }
        if (use.unlinked > 0 && use.headed) use.unlinked -= std::min(use.unlinked, words_in_tails(step.node, edge));
      }
    }
    for (TargetSymbol symbol : step.option->target) {
      if (is_target_variable(symbol)) {
        use.target.emplace_back(variable_number(symbol));
      } else {
        use.target.emplace_back(std::string(forest.target_text(symbol)));
      }
    }
    return use;
  }

  // Words of a source side that are not the step's own: a structure that covers words without links translates them.
  std::uint32_t words_in_tails(NodeId id, const Edge& edge) const {
    const auto length = [&](NodeId n) { return forest.forest()[n].end - forest.forest()[n].begin; };
    if (!forest.scattered(id).empty()) return 0;
    std::uint32_t own = length(id);
    for (NodeId tail : forest.forest().tails(edge)) {
      if (!forest.scattered(tail).empty()) return 0;
      own -= length(tail);
    }
    const auto source = forest.source_side(edge);
    const auto words = static_cast<std::uint32_t>(std::count_if(source.begin(), source.end(), has_word));
    return words > own ? words - own : 0;
  }

  const TreeDecoder& owner;
  OptionCache cache;
  SentenceForest forest;
  std::optional<ForestSearch> search;
  std::vector<std::unique_ptr<Matcher>> matchers;
};

TreeDecoder::TreeDecoder(std::vector<const RuleTable*> tables, const PhraseSource* phrases,
                         const std::string& phrase_grammar, const lm::Model& model, const std::vector<double>& weights,
                         const TreeDecoderLimits& limits)
    : tables_(std::move(tables)), phrases_(phrases), model_(model), limits_(limits) {
  std::vector<std::string> names(search::kForestFeatures.begin(), search::kForestFeatures.end());
  vocabulary_ = std::make_unique<TargetVocabulary>(model_);
  auto add_block = [&](const Grammar& grammar, std::uint32_t first_word) {
    blocks_.push_back({&grammar, static_cast<int>(blocks_.size()), static_cast<int>(names.size()), first_word});
    options_.emplace_back(grammar.options, limits_.grammars, true);
    for (const char* name : search::kBlockFeatures) names.push_back(grammar.name + "." + name);
    for (const Grammar::FeatureSpec& feature : grammar.features) {
      if (!feature.wanted(options_.back())) continue;
      if (feature.unlinked) blocks_.back().unlinked_feature = static_cast<int>(names.size());
      names.push_back(grammar.name + "." + feature.name);
    }
    if (grammar.subtree_nodes) limits_.forest.dependency_nodes = true;
  };
  for (const RuleTable* table : tables_) add_block(find_grammar(table->grammar()), vocabulary_->add(*table));
  if (phrases_) add_block(find_grammar(phrase_grammar), vocabulary_->add(*phrases_));
  if (blocks_.empty()) throw std::invalid_argument("a decoder without a table");
  vocabulary_->finish();
  start(std::move(names), weights);
  scorer_ = std::make_unique<OptionScorer>(*vocabulary_, current_weights());
}

TreeDecoder::~TreeDecoder() { drop_workers(); }

bool TreeDecoder::recovers(const ParsedCorpus& corpus, std::size_t n, std::span<const std::string_view> target,
                           bool phrases) const {
  return ForestWorker(*this).recovers(corpus, n, target, phrases);
}

std::unique_ptr<search::Decoder::Worker> TreeDecoder::make_worker() const {
  return std::make_unique<ForestWorker>(*this);
}

}  // namespace treeglot::forest
