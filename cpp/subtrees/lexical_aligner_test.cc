#include "subtrees/lexical_aligner.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <stdexcept>
#include <tuple>

namespace st = treeglot::subtrees;

namespace {

// (S (NP w0 w3) (VP w1 w2)): the NP has a gap.
st::TreeShape with_gap() {
  const std::vector<std::int32_t> counts{2, 2, 2}, children{1, 2, ~0, ~3, ~1, ~2};
  return {4, counts, children};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lexical_tree_aligner)

BOOST_AUTO_TEST_CASE(words_of_a_node_are_a_block_of_the_walk) {
  const st::TreeShape tree = with_gap();
  BOOST_TEST(tree.walk == (std::vector<std::int32_t>{0, 3, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(tree.low[1] == 0);
  BOOST_TEST(tree.high[1] == 2);
  BOOST_TEST(tree.below(1, tree.phrases + 3));
  BOOST_TEST(!tree.below(2, tree.phrases + 3));
  BOOST_TEST(!tree.below(1, 1));
}

BOOST_AUTO_TEST_CASE(what_is_no_tree_is_refused) {
  auto make = [](int words, std::vector<std::int32_t> counts, std::vector<std::int32_t> children) {
    return st::TreeShape(words, counts, children);
  };
  BOOST_CHECK_NO_THROW(make(1, {}, {}));
  BOOST_CHECK_THROW(make(2, {}, {}), std::invalid_argument);
  BOOST_CHECK_THROW(make(2, {1}, {~0}), std::invalid_argument);
  BOOST_CHECK_THROW(make(2, {2}, {~0, ~0}), std::invalid_argument);
  BOOST_CHECK_THROW(make(1, {1, 1}, {~0, 1}), std::invalid_argument);
  BOOST_CHECK_THROW(make(1, {1, 1}, {1, 1}), std::invalid_argument);
  BOOST_CHECK_THROW(make(1, {1}, {INT32_MIN}), std::invalid_argument);
}

// Products and sums word by word.
BOOST_AUTO_TEST_CASE(scores_equal_the_definition) {
  const st::TreeShape source = with_gap();
  const std::vector<std::int32_t> counts{2, 1}, children{~0, 1, ~1};
  const st::TreeShape target(2, counts, children);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> forward(8), backward(8);
  for (double& value : forward) value = uniform(random);
  for (double& value : backward) value = uniform(random);
  auto covers = [](const st::TreeShape& tree, int node, int word) {
    return node == tree.phrases + word || tree.below(node, tree.phrases + word);
  };
  for (auto [score, empty_is_one] : {std::pair{1, true}, {2, true}, {1, false}, {2, false}}) {
    st::AlignerOptions options;
    options.score = score;
    options.empty_is_one = empty_is_one;
    const std::vector<double> scores = st::score_nodes(source, target, forward, backward, options);
    for (int s = 0; s < source.nodes(); ++s) {
      for (int t = 0; t < target.nodes(); ++t) {
        double expected = 1;
        for (bool inside : {true, false}) {
          std::vector<int> x, y;
          for (int i = 0; i < 4; ++i) {
            if (covers(source, s, i) == inside) x.push_back(i);
          }
          for (int j = 0; j < 2; ++j) {
            if (covers(target, t, j) == inside) y.push_back(j);
          }
          if (x.empty() || y.empty()) {
            const double words = static_cast<double>(x.size() + y.size());
            if (!empty_is_one) expected *= std::pow(options.floor, words);
            continue;
          }
          auto product = [&](const std::vector<int>& outer, const std::vector<int>& inner, auto chance, bool mean) {
            for (int o : outer) {
              double sum = 0;
              for (int i : inner) sum += chance(o, i);
              expected *= mean ? sum / static_cast<double>(inner.size()) : sum;
            }
          };
          auto source_given = [&](int i, int j) { return backward[i * 2 + j]; };
          auto target_given = [&](int i, int j) { return forward[i * 2 + j]; };
          if (score == 1) {
            product(y, x, [&](int j, int i) { return source_given(i, j); }, false);
            product(x, y, target_given, false);
          } else {
            product(x, y, source_given, true);
            product(y, x, [&](int j, int i) { return target_given(i, j); }, true);
          }
        }
        BOOST_TEST(std::exp(scores[static_cast<std::size_t>(s) * target.nodes() + t]) == expected,
                   boost::test_tools::tolerance(1e-9));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(links_do_not_depend_on_threads_and_a_bad_tree_is_an_error) {
  const std::vector<std::int32_t> counts{2, 2, 2}, children{1, 2, ~0, ~3, ~1, ~2}, broken{2, 2, 2, 2};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  st::WordTable table;
  for (int s = 0; s < 20; ++s) {
    for (int t = 0; t < 20; ++t) {
      const double forward = uniform(random);
      table.set(s, t, forward, uniform(random));
    }
  }
  std::vector<std::vector<std::int32_t>> words(200, std::vector<std::int32_t>(4));
  for (auto& sentence : words) {
    for (std::int32_t& word : sentence) word = static_cast<std::int32_t>(random() % 20);
  }
  std::vector<st::TreePair> pairs;
  for (std::size_t n = 0; n + 1 < words.size(); n += 2) {
    pairs.push_back({{words[n], counts, children}, {words[n + 1], counts, children}});
  }
  auto links_with = [&](int threads) {
    std::vector<std::tuple<std::size_t, std::int32_t, std::int32_t, double>> flat;
    const auto links = st::align_trees(table, pairs, {}, threads);
    for (std::size_t n = 0; n < links.size(); ++n) {
      for (const st::TreeLink& link : links[n]) flat.emplace_back(n, link.source, link.target, link.confidence);
    }
    return flat;
  };
  const auto expected = links_with(1);
  BOOST_TEST(expected.size() > pairs.size());
  BOOST_TEST((links_with(2) == expected));
  BOOST_TEST((links_with(7) == expected));
  pairs[70].target.counts = broken;
  for (int threads : {1, 2, 7}) BOOST_CHECK_THROW(links_with(threads), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
