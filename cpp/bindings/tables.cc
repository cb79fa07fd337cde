// Bindings of cpp/grammars and cpp/table: phrase pairs, their counting, and the table. The global lock is released
// inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "base/gzip.hh"
#include "bindings/in_use.hh"
#include "bindings/link_arrays.hh"
#include "grammars/phrase_pairs.hh"
#include "grammars/phrases/licensed.hh"
#include "table/moses_text.hh"
#include "table/moses_words.hh"
#include "table/phrase_counts.hh"
#include "table/phrase_table.hh"
#include "table/phrase_table_format.hh"
#include "trees/aligned_bitext.hh"
#include "trees/parsed_corpus.hh"

namespace nb = nanobind;
using namespace treeglot;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

// A corpus and how far a job on it has come.
struct Corpus {
  std::vector<SpanPairs> spans;
  AlignedBitext text;
  Progress progress;
  std::uint64_t source_tokens = 0, target_tokens = 0, links = 0;
};

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

std::string_view next_line(std::string_view& text) {
  std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Calls a Python function with text; used without the global lock.
WriteText writer(const nb::callable& write) {
  return [&write](std::string_view part) {
    nb::gil_scoped_acquire acquire;
    write(nb::bytes(part.data(), part.size()));
  };
}

nb::str text_of(const MappedWords& words, std::span<const WordId> phrase) {
  std::string text;
  for (WordId word : phrase) {
    if (!text.empty()) text += ' ';
    text += words.word(word);
  }
  return nb::str(text.data(), text.size());
}

nb::tuple entry_of(const PhraseTable& table, const TableEntry& entry) {
  nb::list links;
  for (const WordLink& link : entry.links) links.append(nb::make_tuple(link.source, link.target));
  const auto& s = entry.scores;
  const auto& r = entry.reordering;
  nb::object reordering = nb::none();
  if (table.has_reordering()) reordering = nb::make_tuple(r[0], r[1], r[2], r[3], r[4], r[5]);
  auto count = [&](std::uint32_t units) -> nb::object {
    if (table.one() == 1) return nb::int_(units);
    return nb::float_(static_cast<double>(units) / table.one());
  };
  return nb::make_tuple(text_of(table.target_words(), entry.target), nb::make_tuple(s[0], s[1], s[2], s[3]), reordering,
                        nb::tuple(links), count(entry.count), count(entry.source_count), count(entry.target_count));
}

// The ids of a phrase; false if a word is not in the vocabulary.
bool ids_of(const MappedWords& words, std::string_view phrase, std::vector<WordId>& ids) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  std::size_t i = 0;
  while (true) {
    while (i < phrase.size() && blank(phrase[i])) ++i;
    if (i == phrase.size()) return true;
    std::size_t start = i;
    while (i < phrase.size() && !blank(phrase[i])) ++i;
    WordId id = words.id(phrase.substr(start, i - start));
    if (id == words.size()) return false;
    ids.push_back(id);
  }
}

PhraseOptions options_of(Corpus& corpus, int max_length, std::size_t memory, const std::string& folder, int threads,
                         bool consistent) {
  for (const SpanPairs& spans : corpus.spans) {
    if (spans.size() != corpus.text.sentences())
      throw std::runtime_error("spans of fewer sentence pairs than the text has");
  }
  corpus.progress.done = 0;
  return {max_length, memory, folder, threads, &corpus.progress, consistent, corpus.spans};
}

void put_count(std::string& text, std::uint64_t units, std::uint32_t one) {
  text += std::to_string(units / one);
  if (units % one == 0) return;
  const std::string rest = std::to_string(units % one + one).substr(1);  // with leading zeros
  text += '.' + (rest.back() == '0' ? rest.substr(0, 1) : rest);
}

nb::tuple tuple_of(const PhraseStatistics& s) { return nb::make_tuple(s.occurrences, s.pairs, s.sources, s.runs); }

[[noreturn]] void raise(const MosesError& error) {
  PyErr_SetObject(PyExc_ValueError, nb::make_tuple(error.in_reordering, error.line, error.message).ptr());
  throw nb::python_error();
}

}  // namespace

