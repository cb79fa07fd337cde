#include "base/external_sort.hh"

#include <boost/test/unit_test.hpp>
#include <random>

namespace {

struct Pair {
  int key, value;
};
struct Less {
  bool operator()(const Pair& a, const Pair& b) const { return a.key < b.key; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(sorts_beyond_memory) {
  for (std::size_t memory : {std::size_t{0}, std::size_t{1} << 30}) {
    treeglot::ExternalSorter<Pair, Less> sorter("/tmp", memory, Less{});
    std::mt19937 random(1);
    std::vector<int> expected;
    for (int i = 0; i < 10000; ++i) {
      int key = static_cast<int>(random() % 500);
      expected.push_back(key);
      sorter.push({key, i});
    }
    std::sort(expected.begin(), expected.end());
    sorter.finish();
    BOOST_TEST((sorter.runs() > 1) == (memory == 0));
    for (int key : expected) {
      const Pair* next = sorter.next();
      BOOST_REQUIRE(next);
      BOOST_TEST(next->key == key);
    }
    BOOST_TEST(!sorter.next());
  }
}

BOOST_AUTO_TEST_CASE(sorts_with_few_open_files_and_many_threads) {
  treeglot::ExternalSorter<Pair, Less> sorter("/tmp", 0, Less{}, 3);
  const int records = 1024 * 300;
  for (int i = 0; i < records; ++i) sorter.push({static_cast<int>(i * 2654435761u % records), i});
  sorter.finish();
  BOOST_TEST(sorter.runs() <= sorter.kMaxRuns);
  int previous = -1, seen = 0;
  while (const Pair* next = sorter.next()) {
    BOOST_REQUIRE(next->key >= previous);
    previous = next->key;
    ++seen;
  }
  BOOST_TEST(seen == records);

  std::vector<int> numbers;
  for (unsigned i = 0; i < 100000; ++i) numbers.push_back(static_cast<int>(i * 2654435761u % 100003));
  std::vector<int> expected = numbers;
  std::sort(expected.begin(), expected.end());
  treeglot::parallel_sort(numbers.begin(), numbers.end(), std::less<int>{}, 4);
  BOOST_TEST((numbers == expected));
}

BOOST_AUTO_TEST_CASE(sorts_nothing) {
  treeglot::ExternalSorter<Pair, Less> sorter("/tmp", 0, Less{});
  sorter.finish();
  BOOST_TEST(!sorter.next());
}

BOOST_AUTO_TEST_CASE(says_when_the_folder_is_missing) {
  BOOST_CHECK_THROW(treeglot::TemporaryFile("/no/such/folder"), std::runtime_error);
}
