#include "grammars/hdr/declaration.hh"

namespace treeglot {

namespace {

constexpr double kMany = 1 << 20;

std::vector<OptionSpec> options_of(HdrFamily family) {
  std::vector<OptionSpec> options;
  if (family.phrasal) {
    options.push_back(choice_option("binarize", {"none", "left", "right", "head"}, OptionUse::kBoth,
                                    "how constituents of more than two parts are split"));
    options.push_back(number_option("max_phrasal_nodes", 2, 0, 8, OptionUse::kBoth, "phrasal nodes in one rule"));
    options.push_back(flag_option("phrasal_recursion", false, OptionUse::kMatching, "rules also fill phrasal nodes"));
  } else {
    options.push_back(choice_option("span_mode", {"ghkm", "xie"}, OptionUse::kExtraction,
                                    "which target spans are acceptable: every subtree's, or those of Xie et al. 2011"));
    options.push_back(
        choice_option("xie_leaves", {"printed", "linked"}, OptionUse::kExtraction,
                      "span_mode xie: leaves whose links are not consistent lose their translation, as in "
                      "print, or make no rule"));
    options.push_back(choice_option("xie_unaligned", {"drop", "extend"}, OptionUse::kExtraction,
                                    "span_mode xie: unaligned target words are left out, or taken by words beside"));
    options.push_back(flag_option("closed", false, OptionUse::kExtraction,
                                  "span_mode xie: no rule if a target word between its parts is linked elsewhere"));
  }
  if (family.structures) {
    options.push_back(choice_option("labels", {"unaligned", "variables"}, OptionUse::kExtraction,
                                    "structures may cover words without links beside variables, or variables only"));
    options.push_back(number_option("max_structure_words", 7, 1, 255, OptionUse::kExtraction,
                                    "words of a fixed or floating structure"));
    options.push_back(number_option("label_sets", 16, 0, kMany, OptionUse::kMatching,
                                    "sets of structures that are tried for one rule"));
  }
  options.push_back(choice_option("category", {"tag", "tag+relation"}, OptionUse::kBoth,
                                  "what a generalised member is shown by: its tag, or that and its relation"));
  options.push_back(choice_option("decompose", {"none", "runs", "attach", "both"}, OptionUse::kBoth,
                                  "rules for some neighbouring members with the head, for a member beside such "
                                  "a run, or both"));
  options.push_back(flag_option("drop_words", false, OptionUse::kBoth,
                                "a word that had no link in training may be translated by nothing"));
  options.push_back(
      flag_option("unlinked", false, OptionUse::kBoth, "a feature counts the words of a rule that have no link"));
  options.push_back(
      number_option("max_variants", 16, 1, 1000, OptionUse::kExtraction,
                    "placements of unaligned target words; beyond them only the shortest target is kept"));
  options.push_back(
      flag_option("pseudo_always", false, OptionUse::kMatching, "source order competes with rules that match"));
  return options;
}

Decompose decompose_of(const OptionValues& given) {
  const std::string& choice = given.choice("decompose");
  return {choice == "runs" || choice == "both", choice == "attach" || choice == "both"};
}

// Those of classes of rules first, in the order of the matcher's blocks, then those of the matcher's `unlinked` and
// `drop`.
std::vector<Grammar::FeatureSpec> own_features() {
  // Near where tuning ends on several corpora.
  struct Kind {
    const char *name, *what;
    double p_ts, p_st, lex_ts, lex_st, rules;
    std::vector<std::string> values;
  };
  const std::vector<std::string> runs{"runs", "both"};
  std::vector<Grammar::FeatureSpec> features;
  for (const Kind& kind :
       {Kind{"run", "of rules of runs", 0.35, 0.05, 0.1, 0.12, 0.0, runs},
        Kind{"part", "of rules of complete relations, used for runs", 0.3, 0.2, 0.2, 0.1, 0.1, runs},
        Kind{"attach", "of rules for a member beside a run", 0.4, 0.1, 0.1, 0.1, 0.3, {"attach", "both"}}}) {
    const std::pair<const char*, double> scores[] = {{"p_ts", kind.p_ts},
                                                     {"p_st", kind.p_st},
                                                     {"lex_ts", kind.lex_ts},
                                                     {"lex_st", kind.lex_st},
                                                     {"rules", kind.rules}};
    for (const auto& [name, start] : scores) {
      features.push_back(
          {std::string(kind.name) + "_" + name, start, std::string(name) + " " + kind.what, "decompose", kind.values});
    }
  }
  features.push_back({.name = "drop",
                      .start = 0.2,
                      .help = "logarithm of the share of its occurrences that have no link, of a word that is dropped",
                      .option = "drop_words",
                      .values = {"true"},
                      .shares = true});
  features.push_back({.name = "unlinked",
                      .start = -0.1,
                      .help = "source words of rules that have no link",
                      .option = "unlinked",
                      .values = {"true"},
                      .unlinked = true});
  return features;
}

}  // namespace

Grammar hdr_grammar(std::string name, std::string title, HdrFamily family) {
  Grammar grammar;
  grammar.name = std::move(name);
  grammar.title = std::move(title);
  grammar.needs.source_dependency = true;
  grammar.heuristic = "intersection";  // rules need precise links
  grammar.link_chance = 0.9;
  grammar.needs.source_constituency = family.phrasal;
  grammar.options = options_of(family);
  grammar.text = symbol_text(RuleFamily::kMembers);
  grammar.features = own_features();
  grammar.rule_class = [](std::span<const Symbol> source) { return static_cast<unsigned>(rule_class(source)); };
  grammar.labels = family.structures;
  grammar.subtree_nodes = true;
  grammar.extractor = [family](const OptionValues& given, const ParsedBitext& corpus, CategoryInterner& interner) {
    HdrOptions options;
    options.structures = family.structures;
    options.phrasal = family.phrasal;
    options.max_variants = given.number("max_variants");
    options.decompose = decompose_of(given);
    options.relations = given.choice("category") == "tag+relation";
    if (family.phrasal) {
      options.max_phrasal_nodes = given.number("max_phrasal_nodes");
    } else {
      options.span_mode = given.choice("span_mode") == "xie" ? SpanMode::kXie : SpanMode::kGhkm;
      options.xie_linked_leaves = given.choice("xie_leaves") == "linked";
      options.xie_unaligned = given.choice("xie_unaligned") == "extend" ? XieUnaligned::kExtend : XieUnaligned::kDrop;
      options.closed = given.flag("closed");
    }
    if (family.structures) {
      options.max_structure_words = given.number("max_structure_words");
      options.label_unaligned = given.choice("labels") == "unaligned";
    }
    return std::make_unique<HdrExtractor>(options, corpus.source(), interner);
  };
  grammar.matcher = [family](const forest::MatcherSetup& setup) {
    forest::HdrMatchOptions options;
    options.structures = family.structures;
    options.phrasal = family.phrasal;
    options.pseudo_always = setup.options.flag("pseudo_always");
    options.decompose = decompose_of(setup.options);
    options.relations = setup.options.choice("category") == "tag+relation";
    options.drop_words = setup.options.flag("drop_words");
    if (family.phrasal) {
      options.max_phrasal_nodes = setup.options.number("max_phrasal_nodes");
      options.phrasal_recursion = setup.options.flag("phrasal_recursion");
    }
    if (family.structures) options.label_sets = setup.options.number("label_sets");
    return std::make_unique<forest::HdrMatcher>(*setup.table, setup.block, options);
  };
  return grammar;
}

}  // namespace treeglot
