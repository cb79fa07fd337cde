// Bindings of cpp/table/rule_*: counting the rules of a grammar and the table that keeps them. The global lock is
// released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <ctime>
#include <stdexcept>

#include "bindings/given_options.hh"
#include "bindings/in_use.hh"
#include "grammars/registry.hh"
#include "table/moses_rules.hh"
#include "table/rule_counts.hh"
#include "table/rule_table.hh"
#include "table/rule_table_format.hh"
#include "table/rule_table_text.hh"
#include "table/rule_table_writer.hh"

namespace nb = nanobind;
using namespace treeglot;

namespace {

Discounting discounting_of(std::string_view name) {
  if (name == "none") return Discounting::kNone;
  if (name == "good-turing") return Discounting::kGoodTuring;
  if (name == "kneser-ney") return Discounting::kKneserNey;
  throw std::invalid_argument("there is no discounting " + std::string(name) + ": none, good-turing or kneser-ney");
}

nb::tuple entry_of(const RuleTableText& names, const RuleEntry& entry) {
  std::string target;
  names.target(entry.target, target);
  const std::array<double, 4> s = moses_scores(entry);
  nb::list labels;
  for (const StructureLabel& label : entry.labels) labels.append(nb::make_tuple(label.begin, label.end));
  return nb::make_tuple(nb::str(target.data(), target.size()), nb::make_tuple(s[0], s[1], s[2], s[3]), entry.count,
                        entry.source_total, entry.target_total, nb::tuple(labels), entry.unlinked);
}

}  // namespace

