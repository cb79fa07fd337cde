#include "grammars/tree2tree/matcher.hh"

#include <algorithm>
#include <map>
#include <tuple>

namespace treeglot::forest {

namespace {

constexpr Symbol kCloseSymbol = symbol(SymbolKind::kClose, 0);
constexpr std::string_view kUntyped = "X", kUnknownWord = "NN";
constexpr NodeId kNoNode = SentenceForest::kNoNode;
constexpr std::size_t kLongestChain = 3;  // (IP (VP (VV word)))

}  // namespace

TreeToTreeMatcher::TreeToTreeMatcher(const RuleTable& table, const GrammarBlock& block, int max_trees, bool fuzzy,
                                     int mismatch_feature)
    : table_(table),
      block_(block),
      max_trees_(max_trees),
      fuzzy_(fuzzy),
      mismatch_feature_(block.first_feature + kBlockSize + mismatch_feature),
      walk_(table) {}

void TreeToTreeMatcher::match(SentenceForest& forest) {
  const ParsedSentence& sentence = forest.sentence();
  const std::uint32_t words = static_cast<std::uint32_t>(sentence.size());
  spans_.clear();
  order_.clear();
  if (words == 0) return;
  forest.ids(table_, ids_);
  if (!is_tree(sentence)) {
    for (std::uint32_t j = 0; j < words; ++j) {
      order_.push_back({j, j + 1});
      complete_span(forest, order_.back());
    }
    glue(forest);
    return;
  }
  covers_.reset(sentence);
  covers_.spans(static_cast<std::size_t>(max_trees_), order_);
  std::sort(order_.begin(), order_.end(), [](const WordSpan& a, const WordSpan& b) {
    return std::tuple(a.size(), a.begin) < std::tuple(b.size(), b.begin);
  });
  for (const WordSpan& span : order_) {
    match_span(forest, span);
    complete_span(forest, span);
  }
  glue(forest);
}

NodeId TreeToTreeMatcher::typed(SentenceForest& forest, WordSpan span, std::uint32_t category) {
  Translations& known = spans_[key(span)];
  for (const auto& [other, node] : known.typed) {
    if (other == category) return node;
  }
  const NodeId node = forest.typed(static_cast<int>(span.begin), static_cast<int>(span.end), category);
  known.typed.emplace_back(category, node);
  return node;
}

// The span must have translations, and all that it will have.
NodeId TreeToTreeMatcher::any(SentenceForest& forest, WordSpan span) {
  Translations& known = *at(span);
  if (known.any != kNoNode) return known.any;
  if (known.typed.size() == 1) return known.any = known.typed[0].second;
  known.any = forest.helper(static_cast<int>(span.begin), static_cast<int>(span.end));
  for (const auto& [category, node] : known.typed) forest.join(known.any, node);
  return known.any;
}

NodeId TreeToTreeMatcher::tail(SentenceForest& forest, WordSpan span, Translations* known, std::uint32_t category) {
  NodeId exact = kNoNode;
  for (const auto& [other, node] : known->typed) {
    if (other == category) exact = node;
  }
  if (!fuzzy_ || (exact != kNoNode && known->typed.size() == 1)) return exact;
  for (const auto& [other, node] : known->wanted) {
    if (other == category) return node;
  }
  const NodeId wanted = forest.helper(static_cast<int>(span.begin), static_cast<int>(span.end));
  known->wanted.emplace_back(category, wanted);
  if (exact != kNoNode) forest.join(wanted, exact);
  const NodeId others = any(forest, span);
  forest.add_edge(wanted, forest.sequence(1, mismatch_feature_), {&others, 1}, kFromJoin);
  return wanted;
}

void TreeToTreeMatcher::match_span(SentenceForest& forest, WordSpan span) {
  outer_ = span;
  walk_.start();
  pending_.clear();
  variables_.clear();
  variable_trees_.clear();
  covers_.cover(span, cover_);
  for (auto root = cover_.rbegin(); root != cover_.rend(); ++root) pending_.push_back({*root, false});
  step(forest, walk_start(), {}, false);
}

// What stands where no rule does.
void TreeToTreeMatcher::complete_span(SentenceForest& forest, WordSpan span) {
  if (at(span)) return;
  OptionCache& cache = forest.cache();
  if (span.size() == 1) {
    const int j = static_cast<int>(span.begin);
    if (translate_elsewhere(forest, span)) return;
    forest.copy_word(typed(forest, span, cache.category(copied_category(forest.word_text(j)))), j);
    return;
  }
  covers_.cover(span, cover_);
  if (cover_.size() > 1) return;
  std::uint32_t node = cover_[0];
  while (covers_.tree().children(node).size() == 1) node = covers_.tree().children(node)[0];
  tails_.clear();
  for (std::uint32_t child : covers_.tree().children(node)) tails_.push_back(any(forest, covers_.span(child)));
  forest.add_pseudo(typed(forest, span, cache.category(kUntyped)), tails_);
}

bool TreeToTreeMatcher::translate_elsewhere(SentenceForest& forest, WordSpan span) {
  const std::uint32_t word = ids_.words[span.begin];
  if (word == RuleTable::kNone) return false;
  OptionCache& cache = forest.cache();
  std::map<std::uint32_t, NodeId> without_price;  // by category
  for (const std::vector<Symbol>& labels : chains()) {
    side_ = labels;
    side_.push_back(symbol(SymbolKind::kWord, word));
    side_.resize(2 * labels.size() + 1, kCloseSymbol);
    if (side_.size() > walk_.longest()) continue;
    WalkKey key = walk_start();
    RuleTable::Place place;
    for (Symbol symbol : side_) {
      place = table_.find(key = walk_step(key, symbol));
      if (!place.prefix) break;
    }
    if (!place.prefix || place.rules == 0) continue;
    RuleGroups& rules = cache.groups(table_, block_, place, side_);
    if (rules.variables != 0) continue;
    for (std::size_t number = 0; number < rules.groups.size(); ++number) {
      const CachedOptions& options = cache.options(rules, number, table_, block_, place, side_);
      if (options.list.empty()) continue;
      auto [node, fresh] = without_price.try_emplace(rules.groups[number].head);
      if (fresh) node->second = forest.helper(static_cast<int>(span.begin), static_cast<int>(span.end));
      forest.add_edge(node->second, &options.list, {}, static_cast<std::uint16_t>(block_.number), side_);
    }
  }
  for (const auto& [category, node] : without_price) {
    forest.add_edge(typed(forest, span, category), forest.sequence(1, mismatch_feature_), {&node, 1}, kFromJoin);
  }
  return !without_price.empty();
}

const std::vector<std::vector<Symbol>>& TreeToTreeMatcher::chains() {
  if (!chains_.empty()) return chains_;
  std::vector<std::pair<std::vector<Symbol>, WalkKey>> open{{{}, walk_start()}};
  for (std::size_t n = 0; n < open.size() && open[n].first.size() < kLongestChain; ++n) {
    for (std::uint32_t category = 0; category < table_.categories(); ++category) {
      const Symbol next = symbol(SymbolKind::kOpen, category);
      const WalkKey key = walk_step(open[n].second, next);
      if (!table_.find(key).prefix) continue;
      open.emplace_back(open[n].first, key);
      open.back().first.push_back(next);
      chains_.push_back(open.back().first);
    }
  }
  return chains_;
}

void TreeToTreeMatcher::glue(SentenceForest& forest) {
  for (const WordSpan& span : order_) {
    if (!at(span)) continue;
    const NodeId part = any(forest, span), whole = forest.glue(static_cast<int>(span.end));
    if (span.begin == 0) {
      forest.add_edge(whole, forest.sequence(1, -1), {&part, 1}, kFromGlue);
    } else {
      const NodeId both[2] = {forest.glue(static_cast<int>(span.begin)), part};
      forest.add_edge(whole, forest.sequence(2, kGlueFeature), both, kFromGlue);
    }
  }
}

// `open`: the last variable ends where the node begins.
void TreeToTreeMatcher::expand(SentenceForest& forest, std::uint32_t n, WalkKey key, bool open) {
  walk_.with(key, symbol(SymbolKind::kOpen, label(n)), [&](WalkKey inner, const RuleTable::Place& place) {
    const ConstituencyNodes& tree = covers_.tree();
    if (tree.is_preterminal(n)) {
      const std::uint32_t word = ids_.words[tree.word(n)];
      if (word == RuleTable::kNone) return;
      walk_.with(inner, symbol(SymbolKind::kWord, word), [&](WalkKey after, const RuleTable::Place&) {
        walk_.with(after, kCloseSymbol,
                   [&](WalkKey whole, const RuleTable::Place& reached) { step(forest, whole, reached, false); });
      });
      return;
    }
    const std::span<const std::uint32_t> children = tree.children(n);
    if (children.size() > walk_.longest()) return;
    const std::size_t before = pending_.size();
    pending_.push_back({n, true});
    for (auto child = children.rbegin(); child != children.rend(); ++child) pending_.push_back({*child, false});
    step(forest, inner, place, open);
    pending_.resize(before);
  });
}

// Reads what is pending in all ways; leaves everything as it was.
void TreeToTreeMatcher::step(SentenceForest& forest, WalkKey key, const RuleTable::Place& place, bool open) {
  if (pending_.empty()) {
    take(forest, place);
    return;
  }
  const Pending next = pending_.back();
  pending_.pop_back();
  if (next.close) {
    walk_.with(key, kCloseSymbol,
               [&](WalkKey after, const RuleTable::Place& reached) { step(forest, after, reached, open); });
  } else if (const std::uint32_t category = label(next.node); category != RuleTable::kNone) {
    const WordSpan span = covers_.span(next.node);
    if (covers_.top(next.node) == next.node && span != outer_) {
      walk_.with(key, symbol(SymbolKind::kSite, category), [&](WalkKey after, const RuleTable::Place& reached) {
        variables_.push_back(span);
        variable_trees_.push_back(1);
        step(forest, after, reached, true);
        variables_.pop_back();
        variable_trees_.pop_back();
      });
      if (open) {
        walk_.with(key, symbol(SymbolKind::kMore, category), [&](WalkKey after, const RuleTable::Place& reached) {
          const std::uint32_t end = variables_.back().end;
          variables_.back().end = span.end;
          ++variable_trees_.back();
          step(forest, after, reached, true);
          variables_.back().end = end;
          --variable_trees_.back();
        });
      }
    }
    expand(forest, next.node, key, open);
  }
  pending_.push_back(next);
}

void TreeToTreeMatcher::take(SentenceForest& forest, const RuleTable::Place& place) {
  if (place.rules == 0) return;
  for (std::size_t k = 0; k < variables_.size(); ++k) {
    if (variables_[k] == outer_ || covers_.trees(variables_[k]) != variable_trees_[k]) return;
  }
  filled_.clear();
  for (const WordSpan& span : variables_) {
    Translations* known = at(span);
    if (!known) return;  // no rule of this side can be used
    filled_.push_back(known);
  }
  OptionCache& cache = forest.cache();
  RuleGroups& rules = cache.groups(table_, block_, place, walk_.symbols());
  if (rules.variables != variables_.size()) return;
  for (std::size_t number = 0; number < rules.groups.size(); ++number) {
    const std::span<const std::uint32_t> wanted = rules.tails_of(number);
    tails_.clear();
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      const NodeId node = tail(forest, variables_[k], filled_[k], wanted[k]);
      if (node == kNoNode) break;
      tails_.push_back(node);
    }
    if (tails_.size() != variables_.size()) continue;
    const CachedOptions& options = cache.options(rules, number, table_, block_, place, walk_.symbols());
    if (options.list.empty()) continue;
    forest.add_edge(typed(forest, outer_, rules.groups[number].head), &options.list, tails_,
                    static_cast<std::uint16_t>(block_.number), walk_.symbols());
  }
}

