// Bindings of cpp/trees/parsed_corpus: parsed sentences by columns, filled from Python one sentence at a time.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "trees/parsed_corpus.hh"

namespace nb = nanobind;
using treeglot::ParsedBitext;
using treeglot::ParsedCorpus;

namespace {

using Strings = std::vector<std::string_view>;
using PhraseTuple = std::tuple<std::string_view, int, int, int>;

void add_sentence(ParsedCorpus& corpus, const Strings& words, const Strings& tags, const std::vector<int>& heads,
                  const std::vector<PhraseTuple>& phrases) {
  std::vector<ParsedCorpus::Phrase> converted;
  converted.reserve(phrases.size());
  for (const auto& [label, begin, end, parent] : phrases) converted.push_back({label, begin, end, parent});
  corpus.add(words, tags, heads, converted);
}

std::size_t checked(const ParsedCorpus& corpus, std::size_t n) {
  if (n >= corpus.size()) throw nb::index_error("no such sentence");
  return n;
}

nb::tuple sentence(const ParsedCorpus& corpus, std::size_t n) {
  treeglot::ParsedSentence found = corpus[checked(corpus, n)];
  nb::list words, tags, heads, phrases;
  for (auto id : found.words) words.append(nb::str(corpus.words.word(id).c_str(), corpus.words.word(id).size()));
  for (auto id : found.tags)
    tags.append(nb::str(corpus.categories.word(id).c_str(), corpus.categories.word(id).size()));
  for (auto head : found.heads) heads.append(head);
  for (const auto& phrase : found.phrases) {
    const std::string& label = corpus.categories.word(phrase.label);
    phrases.append(nb::make_tuple(nb::str(label.c_str(), label.size()), phrase.begin, phrase.end, phrase.parent));
  }
  return nb::make_tuple(nb::tuple(words), nb::tuple(tags), nb::tuple(heads), nb::tuple(phrases));
}

}  // namespace

void bind_parsed(nb::module_& m) {
  nb::class_<ParsedCorpus>(m, "ParsedCorpus")
      .def(nb::init<>())
      .def("add", &add_sentence, nb::arg("words"), nb::arg("tags"), nb::arg("heads"), nb::arg("phrases"))
      .def("__len__", &ParsedCorpus::size)
      .def("sentence", &sentence, nb::arg("n"))
      .def(
          "words",
          [](const ParsedCorpus& corpus, std::size_t n) {
            std::vector<std::string> words;
            for (auto id : corpus[checked(corpus, n)].words) words.push_back(corpus.words.word(id));
            return words;
          },
          nb::arg("n"))
      .def(
          "first_without",
          [](const ParsedCorpus& corpus, bool dependency) -> std::optional<std::size_t> {
            for (std::size_t n = 0; n < corpus.size(); ++n) {
              treeglot::ParsedSentence sentence = corpus[n];
              // One word needs no phrases.
              if (sentence.size() > 0 &&
                  !(dependency ? sentence.has_dependency() : sentence.has_constituency() || sentence.size() == 1)) {
                return n;
              }
            }
            return std::nullopt;
          },
          nb::arg("dependency"))
      .def_prop_ro("bytes", &ParsedCorpus::bytes);

  nb::class_<ParsedBitext>(m, "ParsedBitext")
      .def(nb::init<>())
      .def(
          "add",
          [](ParsedBitext& self, const Strings& words, const Strings& tags, const std::vector<int>& heads,
             const std::vector<PhraseTuple>& phrases, const Strings& target,
             const std::vector<std::pair<int, int>>& links) {
            std::vector<treeglot::WordLink> converted;
            for (auto [source, target_word] : links) {
              if (source < 0 || target_word < 0 || source > 65535 || target_word > 65535) {
                throw std::invalid_argument("link " + std::to_string(source) + "-" + std::to_string(target_word) +
                                            " is outside the sentences of " + std::to_string(words.size()) + " and " +
                                            std::to_string(target.size()) + " words");
              }
              converted.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target_word)});
            }
            add_sentence(self.source, words, tags, heads, phrases);
            self.add(target, converted);
          },
          nb::arg("words"), nb::arg("tags"), nb::arg("heads"), nb::arg("phrases"), nb::arg("target"), nb::arg("links"))
      .def("__len__", &ParsedBitext::size)
      .def_prop_ro(
          "source", [](ParsedBitext& self) -> ParsedCorpus& { return self.source; }, nb::rv_policy::reference_internal);
}
