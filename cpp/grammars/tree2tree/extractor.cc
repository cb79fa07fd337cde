#include "grammars/tree2tree/extractor.hh"

#include <algorithm>
#include <string>
#include <tuple>

namespace treeglot {

namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
constexpr std::uint16_t kNowhere = 0xFFFF;
constexpr std::array<const char*, 5> kLimitNames = {"max_variables", "max_frontier", "max_words", "max_height",
                                                    "span_limit"};  // as the options are called
constexpr std::uint32_t kCloseMark = 0x80000000u;  // on the stack of a side that is written: the node's bracket

}  // namespace

TreeToTreeExtractor::TreeToTreeExtractor(const TreeToTreeOptions& options, const SymbolTable& target_categories,
                                         CategoryInterner& interner)
    : options_(options), target_categories_(target_categories), interner_(interner), finder_(options.units) {}

void TreeToTreeExtractor::extract(const ParsedPair& pair, const RuleSink& sink) {
  if (!is_tree(pair.source) || !is_tree(pair.target)) return;
  pair_ = &pair;
  sink_ = &sink;
  finder_.reset(pair);
  source_place_.assign(pair.source.size(), kNowhere);
  target_place_.assign(pair.target.size(), kNowhere);
  variable_of_.assign(std::max(finder_.source().tree().size(), finder_.target().tree().size()), -1);
  switch (options_.links) {
    case LinkUse::kBase:
      extract_units(UnitKind::kConsistent);
      break;
    case LinkUse::kDirc:
      extract_units(UnitKind::kConsistent);
      extract_units(UnitKind::kLicensed);
      break;
    case LinkUse::kEwos:
      extract_units(UnitKind::kEither);
      break;
  }
}

ExtractStatistics TreeToTreeExtractor::statistics() const {
  ExtractStatistics counters{{"cut_rules", cut_rules_},
                             {"cut_minimal", cut_minimal_},
                             {"neighbours", neighbours_},
                             {"cut_neighbours", cut_neighbours_}};
  for (std::size_t n = 0; n < kLimits; ++n) counters[std::string("beyond_") + kLimitNames[n]] = beyond_[n];
  return counters;
}

void TreeToTreeExtractor::extract_units(UnitKind kind) {
  finder_.find(kind, units_);
  singles_.clear();
  for (const Unit& unit : units_) {
    if (!unit.one_tree) continue;
    for (const WordSpan& target : unit.targets) {
      if (finder_.target().trees(target) == 1) singles_.push_back({unit.source, target});
    }
  }
  auto order = [](const SinglePair& pair) {
    return std::tuple(-static_cast<std::int64_t>(pair.source.size()), pair.source.begin,
                      -static_cast<std::int64_t>(pair.target.size()), pair.target.begin);
  };
  std::sort(singles_.begin(), singles_.end(),
            [&](const SinglePair& a, const SinglePair& b) { return order(a) < order(b); });
  minimal_.clear();
  minimal_variables_.clear();
  for (const Unit& unit : units_) {
    for (const WordSpan& target : unit.targets) extract_at(unit, target);
  }
  count_neighbours();
}

void TreeToTreeExtractor::extract_at(const Unit& unit, WordSpan target) {
  outer_source_ = unit.source;
  outer_target_ = target;
  weight_ = unit.weight();
  inside_.clear();
  auto first = std::lower_bound(units_.begin(), units_.end(), outer_source_.begin,
                                [](const Unit& other, std::uint32_t begin) { return other.source.begin < begin; });
  for (; first != units_.end() && first->source.begin < outer_source_.end; ++first) {
    if (first->source == outer_source_ || !outer_source_.holds(first->source)) continue;
    const bool fits = std::any_of(first->targets.begin(), first->targets.end(),
                                  [&](const WordSpan& inner) { return outer_target_.holds(inner); });
    if (fits) inside_.push_back(&*first);
  }
  chosen_.clear();
  if (outer_source_.size() <= static_cast<std::uint32_t>(options_.span_limit)) {
    choose_sources(0);
  } else if (options_.max_variables >= 2) {  // two variables side by side
    for (const Unit* left : inside_) {
      if (left->source.begin != outer_source_.begin) break;
      for (const Unit* right : inside_) {
        if (right->source.begin != left->source.end || right->source.end != outer_source_.end) continue;
        chosen_ = {left, right};
        take_set();
      }
    }
  }
  if (!find_minimal()) return;
  keep_minimal();
  if (!within_limits()) emit(weight_);
}

