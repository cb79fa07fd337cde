// Bindings of cpp/search: phrase tables as sources of options, what all decoders have in common, and the phrase-based
// one. The global lock is released while sentences are translated.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "bindings/in_use.hh"
#include "search/features.hh"
#include "search/phrase_decoder.hh"
#include "table/stored_phrases.hh"
#include "table/text_phrase_table.hh"

namespace nb = nanobind;
namespace search = treeglot::search;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

using Links = std::vector<std::pair<int, int>>;

Links to_links(std::span<const treeglot::WordLink> links) {
  Links result;
  for (const treeglot::WordLink& link : links) result.emplace_back(link.source, link.target);
  return result;
}

template <std::size_t N>
nb::tuple names(const std::array<const char*, N>& list) {
  nb::list result;
  for (const char* name : list) result.append(name);
  return nb::tuple(result);
}

const search::Derivation& derivation(const search::Translation& self, std::size_t n) {
  if (n >= self.derivations.size()) throw nb::index_error("no such derivation");
  return self.derivations[n];
}

// Gives each line of a block to `add`; raises ValueError(line, message) for the first that is wrong.
template <class Add>
std::size_t each_line(nb::bytes block, Add&& add) {
  std::string_view text(block.c_str(), block.size());
  std::size_t line = 0;
  std::string problem;
  {
    nb::gil_scoped_release release;
    while (!text.empty() && problem.empty()) {
      std::size_t stop = std::min(text.find('\n'), text.size());
      ++line;
      problem = add(text.substr(0, stop));
      text.remove_prefix(std::min(stop + 1, text.size()));
    }
  }
  if (!problem.empty()) {
    PyErr_SetObject(PyExc_ValueError, nb::make_tuple(line, problem).ptr());
    throw nb::python_error();
  }
  return line;
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("phrase_features", &search::phrase_features, nb::arg("grammar"));
  m.attr("FOREST_FEATURES") = names(search::kForestFeatures);
  m.attr("BLOCK_FEATURES") = names(search::kBlockFeatures);

  nb::class_<treeglot::PhraseSource>(m, "PhraseSource")
      .def_prop_ro("has_reordering", &treeglot::PhraseSource::has_reordering)
      .def(
          "lookup",
          [](const treeglot::PhraseSource& self, const std::vector<std::string>& words) {
            const Reading use(self);
            std::vector<treeglot::WordId> ids;
            for (const std::string& word : words) ids.push_back(self.source_id(word));
            treeglot::PhraseMatches matches;
            if (!ids.empty() && std::find(ids.begin(), ids.end(), treeglot::kNoWord) == ids.end()) {
              self.lookup(ids, matches);
            }
            std::vector<std::tuple<std::string, treeglot::TableScores, treeglot::ReorderingScores, Links>> result;
            for (std::size_t i = 0; i < matches.size(); ++i) {
              std::string text;
              for (treeglot::WordId word : matches[i].target) {
                if (!text.empty()) text += ' ';
                text += self.target_word(word);
              }
              result.emplace_back(text, matches[i].scores, matches[i].reordering, to_links(matches[i].links));
            }
            return result;
          },
          nb::arg("words"));

  nb::class_<treeglot::TextPhraseTable, treeglot::PhraseSource>(m, "TextPhraseTable")
      .def(nb::init<>())
      .def(
          "add_phrases",
          [](treeglot::TextPhraseTable& self, nb::bytes block) {
            const Changing use(self);
            return each_line(block, [&](std::string_view line) { return self.add_phrase(line); });
          },
          nb::arg("block"))
      .def(
          "add_reordering",
          [](treeglot::TextPhraseTable& self, nb::bytes block) {
            const Changing use(self);
            return each_line(block, [&](std::string_view line) { return self.add_reordering(line); });
          },
          nb::arg("block"))
      .def("finish",
           [](treeglot::TextPhraseTable& self) {
             const Changing use(self);
             self.finish();
           })
      .def("__len__", &treeglot::TextPhraseTable::size);

  nb::class_<treeglot::StoredPhrases, treeglot::PhraseSource>(m, "StoredPhrases")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = false)
      .def("__len__", [](const treeglot::StoredPhrases& self) { return self.table().header().entries; });

  nb::class_<search::Translation>(m, "Translation")
      .def("__len__", [](const search::Translation& self) { return self.derivations.size(); })
      .def(
          "text", [](const search::Translation& self, std::size_t n) { return derivation(self, n).text; }, nb::arg("n"))
      .def(
          "score", [](const search::Translation& self, std::size_t n) { return derivation(self, n).score; },
          nb::arg("n"))
      .def(
          "features", [](const search::Translation& self, std::size_t n) { return derivation(self, n).features; },
          nb::arg("n"))
      .def(
          "steps",
          [](const search::Translation& self, std::size_t n) {
            nb::list steps;
            for (const search::RuleUse& use : derivation(self, n).steps) {
              nb::list features;
              for (const search::FeatureValue& feature : use.features) {
                features.append(nb::make_tuple(feature.feature, feature.value));
              }
              steps.append(nb::make_tuple(use.grammar, use.kind, use.begin, use.end, use.label, use.source, use.target,
                                          to_links(use.links), use.below, features, use.headed, use.phrasal,
                                          use.target_tree, use.parts, use.unlinked));
            }
            return steps;
          },
          nb::arg("n"))
      .def_prop_ro("forest_size", [](const search::Translation& self) {
        return nb::make_tuple(self.nodes, self.edges, self.options);
      });

  m.def(
      "nbest_arrays",
      [](const std::vector<const search::Translation*>& translations, std::size_t features) {
        std::size_t entries = 0;
        for (const search::Translation* translation : translations) entries += translation->derivations.size();
        auto numbers = std::make_unique<std::int32_t[]>(entries);
        auto values = std::make_unique<double[]>(entries * features);
        std::vector<std::string_view> texts;
        std::size_t entry = 0;
        for (std::size_t sentence = 0; sentence < translations.size(); ++sentence) {
          for (const search::Derivation& derivation : translations[sentence]->derivations) {
            if (derivation.features.size() != features) throw nb::value_error("another number of features");
            numbers[entry] = static_cast<std::int32_t>(sentence);
            std::copy(derivation.features.begin(), derivation.features.end(), values.get() + entry * features);
            texts.push_back(derivation.text);
            ++entry;
          }
        }
        // Each array goes to its capsule in one step, so that nobody else frees it.
        auto* numbers_data = numbers.get();
        auto* values_data = values.get();
        nb::capsule numbers_owner(numbers_data, [](void* p) noexcept { delete[] static_cast<std::int32_t*>(p); });
        (void)numbers.release();
        nb::capsule values_owner(values_data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        (void)values.release();
        return nb::make_tuple(
            nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(numbers_data, {entries}, numbers_owner), texts,
            nb::ndarray<nb::numpy, double, nb::ndim<2>>(values_data, {entries, features}, values_owner));
      },
      nb::arg("translations"), nb::arg("features"));

  nb::class_<search::Decoder>(m, "Decoder")
      .def_prop_ro("features", [](const search::Decoder& self) { return self.features(); })
      .def_prop_ro("weights", &search::Decoder::weights)
      .def(
          "set_weights",
          [](search::Decoder& self, const std::vector<double>& weights) {
            nb::gil_scoped_release release;
            self.set_weights(weights);
          },
          nb::arg("weights"))
      .def(
          "translate",
          [](search::Decoder& self, const treeglot::ParsedCorpus& corpus, std::size_t first, std::size_t last,
             int nbest, bool distinct, bool with_steps, int threads, nb::object progress) {
            const Reading use(corpus);
            nb::gil_scoped_release release;
            return self.translate(corpus, first, last, {nbest, distinct}, with_steps, threads, [&](std::size_t done) {
              nb::gil_scoped_acquire acquire;
              if (PyErr_CheckSignals() != 0) throw nb::python_error();
              if (!progress.is_none()) progress(done);
            });
          },
          nb::arg("corpus"), nb::arg("first"), nb::arg("last"), nb::kw_only(), nb::arg("nbest"), nb::arg("distinct"),
          nb::arg("with_steps"), nb::arg("threads"), nb::arg("progress").none());

  nb::class_<search::PhraseDecoder, search::Decoder>(m, "PhraseDecoder")
      .def(
          "__init__",
          [](search::PhraseDecoder* self, const treeglot::PhraseSource& table, const std::string& grammar,
             const treeglot::lm::Model& model, const std::vector<double>& weights, int distortion_limit,
             int phrase_length, int table_limit, bool cube_pruning, int pop_limit, int stack_size,
             double beam_threshold) {
            if (!(beam_threshold >= 0 && beam_threshold < 1)) throw nb::value_error("a threshold is a share below 1");
            search::DecoderLimits limits{distortion_limit, phrase_length, table_limit,   cube_pruning,
                                         pop_limit,        stack_size,    beam_threshold};
            new (self) search::PhraseDecoder(table, grammar, model, weights, limits);
          },
          nb::arg("table"), nb::arg("grammar"), nb::arg("model"), nb::arg("weights"), nb::kw_only(),
          nb::arg("distortion_limit"), nb::arg("phrase_length"), nb::arg("table_limit"), nb::arg("cube_pruning"),
          nb::arg("pop_limit"), nb::arg("stack_size"), nb::arg("beam_threshold"), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 4>());
}
