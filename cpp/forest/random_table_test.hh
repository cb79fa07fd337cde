// What the tests of matchers share: random parsed sentences, a rule table of
// them, and a forest to match them in.
#pragma once

#include <unistd.h>

#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "forest/closing.hh"
#include "forest/matcher.hh"
#include "forest/random_model_test.hh"
#include "grammars/registry.hh"
#include "table/rule_counts.hh"
#include "table/rule_table.hh"
#include "table/rule_table_writer.hh"

namespace treeglot::test {

struct RandomSentence {
  std::vector<std::string> words, tags;
  std::vector<std::tuple<std::string, int, int, int>> phrases;
};

// Few words and labels, so that rules match often. Children of a phrase: one to
// four; unary chains happen.
inline void random_phrases(std::mt19937& random, int begin, int end, int parent, int depth, RandomSentence& out) {
  const int me = static_cast<int>(out.phrases.size());
  out.phrases.emplace_back(std::string(1, static_cast<char>('A' + random() % 3)), begin, end, parent);
  if (depth < 8 && random() % 6 == 0) {  // a unary chain
    random_phrases(random, begin, end, me, depth + 1, out);
    return;
  }
  for (int at = begin; at < end;) {
    const int next = std::min<int>(end, at + 1 + static_cast<int>(random() % 3));
    const bool whole = at == begin && next == end;
    if (!whole && (next - at > 1 || random() % 3 == 0)) {
      random_phrases(random, at, next, me, depth + 1, out);
      at = next;
    } else {
      ++at;
    }
  }
}

inline RandomSentence random_sentence(std::mt19937& random, int longest, int vocabulary, bool tree) {
  RandomSentence result;
  const int size = 1 + static_cast<int>(random() % longest);
  for (int j = 0; j < size; ++j) {
    result.words.push_back(std::string(1, static_cast<char>('a' + random() % vocabulary)));
    result.tags.push_back(std::string(1, static_cast<char>('M' + random() % 2)));
  }
  if (tree) random_phrases(random, 0, size, -1, 0, result);
  return result;
}

// The columns of a random sentence.
struct RandomColumns {
  explicit RandomColumns(const RandomSentence& sentence)
      : words(sentence.words.begin(), sentence.words.end()), tags(sentence.tags.begin(), sentence.tags.end()) {
    for (const auto& [label, begin, end, parent] : sentence.phrases) phrases.push_back({label, begin, end, parent});
  }
  ParsedCorpus::Columns all() const { return {words, tags, {}, phrases}; }

  std::vector<std::string_view> words, tags;
  std::vector<ParsedCorpus::Phrase> phrases;
};

inline void add_sentence(ParsedCorpus& corpus, const RandomSentence& sentence) {
  corpus.add(RandomColumns(sentence).all());
}

// A table of the rules of random pairs.
class RandomTable {
 public:
  RandomTable(std::mt19937& random, const std::string& grammar, int sentences, int longest, int vocabulary) {
    char name[] = "/tmp/treeglot-matcher-test-XXXXXX";
    const int handle = ::mkstemp(name);
    if (handle < 0) throw std::runtime_error("no temporary file");
    ::close(handle);
    path_ = name;
    ParsedBitext corpus;
    for (int n = 0; n < sentences; ++n) {
      const RandomSentence sentence =
          random_sentence(random, longest, vocabulary, find_grammar(grammar).needs.source_constituency);
      const std::size_t size = sentence.words.size();
      std::vector<WordLink> links;
      for (std::size_t j = 0; j < size; ++j) {
        if (random() % 5)
          links.push_back(
              {static_cast<std::uint16_t>(j), static_cast<std::uint16_t>(random() % 3 ? j : random() % size)});
      }
      std::vector<std::string_view> target;
      for (std::size_t i = 0; i < size; ++i) target.push_back(random() % 2 ? "a" : "b");
      corpus.add(RandomColumns(sentence).all(), {target}, links);
    }
    CategoryInterner categories(corpus.source().categories);
    RuleTableWriter::Options about;
    about.grammar = grammar;
    RuleTableWriter writer(path_, corpus, categories, about);
    RuleCountOptions options;
    options.threads = 1;
    auto make = [&] { return make_extractor(grammar, {}, corpus, categories); };
    writer.finish(count_rules(corpus, categories, make, options, writer));
    table_ = std::make_unique<RuleTable>(path_);
  }
  ~RandomTable() { ::unlink(path_.c_str()); }

  const RuleTable& operator*() const { return *table_; }
  // All source sides.
  std::vector<std::vector<Symbol>> sources() const {
    std::vector<std::vector<Symbol>> all;
    std::vector<Symbol> source;
    std::vector<RuleEntry> rules;
    for (std::uint64_t position = 0; rules.clear(), table_->scan(position, source, rules);) all.push_back(source);
    return all;
  }

 private:
  std::string path_;
  std::unique_ptr<RuleTable> table_;
};

// A forest without phrases whose rules come from one table.
struct MatchingForest {
  MatchingForest(std::mt19937& random, const RuleTable& table)
      : file(random_arpa(random, 2, 3, 0.5, true)),
        model(file.path),
        vocabulary(model),
        block{&find_grammar(table.grammar()), 0, forest::kFirstBlock, vocabulary.add(table)},
        scorer((vocabulary.finish(), vocabulary), weights),
        cache(scorer, {}),
        forest(cache, nullptr, block, {}) {}

  // What comes after the grammars.
  void finish() {
    forest::JoinMatcher().match(forest);
    forest::CopyMatcher().match(forest);
    forest::GoalMatcher().match(forest);
  }

  TemporaryModel file;
  lm::Model model;
  std::vector<double> weights = std::vector<double>(forest::kFirstBlock + forest::kBlockSize, 0.1);
  forest::TargetVocabulary vocabulary;
  forest::GrammarBlock block;
  forest::OptionScorer scorer;
  forest::OptionCache cache;
  forest::SentenceForest forest;
};

// An edge made of rules: its node, its source side, its tails. Nodes as kind,
// begin, end, detail.
using NodeName = std::tuple<int, int, int, int>;
using Match = std::tuple<NodeName, std::vector<Symbol>, std::vector<NodeName>>;

inline NodeName name_of(const forest::Node& node) {
  return {static_cast<int>(node.kind), node.begin, node.end, static_cast<int>(node.detail)};
}

// The edges of table 0, and how often each is there.
inline std::multiset<Match> matches_of(const forest::SentenceForest& forest) {
  std::multiset<Match> matches;
  const forest::Forest& all = forest.forest();
  for (forest::NodeId id = 0; id < all.size(); ++id) {
    for (const forest::Edge& edge : all[id].edges) {
      if (edge.origin != 0) continue;
      std::vector<NodeName> tails;
      for (forest::NodeId tail : all.tails(edge)) tails.push_back(name_of(all[tail]));
      const auto source = forest.source_side(edge);
      matches.insert({name_of(all[id]), {source.begin(), source.end()}, tails});
    }
  }
  return matches;
}

// Every node that the goal needs has a translation.
inline bool all_translated(const forest::Forest& all) {
  std::vector<forest::NodeId> todo{all.goal()};
  std::set<forest::NodeId> seen{all.goal()};
  while (!todo.empty()) {
    const forest::NodeId id = todo.back();
    todo.pop_back();
    if (all[id].edges.empty()) return false;
    for (const forest::Edge& edge : all[id].edges) {
      for (forest::NodeId tail : all.tails(edge)) {
        if (seen.insert(tail).second) todo.push_back(tail);
      }
    }
  }
  return true;
}

}  // namespace treeglot::test
