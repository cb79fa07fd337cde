// Bindings of cpp/search: phrase tables as sources of options, and the phrase-based decoder. The global lock is
// released while sentences are translated.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "search/phrase_decoder.hh"
#include "table/stored_phrases.hh"
#include "table/text_phrase_table.hh"

namespace nb = nanobind;
namespace search = treeglot::search;

namespace {

using Links = std::vector<std::pair<int, int>>;

Links to_links(std::span<const treeglot::WordLink> links) {
  Links result;
  for (const treeglot::WordLink& link : links) result.emplace_back(link.source, link.target);
  return result;
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
  nb::list names;
  for (const char* name : search::kFeatureNames) names.append(name);
  m.attr("FEATURE_NAMES") = nb::tuple(names);

  nb::class_<treeglot::PhraseSource>(m, "PhraseSource")
      .def_prop_ro("has_reordering", &treeglot::PhraseSource::has_reordering)
      .def(
          "lookup",
          [](const treeglot::PhraseSource& self, const std::vector<std::string>& words) {
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
            return each_line(block, [&](std::string_view line) { return self.add_phrase(line); });
          },
          nb::arg("block"))
      .def(
          "add_reordering",
          [](treeglot::TextPhraseTable& self, nb::bytes block) {
            return each_line(block, [&](std::string_view line) { return self.add_reordering(line); });
          },
          nb::arg("block"))
      .def("finish", &treeglot::TextPhraseTable::finish)
      .def("__len__", &treeglot::TextPhraseTable::size);

  nb::class_<treeglot::StoredPhrases, treeglot::PhraseSource>(m, "StoredPhrases")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = false)
      .def("__len__", [](const treeglot::StoredPhrases& self) { return self.table().header().entries; });

  nb::class_<search::Translation>(m, "Translation")
      .def("__len__", [](const search::Translation& self) { return self.derivations.size(); })
      .def(
          "text", [](const search::Translation& self, std::size_t n) { return self.text(n); }, nb::arg("n"))
      .def(
          "score", [](const search::Translation& self, std::size_t n) { return self.derivations.at(n).score; },
          nb::arg("n"))
      .def(
          "features", [](const search::Translation& self, std::size_t n) { return self.derivations.at(n).features; },
          nb::arg("n"))
      .def(
          "steps",
          [](const search::Translation& self, std::size_t n) {
            std::vector<std::tuple<std::uint32_t, std::uint32_t, std::string, bool, Links, search::FeatureVector>>
                result;
            const auto& steps = self.derivations.at(n).steps;
            for (std::size_t i = 0; i < steps.size(); ++i) {
              const search::UsedPhrase& phrase = self.phrases[steps[i].phrase];
              result.emplace_back(phrase.begin, phrase.end, phrase.text, phrase.unknown, to_links(phrase.links),
                                  self.step_features(n, i));
            }
            return result;
          },
          nb::arg("n"));

  nb::class_<search::PhraseDecoder>(m, "PhraseDecoder")
      .def(
          "__init__",
          [](search::PhraseDecoder* self, const treeglot::PhraseSource& table, const treeglot::lm::Model& model,
             const search::Weights& weights, int distortion_limit, int phrase_length, int table_limit,
             bool cube_pruning, int pop_limit, int stack_size, double beam_threshold) {
            search::DecoderLimits limits{distortion_limit, phrase_length, table_limit,   cube_pruning,
                                         pop_limit,        stack_size,    beam_threshold};
            new (self) search::PhraseDecoder(table, model, weights, limits);
          },
          nb::arg("table"), nb::arg("model"), nb::arg("weights"), nb::kw_only(), nb::arg("distortion_limit"),
          nb::arg("phrase_length"), nb::arg("table_limit"), nb::arg("cube_pruning"), nb::arg("pop_limit"),
          nb::arg("stack_size"), nb::arg("beam_threshold"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "translate",
          [](const search::PhraseDecoder& self, const std::vector<std::string>& sentences, int nbest, bool distinct,
             int threads, nb::object progress) {
            std::vector<search::Translation> result;
            {
              nb::gil_scoped_release release;
              result = self.translate(sentences, {nbest, distinct}, threads, [&](std::size_t done) {
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                if (!progress.is_none()) progress(done);
              });
            }
            return result;
          },
          nb::arg("sentences"), nb::arg("nbest"), nb::arg("distinct"), nb::arg("threads"), nb::arg("progress").none());
}
