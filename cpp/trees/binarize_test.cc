#include "trees/binarize.hh"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "trees/projective.hh"

using namespace treeglot;

namespace {

// A(a B(b) c d e), the head is c.
const std::vector<Constituent> kTree{{0, 0, 5, -1}, {1, 1, 2, 0}};
const std::vector<std::uint16_t> kHeads{2, 1};

std::string shown(Binarization direction) {
  Binarizer binarizer;
  std::string line;
  for (const auto& phrase : binarizer.run(kTree, kHeads, 5, direction)) {
    line += (phrase.is_virtual ? "X@" : "") + std::to_string(phrase.origin) + ":" + std::to_string(phrase.begin) + "-" +
            std::to_string(phrase.end) + "^" + std::to_string(phrase.parent) + " ";
  }
  return line;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binarize)

BOOST_AUTO_TEST_CASE(directions) {
  BOOST_TEST(shown(Binarization::kLeft) == "0:0-5^-1 X@0:0-4^0 X@0:0-3^1 X@0:0-2^2 1:1-2^3 ");
  BOOST_TEST(shown(Binarization::kRight) == "0:0-5^-1 X@0:1-5^0 1:1-2^1 X@0:2-5^1 X@0:3-5^3 ");
  BOOST_TEST(shown(Binarization::kHead) == "0:0-5^-1 X@0:1-5^0 1:1-2^1 X@0:2-5^1 X@0:2-4^3 ");
  BOOST_CHECK_THROW(binarization("middle"), std::invalid_argument);
}

// A sentence of thousands of words under one phrase is no deeper for the computer than for the reader.
BOOST_AUTO_TEST_CASE(flat_and_long) {
  const std::vector<Constituent> flat{{0, 0, 60000, -1}};
  const std::vector<std::uint16_t> head{30000};
  Binarizer binarizer;
  for (auto direction : {Binarization::kLeft, Binarization::kRight, Binarization::kHead}) {
    BOOST_TEST(binarizer.run(flat, head, 60000, direction).size() == 59999u);
  }
}

BOOST_AUTO_TEST_CASE(projective) {
  Projectivizer projectivizer;
  std::vector<int> heads{1, 2, -1, 2, 1, 6, 4, 3};  // A hearing is scheduled on the issue today
  BOOST_TEST(projectivizer.lift(heads) == 2);
  BOOST_TEST(heads == (std::vector<int>{1, 2, -1, 2, 2, 6, 4, 2}), boost::test_tools::per_element());
  BOOST_TEST(projectivizer.lift(heads) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
