// Bindings of cpp/trees/parsed_corpus: parsed sentences by columns, filled from Python one sentence at a time.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "trees/parsed_corpus.hh"

namespace nb = nanobind;
using treeglot::ParsedBitext;
using treeglot::ParsedCorpus;

namespace {

using Strings = std::vector<std::string_view>;
using PhraseTuple = std::tuple<std::string_view, int, int, int>;
using SentenceTuple = std::tuple<Strings, Strings, std::vector<int>, std::vector<PhraseTuple>>;
using Pairs = std::vector<std::pair<long long, long long>>;

// A corpus that Python may add to; a side of a bitext grows with the bitext only.
struct OwnCorpus : ParsedCorpus {};

// A sentence as Python gives it; the views are good while the arguments live.
struct Columns {
  Columns(const Strings& words, const Strings& tags, const std::vector<int>& heads,
          const std::vector<PhraseTuple>& phrases)
      : words_(words), tags_(tags), heads_(heads) {
    phrases_.reserve(phrases.size());
    for (const auto& [label, begin, end, parent] : phrases) phrases_.push_back({label, begin, end, parent});
  }
  explicit Columns(const SentenceTuple& sentence)
      : Columns(std::get<0>(sentence), std::get<1>(sentence), std::get<2>(sentence), std::get<3>(sentence)) {}
  ParsedCorpus::Columns all() const { return {words_, tags_, heads_, phrases_}; }

 private:
  const Strings& words_;
  const Strings& tags_;
  const std::vector<int>& heads_;
  std::vector<ParsedCorpus::Phrase> phrases_;
};

// Links as pairs of numbers; those that no sentence can have are refused here, the others where the sizes are known.
template <class Link, class Number>
std::vector<Link> links_of(const Pairs& pairs, const char* what) {
  std::vector<Link> links;
  links.reserve(pairs.size());
  for (auto [source, target] : pairs) {
    constexpr long long most = std::numeric_limits<Number>::max();
    if (source < 0 || target < 0 || source > most || target > most) {
      throw std::invalid_argument(what + std::to_string(source) + "-" + std::to_string(target) +
                                  " is outside the sentences");
    }
    links.push_back({static_cast<Number>(source), static_cast<Number>(target)});
  }
  return links;
}

template <class Corpus>
std::size_t checked(const Corpus& corpus, std::size_t n) {
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
  nb::class_<ParsedCorpus>(m, "ParsedSentences")
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

  nb::class_<OwnCorpus, ParsedCorpus>(m, "ParsedCorpus")
      .def(nb::init<>())
      .def(
          "add",
          [](OwnCorpus& self, const Strings& words, const Strings& tags, const std::vector<int>& heads,
             const std::vector<PhraseTuple>& phrases) { self.add(Columns(words, tags, heads, phrases).all()); },
          nb::arg("words"), nb::arg("tags"), nb::arg("heads"), nb::arg("phrases"));

  nb::class_<ParsedBitext>(m, "ParsedBitext")
      .def(nb::init<>())
      .def(
          "add",
          [](ParsedBitext& self, const SentenceTuple& source, const SentenceTuple& target, const Pairs& links,
             const Pairs& node_links) {
            self.add(Columns(source).all(), Columns(target).all(),
                     links_of<treeglot::WordLink, std::uint16_t>(links, "link "),
                     links_of<treeglot::NodeLink, std::uint32_t>(node_links, "node link "));
          },
          nb::arg("source"), nb::arg("target"), nb::arg("links"), nb::arg("node_links") = Pairs())
      .def("__len__", &ParsedBitext::size)
      .def(
          "links",
          [](const ParsedBitext& self, std::size_t n) {
            std::vector<std::pair<int, int>> links;
            for (auto link : self[checked(self, n)].links) links.emplace_back(link.source, link.target);
            return links;
          },
          nb::arg("n"))
      .def(
          "node_links",
          [](const ParsedBitext& self, std::size_t n) {
            std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
            for (auto link : self[checked(self, n)].node_links) links.emplace_back(link.source, link.target);
            return links;
          },
          nb::arg("n"))
      .def_prop_ro("source", &ParsedBitext::source, nb::rv_policy::reference_internal)
      .def_prop_ro("target", &ParsedBitext::target, nb::rv_policy::reference_internal)
      .def_prop_ro("bytes", &ParsedBitext::bytes);
}
