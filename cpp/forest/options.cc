#include "forest/options.hh"

#include <algorithm>
#include <numeric>
#include <utility>

#include "forest/cube_pruning.hh"

namespace treeglot::forest {

namespace {

void add_block(RuleOption& option, const GrammarBlock& block, const float* ts_st_lexts_lexst) {
  for (int i = 0; i < 4; ++i) {
    option.features.push_back({static_cast<std::uint16_t>(block.first_feature + i), ts_st_lexts_lexst[i]});
  }
  option.features.push_back({static_cast<std::uint16_t>(block.first_feature + 4), 1.0f});
}

// The features that a grammar has beside the common ones.
void add_own_features(RuleOption& option, const GrammarBlock& block, std::span<const Symbol> source,
                      std::span<const TargetSymbol> target) {
  const Grammar& grammar = *block.grammar;
  if (grammar.features.empty() || !grammar.rule_features) return;
  std::vector<float> values(grammar.features.size(), 0.0f);
  grammar.rule_features(source, target, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    option.features.push_back(
        {static_cast<std::uint16_t>(block.first_feature + kBlockSize + static_cast<int>(i)), values[i]});
  }
}

}  // namespace

void OptionScorer::complete(RuleOption& option) const {
  option.lm_words.clear();
  for (TargetSymbol symbol : option.target) {
    option.lm_words.push_back(is_target_variable(symbol) ? 0 : vocabulary_.lm_id(symbol));
  }
  complete_with_lm_words(option);
}

void OptionScorer::complete_with_lm_words(RuleOption& option) const {
  prepare_option(vocabulary_.model(), weights_, option);
}

void OptionScorer::rescore(RuleOption& option) const { weigh_option(weights_, option); }

void CachedOptions::finish(std::vector<std::vector<StructureLabel>> labels_of_options, std::size_t limit) {
  const bool labelled = std::any_of(labels_of_options.begin(), labels_of_options.end(),
                                    [](const std::vector<StructureLabel>& labels) { return !labels.empty(); });
  if (labelled) all_labels_ = std::move(labels_of_options);
  limit_ = limit;
  std::vector<std::uint32_t> order(options.size());
  std::iota(order.begin(), order.end(), 0u);
  sort(std::move(order));
}

void CachedOptions::rescore(const OptionScorer& scorer) {
  std::vector<std::uint32_t> order(options.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    scorer.rescore(options[i]);
    order[options[i].rule] = i;  // as they were read
  }
  sort(std::move(order));
}

void CachedOptions::sort(std::vector<std::uint32_t> order) {
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return options[a].estimate > options[b].estimate; });
  std::vector<RuleOption> sorted;
  std::vector<std::vector<StructureLabel>> sorted_labels;
  sorted.reserve(order.size());
  for (std::uint32_t i : order) {
    sorted.push_back(std::move(options[i]));
    if (!all_labels_.empty()) sorted_labels.push_back(std::move(all_labels_[i]));
  }
  options = std::move(sorted);
  all_labels_ = std::move(sorted_labels);
  list.clear();
  const std::size_t kept = limit_ > 0 ? std::min(limit_, options.size()) : options.size();
  for (std::size_t i = 0; i < kept; ++i) list.push_back(&options[i]);
  // Labels that only rules beyond the limit have are of no use.
  labels = {all_labels_.data(), all_labels_.empty() ? 0 : kept};
}

void OptionCache::trim() {
  if (group_count_ > capacity_) {
    old_groups_ = std::exchange(groups_, {});
    group_count_ = 0;
  }
  if (count_ + (phrases_ ? phrases_->size() : 0) <= capacity_) return;
  for (auto& map : rules_) map.clear();
  if (phrases_) phrases_->clear();
  others_.clear();
  count_ = 0;
}

void OptionCache::weights_changed() {
  ++version_;
  if (phrases_) phrases_->weights_changed();
  // They are made of options that were best under the old weights.
  for (const auto& [key, cached] : others_) count_ -= cached ? cached->list.size() : 0;
  others_.clear();
}

