// Bilingual phrases: the declaration. They have a table of their own kind (table/phrase_table.hh), and alone they are
// decoded from left to right (search/phrase_decoder.hh).
#include "grammars/phrases/matcher.hh"
#include "grammars/registry.hh"

namespace treeglot {
namespace {

Grammar declaration() {
  Grammar grammar;
  grammar.name = "phrases";
  grammar.title = "phrase pairs that are consistent with the word links";
  grammar.needs.node_links = true;
  grammar.node_link_option = "links";
  grammar.options = {
      choice_option("links", {"base", "dirc", "ewos"}, OptionUse::kExtraction,
                    "rules of word links, of node links counted beside them (dirc), or of both at once (ewos)"),
      choice_option("reading", {"exact", "open"}, OptionUse::kExtraction, "which span pairs node links license"),
      flag_option("free_phrases", false, OptionUse::kMatching,
                  "beside other grammars: phrases over any neighbouring members of a head with its dependents"),
  };
  grammar.rule_start = 0.3;
  grammar.matcher = [](const forest::MatcherSetup& setup) {
    return std::make_unique<forest::PhraseMatcher>(setup.options.flag("free_phrases"));
  };
  return grammar;
}

const Registration kRegistration(declaration());

}  // namespace
}  // namespace treeglot
