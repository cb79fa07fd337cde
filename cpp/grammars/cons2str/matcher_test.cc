// The matcher against trying every fragment of the table on every node.
#include "grammars/cons2str/matcher.hh"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "forest/random_table_test.hh"

using namespace treeglot;
using namespace treeglot::test;

namespace {

// A tree that is built another way: from the phrases of the sentence, by
// recursion.
struct Tree {
  std::uint32_t label;     // in the table
  int begin, end, number;  // of the phrase; -1: a pre-terminal
  std::uint32_t word = 0;
  std::vector<Tree> children;
  NodeName name() const {
    if (number < 0) return {static_cast<int>(forest::NodeKind::kWord), begin, end, 0};
    return {static_cast<int>(forest::NodeKind::kConstituent), begin, end, number + 1};
  }
};

Tree tree_of(const ParsedSentence& sentence, const forest::TableIds& ids, int number) {
  const Constituent& phrase = sentence.phrases[number];
  Tree tree{ids.labels[number], phrase.begin, phrase.end, number, 0, {}};
  for (int at = phrase.begin; at < phrase.end;) {
    int child = -1;
    for (int n = static_cast<int>(sentence.phrases.size()) - 1; n >= 0; --n) {
      if (sentence.phrases[n].parent == number && sentence.phrases[n].begin == at) child = n;
    }
    if (child >= 0) {
      tree.children.push_back(tree_of(sentence, ids, child));
    } else {
      tree.children.push_back({ids.tags[at], at, at + 1, -1, ids.words[at], {}});
    }
    at = tree.children.back().end;
  }
  return tree;
}

// Does source[place...] read the node expanded? Moves place, adds tails.
bool reads(const std::vector<Symbol>& source, std::size_t& place, const Tree& tree, std::vector<NodeName>& tails) {
  if (source[place++] != symbol(SymbolKind::kOpen, tree.label)) return false;
  if (tree.number < 0) {
    if (source[place++] != symbol(SymbolKind::kWord, tree.word)) return false;
  } else {
    for (const Tree& child : tree.children) {
      if (source[place] == symbol(SymbolKind::kSite, child.label)) {
        ++place;
        tails.push_back(child.name());
      } else if (!reads(source, place, child, tails)) {
        return false;
      }
    }
  }
  return source[place++] == symbol(SymbolKind::kClose, 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constituency_matcher)

BOOST_AUTO_TEST_CASE(equals_trying_everything) {
  std::mt19937 random(13);
  std::size_t total = 0;
  for (int round = 0; round < 12; ++round) {
    RandomTable table(random, "cons2str", 12, 6, 2);
    const auto sources = table.sources();
    const bool pseudo_always = round % 2 == 1;
    MatchingForest setup(random, *table);
    forest::ConstituencyMatcher matcher(*table, setup.block, pseudo_always);
    ParsedCorpus corpus;
    for (int n = 0; n < 20; ++n) add_sentence(corpus, random_sentence(random, 8, 3, true));
    for (std::size_t n = 0; n < corpus.size(); ++n) {
      setup.forest.start(corpus, n);
      matcher.match(setup.forest);
      forest::TableIds ids;
      setup.forest.ids(*table, ids);
      std::multiset<Match> expected;
      std::function<void(const Tree&)> visit = [&](const Tree& tree) {
        for (const auto& source : sources) {
          std::vector<NodeName> tails;
          std::size_t place = 0;
          if (reads(source, place, tree, tails)) expected.insert({tree.name(), source, tails});
        }
        for (const Tree& child : tree.children) visit(child);
      };
      const Tree whole = tree_of(corpus[n], ids, 0);
      visit(whole);
      BOOST_TEST((matches_of(setup.forest) == expected));
      total += expected.size();
      // Pseudo rules where nothing matches, or everywhere.
      std::function<void(const Tree&)> check = [&](const Tree& tree) {
        if (tree.number < 0) return;
        const auto& [kind, begin, end, detail] = tree.name();
        const forest::Node& node =
            setup.forest.forest()[setup.forest.find(forest::NodeKind::kConstituent, begin, end, detail)];
        std::size_t pseudo = 0, rules = 0;
        for (const forest::Edge& edge : node.edges) (edge.origin == 0 ? rules : pseudo) += 1;
        BOOST_TEST(pseudo == (rules == 0 || pseudo_always ? 1u : 0u));
        for (const Tree& child : tree.children) check(child);
      };
      check(whole);
      setup.finish();
      BOOST_TEST(all_translated(setup.forest.forest()));
    }
  }
  BOOST_TEST(total > 1000u);
}

BOOST_AUTO_TEST_CASE(flat_deep_and_smallest_trees) {
  std::mt19937 random(17);
  RandomTable table(random, "cons2str", 12, 6, 2);
  MatchingForest setup(random, *table);
  forest::ConstituencyMatcher matcher(*table, setup.block, false);
  ParsedCorpus corpus;
  RandomSentence flat;
  flat.words.assign(500, "a");
  flat.tags.assign(500, "M");
  flat.phrases.emplace_back("A", 0, 500, -1);
  add_sentence(corpus, flat);
  RandomSentence deep;
  deep.words = {"a"};
  deep.tags = {"M"};
  for (int n = 0; n < 2000; ++n) deep.phrases.emplace_back("A", 0, 1, n - 1);
  add_sentence(corpus, deep);
  deep.phrases.clear();  // a tree that is only a pre-terminal
  add_sentence(corpus, deep);
  for (std::size_t n = 0; n < corpus.size(); ++n) {
    setup.forest.start(corpus, n);
    matcher.match(setup.forest);
    setup.finish();
    BOOST_TEST(all_translated(setup.forest.forest()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