const CachedOptions* OptionCache::rules(const RuleTable& table, const GrammarBlock& block,
                                        const RuleTable::Place& place, std::span<const Symbol> source, bool per_node) {
  const auto number = static_cast<std::size_t>(block.number);
  if (rules_.size() <= number) rules_.resize(number + 1);
  auto [known, fresh] = rules_[number].try_emplace(place.rules ^ (std::uint64_t{block.use} << 56));
  auto& [options, version] = known->second;
  if (!fresh) {
    if (options && version != version_) options->rescore(scorer_);
    version = version_;
    return options.get();
  }
  version = version_;
  entries_.clear();
  // The table's order is that of P(t|s); twice the limit leaves room for the other features to choose.
  const std::size_t limit = static_cast<std::size_t>(std::max(limits_.rule_limit, 0));
  table.read(place, source, 2 * limit, per_node ? 0 : limits_.rule_threshold, entries_);
  if (entries_.empty()) return nullptr;
  options = std::make_unique<CachedOptions>();
  std::vector<std::vector<StructureLabel>> labels;
  for (RuleEntry& entry : entries_) {
    add(*options, block, source, entry);
    labels.push_back(std::move(entry.labels));
  }
  options->finish(std::move(labels), per_node ? 0 : limit);
  count_ += options->options.size();
  return options.get();
}

void OptionCache::add(CachedOptions& to, const GrammarBlock& block, std::span<const Symbol> source,
                      const RuleEntry& entry) {
  RuleOption& option = to.options.emplace_back();
  for (TargetSymbol symbol : entry.target) {
    if (is_target_node(symbol)) {  // the search sees words and variables only
      if (option.tree.empty()) option.tree.assign(entry.target.begin(), entry.target.end());
      continue;
    }
    option.target.push_back(is_target_variable(symbol) ? symbol
                                                       : scorer_.vocabulary().canonical(symbol + block.first_word));
  }
  add_block(option, block, entry.scores.data());
  add_own_features(option, block, source, entry.target);
  if (block.unlinked_feature >= 0 && entry.unlinked > 0) {
    option.features.push_back({static_cast<std::uint16_t>(block.unlinked_feature), static_cast<float>(entry.unlinked)});
  }
  option.unlinked = std::min(entry.unlinked, 255u);
  option.rule = static_cast<std::uint32_t>(to.options.size() - 1);
  scorer_.complete(option);
}

std::uint32_t OptionCache::category(std::string_view text) {
  auto [place, fresh] = categories_.try_emplace(std::string(text), static_cast<std::uint32_t>(category_texts_.size()));
  if (fresh) category_texts_.push_back(&place->first);
  return place->second;
}

std::uint32_t OptionCache::longer_category(const RuleTable& table, const GrammarBlock& block, std::uint32_t category,
                                           std::uint32_t label) {
  const auto number = static_cast<std::size_t>(block.number);
  if (longer_categories_.size() <= number) longer_categories_.resize(number + 1);
  auto [place, fresh] = longer_categories_[number].try_emplace((std::uint64_t{category} << 32) | label);
  if (fresh) {
    std::string text(category_text(category));
    if (!text.empty()) text += "·";
    text += table.category(label);
    place->second = this->category(text);
  }
  return place->second;
}

void OptionCache::read_grouped(const RuleTable& table, const GrammarBlock& block, const RuleTable::Place& place,
                               std::span<const Symbol> source) {
  const std::pair wanted(block.number, place.rules);
  if (grouped_place_ == wanted) return;
  grouped_.clear();
  // As in rules().
  const std::size_t limit = static_cast<std::size_t>(std::max(limits_.rule_limit, 0));
  table.read(place, source, 2 * limit, limits_.rule_threshold, grouped_);
  grouped_place_ = wanted;
}

// In options; those that are not made take far less.
std::size_t OptionCache::size_of(const RuleGroups& groups) {
  std::size_t size = 1 + groups.group_of.size() / 8;
  for (const RuleGroup& group : groups.groups) size += group.options ? group.options->options.size() : 0;
  return size;
}

