// Constituency-to-string rules: the declaration.
#include "grammars/cons2str/extractor.hh"
#include "grammars/cons2str/matcher.hh"
#include "grammars/registry.hh"

namespace treeglot {
namespace {

Grammar declaration() {
  Grammar grammar;
  grammar.name = "cons2str";
  grammar.title = "fragments of constituency trees to strings (GHKM)";
  grammar.needs.source_constituency = true;
  grammar.options = {
      choice_option("binarize", {"none", "left", "right", "head"}, OptionUse::kBoth,
                    "how constituents of more than two parts are split"),
      number_option("max_height", 3, 1, 10, OptionUse::kExtraction, "edges from the root down to the lowest leaf"),
      number_option("max_leaves", 7, 1, 20, OptionUse::kExtraction, "words and variables of a fragment"),
      number_option("max_variants", 16, 1, 1000, OptionUse::kExtraction,
                    "placements of unaligned target words; beyond them only the shortest target is kept"),
      number_option("max_fragments", 1000, 0, (1 << 20) - 1, OptionUse::kExtraction,
                    "fragments with one root, those of the fewest minimal rules first; 0: all"),
      flag_option("composed", true, OptionUse::kExtraction, "rules composed of several minimal ones"),
      flag_option("pseudo_always", false, OptionUse::kMatching, "source order competes with rules that match"),
  };
  grammar.text = symbol_text(RuleFamily::kTree);
  grammar.extractor = [](const OptionValues& given, const ParsedBitext&, CategoryInterner&) {
    return std::make_unique<GhkmExtractor>(GhkmOptions{.max_height = given.number("max_height"),
                                                       .max_leaves = given.number("max_leaves"),
                                                       .max_variants = given.number("max_variants"),
                                                       .max_fragments = given.number("max_fragments"),
                                                       .composed = given.flag("composed")});
  };
  grammar.matcher = [](const forest::MatcherSetup& setup) {
    return std::make_unique<forest::ConstituencyMatcher>(*setup.table, setup.block,
                                                         setup.options.flag("pseudo_always"));
  };
  return grammar;
}

const Registration kRegistration(declaration());

}  // namespace
}  // namespace treeglot
