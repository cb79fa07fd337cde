// Bindings of cpp/grammars: the rules of parsed, aligned pairs as text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>

#include "grammars/extractor.hh"
#include "grammars/rule_text.hh"
#include "trees/parsed_corpus.hh"

namespace nb = nanobind;
using namespace treeglot;

namespace {

constexpr std::string_view kBetween = " ||| ";

struct TextRule {
  std::size_t source_size = 0;  // of the key "source ||| target ||| "
  double count = 0;
  std::vector<StructureLabel> labels;
};
using TextRules = std::map<std::string, TextRule>;  // by bytes, which is by code points

// 1/m of a float, as near as a double can be.
double exact(float count) {
  double inverse = 1.0 / count, whole = std::round(inverse);
  return std::abs(inverse - whole) < 0.01 ? 1.0 / whole : count;
}

SpanMode span_mode_of(std::string_view name) {
  if (name == "ghkm") return SpanMode::kGhkm;
  if (name == "xie") return SpanMode::kXie;
  throw std::invalid_argument("there is no span mode " + std::string(name) + ": ghkm or xie");
}

class Extractor {
 public:
  Extractor(const ParsedBitext& bitext, std::string_view grammar, const ExtractOptions& options)
      : bitext_(bitext),
        size_(bitext.size()),
        interner_(bitext.source.categories),
        extractor_(make_extractor(grammar, options, bitext.source, interner_)) {}

  TextRules rules(std::size_t n) {
    if (bitext_.size() != size_) throw std::logic_error("the bitext has grown since the extractor was made");
    if (n >= size_) throw nb::index_error("no such pair");
    TextRules result;
    std::string key;
    auto word = [this](std::uint32_t id) { return std::string_view(bitext_.source.words.word(id)); };
    auto category = [this](std::uint32_t id) { return std::string_view(interner_.text(id)); };
    auto target_word = [this](std::uint32_t id) { return std::string_view(bitext_.target_words.word(id)); };
    extractor_->extract(bitext_[n], [&](const ExtractedRule& rule) {
      key.clear();
      write_source(rule.source, word, category, key);
      const std::size_t source_size = key.size();
      key += kBetween;
      write_target(rule.target, target_word, key);
      key += kBetween;
      TextRule& found = result[key];
      found.source_size = source_size;
      found.count += exact(rule.count);
      found.labels.insert(found.labels.end(), rule.labels.begin(), rule.labels.end());
    });
    for (auto& [text, rule] : result) {
      std::sort(rule.labels.begin(), rule.labels.end());
      rule.labels.erase(std::unique(rule.labels.begin(), rule.labels.end()), rule.labels.end());
    }
    return result;
  }

  ExtractStatistics statistics() const { return extractor_->statistics(); }

 private:
  const ParsedBitext& bitext_;
  std::size_t size_;
  CategoryInterner interner_;
  std::unique_ptr<RuleExtractor> extractor_;
};

}  // namespace

void bind_rules(nb::module_& m) {
  std::vector<std::string> names;
  for (std::string_view name : extractor_names()) names.emplace_back(name);
  m.attr("GRAMMARS") = nb::tuple(nb::cast(names));
  m.def(
      "needed_trees",
      [](std::string_view grammar) {
        NeededTrees needed = needed_trees(grammar);
        return nb::make_tuple(needed.dependency, needed.constituency);
      },
      nb::arg("grammar"));

  const ExtractOptions defaults;
  nb::class_<Extractor>(m, "Extractor")
      .def(
          "__init__",
          [](Extractor* self, const ParsedBitext& bitext, std::string_view grammar, int max_variants,
             std::string_view span_mode, int max_phrasal_nodes, int max_structure_words, int max_height, int max_leaves,
             int max_fragments, bool composed, int max_initial_phrase, int max_source_symbols, int max_gaps,
             int min_gap, bool fractional, bool tight, int max_rules) {
            new (self) Extractor(bitext, grammar,
                                 {.max_variants = max_variants,
                                  .span_mode = span_mode_of(span_mode),
                                  .max_phrasal_nodes = max_phrasal_nodes,
                                  .max_structure_words = max_structure_words,
                                  .max_height = max_height,
                                  .max_leaves = max_leaves,
                                  .max_fragments = max_fragments,
                                  .composed = composed,
                                  .max_initial_phrase = max_initial_phrase,
                                  .max_source_symbols = max_source_symbols,
                                  .max_gaps = max_gaps,
                                  .min_gap = min_gap,
                                  .fractional = fractional,
                                  .tight = tight,
                                  .max_rules = max_rules});
          },
          nb::arg("bitext"), nb::arg("grammar"), nb::kw_only(), nb::arg("max_variants") = defaults.max_variants,
          nb::arg("span_mode") = "ghkm", nb::arg("max_phrasal_nodes") = defaults.max_phrasal_nodes,
          nb::arg("max_structure_words") = defaults.max_structure_words, nb::arg("max_height") = defaults.max_height,
          nb::arg("max_leaves") = defaults.max_leaves, nb::arg("max_fragments") = defaults.max_fragments,
          nb::arg("composed") = defaults.composed, nb::arg("max_initial_phrase") = defaults.max_initial_phrase,
          nb::arg("max_source_symbols") = defaults.max_source_symbols, nb::arg("max_gaps") = defaults.max_gaps,
          nb::arg("min_gap") = defaults.min_gap, nb::arg("fractional") = defaults.fractional,
          nb::arg("tight") = defaults.tight, nb::arg("max_rules") = defaults.max_rules, nb::keep_alive<1, 2>())
      .def_prop_ro("statistics",
                   [](const Extractor& self) {
                     ExtractStatistics statistics = self.statistics();
                     return nb::make_tuple(statistics.phrasal_nodes, statistics.crossing, statistics.cut);
                   })
      .def(
          "rules",
          [](Extractor& self, std::size_t n) {
            TextRules rules;
            {
              nb::gil_scoped_release release;
              rules = self.rules(n);
            }
            nb::list result;
            for (const auto& [text, rule] : rules) {
              nb::list labels;
              for (const StructureLabel& label : rule.labels) labels.append(nb::make_tuple(label.begin, label.end));
              const char* target = text.data() + rule.source_size + kBetween.size();
              const std::size_t target_size = text.size() - rule.source_size - 2 * kBetween.size();
              result.append(nb::make_tuple(nb::str(text.data(), rule.source_size), nb::str(target, target_size),
                                           rule.count, nb::tuple(labels)));
            }
            return result;
          },
          nb::arg("n"))
      .def(
          "text",
          [](Extractor& self, std::size_t begin, std::size_t end) {
            std::string text;
            {
              nb::gil_scoped_release release;
              char count[32];
              for (std::size_t n = begin; n < end; ++n) {
                for (const auto& [line, rule] : self.rules(n)) {
                  std::snprintf(count, sizeof count, "%.6g", rule.count);
                  text += line;
                  text += count;
                  text += '\n';
                }
                text += '\n';
              }
            }
            return nb::bytes(text.data(), text.size());
          },
          nb::arg("begin"), nb::arg("end"));
}
