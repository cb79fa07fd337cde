// Whether the rules of a pair, in any way they match its forest, can make its target (spec: mwu-forest, section 3).
#include <algorithm>
#include <ranges>

#include "grammars/mwu/extractor.hh"

namespace treeglot::mwu {

std::string_view UnitExtractor::recovery(const ParsedPair& pair) {
  constexpr std::string_view kRecovered = "recovered", kRoot = "root", kWord = "word", kCombination = "combination";
  if (!pair.source.has_dependency() || pair.links.empty() || pair.target.size() == 0) return kRoot;
  Templates rules;
  std::vector<std::uint8_t> covered(pair.source.size(), 0);
  extract(pair, [&](const ExtractedRule& rule) {
    rules[rule.source].insert(rule.target);
    side_.for_each_word([&](Place word) { covered[word] = 1; });
  });
  // Aligned words outside of the root's span there are none; unaligned ones belong to it if rules reach over them.
  const LinkedSpan& root = below_[0][static_cast<std::size_t>(forest_.tree().root())];
  const auto size = static_cast<std::uint32_t>(pair.target.size());
  if (!options_.unaligned_target && (root.first > 0 || root.last + 1 < static_cast<std::int32_t>(size))) return kRoot;
  if (std::find(covered.begin(), covered.end(), 0) != covered.end()) return kWord;
  spans_.assign(forest_.vertices(), {});
  for (VertexId vertex : std::views::reverse(forest_.order())) {
    if (vertex != Forest::kRoot && forest_.kept(vertex)) find_spans_of(vertex, rules);
  }
  for (EdgeId edge : forest_.edges().into(Forest::kRoot)) {
    if (forest_.kept_edge(edge) && spans_[forest_.edges().tails(edge)[0]].has(0, size)) return kRecovered;
  }
  return kCombination;
}

void UnitExtractor::find_spans_of(VertexId vertex, const Templates& rules) {
  for (EdgeId edge : forest_.edges().into(vertex)) {
    if (!forest_.kept_edge(edge)) continue;
    if (forest_.is_group(vertex)) {
      spans_[vertex].add(spans_[forest_.edges().tails(edge)[0]]);
    } else {
      try_tails(edge, rules, spans_[vertex]);
    }
  }
  spans_[vertex].finish();
}

// An edge with each of its tails a variable or, with `unaligned_source`, words.
void UnitExtractor::try_tails(EdgeId edge, const Templates& rules, forest::TargetSpans& result) {
  constexpr std::size_t kMaxDeleted = 12;  // the first ones; more tails without links no sentence has
  const std::span<const VertexId> tails = forest_.edges().tails(edge);
  const VertexId head = forest_.edges().head(edge);
  const Tree& tree = forest_.tree_at(head);
  const std::size_t deletable = options_.unaligned_source ? std::min(tails.size(), kMaxDeleted) : 0;
  std::vector<Symbol> source;
  std::vector<const forest::TargetSpans*> filling;
  for (std::uint32_t deleted = 0; deleted < (1u << deletable); ++deleted) {
    side_.clear();
    filling.clear();
    side_.add_words(forest_.words(head), tree);
    bool possible = true;
    for (std::size_t i = 0; i < tails.size() && possible; ++i) {
      forest_.sigma(tails[i], sigma_);
      if (i < deletable && (deleted >> i & 1)) {
        for (Place word : sigma_) side_.add_whole(word, tree.head(word), forest_.tree_at(tails[i]));
        continue;
      }
      possible = !spans_[tails[i]].empty();
      for (Place word : sigma_) {
        side_.add_tail(word, tree.head(word), static_cast<std::uint32_t>(filling.size()));
      }
      filling.push_back(&spans_[tails[i]]);
    }
    if (!possible) continue;
    side_.write([&](Place word) { return pair_->source.words[word]; }, [&](Place word) { return label(word); }, source);
    auto known = rules.find(source);
    if (known == rules.end()) continue;
    for (const std::vector<TargetSymbol>& target : known->second) result.add(target, pair_->target.words, filling);
  }
}

}  // namespace treeglot::mwu