RuleGroups& OptionCache::groups(const RuleTable& table, const GrammarBlock& block, const RuleTable::Place& place,
                                std::span<const Symbol> source) {
  const auto number = static_cast<std::size_t>(block.number);
  if (groups_.size() <= number) groups_.resize(number + 1);
  GroupMap& young = groups_[number];
  if (auto known = young.find(place.rules); known != young.end()) return known->second;
  if (number < old_groups_.size()) {
    if (auto node = old_groups_[number].extract(place.rules)) {
      RuleGroups& again = young.insert(std::move(node)).position->second;
      group_count_ += size_of(again);
      return again;
    }
  }
  RuleGroups& result = young[place.rules];
  read_grouped(table, block, place, source);
  for (const RuleEntry& entry : grouped_) {
    // Roots, and the nodes of each variable: those before it and those behind it until another begins.
    numbers_.clear();
    nodes_.clear();
    std::uint32_t head = 0;
    int depth = 0;
    for (std::size_t i = 0; i < entry.target.size(); ++i) {
      const TargetSymbol symbol = entry.target[i];
      if (!is_target_node(symbol)) continue;
      const TargetNode kind = target_node_kind(symbol);
      if (kind == TargetNode::kClose) {
        --depth;
        continue;
      }
      if (depth == 0) head = longer_category(table, block, head, target_category(symbol));
      if (kind == TargetNode::kOpen) {
        ++depth;
        continue;
      }
      const bool first = i + 1 < entry.target.size() && is_target_variable(entry.target[i + 1]);
      if (first) {
        numbers_.push_back(variable_number(entry.target[i + 1]));
        nodes_.push_back(0);
      } else if (nodes_.empty()) {
        continue;  // a damaged rule: a further node of nothing
      }
      nodes_.back() = longer_category(table, block, nodes_.back(), target_category(symbol));
    }
    tails_.assign(numbers_.empty() ? 0 : 1 + *std::max_element(numbers_.begin(), numbers_.end()), 0);
    for (std::size_t i = 0; i < numbers_.size(); ++i) tails_[numbers_[i]] = nodes_[i];
    if (result.groups.empty()) result.variables = tails_.size();
    if (tails_.size() != result.variables) {  // a damaged rule
      result.group_of.push_back(0xFFFFFFFF);
      continue;
    }
    std::uint32_t group = 0;
    while (group < result.groups.size() &&
           !(result.groups[group].head == head &&
             std::equal(tails_.begin(), tails_.end(), result.tails_of(group).begin()))) {
      ++group;
    }
    if (group == result.groups.size()) {
      result.groups.push_back({head, nullptr, 0});
      result.tails.insert(result.tails.end(), tails_.begin(), tails_.end());
    }
    result.group_of.push_back(group);
  }
  group_count_ += size_of(result);
  return result;
}

const CachedOptions& OptionCache::options(RuleGroups& groups, std::size_t number, const RuleTable& table,
                                          const GrammarBlock& block, const RuleTable::Place& place,
                                          std::span<const Symbol> source) {
  RuleGroup& group = groups.groups[number];
  if (!group.options) {
    read_grouped(table, block, place, source);
    group.options = std::make_unique<CachedOptions>();
    for (std::size_t n = 0; n < grouped_.size(); ++n) {
      if (groups.group_of[n] == number) add(*group.options, block, source, grouped_[n]);
    }
    group.options->finish({}, static_cast<std::size_t>(std::max(limits_.rule_limit, 0)));
    group_count_ += group.options->options.size();
  } else if (group.version != version_) {
    group.options->rescore(scorer_);
  }
  group.version = version_;
  return *group.options;
}

const CachedOptions* OptionCache::phrase(const PhraseSource& phrases, const GrammarBlock& block,
                                         std::span<const WordId> words) {
  const std::size_t limit = static_cast<std::size_t>(std::max(limits_.phrase_limit, 0));
  if (!phrases_) phrases_.emplace(phrases, targets_to_score(limit), true);
  const Phrases::Entry* entry = phrases_->get(words, [&](const PhraseMatches& matches, CachedOptions& cached) {
    if (!cached.options.empty()) {
      cached.rescore(scorer_);
      return;
    }
    cached.options.resize(matches.size());
    for (std::size_t i = 0; i < matches.size(); ++i) {
      const PhraseMatch match = matches[i];
      RuleOption& option = cached.options[i];
      for (WordId word : match.target) {
        option.target.push_back(scorer_.vocabulary().canonical(word + block.first_word));
      }
      // The table's order: p(f|e), lex(f|e), p(e|f), lex(e|f).
      const float scores[4] = {match.scores[2], match.scores[0], match.scores[3], match.scores[1]};
      add_block(option, block, scores);
      option.rule = static_cast<std::uint32_t>(i);
      scorer_.complete(option);
    }
    cached.finish({}, limit);
  });
  return entry ? &entry->list : nullptr;
}

std::span<const WordLink> OptionCache::links(std::span<const WordId> words, const RuleOption& option) {
  const Phrases::Entry* entry = phrases_ ? phrases_->find(words) : nullptr;
  return entry && option.rule < entry->matches.size() ? entry->matches[option.rule].links : std::span<const WordLink>{};
}

}  // namespace treeglot::forest
