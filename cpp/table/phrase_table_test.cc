#include "table/phrase_table.hh"

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "table/folder_test.hh"
#include "table/moses_text.hh"

using namespace treeglot;
using namespace treeglot::test;

namespace {

void fill(AlignedBitext& corpus, int sentences) {
  std::mt19937 random(7);
  for (int n = 0; n < sentences; ++n) {
    std::string source, target, links;
    unsigned length = 1 + random() % 8;
    for (unsigned i = 0; i < length; ++i) {
      source += "f" + std::to_string(random() % 12) + " ";
      target += "e" + std::to_string(random() % 12) + " ";
      if (random() % 4) links += std::to_string(i) + "-" + std::to_string(random() % length) + " ";
    }
    BOOST_REQUIRE(!corpus.add(source, target, links));
  }
  corpus.finish();
}

}  // namespace

BOOST_AUTO_TEST_CASE(word_probabilities_count_words_without_links) {
  AlignedBitext corpus;
  corpus.add("a b", "x y z", "0-0 0-1");
  corpus.add("a", "x", "0-0");
  corpus.finish();
  LexicalTable table;
  for (std::size_t n = 0; n < corpus.size(); ++n) table.count(corpus[n]);
  BOOST_TEST(table.size() == 4u);
  BOOST_TEST(table.target_given_source(0, 0) == 0.6666667, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(table.target_given_source(1, 0) == 0.3333333, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(table.source_given_target(1, LexicalTable::kNull) == 1.0);
  BOOST_TEST(table.target_given_source(2, LexicalTable::kNull) == 1.0);
  BOOST_TEST(table.target_given_source(2, 0) == 0.0);
  BOOST_TEST(LexicalTable().target_given_source(0, 0) == 0.0);
  auto items = table.items();
  BOOST_TEST(items.back().source == LexicalTable::kNull);
  BOOST_TEST((items.front().source == 0u && items.front().target == 0u && items.front().count == 2u));
}

BOOST_AUTO_TEST_CASE(counts_do_not_depend_on_memory_or_threads) {
  AlignedBitext corpus;
  fill(corpus, 700);
  LexicalTable lexicon;
  for (std::size_t n = 0; n < corpus.size(); ++n) lexicon.count(corpus[n]);
  Folder folder;
  std::vector<std::string> tables;
  for (std::size_t memory : {std::size_t{0}, std::size_t{1} << 28}) {
    for (int threads : {1, 3}) {
      PhraseOptions options;
      options.memory = memory;
      options.threads = threads;
      std::string path = folder.file("t" + std::to_string(tables.size()));
      PhraseTableWriter writer(path, corpus.source_words, corpus.target_words, lexicon);
      std::uint64_t pairs = 0, occurrences = 0;
      PhraseStatistics statistics = count_phrases(corpus, options, [&](const PhrasePair& pair) {
        writer.add(pair);
        ++pairs;
        occurrences += pair.count;
        BOOST_REQUIRE(pair.before[0] + pair.before[1] + pair.before[2] == pair.count);
        BOOST_REQUIRE((pair.source_count >= pair.count && pair.target_count >= pair.count));
      });
      writer.finish();
      BOOST_TEST((statistics.runs > 0) == (memory == 0));
      BOOST_TEST(statistics.pairs == pairs);
      BOOST_TEST(statistics.occurrences == occurrences);
      tables.push_back(bytes_of(path));
      PhraseTable table(path, true);
      BOOST_TEST(table.header().entries == pairs);
      BOOST_TEST(table.header().sources == statistics.sources);
      BOOST_TEST(table.header().longest_source <= 7u);
    }
  }
  for (const std::string& table : tables) BOOST_TEST((table == tables.front()));
}

BOOST_AUTO_TEST_CASE(a_stopped_job_ends) {
  AlignedBitext corpus;
  fill(corpus, 100);
  Progress progress;
  progress.stop = true;
  PhraseOptions options;
  options.progress = &progress;
  BOOST_CHECK_THROW(count_phrases(corpus, options, [](const PhrasePair&) {}), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(imported_tables_are_found_best_first) {
  Folder folder;
  std::string path = folder.file("t"), text;
  {
    MosesImporter importer("/tmp", 0);
    importer.add_phrases("b ||| y ||| .1 .2 .3 .4 ||| 0-0 ||| 4 3 2\na b ||| x ||| 1 1 1 1 ||| 1-0 ||| 1 1 1\n");
    importer.add_phrases("b ||| x y ||| .5 .6 .7 .8 ||| ||| 9 8 7\n");
    MosesImporter::Result result = importer.finish(path);
    BOOST_TEST(result.pairs == 3u);
    BOOST_TEST(result.sources == 2u);
  }
  PhraseTable table(path, true);
  BOOST_TEST(table.has_counts());
  BOOST_TEST(!table.has_reordering());
  std::vector<TableEntry> entries;
  std::vector<WordId> source = {table.source_words().id("b")};
  BOOST_TEST(table.find(source, entries, 1) == 1u);
  BOOST_TEST(entries[0].scores[2] == 0.7f);
  BOOST_TEST(entries[0].target_count == 9u);
  BOOST_TEST(table.find(source, entries) == 2u);
  BOOST_TEST(entries.size() == 3u);
  export_moses(table, [&](std::string_view part) { text += part; }, nullptr);
  BOOST_TEST(text ==
             "a b ||| x ||| 1 1 1 1 ||| 1-0 ||| 1 1 1 ||| |||\n"
             "b ||| x y ||| 0.5 0.6 0.7 0.8 ||| ||| 9 8 7 ||| |||\n"
             "b ||| y ||| 0.1 0.2 0.3 0.4 ||| 0-0 ||| 4 3 2 ||| |||\n");
  MosesImporter importer("/tmp", 0);
  BOOST_CHECK_THROW(importer.add_phrases("a ||| b\n"), MosesError);
}

BOOST_AUTO_TEST_CASE(long_phrases_and_many_sources) {
  Folder folder;
  std::string path = folder.file("t"), text;
  std::map<std::string, int> wanted;
  for (int n = 0; n < 500; ++n) {
    std::string phrase;
    for (int i = 0; i <= n / 20; ++i) phrase += "w" + std::to_string(n * (i + 3) % 41) + " ";
    if (wanted.emplace(phrase, n).second) {
      text +=
          phrase + "||| t" + std::to_string(n) + " t t t t t t t t t t ||| 1 1 1 " + std::to_string(n) + " ||| 0-5\n";
    }
  }
  MosesImporter importer("/tmp", 0);
  importer.add_phrases(text);
  importer.finish(path);
  PhraseTable table(path, true);
  BOOST_TEST(table.header().sources == wanted.size());
  for (const auto& [phrase, n] : wanted) {
    std::vector<WordId> ids;
    for (std::size_t i = 0; i < phrase.size();) {
      std::size_t end = phrase.find(' ', i);
      ids.push_back(table.source_words().id(phrase.substr(i, end - i)));
      i = end + 1;
    }
    std::vector<TableEntry> entries;
    BOOST_REQUIRE(table.find(ids, entries) == 1u);
    BOOST_TEST(entries[0].scores[3] == static_cast<float>(n));
    BOOST_TEST((entries[0].links == std::vector<WordLink>{{0, 5}}));
    ids.push_back(ids[0]);
    ids.push_back(0);
    ids.push_back(0);
    entries.clear();
    table.find(ids, entries);
  }
}