void TreeToTreeExtractor::keep_minimal() {
  minimal_.push_back({outer_source_, outer_target_, minimal_variables_.size(), variables_.size()});
  minimal_variables_.insert(minimal_variables_.end(), variables_.begin(), variables_.end());
}

// The smallest rules beside the minimal ones: where limits cut these, derivations fall back to single steps.
void TreeToTreeExtractor::count_neighbours() {
  auto place = [](const MinimalRule& rule) { return std::tuple(rule.source, rule.target); };
  std::sort(minimal_.begin(), minimal_.end(),
            [&](const MinimalRule& a, const MinimalRule& b) { return place(a) < place(b); });
  for (const MinimalRule& rule : minimal_) {
    const std::span<const Variable> outer(minimal_variables_.data() + rule.first, rule.size);
    for (std::size_t k = 0; k < outer.size(); ++k) {
      const std::tuple wanted(outer[k].source, outer[k].target);
      auto inner = std::lower_bound(minimal_.begin(), minimal_.end(), wanted,
                                    [&](const MinimalRule& other, const auto& key) { return place(other) < key; });
      if (inner == minimal_.end() || place(*inner) != wanted) continue;
      outer_source_ = rule.source;
      outer_target_ = rule.target;
      variables_.assign(outer.begin(), outer.begin() + static_cast<std::ptrdiff_t>(k));
      const auto first = minimal_variables_.begin() + static_cast<std::ptrdiff_t>(inner->first);
      variables_.insert(variables_.end(), first, first + static_cast<std::ptrdiff_t>(inner->size));
      variables_.insert(variables_.end(), outer.begin() + static_cast<std::ptrdiff_t>(k) + 1, outer.end());
      if (!is_rule() || (variables_.size() > static_cast<std::size_t>(kWordlessVariables) && !has_words())) continue;
      ++neighbours_;
      const unsigned limits = beyond();
      cut_neighbours_ += limits != 0;
      for (std::size_t n = 0; n < kLimits; ++n) beyond_[n] += (limits >> n) & 1u;
    }
  }
}

// All sets of inner spans, in the order of their words.
void TreeToTreeExtractor::choose_sources(std::size_t first) {
  take_set();
  if (chosen_.size() == static_cast<std::size_t>(options_.max_variables)) return;
  for (std::size_t n = first; n < inside_.size(); ++n) {
    if (!chosen_.empty() && inside_[n]->source.begin < chosen_.back()->source.end) continue;
    chosen_.push_back(inside_[n]);
    choose_sources(n + 1);
    chosen_.pop_back();
  }
}

// The rules of one set of inner source spans share the weight of the outer pair.
void TreeToTreeExtractor::take_set() {
  spans_.clear();
  for (const Unit* unit : chosen_) spans_.push_back(unit->source);
  const Shape source = shape(finder_.source(), outer_source_, spans_);
  const bool fits = source.words + chosen_.size() <= static_cast<std::size_t>(options_.max_symbols) &&
                    source.words <= static_cast<std::uint32_t>(options_.max_words) &&
                    source.height <= static_cast<std::uint32_t>(options_.max_height);
  if (!fits) {
    ++cut_rules_;
    return;
  }
  choices_.clear();
  variables_.clear();
  choose_targets(0);
  const double count = weight_ / static_cast<double>(choices_.size());
  for (std::vector<Variable>& choice : choices_) {
    variables_.swap(choice);
    emit(count);
  }
}

void TreeToTreeExtractor::choose_targets(std::size_t next) {
  if (next == chosen_.size()) {
    if (!is_rule()) return;
    if (within_limits()) {
      choices_.push_back(variables_);
    } else {
      ++cut_rules_;
    }
    return;
  }
  for (const WordSpan& target : chosen_[next]->targets) {
    if (!outer_target_.holds(target)) continue;
    const bool meets = std::any_of(variables_.begin(), variables_.end(),
                                   [&](const Variable& other) { return other.target.meets(target); });
    if (meets) continue;
    variables_.push_back({chosen_[next]->source, target});
    choose_targets(next + 1);
    variables_.pop_back();
  }
}

