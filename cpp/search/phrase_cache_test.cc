#include "search/phrase_cache.hh"

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "table/text_phrase_table.hh"

using namespace treeglot;
using search::PhraseCache;

namespace {

// A table that counts how often it is asked, and can be made to fail.
class CountingTable : public PhraseSource {
 public:
  CountingTable() {
    BOOST_REQUIRE(table_.add_phrase("a ||| x ||| 1 1 1 1 ||| 0-0").empty());
    BOOST_REQUIRE(table_.add_phrase("a ||| y z ||| 1 1 1 1 ||| 0-0 0-1").empty());
    BOOST_REQUIRE(table_.add_phrase("b ||| x ||| 1 1 1 1 ||| 0-0").empty());
    table_.finish();
  }
  WordId source_id(std::string_view word) const override { return table_.source_id(word); }
  std::size_t target_size() const override { return table_.target_size(); }
  std::string_view target_word(WordId id) const override { return table_.target_word(id); }
  WordId target_id(std::string_view word) const override { return table_.target_id(word); }
  int longest_source() const override { return table_.longest_source(); }
  bool has_reordering() const override { return false; }
  void lookup(std::span<const WordId> source, PhraseMatches& out, std::size_t most) const override {
    ++lookups;
    table_.lookup(source, out, most);
    if (fails) throw std::runtime_error("damaged");
  }

  mutable int lookups = 0;
  bool fails = false;

 private:
  TextPhraseTable table_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_phrase_is_read_once_and_scored_for_each_weights) {
  CountingTable table;
  PhraseCache<std::vector<std::size_t>> cache(table, kAllTargets, false);
  int scored = 0;
  auto score = [&](const PhraseMatches& matches, std::vector<std::size_t>& list) {
    ++scored;
    list.push_back(matches.size());
  };
  const std::vector<WordId> a{table.source_id("a")}, both{table.source_id("a"), table.source_id("b")};
  BOOST_TEST(cache.find(a) == nullptr);
  for (int i = 0; i < 3; ++i) BOOST_TEST(cache.get(a, score)->list.size() == 1u);
  BOOST_TEST(cache.find(a)->matches[1].links.size() == 2u);
  BOOST_TEST((table.lookups == 1 && scored == 1 && cache.size() == 2));
  cache.weights_changed();
  BOOST_TEST(cache.get(a, score)->list.size() == 2u);  // the list of before is there to be renewed
  BOOST_TEST((table.lookups == 1 && scored == 2));
  for (int i = 0; i < 2; ++i) BOOST_TEST(cache.get(both, score) == nullptr);
  BOOST_TEST((table.lookups == 3 && cache.size() == 2));
  cache.clear();
  BOOST_TEST(cache.get(a, score)->list.size() == 1u);
  BOOST_TEST((table.lookups == 4 && cache.size() == 2));
}

BOOST_AUTO_TEST_CASE(misses_are_remembered_on_request) {
  CountingTable table;
  PhraseCache<int> cache(table, kAllTargets, true);
  const std::vector<WordId> both{table.source_id("a"), table.source_id("b")};
  for (int i = 0; i < 2; ++i) BOOST_TEST(cache.get(both, [](const PhraseMatches&, int&) {}) == nullptr);
  BOOST_TEST((table.lookups == 1 && cache.size() == 1));
}

BOOST_AUTO_TEST_CASE(what_failed_is_not_remembered) {
  CountingTable table;
  PhraseCache<int> cache(table, kAllTargets, true);
  const std::vector<WordId> a{table.source_id("a")};
  auto score = [](const PhraseMatches& matches, int& list) { list = static_cast<int>(matches.size()); };
  table.fails = true;
  BOOST_CHECK_THROW(cache.get(a, score), std::runtime_error);
  table.fails = false;
  BOOST_TEST(cache.get(a, score)->list == 2);
}
