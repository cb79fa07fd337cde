// Hierarchical phrase pairs: the declaration.
#include "grammars/hierarchical/extractor.hh"
#include "grammars/hierarchical/matcher.hh"
#include "grammars/registry.hh"

namespace treeglot {
namespace {

Grammar declaration() {
  Grammar grammar;
  grammar.name = "hierarchical";
  grammar.title = "phrase pairs with gaps, learnt without trees";
  grammar.options = {
      number_option("max_initial_phrase", 10, 1, 100, OptionUse::kExtraction,
                    "words of an initial phrase, either side"),
      number_option("max_source_symbols", 5, 1, 100, OptionUse::kExtraction, "words and gaps of a source side"),
      number_option("max_gaps", 2, 0, 2, OptionUse::kExtraction, "gaps of a rule"),
      number_option("min_gap", 2, 1, 100, OptionUse::kExtraction, "source words of a gap"),
      flag_option("fractional", true, OptionUse::kExtraction, "the rules of an initial phrase share a count of 1"),
      flag_option("tight", false, OptionUse::kExtraction, "initial phrases begin and end with aligned words"),
      number_option("max_rules", 20000, 0, 1 << 30, OptionUse::kExtraction,
                    "rules of one initial phrase, those with the fewest gaps first; 0: all"),
      number_option("span_limit", 10, 1, 65535, OptionUse::kMatching, "words under a rule"),
  };
  grammar.text = symbol_text(RuleFamily::kGaps);
  grammar.uses_phrases = false;  // its rules contain them
  grammar.extractor = [](const OptionValues& given, const ParsedBitext&, CategoryInterner&) {
    return std::make_unique<HierarchicalExtractor>(
        HierarchicalOptions{.max_span = given.number("max_initial_phrase"),
                            .max_gaps = given.number("max_gaps"),
                            .max_symbols = given.number("max_source_symbols"),
                            .min_gap = given.number("min_gap"),
                            .fractional = given.flag("fractional"),
                            .tight = given.flag("tight"),
                            .max_rules = given.number("max_rules")});
  };
  grammar.matcher = [](const forest::MatcherSetup& setup) {
    return std::make_unique<forest::HierarchicalMatcher>(*setup.table, setup.block, setup.options.number("span_limit"));
  };
  return grammar;
}

const Registration kRegistration(declaration());

}  // namespace
}  // namespace treeglot