// Fills variables_; false if the outer pair has no minimal rule.
bool TreeToTreeExtractor::find_minimal() {
  variables_.clear();
  std::uint32_t source_words = outer_source_.size(), target_words = outer_target_.size();
  for (const SinglePair& pair : singles_) {
    if (pair.source == outer_source_ || !outer_source_.holds(pair.source) || !outer_target_.holds(pair.target))
      continue;
    const bool meets = std::any_of(variables_.begin(), variables_.end(), [&](const Variable& other) {
      return other.source.meets(pair.source) || other.target.meets(pair.target);
    });
    if (meets) continue;
    variables_.push_back({pair.source, pair.target});
    source_words -= pair.source.size();
    target_words -= pair.target.size();
    if (source_words == 0 || target_words == 0) break;
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const Variable& a, const Variable& b) { return a.source < b.source; });
  if (!is_rule()) return false;
  if (std::max(source_words, target_words) + variables_.size() > kMinimalSymbols) {
    ++cut_minimal_;
    return false;
  }
  return true;
}

bool TreeToTreeExtractor::has_words() const {
  std::uint32_t source_words = outer_source_.size(), target_words = outer_target_.size();
  for (const Variable& variable : variables_) {
    source_words -= variable.source.size();
    target_words -= variable.target.size();
  }
  return source_words > 0 || target_words > 0;
}

// A rule without words has several variables and does not only put them together.
bool TreeToTreeExtractor::is_rule() const {
  if (has_words()) return true;
  if (variables_.size() < 2) return false;
  // All words are in variables: roots are variables if no variable is smaller than a root.
  auto all_roots = [&](const TreeCovers& covers, WordSpan outer, WordSpan Variable::* side) {
    std::size_t trees = 0;
    for (const Variable& variable : variables_) trees += covers.trees(variable.*side);
    return trees == covers.trees(outer);
  };
  const bool in_order = std::is_sorted(variables_.begin(), variables_.end(),
                                       [](const Variable& a, const Variable& b) { return a.target < b.target; });
  return !in_order || !all_roots(finder_.source(), outer_source_, &Variable::source) ||
         !all_roots(finder_.target(), outer_target_, &Variable::target);
}

// The limits that the rule is beyond.
unsigned TreeToTreeExtractor::beyond() {
  spans_.clear();
  for (const Variable& variable : variables_) spans_.push_back(variable.source);
  const Shape source = shape(finder_.source(), outer_source_, spans_);
  spans_.clear();
  for (const Variable& variable : variables_) spans_.push_back(variable.target);
  const Shape target = shape(finder_.target(), outer_target_, spans_);
  const std::size_t variables = variables_.size();
  const bool words = source.words > 0 || target.words > 0;
  auto over = [](std::size_t value, int limit, Limit bit) -> unsigned {
    return value > static_cast<std::size_t>(limit) ? static_cast<unsigned>(bit) : 0u;
  };
  return over(variables, words ? options_.max_variables : std::min(options_.max_variables, kWordlessVariables),
              kVariables) |
         over(source.words + variables, options_.max_symbols, kSymbols) |
         over(std::max(source.words, target.words), options_.max_words, kWords) |
         over(std::max(source.height, target.height), options_.max_height, kHeight) |
         (words ? over(outer_source_.size(), options_.span_limit, kSpan) : 0);
}

// Words outside of the inner spans, and edges from a root to the lowest of these words and of the inner trees.
TreeToTreeExtractor::Shape TreeToTreeExtractor::shape(const TreeCovers& covers, WordSpan outer,
                                                      std::span<const WordSpan> inner) {
  Shape result{outer.size(), 0};
  for (const WordSpan& span : inner) result.words -= span.size();
  covers.cover(outer, cover_);
  std::size_t root = 0;
  std::uint32_t place = outer.begin;
  while (place < outer.end) {
    auto variable = std::find_if(inner.begin(), inner.end(), [&](const WordSpan& span) { return span.begin == place; });
    const std::uint32_t end = variable == inner.end() ? place + 1 : variable->end;
    while (place < end) {
      while (covers.span(cover_[root]).end <= place) ++root;
      std::uint32_t depth;
      if (variable == inner.end()) {
        depth = covers.depth(covers.tree().constituents() + place) + 1;
        ++place;
      } else {
        const std::uint32_t node = covers.largest(place, end);
        depth = covers.depth(node);
        place = covers.span(node).end;
      }
      result.height = std::max(result.height, depth - covers.depth(cover_[root]));
    }
  }
  return result;
}

