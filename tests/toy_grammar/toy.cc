// A grammar that is not part of treeglot: word groups with at most one gap, learnt without trees. It stands in the tests
// to show that a new grammar needs one C++ file and one Python module, and nothing else.
//
// A rule is a source span of at most `rule_words` words whose links lead to a target span that leads nowhere else; with
// `gaps`, also such a span with one smaller such span left out in its middle.
#include <algorithm>
#include <vector>

#include "forest/matcher.hh"
#include "grammars/registry.hh"
#include "table/rule_table.hh"

namespace {

using namespace treeglot;

constexpr Symbol kGapSymbol = symbol(SymbolKind::kGap, 0);

// The target span of source words [begin, end), if it is consistent.
struct Span {
  int begin = 0, end = 0;
  bool good() const { return begin < end; }
};

Span target_of(const ParsedPair& pair, int begin, int end) {
  Span span{1 << 20, 0};
  for (const WordLink& link : pair.links) {
    if (link.source < begin || link.source >= end) continue;
    span.begin = std::min<int>(span.begin, link.target);
    span.end = std::max<int>(span.end, link.target + 1);
  }
  for (const WordLink& link : pair.links) {
    const bool inside = link.target >= span.begin && link.target < span.end;
    if (inside && (link.source < begin || link.source >= end)) return {};
  }
  return span;
}

class ToyExtractor : public RuleExtractor {
 public:
  ToyExtractor(int rule_words, bool gaps) : rule_words_(rule_words), gaps_(gaps) {}

  void extract(const ParsedPair& pair, const RuleSink& sink) override {
    const int size = static_cast<int>(pair.source.size());
    for (int begin = 0; begin < size; ++begin) {
      for (int end = begin + 1; end <= size && end - begin <= rule_words_; ++end) {
        const Span outer = target_of(pair, begin, end);
        if (!outer.good()) continue;
        write(pair, begin, end, outer, end, end, {}, sink);
        if (!gaps_) continue;
        for (int gap = begin + 1; gap < end; ++gap) {
          for (int after = gap + 1; after < end; ++after) {
            const Span inner = target_of(pair, gap, after);
            if (inner.good() && inner.end - inner.begin < outer.end - outer.begin) {
              write(pair, begin, end, outer, gap, after, inner, sink);
            }
          }
        }
      }
    }
  }

 private:
  void write(const ParsedPair& pair, int begin, int end, Span outer, int gap, int after, Span inner,
             const RuleSink& sink) {
    rule_ = {};
    std::vector<int> place(pair.target.size(), -1);
    for (int i = outer.begin; i < outer.end; ++i) {
      if (i >= inner.begin && i < inner.end) {
        if (i == inner.begin) rule_.target.push_back(target_variable(0));
        continue;
      }
      place[i] = static_cast<int>(rule_.target.size());
      rule_.target.push_back(pair.target.words[i]);
    }
    for (int j = begin; j < end; ++j) {
      if (j >= gap && j < after) {
        if (j == gap) rule_.source.push_back(kGapSymbol);
        continue;
      }
      for (const WordLink& link : pair.links) {
        if (link.source == j && place[link.target] >= 0) {
          rule_.links.push_back({static_cast<std::uint16_t>(rule_.source.size()),
                                 static_cast<std::uint16_t>(place[link.target])});
        }
      }
      rule_.source.push_back(symbol(SymbolKind::kWord, pair.source.words[j]));
    }
    sink(rule_);
  }

  int rule_words_;
  bool gaps_;
  ExtractedRule rule_;
};

// Rules over spans, longer ones of shorter ones; glue from left to right.
class ToyMatcher : public forest::Matcher {
 public:
  ToyMatcher(const RuleTable& table, const forest::GrammarBlock& block, int width)
      : table_(table), block_(block), width_(width) {}

  void match(forest::SentenceForest& forest) override {
    forest.ids(table_, ids_);
    const int size = forest.size();
    for (int length = 1; length <= std::min(width_, size); ++length) {
      for (int begin = 0; begin + length <= size; ++begin) match_span(forest, begin, begin + length);
    }
    for (int end = 1; end <= size; ++end) {
      for (int begin = std::max(0, end - width_); begin < end; ++begin) {
        const forest::NodeId part = forest.find(forest::NodeKind::kSpan, begin, end);
        if (part == forest::SentenceForest::kNoNode) continue;
        if (begin == 0) {
          forest.add_edge(forest.glue(end), forest.sequence(1, -1), {&part, 1}, forest::kFromGlue);
        } else {
          const forest::NodeId both[2] = {forest.glue(begin), part};
          forest.add_edge(forest.glue(end), forest.sequence(2, forest::kGlueFeature), both, forest::kFromGlue);
        }
      }
    }
  }

 private:
  void match_span(forest::SentenceForest& forest, int begin, int end) {
    look_up(forest, begin, end, end, end);
    for (int gap = begin + 1; gap < end; ++gap) {
      for (int after = gap + 1; after < end; ++after) {
        if (forest.find(forest::NodeKind::kSpan, gap, after) != forest::SentenceForest::kNoNode) {
          look_up(forest, begin, end, gap, after);
        }
      }
    }
    if (end - begin == 1 && forest.find(forest::NodeKind::kSpan, begin, end) == forest::SentenceForest::kNoNode) {
      forest.copy_word(forest.span(begin, end), begin);
    }
  }

  void look_up(forest::SentenceForest& forest, int begin, int end, int gap, int after) {
    std::vector<Symbol> source;
    WalkKey key = walk_start();
    RuleTable::Place place;
    for (int j = begin; j < end; ++j) {
      if (j > gap && j < after) continue;
      if (j != gap && ids_.words[j] == RuleTable::kNone) return;
      source.push_back(j == gap ? kGapSymbol : symbol(SymbolKind::kWord, ids_.words[j]));
      key = walk_step(key, source.back());
      place = table_.find(key);
      if (!place.prefix) return;
    }
    if (place.rules == 0) return;
    const forest::CachedOptions* options = forest.cache().rules(table_, block_, place, source);
    if (!options) return;
    std::vector<forest::NodeId> tails;
    if (gap < after) tails.push_back(forest.span(gap, after));
    forest.add_edge(forest.span(begin, end), &options->list, tails, static_cast<std::uint16_t>(block_.number), source);
  }

  const RuleTable& table_;
  const forest::GrammarBlock block_;
  const int width_;
  forest::TableIds ids_;
};

Grammar declaration() {
  Grammar grammar;
  grammar.name = "toy";
  grammar.title = "word groups with at most one gap";
  grammar.options = {
      number_option("rule_words", 4, 1, 10, OptionUse::kBoth, "source words of a rule"),
      flag_option("gaps", true, OptionUse::kExtraction, "rules with a gap"),
  };
  grammar.features = {{"gaps", 0.1, "rules with a gap"}};
  grammar.rule_features = [](std::span<const Symbol> source, std::span<const TargetSymbol>, std::span<float> values) {
    values[0] = std::find(source.begin(), source.end(), kGapSymbol) != source.end() ? 1.0f : 0.0f;
  };
  grammar.text = symbol_text(RuleFamily::kGaps);
  grammar.uses_phrases = false;
  grammar.extractor = [](const OptionValues& given, const ParsedBitext&, CategoryInterner&) {
    return std::make_unique<ToyExtractor>(given.number("rule_words"), given.flag("gaps"));
  };
  grammar.matcher = [](const forest::MatcherSetup& setup) {
    return std::make_unique<ToyMatcher>(*setup.table, setup.block, setup.options.number("rule_words"));
  };
  return grammar;
}

const Registration kRegistration(declaration());

}  // namespace
