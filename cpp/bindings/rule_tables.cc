// Bindings of cpp/table/rule_*: counting the rules of a grammar and the table that keeps them. The global lock is
// released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <stdexcept>

#include "grammars/extractor.hh"
#include "grammars/rule_text.hh"
#include "table/rule_counts.hh"
#include "table/rule_table.hh"
#include "table/rule_table_writer.hh"

namespace nb = nanobind;
using namespace treeglot;

namespace {

// Options of extraction by name.
ExtractOptions options_of(const nb::dict& given) {
  ExtractOptions options;
  const std::map<std::string_view, int*> numbers{{"max_variants", &options.max_variants},
                                                 {"max_phrasal_nodes", &options.max_phrasal_nodes},
                                                 {"max_structure_words", &options.max_structure_words},
                                                 {"max_height", &options.max_height},
                                                 {"max_leaves", &options.max_leaves},
                                                 {"max_fragments", &options.max_fragments},
                                                 {"max_initial_phrase", &options.max_initial_phrase},
                                                 {"max_source_symbols", &options.max_source_symbols},
                                                 {"max_gaps", &options.max_gaps},
                                                 {"min_gap", &options.min_gap},
                                                 {"max_rules", &options.max_rules}};
  const std::map<std::string_view, bool*> switches{
      {"composed", &options.composed}, {"fractional", &options.fractional}, {"tight", &options.tight}};
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "span_mode") {
      const auto mode = nb::cast<std::string>(value);
      if (mode != "ghkm" && mode != "xie") {
        throw std::invalid_argument("there is no span mode " + mode + ": ghkm or xie");
      }
      options.span_mode = mode == "ghkm" ? SpanMode::kGhkm : SpanMode::kXie;
    } else if (auto number = numbers.find(name); number != numbers.end()) {
      *number->second = nb::cast<int>(value);
    } else if (auto flag = switches.find(name); flag != switches.end()) {
      *flag->second = nb::cast<bool>(value);
    } else {
      throw std::invalid_argument("there is no option " + name);
    }
  }
  return options;
}

Discounting discounting_of(std::string_view name) {
  if (name == "none") return Discounting::kNone;
  if (name == "good-turing") return Discounting::kGoodTuring;
  if (name == "kneser-ney") return Discounting::kKneserNey;
  throw std::invalid_argument("there is no discounting " + std::string(name) + ": none, good-turing or kneser-ney");
}

// The text of sides, both ways.
class Names {
 public:
  explicit Names(const RuleTable& table)
      : table_(table),
        word_([&table](std::uint32_t id) { return table.source_word(id); }),
        category_([&table](std::uint32_t id) { return table.category(id); }),
        target_([&table](std::uint32_t id) { return table.target_word(id); }) {}

  void source(std::span<const Symbol> side, std::string& out) const { write_source(side, word_, category_, out); }
  void target(std::span<const TargetSymbol> side, std::string& out) const { write_target(side, target_, out); }

  // The sides that a text may mean: more than one if a word of an internal dependent is also a tag.
  std::vector<std::vector<Symbol>> sources(std::string_view text) const {
    const std::string grammar = table_.grammar();
    const RuleFamily family = grammar == "cons2str"       ? RuleFamily::kTree
                              : grammar == "hierarchical" ? RuleFamily::kHierarchical
                                                          : RuleFamily::kHdr;
    std::vector<std::vector<Symbol>> found;
    for (bool prefer_tag : {true, false}) {
      auto is_tag = [&](std::string_view name) {
        const bool tag = table_.category_id(name) != RuleTable::kNone, word = table_.word_id(name) != RuleTable::kNone;
        return tag && word ? prefer_tag : tag;
      };
      std::vector<Symbol> side;
      bool known = true;
      for (const SourceText& one : parse_source(text, family, is_tag)) {
        std::uint32_t id = 0;
        if (id_is_word(symbol(one.kind, 0))) {
          id = table_.word_id(one.text);
        } else if (one.kind != SymbolKind::kClose && one.kind != SymbolKind::kGap) {
          id = table_.category_id(one.text);
        }
        known = known && id != RuleTable::kNone;
        side.push_back(symbol(one.kind, id));
      }
      if (known && (found.empty() || found.front() != side)) found.push_back(std::move(side));
    }
    return found;
  }

 private:
  const RuleTable& table_;
  TextOf word_, category_, target_;
};

// P(s|t), Plex(s|t), P(t|s), Plex(t|s): the order of Moses' files.
std::array<double, 4> moses_scores(const RuleEntry& entry) {
  auto p = [&](int which) { return std::exp(static_cast<double>(entry.scores[which])); };
  return {p(1), p(3), p(0), p(2)};
}

nb::tuple entry_of(const Names& names, const RuleEntry& entry) {
  std::string target;
  names.target(entry.target, target);
  const std::array<double, 4> s = moses_scores(entry);
  nb::list labels;
  for (const StructureLabel& label : entry.labels) labels.append(nb::make_tuple(label.begin, label.end));
  return nb::make_tuple(nb::str(target.data(), target.size()), nb::make_tuple(s[0], s[1], s[2], s[3]), entry.count,
                        entry.source_total, entry.target_total, nb::tuple(labels));
}