void bind_rule_tables(nb::module_& m) {
  m.attr("FORMAT_VERSION") = rule_format::kVersion;
  nb::class_<Progress>(m, "Progress")
      .def(nb::init<>())
      .def_prop_ro("done", [](const Progress& self) { return self.done.load(); })
      .def("stop", [](Progress& self) { self.stop = true; });

  m.def(
      "build",
      [](const std::string& grammar, const ParsedBitext& corpus, const std::string& path, const nb::dict& extraction,
         double min_count, std::string_view discounting, const std::string& description, std::size_t memory,
         const std::string& folder, int threads, Progress& progress) {
        if (!std::isfinite(min_count)) throw nb::value_error("a limit that is no number");
        const GivenOptions options = given_options(extraction);
        const RuleCountOptions counting{min_count, discounting_of(discounting),     memory, folder, threads,
                                        &progress, find_grammar(grammar).rule_class};
        RuleStatistics statistics;
        std::uint64_t bytes = 0;
        const bindings::Reading use(corpus);
        {
          nb::gil_scoped_release release;
          CategoryInterner categories(corpus.source().categories);
          auto make = [&] { return make_extractor(grammar, options, corpus, categories); };
          make();  // says what is wrong before the file is touched
          const Grammar& declared = find_grammar(grammar);
          RuleTableWriter::Options writing{.grammar = grammar,
                                           .description = description,
                                           .labels = declared.labels,
                                           .discounted = counting.discounting != Discounting::kNone,
                                           .folder = folder,
                                           .memory = memory / 5};
          const OptionValues values(declared.options, options);
          for (const Grammar::FeatureSpec& feature : declared.features) {
            if (!feature.wanted(values)) continue;
            writing.shares = writing.shares || feature.shares;
          }
          RuleTableWriter writer(path, corpus, categories, writing);
          statistics = count_rules(corpus, categories, make, counting, writer);
          bytes = writer.finish(statistics);
        }
        nb::dict result;
        result["sentences"] = statistics.sentences;
        result["occurrences"] = statistics.occurrences;
        result["rules"] = statistics.rules;
        result["sources"] = statistics.sources;
        result["targets"] = statistics.targets;
        result["dropped"] = statistics.dropped;
        result["spilled_runs"] = statistics.runs;
        result["table_bytes"] = bytes;
        nb::dict counters;
        for (const auto& [name, count] : statistics.counters) counters[name.c_str()] = count;
        result["counters"] = counters;
        result["discounts"] =
            nb::tuple(nb::cast(std::vector<double>(statistics.discounts.begin(), statistics.discounts.end())));
        return result;
      },
      nb::arg("grammar"), nb::arg("corpus"), nb::arg("path"), nb::arg("extraction"), nb::arg("min_count"),
      nb::arg("discounting"), nb::arg("description"), nb::arg("memory"), nb::arg("folder"), nb::arg("threads"),
      nb::arg("progress"));

  nb::class_<RuleTable>(m, "RuleTable")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = false)
      .def_prop_ro("grammar", &RuleTable::grammar)
      .def_prop_ro("description", &RuleTable::description)
      .def_prop_ro("rules", &RuleTable::rules)
      .def_prop_ro("sources", &RuleTable::sources)
      .def_prop_ro("prefixes", &RuleTable::prefixes)
      .def_prop_ro("size", &RuleTable::bytes)
      .def_prop_ro("sentences", &RuleTable::sentences)
      .def_prop_ro("occurrences", &RuleTable::occurrences)
      .def_prop_ro("discounted", &RuleTable::discounted)
      .def_prop_ro("has_labels", &RuleTable::has_labels)
      .def_prop_ro("longest_source", &RuleTable::longest_source)
      .def_prop_ro("longest_target", &RuleTable::longest_target)
      .def_prop_ro("source_words", &RuleTable::source_words)
      .def_prop_ro("categories", &RuleTable::categories)
      .def_prop_ro("target_words", &RuleTable::target_size)
      .def(
          "find",
          [](const RuleTable& self, std::string_view source, std::size_t limit, double threshold) {
            const RuleTableText names(self);
            std::vector<RuleEntry> entries;
            for (const std::vector<Symbol>& side : names.sources(source)) {
              self.read(find_source(self, side), side, limit, threshold, entries);
            }
            nb::list result;
            for (const RuleEntry& entry : entries) result.append(entry_of(names, entry));
            return result;
          },
          nb::arg("source"), nb::arg("limit"), nb::arg("threshold"))
      .def(
          "spelling",
          [](const RuleTable& self, std::string_view source) {
            const RuleTableText names(self);
            const std::vector<std::vector<Symbol>> sides = names.sources(source);
            std::string text;
            if (sides.empty()) text = source;
            if (!sides.empty()) names.source(sides.front(), text);
            return nb::str(text.data(), text.size());
          },
          nb::arg("source"))
      .def(
          "scan",
          [](const RuleTable& self, std::uint64_t position, std::size_t sources) {
            const RuleTableText names(self);
            nb::list result;
            std::vector<Symbol> source;
            std::vector<RuleEntry> entries;
            std::string text;
            while (sources-- > 0 && self.scan(position, source, entries)) {
              text.clear();
              names.source(source, text);
              nb::list list;
              for (const RuleEntry& entry : entries) list.append(entry_of(names, entry));
              result.append(nb::make_tuple(nb::str(text.data(), text.size()), list));
            }
            return nb::make_tuple(result, position);
          },
          nb::arg("position"), nb::arg("sources"))
      .def("unlinked_share",
           [](const RuleTable& self, std::string_view word) {
             const std::uint32_t id = self.word_id(word);
             return id == RuleTable::kNone ? 0.0f : self.unlinked_share(id);
           })
      .def_prop_ro("has_shares", &RuleTable::has_shares)
      .def(
          "export_text",
          [](const RuleTable& self, nb::callable write) {
            nb::gil_scoped_release release;
            export_text(self, [&](std::string_view part) {
              nb::gil_scoped_acquire acquire;
              write(nb::bytes(part.data(), part.size()));
            });
          },
          nb::arg("write"))
      .def(
          "export_moses",
          [](const RuleTable& self, nb::callable write, const std::string& folder, std::size_t memory) {
            nb::gil_scoped_release release;
            export_moses_rules(
                self,
                [&](std::string_view part) {
                  nb::gil_scoped_acquire acquire;
                  write(nb::bytes(part.data(), part.size()));
                },
                folder, memory);
          },
          nb::arg("write"), nb::arg("folder"), nb::arg("memory"))
      .def("shape",
           [](const RuleTable& self) {
             RuleTableShape shape;
             {
               nb::gil_scoped_release release;
               shape = shape_of(self);
             }
             nb::dict result;
             result["source_lengths"] = shape.source_lengths;
             result["target_lengths"] = shape.target_lengths;
             result["variables"] = shape.variables;
             result["ambiguity"] = shape.ambiguity;
             result["most_rules"] = shape.most;
             result["most_ambiguous"] = nb::str(shape.most_ambiguous.data(), shape.most_ambiguous.size());
             result["seen_once"] = shape.seen_once;
             result["lexical"] = shape.lexical;
             result["labelled"] = shape.labelled;
             return result;
           })
      .def(
          "walk_all",  // without building Python objects: for tests and benchmarks of the table itself
          [](const RuleTable& self, std::size_t every, std::size_t limit) {
            if (every == 0) throw nb::value_error("every is the distance of the sources that are read: 1 or more");
            nb::gil_scoped_release release;
            std::vector<Symbol> symbols, source;
            std::vector<std::size_t> ends;
            std::vector<RuleEntry> entries;
            std::size_t n = 0;
            for (std::uint64_t position = 0; self.scan(position, source, entries);) {
              if (n++ % every != 0) continue;
              symbols.insert(symbols.end(), source.begin(), source.end());
              ends.push_back(symbols.size());
            }
            auto spent = std::clock();
            std::uint64_t steps = 0, lost = 0, rules = 0;
            std::size_t begin = 0;
            for (std::size_t end : ends) {
              const std::span<const Symbol> side(symbols.data() + begin, end - begin);
              entries.clear();
              self.read(find_source(self, side), side, limit, 0, entries);
              steps += side.size();
              rules += entries.size();
              lost += entries.empty();
              begin = end;
            }
            const double seconds = static_cast<double>(std::clock() - spent) / CLOCKS_PER_SEC;
            return std::make_tuple(ends.size(), steps, rules, lost, seconds);
          },
          nb::arg("every") = 1, nb::arg("limit") = 0);
}
