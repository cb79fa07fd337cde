#include "base/external_sort.hh"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <random>
#include <system_error>

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

BOOST_AUTO_TEST_CASE(a_file_that_lost_its_end_is_an_error_not_the_end) {
  std::FILE* handle = std::tmpfile();
  BOOST_REQUIRE(handle);
  treeglot::TemporaryFile file(handle);
  std::vector<Pair> records(1000, Pair{1, 2});
  file.write(records.data(), records.size() * sizeof(Pair));
  std::fflush(handle);
  BOOST_REQUIRE(::ftruncate(::fileno(handle), 900 * sizeof(Pair)) == 0);
  treeglot::RecordReader<Pair> reader(std::move(file), 64);
  int seen = 0;
  auto read_all = [&] {
    while (reader.next()) ++seen;
  };
  BOOST_CHECK_THROW(read_all(), std::runtime_error);
  BOOST_TEST(seen >= 832);
  BOOST_TEST(seen <= 900);
}

// Writing works and reading fails, as on a broken disk.
BOOST_AUTO_TEST_CASE(a_read_error_is_an_error_not_the_end) {
  char name[] = "/tmp/.treeglot-test-XXXXXX";
  const int handle = ::mkstemp(name);
  BOOST_REQUIRE(handle >= 0);
  std::FILE* write_only = std::fopen(name, "wb");
  BOOST_REQUIRE(write_only);
  ::unlink(name);
  ::close(handle);
  treeglot::TemporaryFile file(write_only);
  const Pair record{1, 2};
  file.write(&record, sizeof record);
  treeglot::RecordReader<Pair> reader(std::move(file));
  BOOST_CHECK_THROW(reader.next(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(threads_that_do_not_start_do_not_matter_to_sorting) {
  treeglot::set_thread_start_hook(
      [] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); });
  std::vector<int> numbers;
  for (unsigned i = 0; i < 100000; ++i) numbers.push_back(static_cast<int>(i * 2654435761u % 100003));
  std::vector<int> expected = numbers;
  std::sort(expected.begin(), expected.end());
  treeglot::parallel_sort(numbers.begin(), numbers.end(), std::less<int>{}, 4);
  treeglot::set_thread_start_hook(nullptr);
  BOOST_TEST((numbers == expected));
}

BOOST_AUTO_TEST_CASE(says_when_the_folder_is_missing) {
  BOOST_CHECK_THROW(treeglot::TemporaryFile("/no/such/folder"), std::runtime_error);
}
