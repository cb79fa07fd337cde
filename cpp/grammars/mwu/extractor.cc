#include "grammars/mwu/extractor.hh"

#include <algorithm>

namespace treeglot::mwu {

namespace {

constexpr std::uint16_t kNowhere = 0xFFFF;

}  // namespace

UnitExtractor::UnitExtractor(const ExtractOptions& options, const ParsedCorpus& source, CategoryInterner& interner)
    : options_(options), source_(source), interner_(interner), forest_(options.forest) {}

void UnitExtractor::extract(const ParsedPair& pair, const RuleSink& sink) {
  if (!pair.source.has_dependency() || pair.links.empty() || pair.target.size() == 0) return;
  sink_ = &sink;
  prepare(pair);
  for (VertexId v = 1; v < forest_.vertices(); ++v) {
    if (!forest_.kept(v) || forest_.is_group(v)) continue;
    extract_lexical(v);
    if (!wholes_[v].consistent) continue;
    for (EdgeId e : forest_.edges().into(v)) {
      if (forest_.kept_edge(e) && !forest_.edges().tails(e).empty()) extract_structural(e);
    }
  }
}

// The forest, and the spans of its vertices.
void UnitExtractor::prepare(const ParsedPair& pair) {
  pair_ = &pair;
  forest_.start(pair.source);
  find_spans();
  TreeGroupFilter filter;
  if (options_.consistent_first) {
    filter = [this](std::size_t tree, std::span<const Place> sigma) {
      const LinkedSpan span = whole_span(tree, sigma);
      return span.empty() ? options_.unaligned_source : consistent(span);
    };
  }
  forest_.build(filter);
  wholes_.assign(forest_.vertices(), {});
  for (VertexId v = 1; v < forest_.vertices(); ++v) {
    if (!forest_.kept(v)) continue;
    forest_.sigma(v, sigma_);
    wholes_[v].span = whole_span(forest_.tree_of(v), sigma_);
    wholes_[v].consistent = consistent(wholes_[v].span);
  }
}

void UnitExtractor::find_spans() {
  const std::size_t words = pair_->source.size(), targets = pair_->target.size();
  own_.assign(words, {});
  link_starts_.assign(words + 1, 0);
  links_before_.assign(targets + 1, 0);
  for (const WordLink& link : pair_->links) {
    own_[link.source].add({link.target, link.target, 1});
    ++links_before_[link.target + 1u];
    ++link_starts_[link.source + 1u];
  }
  for (std::size_t j = 0; j < words; ++j) link_starts_[j + 1] += link_starts_[j];
  for (std::size_t i = 0; i < targets; ++i) links_before_[i + 1] += links_before_[i];
  lowest_.assign(targets, 0x7FFFFFFF);
  highest_.assign(targets, -1);
  for (const WordLink& link : pair_->links) {
    lowest_[link.target] = std::min(lowest_[link.target], own_[link.source].first);
    highest_[link.target] = std::max(highest_[link.target], own_[link.source].last);
  }
  below_.resize(std::max(below_.size(), forest_.trees()));
  for (std::size_t n = 0; n < forest_.trees(); ++n) {
    const Tree& tree = forest_.tree(n);
    below_[n] = own_;
    for (Place word : tree.bottom_up()) {
      if (tree.head(word) >= 0) below_[n][static_cast<std::size_t>(tree.head(word))].add(below_[n][word]);
    }
  }
  target_place_.assign(targets, kNowhere);
  variable_at_.assign(targets, kNowhere);
}

LinkedSpan UnitExtractor::whole_span(std::size_t tree, std::span<const Place> sigma) const {
  LinkedSpan span;
  for (Place word : sigma) span.add(below_[tree][word]);
  return span;
}

bool UnitExtractor::consistent(const LinkedSpan& span) const {
  if (span.empty()) return false;
  if (!options_.paper_consistency) {
    return links_before_[static_cast<std::size_t>(span.last) + 1] -
               links_before_[static_cast<std::size_t>(span.first)] ==
           span.links;
  }
  for (std::int32_t i = span.first; i <= span.last; ++i) {
    if (highest_[i] >= 0 && (lowest_[i] < span.first || highest_[i] > span.last)) return false;
  }
  return true;
}

std::uint32_t UnitExtractor::label(Place word) {
  if (!options_.word_labels) return pair_->source.tags[word];
  return interner_.id(source_.words.word(pair_->source.words[word]));
}

void UnitExtractor::extract_lexical(VertexId vertex) {
  const std::span<const Place> words = forest_.words(vertex);
  LinkedSpan span;
  for (Place word : words) span.add(own_[word]);
  if (!consistent(span)) return;
  side_.clear();
  variables_.clear();
  side_.add_words(words, forest_.tree_at(vertex));
  emit(words, span, forest_.posterior(vertex));
}

void UnitExtractor::extract_structural(EdgeId edge) {
  const VertexId head = forest_.edges().head(edge);
  const std::span<const VertexId> tails = forest_.edges().tails(edge);
  auto deleted = [&](VertexId tail) { return options_.unaligned_source && wholes_[tail].span.empty(); };
  variables_.clear();
  for (VertexId tail : tails) {
    if (deleted(tail)) continue;
    if (!wholes_[tail].consistent) return;
    variables_.push_back(wholes_[tail].span);
  }
  if (options_.paper_consistency && overlap()) return;  // of phrases none can
  const Tree& tree = forest_.tree_at(head);
  side_.clear();
  side_.add_words(forest_.words(head), tree);
  std::uint32_t variable = 0;
  for (VertexId tail : tails) {
    forest_.sigma(tail, sigma_);
    if (!deleted(tail)) {
      for (Place word : sigma_) side_.add_tail(word, tree.head(word), variable);
      ++variable;
      continue;
    }
    for (Place word : sigma_) side_.add_whole(word, tree.head(word), forest_.tree_at(tail));
  }
  emit(forest_.words(head), wholes_[head].span, forest_.edge_posterior(edge));
}

bool UnitExtractor::overlap() {
  std::vector<LinkedSpan> sorted = variables_;
  std::sort(sorted.begin(), sorted.end(), [](const LinkedSpan& a, const LinkedSpan& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first <= sorted[i - 1].last) return true;
  }
  return false;
}

// The target side from one position to another, with variables in place of their spans.
void UnitExtractor::write_target(std::int32_t first, std::int32_t last) {
  rule_.target.clear();
  for (std::int32_t i = first; i <= last;) {
    const std::uint16_t variable = variable_at_[static_cast<std::size_t>(i)];
    if (variable != kNowhere) {
      rule_.target.push_back(target_variable(variable));
      i = variables_[variable].last + 1;
    } else {
      target_place_[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(rule_.target.size());
      rule_.target.push_back(pair_->target.words[static_cast<std::size_t>(i++)]);
    }
  }
}

// `words` are those of the unit: their links go into the rule.
void UnitExtractor::emit(std::span<const Place> words, const LinkedSpan& outer, double count) {
  side_.write([&](Place word) { return pair_->source.words[word]; }, [&](Place word) { return label(word); },
              rule_.source);
  for (std::size_t n = 0; n < variables_.size(); ++n) {
    variable_at_[static_cast<std::size_t>(variables_[n].first)] = static_cast<std::uint16_t>(n);
  }
  auto send = [&](std::int32_t first, std::int32_t last, double share) {
    rule_.links.clear();
    for (Place word : words) {
      const std::uint32_t first_link = link_starts_[word], last_link = link_starts_[word + 1u];
      if (first_link == last_link) continue;
      const auto place = static_cast<std::uint16_t>(side_.symbol_of(word));
      for (const WordLink& link : pair_->links.subspan(first_link, last_link - first_link)) {
        if (target_place_[link.target] != kNowhere) rule_.links.push_back({place, target_place_[link.target]});
      }
    }
    rule_.count = share;
    (*sink_)(rule_);
    std::fill(target_place_.begin() + first, target_place_.begin() + last + 1, kNowhere);
  };
  auto unaligned = [&](std::int32_t i) {
    return i >= 0 && i < static_cast<std::int32_t>(pair_->target.size()) && highest_[static_cast<std::size_t>(i)] < 0;
  };
  std::int32_t lowest = outer.first, highest = outer.last;
  if (options_.unaligned_target) {
    while (unaligned(lowest - 1)) --lowest;
    while (unaligned(highest + 1)) ++highest;
  }
  // As many lengths there are, as many variants at least.
  const auto lengths = static_cast<std::size_t>(outer.first - lowest + highest - outer.last) + 1;
  distinct_.clear();
  variants_.clear();
  if (lengths > 1 && lengths <= kMaxVariants) {
    for (std::int32_t first = outer.first; first >= lowest; --first) {
      for (std::int32_t last = outer.last; last <= highest; ++last) {
        write_target(first, last);
        if (variants_.insert(rule_.target).second) distinct_.push_back({first, last});
        std::fill(target_place_.begin() + first, target_place_.begin() + last + 1, kNowhere);
      }
    }
  }
  if (distinct_.empty() || distinct_.size() > kMaxVariants) distinct_.assign(1, {outer.first, outer.last});
  for (const Variant& variant : distinct_) {
    write_target(variant.first, variant.last);
    send(variant.first, variant.last, count / static_cast<double>(distinct_.size()));
  }
  for (const LinkedSpan& variable : variables_) variable_at_[static_cast<std::size_t>(variable.first)] = kNowhere;
}

}  // namespace treeglot::mwu
