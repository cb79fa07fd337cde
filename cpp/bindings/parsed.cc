// Bindings of parsed sentences and pairs by columns: filled from files, or from Python one sentence at a time.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "bindings/in_use.hh"
#include "bindings/link_arrays.hh"
#include "trees/corpus_file.hh"
#include "trees/corpus_reader.hh"
#include "trees/link_columns.hh"
#include "trees/node_link_reader.hh"
#include "trees/parsed_corpus.hh"

namespace nb = nanobind;
using treeglot::CorpusReader;
using treeglot::ParsedBitext;
using treeglot::ParsedCorpus;
using treeglot::bindings::as_array;
using treeglot::bindings::Changing;
using treeglot::bindings::LinkArray;
using treeglot::bindings::Reading;
using treeglot::bindings::StartArray;

namespace {

using Strings = std::vector<std::string_view>;
using PhraseTuple = std::tuple<std::string_view, int, int, int>;
using SentenceTuple = std::tuple<Strings, Strings, std::vector<int>, std::vector<PhraseTuple>, Strings>;
using Unrelated = std::tuple<Strings, Strings, std::vector<int>, std::vector<PhraseTuple>>;  // without relations
using GivenSentence = std::variant<SentenceTuple, Unrelated>;
using Pairs = std::vector<std::pair<long long, long long>>;
using StepTuple = std::tuple<bool, bool, std::vector<std::string>>;
using HeadTableTuple = std::tuple<std::vector<std::pair<std::string, std::vector<StepTuple>>>, std::vector<StepTuple>,
                                  std::vector<std::string>, std::vector<std::string>, std::vector<std::string>>;

// A corpus that Python may add to; a side of a bitext grows with the bitext only.
struct OwnCorpus : ParsedCorpus {};

// A sentence as Python gives it; the views are good while the arguments live.
struct Columns {
  Columns(const Strings& words, const Strings& tags, const std::vector<int>& heads,
          const std::vector<PhraseTuple>& phrases, const Strings& relations)
      : words_(words), tags_(tags), relations_(relations), heads_(heads) {
    phrases_.reserve(phrases.size());
    for (const auto& [label, begin, end, parent] : phrases) phrases_.push_back({label, begin, end, parent});
  }
  static Columns of(const GivenSentence& given) {
    static const Strings none;
    if (const auto* bare = std::get_if<Unrelated>(&given)) {
      return {std::get<0>(*bare), std::get<1>(*bare), std::get<2>(*bare), std::get<3>(*bare), none};
    }
    const auto& full = std::get<SentenceTuple>(given);
    return {std::get<0>(full), std::get<1>(full), std::get<2>(full), std::get<3>(full), std::get<4>(full)};
  }
  ParsedCorpus::Columns all() const {
    return {.words = words_, .tags = tags_, .heads = heads_, .phrases = phrases_, .relations = relations_};
  }

 private:
  const Strings& words_;
  const Strings& tags_;
  const Strings& relations_;
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

std::vector<treeglot::HeadStep> steps_of(const std::vector<StepTuple>& steps) {
  std::vector<treeglot::HeadStep> converted;
  for (const auto& [from_right, ranked, items] : steps) converted.push_back({from_right, ranked, items});
  return converted;
}

std::vector<treeglot::HeadTable> tables_of(const std::vector<HeadTableTuple>& tables) {
  std::vector<treeglot::HeadTable> converted;
  for (const auto& [rules, fallback, punctuation, coordinators, vocabulary] : tables) {
    treeglot::HeadTable& table = converted.emplace_back();
    for (const auto& [label, steps] : rules) table.rules.emplace_back(label, steps_of(steps));
    table.fallback = steps_of(fallback);
    table.punctuation = punctuation;
    table.coordinators = coordinators;
    table.vocabulary = vocabulary;
  }
  return converted;
}

// Pharaoh text as arrays: pairs of word numbers, and where those of each line start.
class LinkReader {
 public:
  void feed(nb::bytes bytes) {
    lines_.feed({bytes.c_str(), bytes.size()});
    read();
  }
  nb::object finish() {
    lines_.finish();
    read();
    return columns_.arrays();
  }

