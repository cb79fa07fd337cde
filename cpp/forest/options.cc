#include "forest/options.hh"

#include <algorithm>
#include <stdexcept>

#include "base/hash.hh"
#include "forest/cube_pruning.hh"

namespace treeglot::forest {

namespace {

constexpr lm::WordId kUnset = 0xFFFFFFFF;

std::uint64_t phrase_key(std::span<const WordId> words) {
  return hash_bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
}

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

std::uint32_t TargetVocabulary::add(const RuleTable& table) {
  parts_.push_back({size_, &table, nullptr});
  size_ += static_cast<std::uint32_t>(table.target_size());
  return parts_.back().first;
}

std::uint32_t TargetVocabulary::add(const PhraseSource& phrases) {
  parts_.push_back({size_, nullptr, &phrases});
  size_ += static_cast<std::uint32_t>(phrases.target_size());
  return parts_.back().first;
}

void TargetVocabulary::finish() {
  lm_ids_.reset(new std::atomic<lm::WordId>[size_]);
  for (std::uint32_t i = 0; i < size_; ++i) lm_ids_[i].store(kUnset, std::memory_order_relaxed);
}

std::string_view TargetVocabulary::word(TargetSymbol word) const {
  std::size_t n = parts_.size() - 1;
  while (parts_[n].first > word) --n;
  const Part& part = parts_[n];
  return part.rules ? part.rules->target_word(word - part.first) : part.phrases->target_word(word - part.first);
}

lm::WordId TargetVocabulary::lm_id(TargetSymbol target) const {
  lm::WordId id = lm_ids_[target].load(std::memory_order_relaxed);
  if (id == kUnset) {
    id = model_.id(word(target));
    lm_ids_[target].store(id, std::memory_order_relaxed);  // every thread would store the same
  }
  return id;
}

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

void CachedOptions::finish(std::vector<std::vector<StructureLabel>> labels_of_options, std::size_t limit) {
  std::vector<std::uint32_t> order(options.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return options[a].estimate > options[b].estimate; });
  if (limit > 0 && order.size() > limit) order.resize(limit);
  std::vector<RuleOption> kept;
  kept.reserve(order.size());
  for (std::uint32_t i : order) kept.push_back(std::move(options[i]));
  options = std::move(kept);
  bool labelled = false;
  for (const auto& found : labels_of_options) labelled = labelled || !found.empty();
  for (std::size_t i = 0; i < order.size(); ++i) {
    list.push_back(&options[i]);
    if (labelled) labels.push_back(std::move(labels_of_options[order[i]]));
  }
}

void OptionCache::trim() {
  if (count_ <= capacity_) return;
  for (Map& map : rules_) map.clear();
  for (auto& map : groups_) map.clear();
  phrases_.clear();
  others_.clear();
  count_ = 0;
}

const CachedOptions* OptionCache::rules(const RuleTable& table, const GrammarBlock& block,
                                        const RuleTable::Place& place, std::span<const Symbol> source) {
  const auto number = static_cast<std::size_t>(block.number);
  if (rules_.size() <= number) rules_.resize(number + 1);
  auto [found, fresh] = rules_[number].try_emplace(place.rules);
  if (!fresh) return found->second.get();
  entries_.clear();
  // The table's order is that of P(t|s); twice the limit leaves room for the other features to choose.
  const std::size_t limit = static_cast<std::size_t>(std::max(limits_.rule_limit, 0));
  table.read(place, source, 2 * limit, limits_.rule_threshold, entries_);
  if (entries_.empty()) return nullptr;
  auto made = std::make_unique<CachedOptions>();
  std::vector<std::vector<StructureLabel>> labels;
  made->options.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    fill(made->options[i], block, source, entries_[i]);
    labels.push_back(std::move(entries_[i].labels));
  }
  made->finish(std::move(labels), limit);
  count_ += made->list.size();
  found->second = std::move(made);
  return found->second.get();
}

void OptionCache::fill(RuleOption& option, const GrammarBlock& block, std::span<const Symbol> source,
                       const RuleEntry& entry) {
  for (TargetSymbol symbol : entry.target) {
    if (is_target_node(symbol)) continue;  // the search sees words and variables only
    option.target.push_back(is_target_variable(symbol) ? symbol : canonical(symbol + block.first_word));
  }
  add_block(option, block, entry.scores.data());
  add_own_features(option, block, source, entry.target);
  option.rule = static_cast<std::uint32_t>(entry.rule);
  scorer_.complete(option);
}

