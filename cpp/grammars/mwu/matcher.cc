#include "grammars/mwu/matcher.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "base/hash.hh"

namespace treeglot::mwu {

using forest::CachedOptions;
using forest::NodeId;
using forest::OptionList;
using forest::RuleOption;
using forest::SentenceForest;

UnitMatcher::UnitMatcher(const RuleTable& table, const forest::GrammarBlock& block, const MatchOptions& options,
                         int forest_feature)
    : table_(table),
      block_(block),
      options_(options),
      feature_(block.first_feature + forest::kBlockSize + forest_feature),
      units_(options.forest) {}

void UnitMatcher::match(SentenceForest& forest) {
  if (!forest.sentence().has_dependency()) return;
  forest.ids(table_, ids_);
  labels_ = ids_.tags;
  if (options_.word_labels) {
    for (int j = 0; j < forest.size(); ++j)
      labels_[static_cast<std::size_t>(j)] = table_.category_id(forest.word_text(j));
  }
  covers_.clear();
  scattered_.clear();
  asked_.clear();
  word_done_.assign(static_cast<std::size_t>(forest.size()), kNotYet);
  units_.start(forest.sentence());
  units_.build();
  cover(forest, {static_cast<Place>(units_.tree().root())}, 0);
  for (VertexId v = 1; v < units_.vertices(); ++v) {
    if (!units_.is_group(v)) match_unit(forest, v);
  }
  std::set<NodeId> translated;  // trees may differ in the σ of the same words
  if (units_.trees() > 1) {
    for (const Cover* known : asked_) {
      if (known->translated) translated.insert(known->node);
    }
  }
  for (std::size_t n = 0; n < asked_.size(); ++n) {
    if (!asked_[n]->translated && !translated.contains(asked_[n]->node)) complete(forest, *asked_[n]);
  }
}

UnitMatcher::Cover& UnitMatcher::cover(SentenceForest& forest, const Sigma& sigma, std::size_t number) {
  const Tree& tree = units_.tree(number);
  std::vector<std::uint32_t> spans;  // begin and end, with gaps between them: a head stands between its dependents
  for (std::size_t i = 0; i < sigma.size(); ++i) {
    if (i > 0 && tree.end(sigma[i - 1]) == tree.begin(sigma[i])) {
      spans.back() = tree.end(sigma[i]);
    } else {
      spans.push_back(tree.begin(sigma[i]));
      spans.push_back(tree.end(sigma[i]));
    }
  }
  std::vector<std::uint32_t> key(sigma.begin(), sigma.end());
  if (units_.trees() > 1) {
    key.push_back(0x10000);  // no word
    key.insert(key.end(), spans.begin(), spans.end());
  }
  auto [place, fresh] = covers_.try_emplace(std::move(key));
  if (!fresh) return place->second;
  place->second = {sigma, number, node_of(forest, spans)};
  asked_.push_back(&place->second);
  return place->second;
}

NodeId UnitMatcher::node_of(SentenceForest& forest, const std::vector<std::uint32_t>& spans) {
  if (spans.size() == 2) {
    const int begin = static_cast<int>(spans[0]), end = static_cast<int>(spans[1]);
    if (end == begin + 1) return forest.word(begin);
    const NodeId subtree = forest.subtree_over(begin, end);
    return subtree != SentenceForest::kNoNode ? subtree : forest.group(begin, end);
  }
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < spans.size(); i += 2) {
    for (std::uint32_t word = spans[i]; word < spans[i + 1]; ++word) words.push_back(word);
  }
  if (units_.trees() == 1) return forest.helper(std::move(words));
  auto [place, fresh] = scattered_.try_emplace(spans, SentenceForest::kNoNode);
  if (fresh) place->second = forest.helper(std::move(words));
  return place->second;
}

void UnitMatcher::match_unit(SentenceForest& forest, VertexId vertex) {
  Sigma sigma;
  units_.sigma(vertex, sigma);
  units_.tau(vertex, tau_);
  Cover& head = cover(forest, sigma, units_.tree_of(vertex));
  if (tau_.empty()) {
    const std::span<const Place> words = units_.words(vertex);  // a word may have dependents in another tree
    const bool matched =
        words.size() == 1 ? translate_word(forest, words[0]) : match_tails(forest, vertex, head, {}, 1);
    head.translated = head.translated || matched;
    return;
  }
  // How τ is grouped, in the order of the edges; different tails with equal σ are one.
  struct Grouping {
    std::vector<Cover*> tails;
    double p;
  };
  std::vector<Grouping> groupings;
  for (EdgeId edge : units_.edges().into(vertex)) {
    std::vector<Cover*> tails;
    for (VertexId tail : units_.edges().tails(edge)) {
      units_.sigma(tail, sigma);
      tails.push_back(&cover(forest, sigma, units_.tree_of(tail)));
    }
    auto known = std::find_if(groupings.begin(), groupings.end(), [&](const Grouping& g) { return g.tails == tails; });
    if (known == groupings.end()) {
      groupings.push_back({std::move(tails), units_.p(edge)});
    } else {
      known->p += units_.p(edge);
    }
  }
  bool matched = false;
  for (const Grouping& grouping : groupings) {
    matched = match_tails(forest, vertex, head, grouping.tails, grouping.p) || matched;
  }
  if (matched) {
    head.translated = true;
    return;
  }
  for (const Grouping& grouping : groupings) add_in_order(forest, vertex, head, grouping.tails);
}

