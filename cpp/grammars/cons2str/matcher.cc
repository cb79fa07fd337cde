#include "grammars/cons2str/matcher.hh"

namespace treeglot::forest {

namespace {

constexpr Symbol kCloseSymbol = symbol(SymbolKind::kClose, 0);

}  // namespace

void ConstituencyMatcher::match(SentenceForest& forest) {
  const ParsedSentence& sentence = forest.sentence();
  if (!sentence.has_constituency() && sentence.size() != 1) return;
  tree_.reset(sentence);
  forest.ids(table_, ids_);
  for (std::uint32_t n = tree_.size(); n-- > 0;) {  // from the words up
    const NodeId root = node(forest, n);
    const bool matched = match_root(forest, n);
    if (tree_.is_preterminal(n) || (matched && !pseudo_always_)) continue;
    tails_.clear();
    for (std::uint32_t child : tree_.children(n)) tails_.push_back(node(forest, child));
    forest.add_pseudo(root, tails_);
  }
}

bool ConstituencyMatcher::match_root(SentenceForest& forest, std::uint32_t root) {
  root_ = node(forest, root);
  walk_.start();
  matched_ = false;
  pending_.clear();
  sites_.clear();
  expand(forest, root, walk_start());
  return matched_;
}

void ConstituencyMatcher::expand(SentenceForest& forest, std::uint32_t n, WalkKey key) {
  const std::uint32_t category = label(n);
  if (category == RuleTable::kNone) return;
  walk_.with(key, symbol(SymbolKind::kOpen, category), [&](WalkKey inner, const RuleTable::Place& place) {
    if (tree_.is_preterminal(n)) {
      const std::uint32_t word = ids_.words[tree_.word(n)];
      if (word == RuleTable::kNone) return;
      walk_.with(inner, symbol(SymbolKind::kWord, word), [&](WalkKey after, const RuleTable::Place&) {
        walk_.with(after, kCloseSymbol,
                   [&](WalkKey whole, const RuleTable::Place& reached) { step(forest, whole, reached); });
      });
      return;
    }
    const std::span<const std::uint32_t> children = tree_.children(n);
    if (children.size() > walk_.longest()) return;
    const std::size_t before = pending_.size();
    pending_.push_back({n, true});
    for (auto child = children.rbegin(); child != children.rend(); ++child) pending_.push_back({*child, false});
    step(forest, inner, place);
    pending_.resize(before);
  });
}

// Reads what is pending in all ways; leaves everything as it was.
void ConstituencyMatcher::step(SentenceForest& forest, WalkKey key, const RuleTable::Place& place) {
  if (pending_.empty()) {
    take(forest, place);
    return;
  }
  const Pending next = pending_.back();
  pending_.pop_back();
  if (next.close) {
    walk_.with(key, kCloseSymbol,
               [&](WalkKey after, const RuleTable::Place& reached) { step(forest, after, reached); });
  } else {
    if (const std::uint32_t category = label(next.node); category != RuleTable::kNone) {
      walk_.with(key, symbol(SymbolKind::kSite, category), [&](WalkKey after, const RuleTable::Place& reached) {
        sites_.push_back(next.node);
        step(forest, after, reached);
        sites_.pop_back();
      });
    }
    expand(forest, next.node, key);
  }
  pending_.push_back(next);
}

void ConstituencyMatcher::take(SentenceForest& forest, const RuleTable::Place& place) {
  if (place.rules == 0) return;
  const CachedOptions* options = forest.cache().rules(table_, block_, place, walk_.symbols());
  if (!options) return;
  tails_.clear();
  for (std::uint32_t site : sites_) tails_.push_back(node(forest, site));
  forest.add_edge(root_, &options->list, tails_, static_cast<std::uint16_t>(block_.number), walk_.symbols());
  matched_ = true;
}

}  // namespace treeglot::forest