RuleTable::Place walk(const RuleTable& table, std::span<const Symbol> source) {
  WalkKey key = walk_start();
  RuleTable::Place place;
  for (Symbol symbol : source) {
    key = walk_step(key, symbol);
    place = table.find(key);
    if (!place.prefix) return {};
  }
  return place;
}

// Writes "source ||| target ||| scores ||| counts" for every rule, with labels in a fifth column if there are any.
void export_text(const RuleTable& table, const std::function<void(std::string_view)>& write) {
  const Names names(table);
  std::vector<Symbol> source;
  std::vector<RuleEntry> rules;
  std::string text, side;
  char number[64];
  for (std::uint64_t position = 0; table.scan(position, source, rules);) {
    side.clear();
    names.source(source, side);
    for (const RuleEntry& rule : rules) {
      text.append(side).append(" ||| ");
      names.target(rule.target, text);
      text += " |||";
      for (double score : moses_scores(rule)) text.append(number, std::snprintf(number, sizeof number, " %.6g", score));
      text += " |||";
      for (double count : {rule.target_total, rule.source_total, rule.count}) {
        text.append(number, std::snprintf(number, sizeof number, " %.6g", count));
      }
      if (!rule.labels.empty()) {
        text += " |||";
        for (const StructureLabel& label : rule.labels) {
          text.append(number, std::snprintf(number, sizeof number, " %u-%u", label.begin, label.end));
        }
      }
      text += '\n';
    }
    if (text.size() > (1 << 18)) {
      write(text);
      text.clear();
    }
  }
  if (!text.empty()) write(text);
}

// What a table looks like as a whole. Lengths and numbers of rules are indices.
struct Shape {
  std::vector<std::uint64_t> source_lengths, target_lengths, variables;  // rules
  std::vector<std::uint64_t> ambiguity;  // sources by bit width of their number of rules
  std::uint64_t most = 0, seen_once = 0, lexical = 0, labelled = 0;
  std::string most_ambiguous;
};

Shape shape_of(const RuleTable& table) {
  Shape shape;
  auto count = [](std::vector<std::uint64_t>& at, std::size_t n, std::uint64_t more) {
    if (n >= at.size()) at.resize(n + 1);
    at[n] += more;
  };
  std::vector<Symbol> source, most;
  std::vector<RuleEntry> rules;
  for (std::uint64_t position = 0; table.scan(position, source, rules);) {
    std::size_t variables = 0, words = 0;
    for (Symbol symbol : source) {
      variables += is_variable(symbol);
      words += has_word(symbol);
    }
    count(shape.source_lengths, source.size(), rules.size());
    count(shape.variables, variables, rules.size());
    count(shape.ambiguity, static_cast<std::size_t>(std::bit_width(rules.size())), 1);
    shape.lexical += words > 0 ? rules.size() : 0;
    for (const RuleEntry& rule : rules) {
      count(shape.target_lengths, rule.target.size(), 1);
      shape.seen_once += rule.count <= 1.0001f;
      shape.labelled += !rule.labels.empty();
    }
    if (rules.size() > shape.most) {
      shape.most = rules.size();
      most = source;
    }
  }
  if (shape.most > 0) Names(table).source(most, shape.most_ambiguous);
  return shape;
}

}  // namespace

void bind_rule_tables(nb::module_& m) {
  nb::class_<Progress>(m, "Progress")
      .def(nb::init<>())
      .def_prop_ro("done", [](const Progress& self) { return self.done.load(); })
      .def("stop", [](Progress& self) { self.stop = true; });

  m.def(
      "build",
      [](const std::string& grammar, const ParsedBitext& corpus, const std::string& path, const nb::dict& extraction,
         double min_count, std::string_view discounting, const std::string& description, std::size_t memory,
         const std::string& folder, int threads, Progress& progress) {
        const ExtractOptions options = options_of(extraction);
        const RuleCountOptions counting{min_count, discounting_of(discounting), memory, folder, threads, &progress};
        RuleStatistics statistics;
        std::uint64_t bytes = 0;
        {
          nb::gil_scoped_release release;
          CategoryInterner categories(corpus.source.categories);
          auto make = [&] { return make_extractor(grammar, options, corpus.source, categories); };
          make();  // says what is wrong before the file is touched
          RuleTableWriter writer(path, corpus, categories,
                                 {grammar, description, grammar == "augmented",
                                  counting.discounting != Discounting::kNone, folder, memory / 5});
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
            const Names names(self);
            std::vector<RuleEntry> entries;
            for (const std::vector<Symbol>& side : names.sources(source)) {
              self.read(walk(self, side), side, limit, threshold, entries);
            }
            nb::list result;
            for (const RuleEntry& entry : entries) result.append(entry_of(names, entry));
            return result;
          },
          nb::arg("source"), nb::arg("limit"), nb::arg("threshold"))
      .def(
          "scan",
          [](const RuleTable& self, std::uint64_t position, std::size_t sources) {
            const Names names(self);
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
      .def("shape",
           [](const RuleTable& self) {
             Shape shape;
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
              self.read(walk(self, side), side, limit, 0, entries);
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
