#include "grammars/registry.hh"

#include <algorithm>
#include <deque>
#include <mutex>
#include <stdexcept>

namespace treeglot {

namespace {

struct Registry {
  std::mutex mutex;
  std::deque<Grammar> grammars;  // a deque: they stay where they are
};

// Made when first used: declarations of other files may be first.
Registry& registry() {
  static Registry instance;
  return instance;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() < 32 &&
         std::all_of(
             name.begin(), name.end(),
             [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

bool Grammar::FeatureSpec::wanted(const OptionValues& given) const {
  return option.empty() || std::find(values.begin(), values.end(), given.text(option)) != values.end();
}

void register_grammar(Grammar grammar) {
  if (!is_name(grammar.name)) {
    throw std::invalid_argument("a grammar's name has small letters and digits, at most 31: " + grammar.name);
  }
  if (!grammar.matcher) throw std::invalid_argument("the grammar " + grammar.name + " has no matcher");
  for (const OptionSpec& option : grammar.options) option.checked(option.standard);
  Registry& all = registry();
  const std::lock_guard guard(all.mutex);
  for (const Grammar& known : all.grammars) {
    if (known.name == grammar.name) throw std::invalid_argument("there is a grammar " + grammar.name + " already");
    // One key of a configuration means one thing: options of one name have one type in all grammars.
    for (const OptionSpec& option : known.options) {
      for (const OptionSpec& fresh : grammar.options) {
        if (option.name == fresh.name && option.standard.index() != fresh.standard.index()) {
          throw std::invalid_argument("the option " + fresh.name + " of " + grammar.name + " has another type in " +
                                      known.name);
        }
      }
    }
  }
  all.grammars.push_back(std::move(grammar));
}

const Grammar& find_grammar(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard guard(all.mutex);
  for (const Grammar& grammar : all.grammars) {
    if (grammar.name == name) return grammar;
  }
  throw std::invalid_argument("there is no grammar " + std::string(name));
}

std::vector<const Grammar*> all_grammars() {
  Registry& all = registry();
  const std::lock_guard guard(all.mutex);
  std::vector<const Grammar*> sorted;
  for (const Grammar& grammar : all.grammars) sorted.push_back(&grammar);
  std::sort(sorted.begin(), sorted.end(), [](const Grammar* a, const Grammar* b) { return a->name < b->name; });
  return sorted;
}

std::unique_ptr<RuleExtractor> make_extractor(std::string_view name, const GivenOptions& options,
                                              const ParsedBitext& corpus, CategoryInterner& interner) {
  const Grammar& grammar = find_grammar(name);
  if (!grammar.extractor) throw std::invalid_argument("the grammar " + grammar.name + " has no rule table");
  return grammar.extractor(OptionValues(grammar.options, options), corpus, interner);
}

}  // namespace treeglot
