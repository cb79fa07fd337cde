#include "search/lattice.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

using namespace treeglot::search;

// All paths of random acyclic graphs, against their enumeration.
BOOST_AUTO_TEST_CASE(best_paths_come_in_order_and_are_complete) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::uint32_t nodes = 2 + static_cast<std::uint32_t>(random() % 6);
    std::vector<std::vector<Arrival>> ways(nodes);
    std::vector<double> best(nodes, 0);
    std::vector<std::vector<double>> weight(nodes);
    std::vector<std::vector<double>> all(nodes);  // scores of all paths to a node
    all[0] = {0};
    for (std::uint32_t node = 1; node < nodes; ++node) {
      int count = 1 + static_cast<int>(random() % 4);
      for (int i = 0; i < count; ++i) {
        std::uint32_t from = static_cast<std::uint32_t>(random() % node);
        double step = -static_cast<double>(random() % 1000) / 100;  // ties happen
        ways[node].push_back({best[from] + step, from, 0, 0, nullptr});
        for (double score : all[from]) all[node].push_back(score + step);
      }
      std::stable_sort(ways[node].begin(), ways[node].end(),
                       [](const Arrival& a, const Arrival& b) { return a.score > b.score; });
      best[node] = ways[node][0].score;
    }
    std::vector<double> expected = all[nodes - 1], scores;
    std::sort(expected.rbegin(), expected.rend());
    best_paths(
        nodes - 1, [&](std::uint32_t node) -> const std::vector<Arrival>& { return ways[node]; },
        [&](const Path& path, double score) {
          BOOST_REQUIRE(!path.empty() && path.front().from == 0);
          scores.push_back(score);
          return true;
        });
    BOOST_REQUIRE(scores.size() == expected.size());
    for (std::size_t i = 0; i < scores.size(); ++i) BOOST_REQUIRE_SMALL(scores[i] - expected[i], 1e-9);
  }
}
