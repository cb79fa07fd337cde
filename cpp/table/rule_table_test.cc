#include "table/rule_table.hh"

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <set>

#include "grammars/registry.hh"
#include "table/folder_test.hh"
#include "table/rule_counts.hh"
#include "table/rule_table_writer.hh"

using namespace treeglot;
using namespace treeglot::test;

namespace {

void fill(ParsedBitext& corpus, int sentences) {
  std::mt19937 random(7);
  for (int n = 0; n < sentences; ++n) {
    std::vector<std::string> source, target;
    std::vector<WordLink> links;
    const unsigned length = 1 + random() % 7;
    for (unsigned i = 0; i < length; ++i) {
      source.push_back("f" + std::to_string(random() % 30));
      target.push_back("e" + std::to_string(random() % 30));
      if (random() % 4) links.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(random() % length)});
    }
    std::vector<std::string_view> words(source.begin(), source.end()), tags(source.size(), "T");
    std::vector<std::string_view> translation(target.begin(), target.end());
    corpus.add({words, tags}, {translation}, links);
  }
}

RuleStatistics build(const ParsedBitext& corpus, const std::string& path, const RuleCountOptions& options = {},
                     unsigned place_bits = 0) {
  CategoryInterner categories(corpus.source().categories);
  RuleTableWriter::Options about;
  about.grammar = "hierarchical";
  about.description = "a test";
  about.discounted = options.discounting != Discounting::kNone;
  about.place_bits = place_bits;
  RuleTableWriter writer(path, corpus, categories, about);
  auto make = [&] { return make_extractor("hierarchical", {}, corpus, categories); };
  RuleStatistics statistics = count_rules(corpus, categories, make, options, writer);
  writer.finish(statistics);
  return statistics;
}

RuleTable::Place walk(const RuleTable& table, std::span<const Symbol> source) {
  WalkKey key = walk_start();
  RuleTable::Place place;
  for (Symbol symbol : source) {
    key = walk_step(key, symbol);
    place = table.find(key);
  }
  return place;
}

}  // namespace