void bind_tables(nb::module_& m) {
  m.attr("FORMAT_VERSION") = table_format::kVersion;
  m.attr("MAX_PHRASE") = kMaxPhrase;

  m.def(
      "extract",
      [](std::size_t source_length, std::size_t target_length, const std::vector<std::tuple<int, int>>& links,
         int max_length) {
        const int most = AlignedBitext::kMaxSentence;
        if (source_length > AlignedBitext::kMaxSentence || target_length > AlignedBitext::kMaxSentence) {
          throw nb::value_error("a sentence of more than 65,535 words");
        }
        std::vector<WordId> source(source_length), target(target_length);
        std::vector<WordLink> sorted;
        for (const auto& [s, t] : links) {
          if (s < 0 || t < 0 || s > most || t > most || static_cast<std::size_t>(s) >= source_length ||
              static_cast<std::size_t>(t) >= target_length) {
            throw nb::index_error("a link is outside the sentences");
          }
          sorted.push_back({static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)});
        }
        std::sort(sorted.begin(), sorted.end());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        PhraseExtractor extractor(max_length);
        std::vector<std::tuple<int, int, int, int, int, int>> result;
        for (const PhraseSpan& span : extractor.extract({source, target, sorted})) {
          result.emplace_back(span.source_begin, span.source_end, span.target_begin, span.target_end,
                              extractor.before(span), extractor.after(span));
        }
        return result;
      },
      nb::arg("source_length"), nb::arg("target_length"), nb::arg("links"), nb::arg("max_length"));

  m.def(
      "licensed",
      [](const ParsedBitext& bitext, std::size_t n, int max_length, bool open) {
        if (n >= bitext.size()) throw nb::index_error("no such pair");
        LicensedPhrases phrases(max_length, open);
        std::vector<std::tuple<int, int, int, int>> result;
        for (const PhraseSpan& span : phrases.find(bitext[n])) {
          result.emplace_back(span.source_begin, span.source_end, span.target_begin, span.target_end);
        }
        return result;
      },
      nb::arg("bitext"), nb::arg("n"), nb::arg("max_length"), nb::arg("open"));

  nb::class_<Corpus>(m, "Corpus")
      .def(nb::init<>())
      .def(
          "add",
          [](Corpus& self, nb::bytes source, nb::bytes target, nb::bytes links) -> nb::object {
            std::string_view a = view(source), b = view(target), c = view(links);
            AlignedBitext::Problem problem;
            std::size_t line = 0;
            const Changing use(self);
            {
              nb::gil_scoped_release release;
              while (!a.empty() && !problem) {
                ++line;
                std::string_view f = next_line(a), e = next_line(b), l = next_line(c);
                problem = self.text.add(f, e, l);
                if (problem) break;
                SentencePair pair = self.text[self.text.size() - 1];
                self.source_tokens += pair.source.size();
                self.target_tokens += pair.target.size();
                self.links += pair.links.size();
              }
            }
            if (!problem) return nb::none();
            return nb::make_tuple(line, problem.side, problem.message);
          },
          nb::arg("source"), nb::arg("target"), nb::arg("links"))
      .def(
          "add_links",
          [](Corpus& self, const bindings::LinkArray& links, const bindings::StartArray& starts) {
            const Changing use(self);
            self.text.add_links(bindings::links_of(links), bindings::starts_of(starts));
            self.links += links.shape(0);
          },
          nb::arg("links"), nb::arg("starts"))
      .def(
          "set_weights",
          [](Corpus& self, const std::vector<double>& weights) {
            const Changing use(self);
            self.text.set_weights(weights);
          },
          nb::arg("weights"))
      .def(
          "take",
          [](Corpus& self, const ParsedBitext& bitext) {
            const Changing use(self);
            const Reading read(bitext);
            nb::gil_scoped_release release;
            self.text.take(bitext);
            for (std::size_t n = 0; n < self.text.size(); ++n) {
              const SentencePair pair = self.text[n];
              if (n < self.text.sentences()) {
                self.source_tokens += pair.source.size();
                self.target_tokens += pair.target.size();
              }
              self.links += pair.links.size();
            }
          },
          nb::arg("bitext"))
      .def(
          "add_licensed",
          [](Corpus& self, const ParsedBitext& bitext, int max_length, bool open, bool only_new) {
            const Changing use(self);
            const Reading read(bitext);
            nb::gil_scoped_release release;
            LicensedPhrases phrases(max_length, open);
            self.spans.emplace_back(only_new);
            for (std::size_t n = 0; n < bitext.sentences(); ++n) self.spans.back().add(phrases.find(bitext[n]));
          },
          nb::arg("bitext"), nb::arg("max_length"), nb::arg("open"), nb::arg("only_new"))
      .def("new_spans",
           [](Corpus& self) {
             const Changing use(self);
             self.spans.emplace_back();
           })
      .def(
          "add_spans",
          [](Corpus& self, nb::bytes text) -> nb::object {
            if (self.spans.empty()) throw nb::value_error("call new_spans first");
            SpanPairs& spans = self.spans.back();
            std::string_view rest = view(text);
            std::size_t line = 0;
            std::string problem;
            const Changing use(self);
            {
              nb::gil_scoped_release release;
              while (!rest.empty() && problem.empty()) {
                ++line;
                std::string_view next = next_line(rest);
                if (spans.size() == self.text.sentences()) {
                  problem = "more lines than sentence pairs";
                } else {
                  SentencePair pair = self.text[spans.size()];
                  problem = spans.add(next, pair.source.size(), pair.target.size());
                }
              }
            }
            if (problem.empty()) return nb::none();
            nb::object message = nb::steal(
                PyUnicode_DecodeUTF8(problem.data(), static_cast<Py_ssize_t>(problem.size()), "backslashreplace"));
            return nb::make_tuple(line, message);
          },
          nb::arg("text"))
      .def_prop_ro("spans", [](const Corpus& self) { return self.spans.empty() ? 0 : self.spans.back().size(); })
      .def("finish",
           [](Corpus& self) {
             const Changing use(self);
             nb::gil_scoped_release release;
             self.text.finish();
           })
      .def("__len__", [](const Corpus& self) { return self.text.size(); })
      .def_prop_ro("sentences", [](const Corpus& self) { return self.text.sentences(); })
      .def_prop_ro("size", [](const Corpus& self) { return self.text.bytes(); })
      .def_ro("source_tokens", &Corpus::source_tokens)
      .def_ro("target_tokens", &Corpus::target_tokens)
      .def_ro("links", &Corpus::links)
      .def_prop_ro("source_words", [](const Corpus& self) { return self.text.source_words.size(); })
      .def_prop_ro("target_words", [](const Corpus& self) { return self.text.target_words.size(); })
      .def_prop_ro("done", [](const Corpus& self) { return self.progress.done.load(); })
      .def("stop", [](Corpus& self) { self.progress.stop = true; })
      .def(
          "write_counts",
          [](Corpus& self, nb::callable write, int max_length, std::size_t memory, const std::string& folder,
             int threads, bool consistent) {
            PhraseStatistics statistics;
            const Reading use(self);
            {
              nb::gil_scoped_release release;
              WriteText out = writer(write);
              std::string text;
              auto put = [&text](const SymbolTable& words, std::span<const WordId> phrase) {
                for (WordId word : phrase) {
                  put_moses_word(text, words.word(word));
                  text += ' ';
                }
                text += "||| ";
              };
              statistics = count_phrases(self.text, options_of(self, max_length, memory, folder, threads, consistent),
                                         [&](const PhrasePair& pair) {
                                           put(self.text.source_words, pair.source);
                                           put(self.text.target_words, pair.target);
                                           put_count(text, pair.count, self.text.one());
                                           text += '\n';
                                           if (text.size() > (1 << 18)) {
                                             out(text);
                                             text.clear();
                                           }
                                         });
              out(text);
            }
            return tuple_of(statistics);
          },
          nb::arg("write"), nb::arg("max_length"), nb::arg("memory"), nb::arg("folder"), nb::arg("threads"),
          nb::arg("consistent") = true)
      .def(
          "write_table",
          [](Corpus& self, const std::string& path, int max_length, std::size_t memory, const std::string& folder,
             int threads, bool consistent) {
            PhraseStatistics statistics;
            std::size_t lexicon_bytes = 0;
            const Reading use(self);
            {
              nb::gil_scoped_release release;
              LexicalTable lexicon;
              for (std::size_t n = 0; n < self.text.size(); ++n) lexicon.count(self.text[n], self.text.weight(n));
              lexicon_bytes = lexicon.bytes();
              PhraseTableWriter out(path, self.text.source_words, self.text.target_words, lexicon, self.text.one());
              statistics = count_phrases(self.text, options_of(self, max_length, memory, folder, threads, consistent),
                                         [&](const PhrasePair& pair) { out.add(pair); });
              out.finish();
            }
            return nb::make_tuple(tuple_of(statistics), lexicon_bytes);
          },
          nb::arg("path"), nb::arg("max_length"), nb::arg("memory"), nb::arg("folder"), nb::arg("threads"),
          nb::arg("consistent") = true);

  nb::class_<PhraseTable>(m, "PhraseTable")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = false)
      .def_prop_ro("entries", [](const PhraseTable& self) { return self.header().entries; })
      .def_prop_ro("sources", [](const PhraseTable& self) { return self.header().sources; })
      .def_prop_ro("blocks", [](const PhraseTable& self) { return self.header().blocks; })
      .def_prop_ro("size", [](const PhraseTable& self) { return self.header().file_size; })
      .def_prop_ro("lexicon_size", [](const PhraseTable& self) { return self.header().lexicon_size; })
      .def_prop_ro("longest_source", [](const PhraseTable& self) { return self.header().longest_source; })
      .def_prop_ro("longest_target", [](const PhraseTable& self) { return self.header().longest_target; })
      .def_prop_ro("has_reordering", &PhraseTable::has_reordering)
      .def_prop_ro("has_counts", &PhraseTable::has_counts)
      .def_prop_ro("imported", [](const PhraseTable& self) { return (self.header().flags & kExplicitScores) != 0; })
      .def(
          "words",
          [](const PhraseTable& self, bool target) {
            return (target ? self.target_words() : self.source_words()).size();
          },
          nb::arg("target"))
      .def(
          "word",
          [](const PhraseTable& self, bool target, WordId id) {
            const MappedWords& words = target ? self.target_words() : self.source_words();
            if (id >= words.size()) throw nb::index_error("no such word");
            return std::string(words.word(id));
          },
          nb::arg("target"), nb::arg("id"))
      .def(
          "id",
          [](const PhraseTable& self, bool target, std::string_view word) -> nb::object {
            const MappedWords& words = target ? self.target_words() : self.source_words();
            WordId id = words.id(word);
            if (id == words.size()) return nb::none();
            return nb::int_(id);
          },
          nb::arg("target"), nb::arg("word"))
      .def(
          "find",
          [](const PhraseTable& self, std::string_view phrase, std::size_t limit) {
            std::vector<WordId> ids;
            std::vector<TableEntry> entries;
            if (ids_of(self.source_words(), phrase, ids) && !ids.empty()) self.find(ids, entries, limit);
            nb::list result;
            for (const TableEntry& entry : entries) result.append(entry_of(self, entry));
            return result;
          },
          nb::arg("phrase"), nb::arg("limit"))
      .def(
          "count_lines",  // lookups without building Python objects: for benchmarks of the table itself
          [](const PhraseTable& self, nb::bytes text, std::size_t max_length, std::size_t limit) {
            std::uint64_t lookups = 0, hits = 0, pairs = 0;
            std::string_view rest = view(text);
            nb::gil_scoped_release release;
            std::vector<WordId> ids;
            std::vector<TableEntry> entries;
            while (!rest.empty()) {
              ids.clear();
              std::string_view line = next_line(rest);
              std::size_t start = 0;
              while (start < line.size()) {
                std::size_t end = std::min(line.find(' ', start), line.size());
                if (end > start) ids.push_back(self.source_words().id(line.substr(start, end - start)));
                start = end + 1;
              }
              for (std::size_t b = 0; b < ids.size(); ++b) {
                for (std::size_t e = b + 1; e <= std::min(ids.size(), b + max_length); ++e) {
                  entries.clear();
                  std::size_t matches = self.find(std::span<const WordId>(ids).subspan(b, e - b), entries, limit);
                  ++lookups;
                  hits += matches > 0;
                  pairs += matches;
                }
              }
            }
            return std::make_tuple(lookups, hits, pairs);
          },
          nb::arg("text"), nb::arg("max_length"), nb::arg("limit"))
      .def(
          "block",
          [](const PhraseTable& self, std::uint64_t number) {
            nb::list result;
            self.scan_block(number, [&](std::span<const WordId> source, const std::vector<TableEntry>& entries) {
              nb::list list;
              for (const TableEntry& entry : entries) list.append(entry_of(self, entry));
              result.append(nb::make_tuple(text_of(self.source_words(), source), list));
              return true;
            });
            return result;
          },
          nb::arg("number"))
      .def(
          "search",
          [](const PhraseTable& self, const std::vector<std::vector<WordId>>& pattern, bool target, bool whole,
             std::size_t limit) {
            const MappedWords& words = target ? self.target_words() : self.source_words();
            std::vector<std::vector<bool>> sets;
            for (const auto& allowed : pattern) {
              std::vector<bool>& set = sets.emplace_back(words.size());
              for (WordId id : allowed) {
                if (id >= words.size()) throw nb::index_error("no such word");
                set[id] = true;
              }
            }
            nb::list result;
            if (limit == 0) return result;
            std::vector<std::pair<std::vector<WordId>, TableEntry>> matches;
            {
              nb::gil_scoped_release release;
              self.search(sets, target, whole, [&](std::span<const WordId> source, const TableEntry& entry) {
                matches.emplace_back(std::vector<WordId>(source.begin(), source.end()), entry);
                return matches.size() < limit;
              });
            }
            for (const auto& [source, entry] : matches) {
              result.append(nb::make_tuple(text_of(self.source_words(), source), entry_of(self, entry)));
            }
            return result;
          },
          nb::arg("pattern"), nb::arg("target"), nb::arg("whole"), nb::arg("limit"))
      .def("shape",
           [](const PhraseTable& self) {
             PhraseTableShape shape;
             {
               nb::gil_scoped_release release;
               shape = self.shape();
             }
             return nb::make_tuple(shape.source_lengths, shape.target_lengths, shape.ambiguity, shape.most,
                                   text_of(self.source_words(), shape.most_ambiguous), shape.singletons);
           })
      .def("lexicon",
           [](const PhraseTable& self) {
             nb::list result;
             auto word = [](const MappedWords& words, WordId id) -> nb::object {
               if (id == LexicalTable::kNull) return nb::none();
               return nb::str(words.word(id).data(), words.word(id).size());
             };
             self.lexicon([&](WordId source, WordId target, double forward, double backward) {
               result.append(nb::make_tuple(word(self.source_words(), source), word(self.target_words(), target),
                                            forward, backward));
             });
             return result;
           })
      .def(
          "export_moses",
          [](const PhraseTable& self, nb::callable phrases, nb::object reordering) {
            nb::callable orders;
            if (!reordering.is_none()) orders = nb::cast<nb::callable>(reordering);
            bool both = orders.is_valid();
            nb::gil_scoped_release release;
            WriteText second = writer(orders);
            export_moses(self, writer(phrases), both ? &second : nullptr);
          },
          nb::arg("phrases"), nb::arg("reordering").none())
      .def(
          "export_lexicon",
          [](const PhraseTable& self, nb::callable source_given_target, nb::callable target_given_source) {
            nb::gil_scoped_release release;
            export_lexicon(self, writer(source_given_target), writer(target_given_source));
          },
          nb::arg("source_given_target"), nb::arg("target_given_source"));

  nb::class_<GzipPacker>(m, "GzipPacker")
      .def(nb::init<>())
      .def(
          "add",
          [](GzipPacker& self, nb::bytes text) {
            std::string packed;
            const Changing use(self);
            {
              const std::string_view part = view(text);
              nb::gil_scoped_release release;
              self.add(part, packed);
            }
            return nb::bytes(packed.data(), packed.size());
          },
          nb::arg("text"))
      .def("finish", [](GzipPacker& self) {
        std::string packed;
        const Changing use(self);
        self.finish(packed);
        return nb::bytes(packed.data(), packed.size());
      });

  nb::class_<MosesImporter>(m, "MosesImporter")
      .def(nb::init<std::string, std::size_t>(), nb::arg("folder"), nb::arg("memory"))
      .def(
          "add",
          [](MosesImporter& self, nb::bytes text, bool reordering) {
            const Changing use(self);
            try {
              std::string_view lines = view(text);
              nb::gil_scoped_release release;
              reordering ? self.add_reordering(lines) : self.add_phrases(lines);
            } catch (const MosesError& error) {
              raise(error);
            }
          },
          nb::arg("text"), nb::arg("reordering"))
      .def(
          "finish",
          [](MosesImporter& self, const std::string& path) {
            const Changing use(self);
            MosesImporter::Result result;
            try {
              nb::gil_scoped_release release;
              result = self.finish(path);
            } catch (const MosesError& error) {
              raise(error);
            }
            return nb::make_tuple(result.pairs, result.sources, result.without_reordering, result.unused_reordering);
          },
          nb::arg("path"));
}