 private:
  void read() {
    for (std::string_view line; lines_.next(line);) {
      treeglot::read_word_links(line, lines_.number(), links_);
      for (const treeglot::WordLink& link : links_) columns_.add(link.source, link.target);
      columns_.end_pair();
    }
  }

  treeglot::LineScanner lines_;
  std::vector<treeglot::WordLink> links_;
  treeglot::bindings::LinkColumns columns_;
};

template <class Corpus>
std::size_t checked(const Corpus& corpus, std::size_t n) {
  if (n >= corpus.size()) throw nb::index_error("no such sentence");
  return n;
}

nb::tuple sentence(const ParsedCorpus& corpus, std::size_t n) {
  treeglot::ParsedSentence stored = corpus[checked(corpus, n)];
  auto texts = [](const treeglot::SymbolTable& table, std::span<const treeglot::WordId> ids) {
    nb::list list;
    for (auto id : ids) list.append(nb::str(table.word(id).c_str(), table.word(id).size()));
    return nb::tuple(list);
  };
  nb::list heads, phrases;
  for (auto head : stored.heads) heads.append(head);
  for (const auto& phrase : stored.phrases) {
    const std::string& label = corpus.categories.word(phrase.label);
    phrases.append(nb::make_tuple(nb::str(label.c_str(), label.size()), phrase.begin, phrase.end, phrase.parent));
  }
  return nb::make_tuple(texts(corpus.words, stored.words), texts(corpus.categories, stored.tags), nb::tuple(heads),
                        nb::tuple(phrases), texts(corpus.relations, stored.relations));
}

}  // namespace

void bind_parsed(nb::module_& m) {
  m.attr("FORMAT_VERSION") = treeglot::CorpusFile::kVersion;

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
      .def(
          "head_words",
          [](const ParsedCorpus& corpus, std::size_t n) {
            std::vector<int> heads;
            for (auto head : corpus.head_words(checked(corpus, n))) {
              heads.push_back(head == treeglot::kNoHeadWord ? -1 : head);
            }
            return heads;
          },
          nb::arg("n"))
      .def(
          "parses",
          [](const ParsedCorpus& corpus, std::size_t n) {
            const treeglot::ParsedSentence stored = corpus[checked(corpus, n)];
            std::vector<std::pair<std::vector<int>, double>> trees;
            for (std::size_t tree = 0; tree < stored.trees(); ++tree) {
              const auto heads = stored.heads_of(tree);
              trees.emplace_back(std::vector<int>(heads.begin(), heads.end()),
                                 stored.weights.empty() ? 1.0 : stored.weights[tree]);
            }
            return trees;
          },
          nb::arg("n"))
      .def_prop_ro("vocabulary",
                   [](const ParsedCorpus& corpus) {
                     std::vector<std::string> words;
                     for (treeglot::WordId id = 0; id < corpus.words.size(); ++id)
                       words.push_back(corpus.words.word(id));
                     return words;
                   })
      .def_prop_ro("bytes", &ParsedCorpus::bytes);

  nb::class_<OwnCorpus, ParsedCorpus>(m, "ParsedCorpus")
      .def(nb::init<>())
      .def(
          "add_parses",
          [](OwnCorpus& self, const ParsedCorpus& trees, double weight, std::size_t first) {
            const Changing use(self);
            const Reading read(trees);
            self.add_parses(trees, first, weight);
          },
          nb::arg("trees"), nb::arg("weight") = 1.0, nb::arg("first") = 0)
      .def(
          "add",
          [](OwnCorpus& self, const Strings& words, const Strings& tags, const std::vector<int>& heads,
             const std::vector<PhraseTuple>& phrases, const Strings& relations) {
            const Changing use(self);
            self.add(Columns(words, tags, heads, phrases, relations).all());
          },
          nb::arg("words"), nb::arg("tags"), nb::arg("heads"), nb::arg("phrases"), nb::arg("relations") = Strings())
      .def(
          "binarize",
          [](OwnCorpus& self, std::string_view direction) {
            const Changing use(self);
            if (direction != "none") self.binarize(treeglot::binarization(direction));
          },
          nb::arg("direction"))
      .def(
          "replace_words",
          [](OwnCorpus& self, const std::vector<std::string>& words) {
            const Changing use(self);
            self.replace_words(words);
          },
          nb::arg("words"));

  nb::class_<ParsedBitext>(m, "ParsedBitext")
      .def(nb::init<>())
      .def(
          "add_parses",
          [](ParsedBitext& self, const ParsedCorpus& trees, double weight, std::size_t first) {
            const Changing use(self, self.source(), self.target());
            const Reading read(trees);
            self.add_parses(trees, first, weight);
          },
          nb::arg("trees"), nb::arg("weight") = 1.0, nb::arg("first") = 0)
      .def(
          "add",
          [](ParsedBitext& self, const GivenSentence& source, const GivenSentence& target, const Pairs& links,
             const Pairs& node_links) {
            const Changing use(self, self.source(), self.target());
            self.add(Columns::of(source).all(), Columns::of(target).all(),
                     links_of<treeglot::WordLink, std::uint16_t>(links, "link "),
                     links_of<treeglot::NodeLink, std::uint32_t>(node_links, "node link "));
          },
          nb::arg("source"), nb::arg("target"), nb::arg("links"), nb::arg("node_links") = Pairs())
      .def(
          "take",
          [](ParsedBitext& self, const ParsedCorpus* source, std::size_t source_number, const Strings& source_words,
             const ParsedCorpus* target, std::size_t target_number, const Strings& target_words, std::uint32_t origin) {
            const Changing use(self, self.source(), self.target());
            std::optional<Reading> from_source, from_target;
            if (source) from_source.emplace(*source);
            if (target) from_target.emplace(*target);
            self.take({source, source_number, source_words}, {target, target_number, target_words}, origin);
          },
          nb::arg("source").none(), nb::arg("source_number"), nb::arg("source_words"), nb::arg("target").none(),
          nb::arg("target_number"), nb::arg("target_words"), nb::arg("origin") = 0)
      .def(
          "select",
          [](const ParsedBitext& self, const std::vector<std::size_t>& numbers) {
            for (std::size_t n : numbers) checked(self, n);
            return self.select(numbers);
          },
          nb::arg("numbers"))
      .def(
          "set_node_links",
          [](ParsedBitext& self, nb::iterable pieces, double threshold) {
            const Changing use(self, self.source(), self.target());
            treeglot::NodeLinkReader reader(self, threshold);
            for (nb::handle piece : pieces) {
              const auto bytes = nb::cast<nb::bytes>(piece);
              reader.feed({bytes.c_str(), bytes.size()});
            }
            reader.finish();
          },
          nb::arg("pieces"), nb::arg("threshold") = 0.0)
      .def(
          "add_links",
          [](ParsedBitext& self, const LinkArray& links, const StartArray& starts, bool first) {
            const Changing use(self, self.source(), self.target());
            self.add_links(treeglot::bindings::links_of(links), treeglot::bindings::starts_of(starts), first);
          },
          nb::arg("links"), nb::arg("starts"), nb::arg("first") = true)
      .def(
          "set_weights",
          [](ParsedBitext& self, const std::vector<double>& weights) {
            const Changing use(self);
            self.set_weights(weights);
          },
          nb::arg("weights"))
      .def(
          "binarize",
          [](ParsedBitext& self, std::string_view source, std::string_view target) {
            const Changing use(self, self.source(), self.target());
            self.binarize(treeglot::binarization(source), treeglot::binarization(target));
          },
          nb::arg("source"), nb::arg("target") = "none")
      .def(
          "replace_words",
          [](ParsedBitext& self, const std::vector<std::string>& source, const std::vector<std::string>& target) {
            const Changing use(self, self.source(), self.target());
            self.replace_words(source, target);
          },
          nb::arg("source"), nb::arg("target"))
      .def(
          "write",
          [](const ParsedBitext& self, const std::string& path) {
            const Reading use(self);
            nb::gil_scoped_release release;
            treeglot::CorpusFile::write(self, path);
          },
          nb::arg("path"))
      .def_static(
          "open", [](const std::string& path) { return treeglot::CorpusFile::open(path); }, nb::arg("path"),
          nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("sentences", &ParsedBitext::sentences)
      .def(
          "origin", [](const ParsedBitext& self, std::size_t n) { return self.origin(checked(self.source(), n)); },
          nb::arg("n"))
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

  nb::class_<LinkReader>(m, "LinkReader")
      .def(nb::init<>())
      .def("feed", &LinkReader::feed, nb::arg("data"))
      .def("finish", &LinkReader::finish);

  nb::class_<CorpusReader>(m, "CorpusReader")
      .def(
          "__init__",
          [](CorpusReader* self, const std::vector<std::optional<std::string>>& names,
             const std::vector<HeadTableTuple>& head_tables, bool head_words, bool surfaces, double node_threshold,
             bool take_target) {
            CorpusReader::Options options;
            if (names.size() != options.names.size()) throw std::invalid_argument("a name or None for each stream");
            std::copy(names.begin(), names.end(), options.names.begin());
            options.head_tables = tables_of(head_tables);
            options.head_words = head_words;
            options.surfaces = surfaces;
            if (take_target) options.take = treeglot::treejson::Take::kTarget;
            options.node_threshold = node_threshold;
            new (self) CorpusReader(std::move(options));
          },
          nb::arg("names"), nb::arg("head_tables"), nb::arg("head_words") = true, nb::arg("surfaces") = false,
          nb::arg("node_threshold") = 0.0, nb::arg("take_target") = false)
      .def("advance",
           [](CorpusReader& self) {
             const Changing use(self);
             nb::gil_scoped_release release;
             return self.advance();
           })
      .def(
          "feed",
          [](CorpusReader& self, int stream, nb::bytes bytes) {
            const Changing use(self);
            self.feed(stream, {bytes.c_str(), bytes.size()});
          },
          nb::arg("stream"), nb::arg("data"))
      .def(
          "finish",
          [](CorpusReader& self, int stream) {
            const Changing use(self);
            self.finish(stream);
          },
          nb::arg("stream"))
      .def("corpus",
           [](CorpusReader& self) {
             const Changing use(self);
             return OwnCorpus{std::move(self.source())};
           })
      .def("bitext",
           [](CorpusReader& self) {
             const Changing use(self);
             return std::exchange(self.bitext(), ParsedBitext());
           })
      .def_prop_ro("pairs",
                   [](CorpusReader& self) {
                     const Reading use(self);
                     return self.bitext().size();
                   })
      .def(
          "facts",
          [](const CorpusReader& self, int side) {
            const Reading use(self);
            if (side != 0 && side != 1) throw nb::index_error("no such side");
            std::vector<std::int32_t> lifted;
            std::vector<std::uint8_t> phrases, arcs;
            for (const CorpusReader::Facts& facts : self.facts(side)) {
              lifted.push_back(static_cast<std::int32_t>(facts.lifted));
              phrases.push_back(facts.new_phrases);
              arcs.push_back(facts.new_arcs);
            }
            const std::size_t size = lifted.size();
            return nb::make_tuple(as_array(std::move(lifted), size), as_array(std::move(phrases), size),
                                  as_array(std::move(arcs), size));
          },
          nb::arg("side") = 0)
      .def_prop_ro("surfaces", [](const CorpusReader& self) {
        const Reading use(self);
        return self.surfaces();
      });

  // Raised with (stream, line or 0, column or 0, message, remedy) as its arguments.
  PyObject* read_error = PyErr_NewException("treeglot._core.parsed.ReadError", PyExc_ValueError, nullptr);
  if (read_error == nullptr) nb::raise_python_error();
  m.attr("ReadError") = nb::steal(read_error);
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const treeglot::ReadError& error) {
          nb::object arguments = nb::make_tuple(error.stream, error.line, error.column, error.what(), error.remedy);
          PyErr_SetObject(static_cast<PyObject*>(type), arguments.ptr());
        }
      },
      read_error);

  // Raised with (number of the pair, message) as its arguments.
  PyObject* link_error = PyErr_NewException("treeglot._core.parsed.LinkError", PyExc_ValueError, nullptr);
  if (link_error == nullptr) nb::raise_python_error();
  m.attr("LinkError") = nb::steal(link_error);
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const treeglot::LinkProblem& error) {
          nb::object arguments = nb::make_tuple(error.pair, error.what());
          PyErr_SetObject(static_cast<PyObject*>(type), arguments.ptr());
        }
      },
      link_error);
}
