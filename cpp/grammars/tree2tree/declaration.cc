#include "grammars/tree2tree/declaration.hh"

#include <algorithm>

#include "grammars/tree2tree/extractor.hh"
#include "grammars/tree2tree/matcher.hh"
#include "grammars/tree2tree/text.hh"

namespace treeglot {

namespace {

// Places of the features among the grammar's own.
constexpr std::size_t kSequences = 0, kAbstract = 1, kMismatch = 2;

void count_features(std::span<const Symbol> source, std::span<const TargetSymbol> target, std::span<float> values) {
  bool sequence = false, words = false;
  int depth = 0, roots = 0;
  for (Symbol symbol : source) {
    const SymbolKind kind = symbol_kind(symbol);
    words = words || kind == SymbolKind::kWord;
    sequence = sequence || kind == SymbolKind::kMore;
    if (kind == SymbolKind::kClose) {
      --depth;
    } else {
      roots += depth == 0;
      depth += kind == SymbolKind::kOpen;
    }
  }
  sequence = sequence || roots > 1;
  roots = depth = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const TargetSymbol symbol = target[i];
    words = words || is_target_word(symbol);
    if (!is_target_node(symbol)) continue;
    const TargetNode kind = target_node_kind(symbol);
    if (kind == TargetNode::kClose) {
      --depth;
      continue;
    }
    roots += depth == 0;
    depth += kind == TargetNode::kOpen;
    // A frontier node without a variable behind it is a further node of one.
    if (kind == TargetNode::kFrontier && (i + 1 == target.size() || !is_target_variable(target[i + 1])))
      sequence = true;
  }
  values[kSequences] = sequence || roots > 1 ? 1.0f : 0.0f;
  values[kAbstract] = words ? 0.0f : 1.0f;
}

LinkUse link_use(const std::string& choice) {
  return choice == "dirc" ? LinkUse::kDirc : choice == "ewos" ? LinkUse::kEwos : LinkUse::kBase;
}

}  // namespace

Grammar tree_to_tree_grammar(std::string name, std::string title, bool sequences) {
  Grammar grammar;
  grammar.name = std::move(name);
  grammar.title = std::move(title);
  grammar.needs.source_constituency = grammar.needs.target_constituency = true;
  grammar.needs.node_links = true;
  grammar.node_link_option = "links";
  grammar.options = {
      number_option("max_variables", 3, 0, 8, OptionUse::kExtraction, "variables of a rule"),
      number_option("max_frontier", 6, 1, 40, OptionUse::kExtraction, "words and variables of a source side"),
      number_option("max_words", 7, 0, 40, OptionUse::kExtraction, "words of a side"),
      number_option("max_height", 6, 1, 40, OptionUse::kExtraction, "edges from the root down to the lowest leaf"),
      number_option("span_limit", 10, 1, 100, OptionUse::kExtraction, "source words under a rule with words"),
      number_option("max_variants", 4, 1, 1000, OptionUse::kExtraction, "target spans of one source span"),
      choice_option("links", {"base", "dirc", "ewos"}, OptionUse::kExtraction,
                    "rules of word links, of node links counted beside them (dirc), or of both at once (ewos)"),
      choice_option("reading", {"exact", "open"}, OptionUse::kExtraction, "which span pairs node links license"),
      choice_option("categories", {"strict", "fuzzy"}, OptionUse::kMatching,
                    "whether a variable takes translations of other categories, too, at a price"),
  };
  if (sequences) {
    // A span has many categories, each with translations of its own, and a source side many groups of rules: these give
    // nearly the scores of the common limits at a fifth of the time (docs/tree-systems.md).
    grammar.stack_limit = 50;
    grammar.rule_limit = 10;
    grammar.options.insert(grammar.options.begin(),
                           number_option("max_trees", 3, 1, 5, OptionUse::kBoth, "trees of a sequence"));
  }
  grammar.features = {
      {"sequences", 0.0, "rules with a sequence of trees"},
      {"abstract", 0.0, "rules without words"},
      {"mismatch", -0.2, "variables filled by another category, words translated as under other labels"}};
  grammar.rule_features = count_features;
  grammar.text = tree_sequence_text();
  grammar.uses_phrases = false;
  auto max_trees = [sequences](const OptionValues& given) { return sequences ? given.number("max_trees") : 1; };
  grammar.extractor = [max_trees](const OptionValues& given, const ParsedBitext& corpus, CategoryInterner& interner) {
    const TreeToTreeOptions options{.units = {.max_trees = max_trees(given),
                                              .max_variants = given.number("max_variants"),
                                              .open = given.choice("reading") == "open"},
                                    .max_variables = given.number("max_variables"),
                                    .max_symbols = given.number("max_frontier"),
                                    .max_words = given.number("max_words"),
                                    .max_height = given.number("max_height"),
                                    .span_limit = given.number("span_limit"),
                                    .links = link_use(given.choice("links"))};
    return std::make_unique<TreeToTreeExtractor>(options, corpus.target().categories, interner);
  };
  grammar.matcher = [max_trees](const forest::MatcherSetup& setup) {
    return std::make_unique<forest::TreeToTreeMatcher>(*setup.table, setup.block, max_trees(setup.options),
                                                       setup.options.choice("categories") == "fuzzy",
                                                       static_cast<int>(kMismatch));
  };
  return grammar;
}

}  // namespace treeglot
