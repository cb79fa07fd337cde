#include "search/coverage.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

using treeglot::search::CoverageTable;

// Random additions against plain vectors of bools, over more than one machine word.
BOOST_AUTO_TEST_CASE(coverages_are_sets_with_one_id_each) {
  for (std::uint32_t size : {1u, 5u, 63u, 64u, 65u, 200u}) {
    std::mt19937 random(size);
    CoverageTable table;
    table.reset();
    std::map<std::vector<bool>, std::uint32_t> ids{{std::vector<bool>(size), 0}};
    for (int round = 0; round < 50; ++round) {
      std::vector<bool> plain(size);
      std::uint32_t id = 0;
      while (std::find(plain.begin(), plain.end(), false) != plain.end()) {
        std::uint32_t begin = static_cast<std::uint32_t>(random() % size);
        while (plain[begin]) begin = (begin + 1) % size;
        std::uint32_t end = begin, length = 1 + static_cast<std::uint32_t>(random() % 80);
        while (end < size && !plain[end] && end - begin < length) plain[end++] = true;
        id = table.add(id, begin, end, [](std::uint32_t fresh) { return double(fresh); });
        auto [known, fresh] = ids.emplace(plain, id);
        BOOST_REQUIRE(known->second == id);
        BOOST_REQUIRE(table[id].future == double(id));
        BOOST_REQUIRE(table[id].covered == static_cast<std::uint32_t>(std::count(plain.begin(), plain.end(), true)));
        BOOST_REQUIRE(table[id].first_gap == std::find(plain.begin(), plain.end(), false) - plain.begin());
        for (std::uint32_t i = 0; i < size; ++i) BOOST_REQUIRE(table.covers(id, i) == plain[i]);
      }
    }
  }
}