std::string_view TreeToTreeMatcher::copied_category(std::string_view word) {
  const WordId id = table_.target_id(word);
  if (id >= table_.target_size()) return kUnknownWord;
  if (!target_tags_) {
    // From the rules of single source words, which are found without reading the others.
    std::map<std::pair<WordId, std::uint32_t>, double> counts;
    std::vector<RuleEntry> rules;
    for (std::uint32_t category = 0; category < table_.categories(); ++category) {
      const Symbol open = symbol(SymbolKind::kOpen, category);
      const WalkKey opened = walk_step(walk_start(), open);
      if (!table_.find(opened).prefix) continue;
      for (std::uint32_t source = 0; source < table_.source_words(); ++source) {
        const Symbol side[3] = {open, symbol(SymbolKind::kWord, source), kCloseSymbol};
        const WalkKey with_word = walk_step(opened, side[1]);
        if (!table_.find(with_word).prefix) continue;
        const RuleTable::Place place = table_.find(walk_step(with_word, kCloseSymbol));
        if (place.rules == 0) continue;
        rules.clear();
        table_.read(place, side, 0, 0.0, rules);
        for (const RuleEntry& rule : rules) {
          for (std::size_t i = 1; i < rule.target.size(); ++i) {
            const TargetSymbol tag = rule.target[i - 1];
            if (!is_target_word(rule.target[i]) || !is_target_node(tag)) continue;
            counts[{rule.target[i], target_category(tag)}] += rule.count;
          }
        }
      }
    }
    target_tags_.emplace(table_.target_size(), RuleTable::kNone);
    std::vector<double> most(table_.target_size(), 0.0);
    for (const auto& [known, count] : counts) {  // of equally frequent ones the first
      if (count <= most[known.first]) continue;
      most[known.first] = count;
      (*target_tags_)[known.first] = known.second;
    }
  }
  const std::uint32_t tag = (*target_tags_)[id];
  return tag == RuleTable::kNone ? kUnknownWord : table_.category(tag);
}

}  // namespace treeglot::forest
