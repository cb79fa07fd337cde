// Multi-word-unit forests: the declaration.
#include "grammars/mwu/extractor.hh"
#include "grammars/mwu/matcher.hh"
#include "grammars/mwu/text.hh"
#include "grammars/registry.hh"

namespace treeglot {
namespace {

constexpr int kForestFeature = 0;  // its place among the grammar's own

mwu::ForestOptions forest_options(const OptionValues& given) {
  return {.max_words = given.number("max_words"),
          .k = given.number("k"),
          .cap = given.number("cap"),
          .factored = given.choice("forest") == "factored",
          .any_siblings = given.choice("siblings") == "vertex",
          .paper_outside = given.choice("outside") == "paper",
          .delta = 0,
          .renormalise = given.flag("renormalise")};
}

Grammar declaration() {
  Grammar grammar;
  grammar.name = "mwu";
  grammar.title = "multi-word units, also with gaps, from a forest over the dependency tree";
  grammar.needs.source_dependency = true;
  grammar.options = {
      number_option("max_words", 6, 1, mwu::kMostWords, OptionUse::kBoth, "words of a unit"),
      number_option("k", 10, 1, 1 << 20, OptionUse::kBoth, "edges into a unit"),
      number_option("cap", 200, 1, 1 << 20, OptionUse::kBoth, "units that begin at one word, the smallest first"),
      choice_option("forest", {"kbest", "factored"}, OptionUse::kBoth,
                    "the k best edges into each unit, or all of them, factored"),
      choice_option("siblings", {"head", "vertex"}, OptionUse::kBoth,
                    "whether neighbours below different words of a unit may be translated together"),
      choice_option("label", {"tag", "word"}, OptionUse::kBoth, "what variables are labelled by"),
      flag_option("unaligned_source", false, OptionUse::kBoth, "parts without links are words of a rule"),
      flag_option("unaligned_target", false, OptionUse::kExtraction, "rules reach over unaligned target words"),
      choice_option("consistency", {"phrase", "paper"}, OptionUse::kExtraction,
                    "whether words outside of a unit may be linked into its span"),
      flag_option("consistent_first", false, OptionUse::kExtraction,
                  "edges that no rule can have are left out before the k best are taken"),
      choice_option("outside", {"standard", "paper"}, OptionUse::kExtraction, "outside sums, or those of the paper"),
      share_option("delta", 1e-4, 0, 1, OptionUse::kExtraction, "edges with no more posterior are taken out"),
      flag_option("renormalise", true, OptionUse::kExtraction, "the edges that are left get their probability"),
  };
  grammar.features = {{"forest", 0.05, "logarithm of the probability of a unit's edge"}};
  grammar.text = mwu::unit_text();
  grammar.subtree_nodes = true;
  grammar.extractor = [](const OptionValues& given, const ParsedBitext& corpus, CategoryInterner& interner) {
    mwu::ExtractOptions options{.forest = forest_options(given),
                                .paper_consistency = given.choice("consistency") == "paper",
                                .word_labels = given.choice("label") == "word",
                                .unaligned_source = given.flag("unaligned_source"),
                                .unaligned_target = given.flag("unaligned_target"),
                                .consistent_first = given.flag("consistent_first")};
    options.forest.delta = given.share("delta");
    return std::make_unique<mwu::UnitExtractor>(options, corpus.source(), interner);
  };
  grammar.matcher = [](const forest::MatcherSetup& setup) {
    const mwu::MatchOptions options{.forest = forest_options(setup.options),
                                    .word_labels = setup.options.choice("label") == "word",
                                    .unaligned_source = setup.options.flag("unaligned_source")};
    return std::make_unique<mwu::UnitMatcher>(*setup.table, setup.block, options, kForestFeature);
  };
  grammar.source_forest = [](const OptionValues& given, const ParsedSentence& sentence, bool pruned) {
    mwu::ForestOptions options = forest_options(given);
    if (pruned) options.delta = given.share("delta");
    mwu::Forest units(options);
    units.start(sentence);
    units.build();
    return units.json();
  };
  return grammar;
}

const Registration kRegistration(declaration());

}  // namespace
}  // namespace treeglot
