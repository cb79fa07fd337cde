// Bindings of cpp/grammars: the registry of grammars, and the rules of parsed, aligned pairs as text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/given_options.hh"
#include "bindings/in_use.hh"
#include "grammars/plugins.hh"
#include "grammars/registry.hh"
#include "grammars/text_rules.hh"

namespace nb = nanobind;
using namespace treeglot;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

nb::dict describe(const OptionSpec& option) {
  nb::dict result;
  result["name"] = option.name;
  result["default"] = option_value(option.standard);
  result["low"] = option.low;
  result["high"] = option.high;
  result["choices"] = nb::tuple(nb::cast(option.choices));
  result["extraction"] = (static_cast<int>(option.use) & static_cast<int>(OptionUse::kExtraction)) != 0;
  result["matching"] = (static_cast<int>(option.use) & static_cast<int>(OptionUse::kMatching)) != 0;
  result["help"] = option.help;
  return result;
}

nb::dict describe(const Grammar& grammar) {
  nb::dict result;
  result["name"] = grammar.name;
  result["title"] = grammar.title;
  nb::dict needs;
  needs["source_dependency"] = grammar.needs.source_dependency;
  needs["source_constituency"] = grammar.needs.source_constituency;
  needs["target_dependency"] = grammar.needs.target_dependency;
  needs["target_constituency"] = grammar.needs.target_constituency;
  needs["node_links"] = grammar.needs.node_links;
  result["needs"] = needs;
  nb::list options, features;
  for (const OptionSpec& option : grammar.options) options.append(describe(option));
  for (const Grammar::FeatureSpec& feature : grammar.features) {
    features.append(
        nb::make_tuple(feature.name, feature.start, feature.help, feature.option, nb::tuple(nb::cast(feature.values))));
  }
  result["options"] = nb::tuple(options);
  result["features"] = nb::tuple(features);
  result["rule_start"] = grammar.rule_start;
  result["has_rules"] = static_cast<bool>(grammar.extractor);
  result["has_forest"] = static_cast<bool>(grammar.source_forest);
  result["labels"] = grammar.labels;
  result["uses_phrases"] = grammar.uses_phrases;
  result["link_chance"] = grammar.link_chance;
  result["heuristic"] = grammar.heuristic;
  result["node_link_option"] = grammar.node_link_option;
  result["subtree_nodes"] = grammar.subtree_nodes;
  result["stack_limit"] = grammar.stack_limit;
  result["rule_limit"] = grammar.rule_limit;
  return result;
}

}  // namespace

void bind_rules(nb::module_& m) {
  m.def("grammars", [] {
    nb::list result;
    for (const Grammar* grammar : all_grammars()) result.append(describe(*grammar));
    return result;
  });
  m.def("load_grammars", &load_grammars, nb::arg("path"));
  m.def(
      "source_forest",
      [](std::string_view name, const ParsedCorpus& corpus, std::size_t n, bool pruned, nb::kwargs options) {
        const Grammar& grammar = find_grammar(name);
        if (!grammar.source_forest) throw std::invalid_argument("the grammar " + grammar.name + " has no such forest");
        if (n >= corpus.size()) throw nb::index_error("no such sentence");
        const OptionValues values(grammar.options, given_options(options));
        const Reading use(corpus);
        nb::gil_scoped_release release;
        return grammar.source_forest(values, corpus[n], pruned);
      },
      nb::arg("grammar"), nb::arg("corpus"), nb::arg("n"), nb::arg("pruned"), nb::arg("options"));

  nb::class_<TextExtractor>(m, "Extractor")
      .def(
          "__init__",
          [](TextExtractor* self, const ParsedBitext& bitext, std::string_view grammar, nb::kwargs options) {
            new (self) TextExtractor(bitext, grammar, given_options(options));
          },
          nb::arg("bitext"), nb::arg("grammar"), nb::arg("options"), nb::keep_alive<1, 2>())
      .def_prop_ro("statistics",
                   [](const TextExtractor& self) {
                     const Reading use(self);
                     return self.statistics();
                   })
      .def(
          "rules",
          [](TextExtractor& self, std::size_t n) {
            TextRules rules;
            const Changing use(self);
            const Reading read(self.bitext());
            {
              nb::gil_scoped_release release;
              rules = self.rules(n);
            }
            nb::list result;
            for (const auto& [text, rule] : rules) {
              nb::list labels;
              for (const StructureLabel& label : rule.labels) labels.append(nb::make_tuple(label.begin, label.end));
              const char* target = text.data() + rule.source_size + kBetweenSides.size();
              const std::size_t target_size = text.size() - rule.source_size - 2 * kBetweenSides.size();
              result.append(nb::make_tuple(nb::str(text.data(), rule.source_size), nb::str(target, target_size),
                                           rule.count, nb::tuple(labels)));
            }
            return result;
          },
          nb::arg("n"))
      .def(
          "count",
          [](TextExtractor& self, std::size_t begin, std::size_t end) {
            const Changing use(self);
            const Reading read(self.bitext());
            nb::gil_scoped_release release;
            return self.count(begin, end);
          },
          nb::arg("begin"), nb::arg("end"))
      .def(
          "recovery",
          [](TextExtractor& self, std::size_t n) {
            const Changing use(self);
            const Reading read(self.bitext());
            nb::gil_scoped_release release;
            return std::string(self.recovery(n));
          },
          nb::arg("n"))
      .def(
          "text",
          [](TextExtractor& self, std::size_t begin, std::size_t end) {
            std::string text;
            const Changing use(self);
            const Reading read(self.bitext());
            {
              nb::gil_scoped_release release;
              text = self.lines(begin, end);
            }
            return nb::bytes(text.data(), text.size());
          },
          nb::arg("begin"), nb::arg("end"));
}