bool UnitMatcher::match_tails(SentenceForest& forest, VertexId unit, Cover& head, const std::vector<Cover*>& tails,
                              double p) {
  const Tree& tree = units_.tree_at(unit);
  const std::size_t deletable = options_.unaligned_source ? std::min(tails.size(), kMaxDeleted) : 0;
  bool matched = false;
  for (std::uint32_t deleted = 0; deleted < (1u << deletable); ++deleted) {
    side_.clear();
    side_.add_words(units_.words(unit), tree);
    for (std::uint32_t i = 0; i < tails.size(); ++i) {
      for (Place word : tails[i]->sigma) {
        if (i >= deletable || !(deleted >> i & 1)) {
          side_.add_tail(word, tree.head(word), i);
        } else {
          side_.add_whole(word, tree.head(word), units_.tree(tails[i]->tree));
        }
      }
    }
    const OptionList* list = nullptr;
    if (!find_rules(forest, p, list)) continue;
    matched = true;
    nodes_.clear();
    for (std::uint32_t i = 0; i < tails.size(); ++i) {
      if (i >= deletable || !(deleted >> i & 1)) nodes_.push_back(tails[i]->node);
    }
    forest.add_edge(head.node, list, nodes_, static_cast<std::uint16_t>(block_.number), symbols_);
  }
  return matched;
}

bool UnitMatcher::find_rules(SentenceForest& forest, double p, const OptionList*& list) {
  side_.write([&](Place word) { return ids_.words[word]; }, [&](Place word) { return labels_[word]; }, symbols_);
  WalkKey key = walk_start();
  RuleTable::Place place;
  for (Symbol next : symbols_) {
    if (symbol_id(next) == RuleTable::kNone) return false;
    key = walk_step(key, next);
    place = table_.find(key);
    if (!place.prefix) return false;
  }
  if (place.rules == 0) return false;
  const CachedOptions* rules = forest.cache().rules(table_, block_, place, symbols_);
  if (!rules) return false;
  list = &rules->list;
  if (p > 1 - 1e-9) return true;
  const float log_p = static_cast<float>(std::log(p));
  // The same rules with the probability of the edge.
  const std::uint64_t name =
      mix(place.rules + 0x2545F4914F6CDD1Dull * (static_cast<std::uint64_t>(block_.number) + 1)) ^
      mix(std::bit_cast<std::uint32_t>(log_p) + 0x9E3779B97F4A7C15ull);
  const CachedOptions* weighted =
      forest.cache().other((name | (1ull << 62)) & ~(1ull << 63), [&](CachedOptions& fresh) {
        for (const RuleOption* rule : rules->list) {
          RuleOption& option = fresh.options.emplace_back(*rule);
          option.features.push_back({static_cast<std::uint16_t>(feature_), log_p});
          forest.cache().scorer().complete(option);
        }
        fresh.finish({}, 0);
      });
  list = &weighted->list;
  return true;
}

// The unit's own words with its tails around them, in source order.
void UnitMatcher::add_in_order(SentenceForest& forest, VertexId unit, Cover& head, const std::vector<Cover*>& tails) {
  const std::span<const Place> words = units_.words(unit);
  NodeId own;
  if (words.size() == 1) {
    own = forest.word(words[0]);
    translate_word(forest, words[0]);
  } else {
    side_.clear();
    side_.add_words(words, units_.tree_at(unit));
    const OptionList* list = nullptr;
    if (!find_rules(forest, 1, list)) return;
    own = forest.helper(std::vector<std::uint32_t>(words.begin(), words.end()));
    forest.add_edge(own, list, {}, static_cast<std::uint16_t>(block_.number), symbols_);
  }
  std::vector<NodeId> parts;
  bool placed = false;
  for (const Cover* tail : tails) {
    if (!placed && tail->sigma[0] > words[0]) {
      parts.push_back(own);
      placed = true;
    }
    parts.push_back(tail->node);
  }
  if (!placed) parts.push_back(own);
  forest.add_pseudo(head.node, parts);
  head.translated = true;
}

// The lexical rule of a word, once; a word without one is copied in the end. False if there is none.
bool UnitMatcher::translate_word(SentenceForest& forest, Place word) {
  if (word_done_[word] != kNotYet) return word_done_[word] == kTranslated;
  word_done_[word] = kNoRule;
  side_.clear();
  side_.add_word(word, -1);
  const OptionList* list = nullptr;
  if (!find_rules(forest, 1, list)) return false;
  forest.add_edge(forest.word(word), list, {}, static_cast<std::uint16_t>(block_.number), symbols_);
  word_done_[word] = kTranslated;
  return true;
}

// What no unit of the forest translates.
void UnitMatcher::complete(SentenceForest& forest, Cover& whole) {
  const Tree& tree = units_.tree(whole.tree);
  const Sigma sigma = whole.sigma;
  const std::size_t number = whole.tree;
  const NodeId node = whole.node;
  whole.translated = true;
  std::vector<NodeId> parts;
  if (sigma.size() > 1) {
    for (Place word : sigma) parts.push_back(cover(forest, {word}, number).node);
    forest.add_pseudo(node, parts);
    return;
  }
  const Place word = sigma[0];
  translate_word(forest, word);
  if (tree.children(word).empty()) return;
  bool placed = false;
  for (Place child : tree.children(word)) {
    if (!placed && child > word) {
      parts.push_back(forest.word(word));
      placed = true;
    }
    parts.push_back(cover(forest, {child}, number).node);
  }
  if (!placed) parts.push_back(forest.word(word));
  forest.add_pseudo(node, parts);
}

}  // namespace treeglot::mwu
