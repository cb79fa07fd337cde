// Bindings of cpp/forest/decoder: the tree decoder. The global lock is released while sentences are translated.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/given_options.hh"
#include "forest/decoder.hh"

namespace nb = nanobind;
namespace forest = treeglot::forest;

namespace {

const char* kind_name(forest::NodeKind kind) {
  switch (kind) {
    case forest::NodeKind::kWord:
      return "word";
    case forest::NodeKind::kSubtree:
      return "subtree";
    case forest::NodeKind::kGroup:
      return "group";
    case forest::NodeKind::kConstituent:
      return "constituent";
    case forest::NodeKind::kSpan:
      return "span";
    case forest::NodeKind::kGlue:
      return "glue";
    case forest::NodeKind::kTyped:
      return "typed";
    case forest::NodeKind::kGoal:
      return "goal";
  }
  return "";
}

const forest::TreeDerivation& derivation(const forest::TreeTranslation& self, std::size_t n) {
  if (n >= self.derivations.size()) throw nb::index_error("no such derivation");
  return self.derivations[n];
}

}  // namespace

void bind_tree_decoder(nb::module_& m) {
  m.attr("FIRST_BLOCK") = static_cast<int>(forest::kFirstBlock);
  m.attr("BLOCK_SIZE") = static_cast<int>(forest::kBlockSize);

  nb::class_<forest::TreeTranslation>(m, "TreeTranslation")
      .def("__len__", [](const forest::TreeTranslation& self) { return self.derivations.size(); })
      .def("text", [](const forest::TreeTranslation& self, std::size_t n) { return derivation(self, n).text; })
      .def("score", [](const forest::TreeTranslation& self, std::size_t n) { return derivation(self, n).score; })
      .def("features", [](const forest::TreeTranslation& self, std::size_t n) { return derivation(self, n).features; })
      .def("steps",
           [](const forest::TreeTranslation& self, std::size_t n) {
             nb::list steps;
             for (const forest::RuleUse& use : derivation(self, n).steps) {
               nb::list target, features;
               for (std::size_t i = 0; i < use.target.size(); ++i) {
                 if (use.target[i].empty()) {
                   target.append(use.places[i]);
                 } else {
                   target.append(nb::str(use.target[i].c_str(), use.target[i].size()));
                 }
               }
               for (const forest::FeatureValue& feature : use.features) {
                 features.append(nb::make_tuple(feature.feature, feature.value));
               }
               steps.append(nb::make_tuple(use.grammar, kind_name(use.kind), use.begin, use.end, use.label, use.source,
                                           nb::tuple(target), use.below, nb::tuple(features)));
             }
             return steps;
           })
      .def_prop_ro("size", [](const forest::TreeTranslation& self) {
        return nb::make_tuple(self.nodes, self.edges, self.options);
      });

  nb::class_<forest::TreeDecoder>(m, "TreeDecoder")
      .def(
          "__init__",
          [](forest::TreeDecoder* self, const nb::tuple& tables, const treeglot::PhraseSource* phrases,
             const std::string& phrase_grammar, const treeglot::lm::Model& model, const std::vector<double>& weights,
             int stack_limit, double stack_threshold, int pop_limit, int rule_limit, double rule_threshold,
             int phrase_limit, int max_phrase_words, const nb::dict& grammars) {
            forest::TreeDecoderLimits limits;
            limits.search = {stack_limit, stack_threshold, pop_limit};
            limits.tables = {rule_limit, rule_threshold, phrase_limit};
            limits.forest.max_phrase_words = max_phrase_words;
            limits.grammars = given_options(grammars);
            std::vector<const treeglot::RuleTable*> pointers;
            for (nb::handle table : tables) pointers.push_back(nb::cast<const treeglot::RuleTable*>(table));
            new (self) forest::TreeDecoder(pointers, phrases, phrase_grammar, model, weights, limits);
          },
          nb::arg("tables"), nb::arg("phrases").none(), nb::arg("phrase_grammar"), nb::arg("model"), nb::arg("weights"),
          nb::kw_only(), nb::arg("stack_limit"), nb::arg("stack_threshold"), nb::arg("pop_limit"),
          nb::arg("rule_limit"), nb::arg("rule_threshold"), nb::arg("phrase_limit"), nb::arg("max_phrase_words"),
          nb::arg("grammars"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 5>())  // a tuple: it keeps its tables, whatever becomes of the caller's names
      .def(
          "translate",
          [](const forest::TreeDecoder& self, const treeglot::ParsedCorpus& corpus, std::size_t first, std::size_t last,
             int nbest, bool distinct, bool with_steps, int threads, nb::object progress) {
            std::function<void(std::size_t)> report;
            if (!progress.is_none()) {
              report = [&](std::size_t done) {
                nb::gil_scoped_acquire acquire;
                progress(done);
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
              };
            } else {
              report = [](std::size_t) {
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
              };
            }
            nb::gil_scoped_release release;
            return self.translate(corpus, first, last, {nbest, distinct}, with_steps, threads, report);
          },
          nb::arg("corpus"), nb::arg("first"), nb::arg("last"), nb::kw_only(), nb::arg("nbest"), nb::arg("distinct"),
          nb::arg("with_steps"), nb::arg("threads"), nb::arg("progress").none());
}
