#include "base/small_vector.hh"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

BOOST_AUTO_TEST_SUITE(small_vector)

namespace {

using Small = treeglot::SmallVector<std::uint32_t, 3>;

void same(const Small& ours, const std::vector<std::uint32_t>& theirs) {
  BOOST_TEST(std::vector<std::uint32_t>(ours.begin(), ours.end()) == theirs, boost::test_tools::per_element());
}

}  // namespace

// Random operations on three of them and on std::vector; lengths cross the limit of what lies inside.
BOOST_AUTO_TEST_CASE(does_what_a_vector_does) {
  std::mt19937 random(1);
  Small ours[3];
  std::vector<std::uint32_t> theirs[3];
  for (int step = 0; step < 20000; ++step) {
    const std::size_t a = random() % 3, b = random() % 3;
    const std::uint32_t value = random();
    switch (random() % 8) {
      case 0:
      case 1:
        ours[a].push_back(value);
        theirs[a].push_back(value);
        break;
      case 2:
        ours[a].resize(value % 7);
        theirs[a].resize(value % 7);
        break;
      case 3:
        ours[a] = ours[b];
        theirs[a] = theirs[b];
        break;
      case 4:
        if (a != b) {
          ours[a] = std::move(ours[b]);
          theirs[a] = std::move(theirs[b]);
          theirs[b].clear();
        }
        break;
      case 5:
        ours[a] = Small(ours[b]);
        theirs[a] = theirs[b];
        break;
      case 6:
        if (a != b) {
          ours[a].assign(ours[b].begin(), ours[b].end());
          theirs[a] = theirs[b];
        }
        break;
      default:
        if (!theirs[a].empty()) {
          ours[a].push_back(ours[a].front());
          theirs[a].push_back(theirs[a].front());
          ours[a].back() += 1;
          theirs[a].back() += 1;
          BOOST_TEST(ours[a][theirs[a].size() - 1] == theirs[a].back());
        }
    }
    if (random() % 10 == 0) {
      ours[b].clear();
      theirs[b].clear();
    }
    for (int n = 0; n < 3; ++n) same(ours[n], theirs[n]);
    BOOST_TEST((ours[a] == ours[b]) == (theirs[a] == theirs[b]));
  }
}

BOOST_AUTO_TEST_CASE(a_moved_one_is_empty) {
  Small few{1, 2}, many{1, 2, 3, 4, 5};
  const std::uint32_t* place = many.data();
  Small taken(std::move(many)), copied(std::move(few));
  BOOST_TEST(taken.data() == place);
  same(taken, {1, 2, 3, 4, 5});
  same(copied, {1, 2});
  BOOST_TEST(many.empty());
  BOOST_TEST(few.empty());
  many.push_back(7);
  same(many, {7});
}

BOOST_AUTO_TEST_SUITE_END()
