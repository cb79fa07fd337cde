// The registry of grammars. A grammar is declared once, beside its extractor and matcher (cpp/grammars/NAME/), by a
// static `Registration`; everything else asks here: which grammars there are, what each needs, its options, features,
// notation and factories. Nobody else spells a grammar's name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammars/extractor.hh"
#include "grammars/options.hh"
#include "grammars/rule.hh"
#include "grammars/rule_text.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

struct RuleEntry;  // table/rule_table.hh
namespace forest {
class Matcher;
struct MatcherSetup;  // forest/matcher.hh
}  // namespace forest

// Annotation of the training pairs. Of the input of a translation only the source's trees are needed.
struct Needs {
  bool source_dependency = false, source_constituency = false;
  bool target_dependency = false, target_constituency = false;
  bool node_links = false;  // taken if they are there
};

struct Grammar {
  std::string name;   // a word: letters and digits
  std::string title;  // one line for help and docs
  Needs needs;
  std::vector<OptionSpec> options;

  // Rules are extracted by this and kept in a rule table; a grammar without one (phrases) has tables of its own kind.
  std::function<std::unique_ptr<RuleExtractor>(const OptionValues&, const ParsedBitext&, CategoryInterner&)> extractor;
  // Its own forest over a source sentence, as a JSON object; `pruned`: what rules are extracted from. Most have none.
  std::function<std::string(const OptionValues&, const ParsedSentence&, bool pruned)> source_forest;
  // Adds the edges of a grammar to a forest.
  std::function<std::unique_ptr<forest::Matcher>(const forest::MatcherSetup&)> matcher;

  // Beside the common ones of every grammar (p_ts, p_st, lex_ts, lex_st, rules): names, where tuning starts, and what a
  // rule adds to each (matchers may add more). `values` has as many places as there are names, all 0.
  struct FeatureSpec {
    std::string name;
    double start = 0;
    std::string help;
    // Systems have it if this option, a choice or a flag ("true"), has one of these values; all do if there is no
    // option.
    std::string option;
    std::vector<std::string> values;
    bool unlinked = false;  // it counts the source words of a rule that have no link
    bool shares = false;    // it wants to know how often a word had no link; its table has these shares
    bool wanted(const OptionValues& given) const;
  };
  std::vector<FeatureSpec> features;
  std::function<void(std::span<const Symbol> source, std::span<const TargetSymbol> target, std::span<float> values)>
      rule_features;
  // Kinds of rules with scores of their own: P(s|t) is made within a class. Empty: all are of class 0.
  std::function<unsigned(std::span<const Symbol> source)> rule_class;
  double rule_start = -0.3;  // where tuning starts for the number of rules

  SymbolText text;           // how its sides are written and read
  bool labels = false;       // its rules have fixed and floating structures
  bool uses_phrases = true;  // its nodes are filled by bilingual phrases, too
  // Word links that suit its rules: the least chance, where the aligner gives chances, else a heuristic; 0 and empty:
  // those of the phrases.
  double link_chance = 0;
  std::string heuristic;
  std::string node_link_option;  // the option whose other values than the default are for links of nodes
  bool subtree_nodes = false;    // it works on dependency subtrees: grammars of spans meet it there
  int stack_limit = 0;           // what suits a system of this grammar alone, or its paper has; 0: the common one
  int rule_limit = 0;            // the same for rules of one source side
  std::uint32_t colour = 0;      // in pictures: a number of the palette, 0: the next free one
};

// Adds a grammar; throws std::invalid_argument if its declaration is not complete or its name is taken.
void register_grammar(Grammar grammar);

// By name; throws std::invalid_argument for others.
const Grammar& find_grammar(std::string_view name);
// Sorted by name. Valid until the next registration.
std::vector<const Grammar*> all_grammars();

// A static object of this type declares a grammar when the library is loaded.
struct Registration {
  explicit Registration(Grammar grammar) { register_grammar(std::move(grammar)); }
};

// The extractor of a grammar. Throws std::invalid_argument for unknown names and options that do not fit.
std::unique_ptr<RuleExtractor> make_extractor(std::string_view grammar, const GivenOptions& options,
                                              const ParsedBitext& corpus, CategoryInterner& interner);

}  // namespace treeglot