void TreeToTreeExtractor::emit(double count) {
  rule_.source.clear();
  rule_.target.clear();
  rule_.links.clear();
  rule_.count = count;
  write_source();
  write_target();
  for (std::uint32_t j = outer_source_.begin; j < outer_source_.end; ++j) {
    if (source_place_[j] == kNowhere) continue;
    const WordLink wanted{static_cast<std::uint16_t>(j), 0};
    for (auto link = std::lower_bound(pair_->links.begin(), pair_->links.end(), wanted);
         link != pair_->links.end() && link->source == j; ++link) {
      if (target_place_[link->target] != kNowhere) {
        rule_.links.push_back({source_place_[j], target_place_[link->target]});
      }
    }
  }
  (*sink_)(rule_);
  std::fill(source_place_.begin() + outer_source_.begin, source_place_.begin() + outer_source_.end, kNowhere);
  std::fill(target_place_.begin() + outer_target_.begin, target_place_.begin() + outer_target_.end, kNowhere);
}

namespace {

// Walks the trees of a span from left to right down to words and nodes that are marked; nothing nests, so trees may be
// as deep as they like.
template <class Open, class Close, class Marked, class Word>
void walk(const TreeCovers& covers, std::span<const std::uint32_t> roots, const std::vector<std::int32_t>& marks,
          std::vector<std::uint32_t>& stack, Open&& open, Close&& close, Marked&& marked, Word&& word) {
  stack.assign(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    if (node & kCloseMark) {
      close();
    } else if (marks[node] >= 0) {
      marked(node, static_cast<std::uint32_t>(marks[node]));
    } else {
      open(node);
      stack.push_back(node | kCloseMark);
      if (covers.tree().is_preterminal(node)) {
        word(covers.tree().word(node));
      } else {
        const auto children = covers.tree().children(node);
        stack.insert(stack.end(), children.rbegin(), children.rend());
      }
    }
  }
}

}  // namespace

void TreeToTreeExtractor::write_source() {
  const TreeCovers& covers = finder_.source();
  const ParsedSentence& sentence = pair_->source;
  auto mark = [&](bool on) {
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      covers.cover(variables_[k].source, cover_);
      for (std::uint32_t node : cover_) variable_of_[node] = on ? static_cast<std::int32_t>(k) : -1;
    }
  };
  auto label = [&](std::uint32_t node) {
    return covers.tree().is_preterminal(node) ? sentence.tags[covers.tree().word(node)] : sentence.phrases[node].label;
  };
  mark(true);
  covers.cover(outer_source_, cover_);
  walk(
      covers, cover_, variable_of_, stack_,
      [&](std::uint32_t node) { rule_.source.push_back(symbol(SymbolKind::kOpen, label(node))); },
      [&] { rule_.source.push_back(symbol(SymbolKind::kClose, 0)); },
      [&](std::uint32_t node, std::uint32_t k) {
        const bool first = covers.span(node).begin == variables_[k].source.begin;
        rule_.source.push_back(symbol(first ? SymbolKind::kSite : SymbolKind::kMore, label(node)));
      },
      [&](std::uint32_t j) {
        source_place_[j] = static_cast<std::uint16_t>(rule_.source.size());
        rule_.source.push_back(symbol(SymbolKind::kWord, sentence.words[j]));
      });
  mark(false);
}

void TreeToTreeExtractor::write_target() {
  const TreeCovers& covers = finder_.target();
  auto mark = [&](bool on) {
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      covers.cover(variables_[k].target, cover_);
      for (std::uint32_t node : cover_) variable_of_[node] = on ? static_cast<std::int32_t>(k) : -1;
    }
  };
  mark(true);
  covers.cover(outer_target_, cover_);
  walk(
      covers, cover_, variable_of_, stack_,
      [&](std::uint32_t node) { rule_.target.push_back(target_node(TargetNode::kOpen, target_label(node))); },
      [&] { rule_.target.push_back(target_node(TargetNode::kClose)); },
      [&](std::uint32_t node, std::uint32_t k) {
        rule_.target.push_back(target_node(TargetNode::kFrontier, target_label(node)));
        if (covers.span(node).begin == variables_[k].target.begin) rule_.target.push_back(target_variable(k));
      },
      [&](std::uint32_t i) {
        target_place_[i] = static_cast<std::uint16_t>(rule_.target.size());
        rule_.target.push_back(pair_->target.words[i]);
      });
  mark(false);
}

std::uint32_t TreeToTreeExtractor::target_label(std::uint32_t node) {
  const ConstituencyNodes& tree = finder_.target().tree();
  const std::uint32_t label =
      tree.is_preterminal(node) ? pair_->target.tags[tree.word(node)] : pair_->target.phrases[node].label;
  if (category_ids_.size() <= label) category_ids_.resize(label + 1, kUnknown);
  if (category_ids_[label] == kUnknown) category_ids_[label] = interner_.id(target_categories_.word(label));
  return category_ids_[label];
}

}  // namespace treeglot
