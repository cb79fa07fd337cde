#include "kernels/tree_kernel.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>

namespace kn = treeglot::kernels;

namespace {

// (NP (D the) (N cat)) and the like: labels, arity and words in preorder.
struct Tree {
  std::vector<std::string> labels;
  std::vector<std::int32_t> arity;
  std::vector<std::string> words;
};

const Tree kCat{{"NP", "D", "N"}, {2, 0, 0}, {"", "the", "cat"}};
const Tree kDog{{"NP", "D", "N"}, {2, 0, 0}, {"", "the", "dog"}};
const Tree kSees{{"VP", "V", "NP", "D", "N"}, {2, 0, 2, 0, 0}, {"", "sees", "", "the", "cat"}};

std::vector<kn::NodeId> add(kn::Forest& forest, const Tree& tree) {
  return forest.add(tree.labels, tree.arity, tree.words);
}

double value(const kn::Forest& forest, kn::NodeId a, kn::NodeId b, kn::Space space, bool normalize = false) {
  const kn::Columns columns(forest, std::vector<kn::NodeId>{b});
  double out = -1;
  BOOST_TEST(kn::kernel_matrix(forest, std::vector<kn::NodeId>{a}, columns, space, 0.4, normalize, 1, &out));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_by_hand) {
  kn::Forest forest;
  const auto cat = add(forest, kCat), dog = add(forest, kDog), sees = add(forest, kSees);
  const auto written = forest.write(sees[0]);
  BOOST_TEST(written.labels == kSees.labels, boost::test_tools::per_element());
  BOOST_TEST(written.arity == kSees.arity, boost::test_tools::per_element());
  BOOST_TEST(written.words == kSees.words, boost::test_tools::per_element());
  BOOST_TEST(cat[1] == dog[1]);   // the same determiner
  BOOST_TEST(sees[2] == cat[0]);  // the same noun phrase
  const double np = 0.4 * 1.4;    // NP -> D N with the determiner expanded or not
  BOOST_TEST(std::abs(value(forest, cat[0], dog[0], kn::Space::kRgSst) - np) < 1e-12);
  BOOST_TEST(std::abs(value(forest, cat[0], dog[0], kn::Space::kSst) - (np + 0.4)) < 1e-12);
  const double whole = 0.4 * 1.4 * 1.4;
  BOOST_TEST(std::abs(value(forest, sees[0], cat[0], kn::Space::kSst) - (whole + 0.8)) < 1e-12);
  BOOST_TEST(value(forest, sees[0], cat[0], kn::Space::kRdSst) == 0);
  BOOST_TEST(value(forest, sees[0], cat[0], kn::Space::kRgSst) == 0);
  BOOST_TEST(value(forest, sees[0], cat[0], kn::Space::kRoot) == 0);
  BOOST_TEST(value(forest, cat[0], dog[0], kn::Space::kRoot) == 1);
  BOOST_TEST(std::abs(value(forest, sees[0], sees[0], kn::Space::kSst, true) - 1) < 1e-12);
}

BOOST_AUTO_TEST_CASE(forgotten_trees_leave_nothing) {
  kn::Forest forest;
  const auto cat = add(forest, kCat);
  const kn::Columns columns(forest, cat);
  const auto mark = forest.mark();
  for (int round = 0; round < 2; ++round) {
    const auto dog = add(forest, kDog), sees = add(forest, kSees);
    std::vector<double> out(3 * 1);
    BOOST_TEST(kn::kernel_matrix(forest, std::vector<kn::NodeId>{sees[0]}, columns, kn::Space::kSst, 0.4, false, 2,
                                 out.data()));
    BOOST_TEST(std::abs(out[0] - (0.4 * 1.4 * 1.4 + 0.8)) < 1e-12);
    BOOST_TEST(dog[0] >= mark.nodes);
    forest.truncate(mark);
    BOOST_TEST(forest.size() == mark.nodes);
    BOOST_TEST(forest.productions() == mark.productions);
  }
  BOOST_TEST(add(forest, kCat)[0] == cat[0]);
}

BOOST_AUTO_TEST_CASE(what_is_no_tree_is_refused) {
  kn::Forest forest;
  BOOST_CHECK_THROW(add(forest, {{"NP", "D"}, {2, 0}, {"", ""}}), std::invalid_argument);
  BOOST_CHECK_THROW(add(forest, {{"NP", "D"}, {0, 0}, {"", ""}}), std::invalid_argument);
  BOOST_CHECK_THROW(add(forest, {{"NP"}, {-1}, {""}}), std::invalid_argument);
  BOOST_CHECK_THROW(add(forest, {{}, {}, {}}), std::invalid_argument);
  BOOST_TEST(forest.size() == 0u);
}

// Deep trees: nothing recurses, and a value that no double can hold is reported.
BOOST_AUTO_TEST_CASE(deep_trees) {
  const auto chain = [](int depth) {
    Tree tree;
    tree.labels.assign(static_cast<std::size_t>(depth), "X");
    tree.arity.assign(static_cast<std::size_t>(depth), 1);
    tree.labels.push_back("T");
    tree.arity.push_back(0);
    tree.words.resize(tree.labels.size());
    return tree;
  };
  kn::Forest forest;
  const auto deep = add(forest, chain(200000)), shallow = add(forest, chain(50));
  // Delta = decay + decay^2 + ... down to where the shorter one ends
  BOOST_TEST(std::abs(value(forest, deep[0], shallow[0], kn::Space::kRgSst) - 0.4 / 0.6) < 1e-9);
  BOOST_TEST(std::abs(value(forest, shallow[0], deep[0], kn::Space::kRgSst) - 0.4 / 0.6) < 1e-9);

  Tree full;  // complete binary tree: Delta grows doubly exponentially
  const int levels = 12;
  for (std::vector<int> open{levels}; !open.empty();) {
    const int level = open.back();
    open.pop_back();
    full.labels.push_back(level ? "X" : "T");
    full.arity.push_back(level ? 2 : 0);
    full.words.emplace_back();
    if (level) open.insert(open.end(), 2, level - 1);
  }
  const auto big = add(forest, full);
  const kn::Columns columns(forest, std::vector<kn::NodeId>{big[0]});
  double out = 0;
  BOOST_TEST(
      !kn::kernel_matrix(forest, std::vector<kn::NodeId>{big[0]}, columns, kn::Space::kSst, 1.0, false, 1, &out));
  BOOST_TEST(!kn::kernel_matrix(forest, std::vector<kn::NodeId>{big[0]}, columns, kn::Space::kSst, 1.0, true, 1, &out));
}