std::uint32_t OptionCache::category(std::string_view text) {
  auto [place, fresh] = categories_.try_emplace(std::string(text), static_cast<std::uint32_t>(category_texts_.size()));
  if (fresh) category_texts_.push_back(&place->first);
  return place->second;
}

const RuleGroups& OptionCache::groups(const RuleTable& table, const GrammarBlock& block, const RuleTable::Place& place,
                                      std::span<const Symbol> source) {
  const auto number = static_cast<std::size_t>(block.number);
  if (groups_.size() <= number) groups_.resize(number + 1);
  auto [known, fresh] = groups_[number].try_emplace(place.rules);
  RuleGroups& groups = known->second;
  if (!fresh) return groups;
  entries_.clear();
  const std::size_t limit = static_cast<std::size_t>(std::max(limits_.rule_limit, 0));
  table.read(place, source, 2 * limit, limits_.rule_threshold, entries_);
  std::string text;
  for (const RuleEntry& entry : entries_) {
    auto add_label = [&](std::uint32_t category) {
      if (!text.empty()) text += "·";
      text += table.category(category);
    };
    // Roots, and the nodes of each variable: those before it and those behind it until another begins.
    std::vector<std::string> variables;
    std::vector<std::uint32_t> numbers;
    std::string head;
    int depth = 0;
    for (std::size_t i = 0; i < entry.target.size(); ++i) {
      const TargetSymbol symbol = entry.target[i];
      if (!is_target_node(symbol)) continue;
      const TargetNode kind = target_node_kind(symbol);
      if (kind == TargetNode::kClose) {
        --depth;
        continue;
      }
      if (depth == 0) {
        text.swap(head);
        add_label(target_category(symbol));
        text.swap(head);
      }
      if (kind == TargetNode::kOpen) {
        ++depth;
        continue;
      }
      const bool first = i + 1 < entry.target.size() && is_target_variable(entry.target[i + 1]);
      if (first) {
        numbers.push_back(variable_number(entry.target[i + 1]));
        variables.emplace_back();
      } else if (variables.empty()) {
        continue;  // a damaged rule: a further node of nothing
      }
      text.swap(variables.back());
      add_label(target_category(symbol));
      text.swap(variables.back());
    }
    std::vector<std::uint32_t> tails(numbers.empty() ? 0 : 1 + *std::max_element(numbers.begin(), numbers.end()));
    for (std::size_t i = 0; i < numbers.size(); ++i) tails[numbers[i]] = category(variables[i]);
    const std::uint32_t head_category = category(head);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const std::unique_ptr<RuleGroup>& candidate) {
      return candidate->head == head_category && candidate->tails == tails;
    });
    if (group == groups.end()) {
      groups.push_back(std::make_unique<RuleGroup>());
      group = groups.end() - 1;
      (*group)->head = head_category;
      (*group)->tails = std::move(tails);
    }
    fill((*group)->options.options.emplace_back(), block, source, entry);
  }
  for (const auto& group : groups) {
    group->options.finish({}, limit);
    count_ += group->options.list.size();
  }
  return groups;
}

const CachedOptions* OptionCache::phrase(const PhraseSource& phrases, const GrammarBlock& block,
                                         std::span<const WordId> words) {
  auto [found, fresh] = phrases_.try_emplace(phrase_key(words));
  if (!fresh) return found->second.get();
  matches_.clear();
  const std::size_t limit = static_cast<std::size_t>(std::max(limits_.phrase_limit, 0));
  phrases.lookup(words, matches_, targets_to_score(limit));
  if (matches_.size() == 0) return nullptr;
  auto made = std::make_unique<CachedOptions>();
  made->options.resize(matches_.size());
  for (std::size_t i = 0; i < matches_.size(); ++i) {
    PhraseMatch match = matches_[i];
    RuleOption& option = made->options[i];
    for (WordId word : match.target) option.target.push_back(canonical(word + block.first_word));
    // The table's order: p(f|e), lex(f|e), p(e|f), lex(e|f).
    const float scores[4] = {match.scores[2], match.scores[0], match.scores[3], match.scores[1]};
    add_block(option, block, scores);
    option.rule = static_cast<std::uint32_t>(i);
    scorer_.complete(option);
  }
  made->finish({}, limit);
  count_ += made->list.size();
  found->second = std::move(made);
  return found->second.get();
}

}  // namespace treeglot::forest