BOOST_AUTO_TEST_CASE(shares_of_a_count_are_exact) {
  for (int m = 1; m <= 16; ++m) {
    BOOST_TEST(count_units(1.0 / m) * static_cast<std::uint64_t>(m) == kCountUnit);
    BOOST_TEST(rule_format::exact_code(count_units(1.0 / m)) == 2u * (16u + m - 1u));
  }
  BOOST_TEST(count_value(count_units(0.3)) == 0.3, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(rule_format::exact_code(kCountUnit / 17) == 0u);
}

BOOST_AUTO_TEST_CASE(tables_do_not_depend_on_memory_or_threads) {
  ParsedBitext corpus;
  fill(corpus, 3000);
  Folder folder;
  std::vector<std::string> tables;
  for (Discounting discounting : {Discounting::kNone, Discounting::kKneserNey}) {
    std::vector<std::string> same;
    for (std::size_t memory : {std::size_t{0}, std::size_t{1} << 28}) {
      for (int threads : {1, 3}) {
        RuleCountOptions options;
        options.memory = memory;
        options.threads = threads;
        options.discounting = discounting;
        std::string path = folder.file("t" + std::to_string(tables.size()) + std::to_string(same.size()));
        RuleStatistics statistics = build(corpus, path, options);
        BOOST_TEST((statistics.runs > 0) == (memory == 0));
        same.push_back(bytes_of(path));
        RuleTable table(path, true);
        BOOST_TEST(table.rules() == statistics.rules);
        BOOST_TEST(table.sources() == statistics.sources);
        BOOST_TEST(table.occurrences() == statistics.occurrences);
        BOOST_TEST(table.description() == "a test");
        BOOST_TEST(table.grammar() == "hierarchical");
      }
    }
    for (const std::string& table : same) BOOST_TEST((table == same.front()));
    tables.push_back(same.front());
  }
  BOOST_TEST((tables[0] != tables[1]));
}

// With 2 bits of the key in a slot nearly every chain has prefixes that look alike.
BOOST_AUTO_TEST_CASE(walking_finds_every_source_and_no_other) {
  ParsedBitext corpus;
  fill(corpus, 400);
  for (unsigned place_bits : {0u, 61u}) {
    Folder folder;
    std::string path = folder.file("t");
    build(corpus, path, {}, place_bits);
    RuleTable table(path, true);
    std::set<std::vector<Symbol>> sources, prefixes, begun;
    std::vector<Symbol> source;
    std::vector<RuleEntry> rules, entries;
    std::uint64_t total = 0;
    for (std::uint64_t position = 0; table.scan(position, source, rules); total += rules.size()) {
      BOOST_TEST(sources.insert(source).second);
      for (std::size_t n = 1; n <= source.size(); ++n) prefixes.insert({source.begin(), source.begin() + n});
      for (std::size_t n = 1; n < source.size(); ++n) begun.insert({source.begin(), source.begin() + n});
      entries.clear();
      table.read(walk(table, source), source, 0, 0, entries);
      BOOST_REQUIRE(entries.size() == rules.size());
      for (std::size_t i = 0; i < rules.size(); ++i) {
        BOOST_TEST((entries[i].target == rules[i].target));
        BOOST_TEST(entries[i].rule == rules[i].rule);
        BOOST_TEST((i == 0 || entries[i].scores[0] <= entries[i - 1].scores[0]));
      }
    }
    BOOST_TEST(total == table.rules());
    BOOST_TEST(prefixes.size() == table.prefixes());
    for (const std::vector<Symbol>& prefix : prefixes) {
      RuleTable::Place place = walk(table, prefix);
      BOOST_TEST(place.prefix);
      BOOST_TEST(place.longer == begun.contains(prefix));
      BOOST_TEST((place.rules != 0) == sources.contains(prefix));
    }
    std::mt19937 random(3);
    int absent = 0, seen = 0;
    for (int n = 0; n < 20000; ++n) {
      std::vector<Symbol> side(1 + random() % 4);
      for (Symbol& item : side) {
        item = random() % 4 ? symbol(SymbolKind::kWord, random() % 30) : symbol(SymbolKind::kGap, 0);
      }
      if (sources.contains(side)) continue;
      ++absent;
      entries.clear();
      RuleTable::Place place = walk(table, side);
      table.read(place, side, 0, 0, entries);
      BOOST_TEST(entries.empty());
      seen += place.prefix && !prefixes.contains(side);
    }
    BOOST_TEST(absent > 5000);
    if (place_bits == 0) BOOST_TEST(seen == 0);
  }
}

BOOST_AUTO_TEST_CASE(limits_and_thresholds_cut_lists) {
  ParsedBitext corpus;
  fill(corpus, 400);
  Folder folder;
  std::string path = folder.file("t");
  build(corpus, path);
  RuleTable table(path);
  std::vector<Symbol> source, longest;
  std::vector<RuleEntry> rules, most, entries;
  for (std::uint64_t position = 0; table.scan(position, source, rules);) {
    if (rules.size() > most.size()) {
      most = rules;
      longest = source;
    }
  }
  BOOST_REQUIRE(most.size() > 5);
  table.read(walk(table, longest), longest, 3, 0, entries);
  BOOST_TEST(entries.size() == 3u);
  entries.clear();
  table.read(walk(table, longest), longest, 0, 0.5, entries);
  std::size_t expected = 0;
  while (expected < most.size() && most[expected].scores[0] >= most[0].scores[0] + std::log(0.5)) ++expected;
  BOOST_TEST(entries.size() == expected);
  std::vector<Symbol> other = longest;
  other.back() ^= 1;
  entries.clear();
  table.read(walk(table, longest), other, 0, 0, entries);
  BOOST_TEST(entries.empty());
}

BOOST_AUTO_TEST_CASE(nothing_makes_an_empty_table) {
  ParsedBitext corpus;
  Folder folder;
  std::string path = folder.file("t");
  build(corpus, path);
  RuleTable table(path, true);
  BOOST_TEST(table.rules() == 0u);
  BOOST_TEST(!table.find(walk_step(walk_start(), symbol(SymbolKind::kGap, 0))).prefix);
  BOOST_TEST(table.word_id("a") == RuleTable::kNone);
}
