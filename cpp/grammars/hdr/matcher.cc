#include "grammars/hdr/matcher.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace treeglot::forest {

namespace {

// Walks of one HDR; only unnatural trees and tables come near it.
constexpr int kMaxSteps = 20000;
// Rules with more members than a table can have are not looked for.
constexpr std::size_t kMaxMembers = 64;

// HDRs with more members are only translated in source order where no rule matches.
// The runs of HDRs with more members are no nodes.
constexpr std::size_t kMaxRuns = 32;

NodeId member_node(SentenceForest& forest, const HdrMember& member) {
  return member.type == MemberType::kInternal ? forest.subtree(member.place) : forest.word(member.place);
}

void add_in_order(SentenceForest& forest, NodeId node, std::span<const HdrMember> members) {
  std::vector<NodeId> parts;
  for (const HdrMember& member : members) parts.push_back(member_node(forest, member));
  forest.add_pseudo(node, parts);
}

}  // namespace

HdrMatcher::HdrMatcher(const RuleTable& table, const GrammarBlock& block, const HdrMatchOptions& options)
    : table_(table), block_(block), options_(options) {
  // As the declaration has their features.
  int places = 0;
  blocks_.fill(block);
  for (const RuleClass use : {RuleClass::kRun, RuleClass::kPartial, RuleClass::kAttachment}) {
    if (use == RuleClass::kAttachment ? !options.decompose.attachments : !options.decompose.runs) continue;
    places += kBlockSize;
    blocks_[static_cast<std::size_t>(use)] = block.for_use(static_cast<unsigned>(use), places);
  }
  drop_feature_ = block.first_feature + kBlockSize + places;
}

void HdrMatcher::match(SentenceForest& forest) {
  if (!forest.sentence().has_dependency()) return;
  forest.ids(table_, ids_);
  if (options_.relations) relate(forest);
  asked_.clear();
  if (options_.drop_words) drop_words(forest);
  HdrView& hdrs = forest.hdrs();
  for (std::uint16_t n : hdrs.bottom_up()) {
    if (hdrs.is_leaf(n)) {
      forest.subtree(n);
      continue;
    }
    std::span<const HdrMember> members = hdrs.members(n);
    std::span<const PhrasalNode> phrasal;
    if (options_.phrasal && forest.sentence().has_constituency()) phrasal = hdrs.phrasal_nodes(n);
    const NodeId node = forest.subtree(n);
    const bool decomposed = options_.decompose.any() && decompose(forest, n, node, members);
    if (options_.decompose.any() && !decomposed) add_in_order(forest, node, members);
    // What follows depends on the rules of this grammar alone: others may have rules here, and the forest has both.
    const bool matched = match_part(forest, {node, members, phrasal, 0, true, RuleClass::kComplete, decomposed});
    if (options_.decompose.any()) {
      // Its runs are translated as nodes of their own, or all of it in source order.
    } else if (!matched || options_.pseudo_always) {
      add_in_order(forest, node, members);
    }
    if (options_.phrasal_recursion) {
      for (const PhrasalNode& inner : phrasal) {
        // Only groups that a rule asked for. Without the head no rule can match; in source order is always possible.
        const NodeId group = forest.find(NodeKind::kGroup, inner.begin, inner.end);
        if (group == SentenceForest::kNoNode || !asked_.contains(group)) continue;
        std::span<const HdrMember> covered = members.subspan(inner.first, inner.last - inner.first);
        std::vector<PhrasalNode> nested;
        for (const PhrasalNode& other : phrasal) {
          if (other.first >= inner.first && other.last <= inner.last &&
              other.last - other.first < inner.last - inner.first) {
            nested.push_back(other);
          }
        }
        if (decomposed && inner.covers_head) continue;  // a run
        const bool rules = inner.covers_head && match_part(forest, {group, covered, nested, inner.first, false});
        if (!rules && !forest.phrase(inner.begin, inner.end)) add_in_order(forest, group, covered);
      }
    }
  }
}

// Members are generalised to their tags and relations, as the table has them.
void HdrMatcher::relate(const SentenceForest& forest) {
  const ParsedCorpus& corpus = forest.corpus();
  const ParsedSentence& sentence = forest.sentence();
  for (std::size_t j = 0; j < sentence.size(); ++j) {
    text_.assign(corpus.categories.word(sentence.tags[j]));
    text_ += '/';
    text_ += corpus.relations.word(sentence.relations[j]);
    ids_.tags[j] = known_category();
  }
}

// Every run of members around the head is a node: that of the head's word, that of the subtree, else the group of its
// words. Rules and phrases fill runs, and each is also the next smaller one with one more member, whose place a rule
// knows or which stays in source order. For the latter, members behind the head come first. False if there are too many
// members.
bool HdrMatcher::decompose(SentenceForest& forest, int head_word, NodeId node, std::span<const HdrMember> members) {
  if (members.size() > kMaxRuns) return false;
  std::size_t head = 0;
  while (members[head].type != MemberType::kHead) ++head;
  auto run = [&](std::size_t begin, std::size_t end) {
    if (end - begin == 1) return forest.word(head_word);
    return end - begin == members.size() ? node : forest.group(members[begin].begin, members[end - 1].end);
  };
  for (std::size_t begin = head + 1; begin-- > 0;) {
    for (std::size_t end = head + 1; end <= members.size(); ++end) {
      if (end - begin == 1) continue;
      const NodeId here = run(begin, end);
      const bool whole = end - begin == members.size();
      if (options_.decompose.runs && end - begin <= kMaxRunMembers) {
        const auto inside = members.subspan(begin, end - begin);
        match_part(forest, {here, inside, {}, begin, false, RuleClass::kRun, true});
        if (!whole) match_part(forest, {here, inside, {}, begin, false, RuleClass::kPartial, true});
      }
      if (options_.decompose.attachments) {
        begin_rules();
        const std::size_t before = forest.forest()[here].edges.size();
        if (begin < head) attach(forest, here, members[begin], members[head], run(begin + 1, end));
        if (end > head + 1) attach(forest, here, members[end - 1], members[head], run(begin, end - 1));
        keep_best(forest, here, before);
      }
      NodeId both[2];
      if (begin < head) {
        both[0] = member_node(forest, members[begin]);
        both[1] = run(begin + 1, end);
      } else {
        both[0] = run(begin, end - 1);
        both[1] = member_node(forest, members[end - 1]);
      }
      forest.add_pseudo(here, both);
    }
  }
  return true;
}

// The rules for a member beside a run with this head.
void HdrMatcher::attach(SentenceForest& forest, NodeId node, const HdrMember& member, const HdrMember& head,
                        NodeId inner) {
  const bool left = member.place < head.place;
  const bool internal = member.type == MemberType::kInternal;
  const std::uint32_t word = ids_.words[member.place], tag = ids_.tags[member.place];
  const std::uint32_t head_word = ids_.words[head.place], head_tag = ids_.tags[head.place];
  const Symbol beside[2] = {symbol(internal ? SymbolKind::kInternalWord : SymbolKind::kWord, word),
                            symbol(internal ? SymbolKind::kInternalTag : SymbolKind::kVariable, tag)};
  const Symbol around[2] = {symbol(SymbolKind::kRunWord, head_word), symbol(SymbolKind::kRunTag, head_tag)};
  for (Symbol outer : beside) {
    for (Symbol run : around) {
      if (symbol_id(outer) == RuleTable::kNone || symbol_id(run) == RuleTable::kNone) continue;
      symbols_.assign({left ? outer : run, left ? run : outer});
      const RuleTable::Place place = table_.find(walk_step(walk_step(walk_start(), symbols_[0]), symbols_[1]));
      if (place.rules == 0) continue;
      const CachedOptions* rules =
          forest.cache().rules(table_, block_of(RuleClass::kAttachment), place, symbols_, true);
      if (!rules) continue;
      for (const RuleOption* option : rules->list) scores_.push_back(option->score);
      std::array<NodeId, 2> tails{inner, inner};
      std::size_t count = 1;
      if (is_variable(outer)) {
        tails[left ? 0 : 1] = member_node(forest, member);
        count = 2;
      }
      forest.add_edge(node, &rules->list, {tails.data(), count}, origin(), symbols_);
    }
  }
}

// Every word that was without a link somewhere may be translated by nothing.
void HdrMatcher::drop_words(SentenceForest& forest) {
  for (int j = 0; j < forest.size(); ++j) {
    const std::uint32_t word = ids_.words[j];
    const float share = word == RuleTable::kNone ? 0.0f : table_.unlinked_share(word);
    if (!(share > 0)) continue;
    const std::uint64_t key =
        mix((std::uint64_t{word} << 8 | static_cast<std::uint64_t>(block_.number)) + 0x64726F70ull);
    const CachedOptions* nothing = forest.cache().other(key | (1ull << 63), [&](CachedOptions& fresh) {
      RuleOption option;
      option.features.push_back({static_cast<std::uint16_t>(drop_feature_), std::log(share)});
      forest.cache().scorer().complete(option);
      fresh.options.push_back(std::move(option));
      fresh.finish({}, 0);
    });
    const Symbol source[1] = {symbol(SymbolKind::kWord, word)};
    forest.add_edge(forest.word(j), &nothing->list, {}, origin(), source);
  }
}

void HdrMatcher::begin_rules() {
  seen_.clear();
  steps_ = 0;
  symbols_.clear();
  tails_.clear();
  begins_.clear();
  ends_.clear();
  scores_.clear();
}

void HdrMatcher::keep_best(SentenceForest& forest, NodeId node, std::size_t before) {
  if (!scores_.empty()) forest.keep_rules(node, before, least_score(forest.cache().limits()));
}

bool HdrMatcher::match_part(SentenceForest& forest, const Part& part) {
  if (part.members.size() > kMaxMembers) return false;
  begin_rules();
  const std::size_t before = forest.forest()[part.node].edges.size();
  walk(forest, part, 0, 0, walk_start());
  keep_best(forest, part.node, before);
  return forest.forest()[part.node].edges.size() > before;
}

// Limit and threshold are for all rules of a node together (spec: tree-to-string, section 9). Rules that are built on
// the fly have the scores of those they are built from.
float HdrMatcher::least_score(const TableLimits& limits) {
  float least = -std::numeric_limits<float>::infinity();
  const std::size_t limit = static_cast<std::size_t>(std::max(limits.rule_limit, 0));
  if (limits.rule_threshold > 0) {
    const float best = *std::max_element(scores_.begin(), scores_.end());
    least = best + static_cast<float>(std::log(limits.rule_threshold));
  }
  if (limit > 0 && scores_.size() > limit) {
    std::nth_element(scores_.begin(), scores_.begin() + static_cast<std::ptrdiff_t>(limit) - 1, scores_.end(),
                     std::greater<>());
    least = std::max(least, scores_[limit - 1]);
  }
  return least;
}

void HdrMatcher::walk(SentenceForest& forest, const Part& part, std::size_t place, int phrasal, WalkKey key) {
  if (place == part.members.size()) {
    if (part.use == RuleClass::kRun) {
      symbols_.push_back(symbol(SymbolKind::kClose, 0));
      take(forest, part, walk_step(key, symbols_.back()));
      symbols_.pop_back();
    } else {
      take(forest, part, key);
    }
    return;
  }
  if (++steps_ > kMaxSteps) return;
  const HdrMember& member = part.members[place];
  const std::uint32_t word = ids_.words[member.place], tag = ids_.tags[member.place];
  // Reads members from `place` on as one symbol and goes on if the table has such a prefix.
  auto step = [&](Symbol next, std::size_t members, int more_phrasal, NodeId tail, bool has_tail) {
    const WalkKey longer = walk_step(key, next);
    const RuleTable::Place prefix = table_.find(longer);
    const bool last = place + members == part.members.size() && part.use != RuleClass::kRun;
    if (last ? prefix.rules == 0 : !prefix.longer) return;
    symbols_.push_back(next);
    begins_.push_back(member.begin);
    ends_.push_back(part.members[place + members - 1].end);
    if (has_tail) tails_.push_back({tail, static_cast<std::uint8_t>(symbols_.size() - 1)});
    walk(forest, part, place + members, phrasal + more_phrasal, longer);
    if (has_tail) tails_.pop_back();
    begins_.pop_back();
    ends_.pop_back();
    symbols_.pop_back();
  };
  switch (member.type) {
    case MemberType::kHead:
      if (word != RuleTable::kNone) step(symbol(SymbolKind::kHeadWord, word), 1, 0, 0, false);
      if (tag != RuleTable::kNone) {
        step(symbol(SymbolKind::kHeadVariable, tag), 1, 0, forest.word(member.place), true);
      }
      break;
    case MemberType::kLeaf:
      if (word != RuleTable::kNone) step(symbol(SymbolKind::kWord, word), 1, 0, 0, false);
      if (tag != RuleTable::kNone) step(symbol(SymbolKind::kVariable, tag), 1, 0, forest.word(member.place), true);
      break;
    case MemberType::kInternal: {
      const NodeId below = forest.subtree(member.place);
      if (word != RuleTable::kNone) step(symbol(SymbolKind::kInternalWord, word), 1, 0, below, true);
      if (tag != RuleTable::kNone) step(symbol(SymbolKind::kInternalTag, tag), 1, 0, below, true);
      break;
    }
  }
  if (phrasal >= options_.max_phrasal_nodes) return;
  for (const PhrasalNode& node : part.phrasal) {
    if (node.first != part.offset + place) continue;
    if (!part.whole && static_cast<std::size_t>(node.last - node.first) == part.members.size()) continue;
    const std::uint32_t category = joint_category(forest, node);
    if (category == RuleTable::kNone) continue;
    // A group without a translation of its own would only be dropped by the search.
    const bool run = part.decomposed && node.covers_head;
    if (!options_.phrasal_recursion && !run && !forest.phrase(node.begin, node.end)) continue;
    const Symbol next = symbol(node.covers_head ? SymbolKind::kHeadPhrasal : SymbolKind::kPhrasal, category);
    if (!table_.find(walk_step(key, next)).prefix) continue;  // before a node is made
    step(next, node.last - node.first, 1, forest.group(node.begin, node.end), true);
  }
}

std::uint32_t HdrMatcher::joint_category(SentenceForest& forest, const PhrasalNode& node) {
  text_.assign(forest.corpus().categories.word(node.label));
  text_ += '[';
  std::span<const HdrMember> members = forest.hdrs().members(node.head);
  for (std::size_t i = node.first; i < node.last; ++i) {
    if (i > node.first) text_ += '_';
    text_ += forest.corpus().categories.word(members[i].tag);
  }
  text_ += ']';
  return known_category();
}

// That of text_ in the table, if it is there.
std::uint32_t HdrMatcher::known_category() {
  if (joint_.size() > 100000) joint_.clear();
  auto [entry, fresh] = joint_.try_emplace(text_, 0);
  if (fresh) entry->second = table_.category_id(text_);
  return entry->second;
}

void HdrMatcher::take(SentenceForest& forest, const Part& part, WalkKey key) {
  if (!seen_.insert(key).second) return;
  const RuleTable::Place place = table_.find(key);
  if (place.rules == 0) return;
  const CachedOptions* rules = forest.cache().rules(table_, block_of(part.use), place, symbols_, true);
  if (!rules) return;
  for (const RuleOption* option : rules->list) scores_.push_back(option->score);
  std::array<NodeId, kMaxMembers> tails;
  for (std::size_t i = 0; i < tails_.size(); ++i) {
    tails[i] = tails_[i].node;
    if (forest.forest()[tails[i]].kind == NodeKind::kGroup) asked_.insert(tails[i]);
  }
  forest.add_edge(part.node, &rules->list, {tails.data(), tails_.size()}, origin(), symbols_);
  if (options_.structures && !rules->labels.empty()) build_on_the_fly(forest, part, *rules, place.rules);
}

bool HdrMatcher::covers_head(const StructureLabel& label) const {
  for (std::size_t i = label.begin; i < label.end && i < symbols_.size(); ++i) {
    const SymbolKind kind = symbol_kind(symbols_[i]);
    if (kind == SymbolKind::kHeadWord || kind == SymbolKind::kHeadVariable) return true;
  }
  return false;
}

// New rules from one bundle (paper "augmented", section 3.4): every set of labels whose words are bilingual phrases
// gives a bundle in which the variables under each label are one variable. A label is of use for the rules that have it
// and whose target keeps its variables together.
void HdrMatcher::build_on_the_fly(SentenceForest& forest, const Part& part, const CachedOptions& rules,
                                  std::uint64_t place) {
  struct Known {
    StructureLabel label;
    float best;
  };
  std::vector<Known> known;
  for (const auto& labels : rules.labels) {
    for (const StructureLabel& label : labels) {
      if (part.decomposed && options_.decompose.runs && covers_head(label)) continue;  // a run
      if (std::any_of(known.begin(), known.end(), [&](const Known& k) { return k.label == label; })) continue;
      if (label.end > symbols_.size()) continue;
      const CachedOptions* phrase = forest.phrase(begins_[label.begin], ends_[label.end - 1]);
      known.push_back({label, phrase ? phrase->list.front()->estimate : -1e30f});
    }
  }
  std::erase_if(known, [](const Known& k) { return k.best <= -1e30f; });
  if (known.empty()) return;
  std::sort(known.begin(), known.end(),
            [](const Known& a, const Known& b) { return a.best != b.best ? a.best > b.best : a.label < b.label; });
  // Sets of non-overlapping labels, smaller sets of better labels first.
  std::vector<std::vector<StructureLabel>> sets;
  const std::size_t most = static_cast<std::size_t>(std::max(options_.label_sets, 0));
  for (const Known& k : known) sets.push_back({k.label});
  for (std::size_t from = 0; from < sets.size() && sets.size() < 4 * most; ++from) {
    for (const Known& k : known) {
      if (k.label.begin < sets[from].back().end) continue;  // from left to right: every set once
      std::vector<StructureLabel> larger = sets[from];
      larger.push_back(k.label);
      sets.push_back(std::move(larger));
      if (sets.size() >= 4 * most) break;
    }
  }
  if (sets.size() > most) sets.resize(most);

  // Which variable each symbol of the source side is.
  std::vector<int> variable(symbols_.size(), -1);
  for (std::size_t i = 0; i < tails_.size(); ++i) variable[tails_[i].symbol] = static_cast<int>(i);
  std::vector<NodeId> tails;
  std::vector<int> renamed(tails_.size());
  for (const auto& set : sets) {
    tails.clear();
    std::size_t next = 0;
    for (std::size_t place_in_source = 0; place_in_source < symbols_.size();) {
      if (next < set.size() && set[next].begin == place_in_source) {
        for (std::size_t i = set[next].begin; i < set[next].end; ++i) {
          if (variable[i] >= 0) renamed[variable[i]] = static_cast<int>(tails.size());
        }
        tails.push_back(forest.group(begins_[set[next].begin], ends_[set[next].end - 1]));
        place_in_source = set[next].end;
        ++next;
        continue;
      }
      if (variable[place_in_source] >= 0) {
        renamed[variable[place_in_source]] = static_cast<int>(tails.size());
        tails.push_back(tails_[variable[place_in_source]].node);
      }
      ++place_in_source;
    }
    std::uint64_t key = mix(place + 0x51ED270B7A14ull * static_cast<std::uint64_t>(block_.number + 1) +
                            0x2545F4914F6Dull * static_cast<std::uint64_t>(part.use));
    for (const StructureLabel& label : set) key = mix(key ^ (std::uint64_t{label.begin} << 8 | label.end)) + 0x1234567;
    const CachedOptions* built = forest.cache().other(key | (1ull << 63), [&](CachedOptions& fresh) {
      for (std::size_t r = 0; r < rules.list.size(); ++r) {
        const auto& labels = rules.labels[r];
        const RuleOption& parent = *rules.list[r];
        bool fits = std::all_of(set.begin(), set.end(), [&](const StructureLabel& label) {
          return std::find(labels.begin(), labels.end(), label) != labels.end();
        });
        if (!fits) continue;
        RuleOption option;
        std::vector<bool> used(tails.size(), false);
        int last = -1;
        for (TargetSymbol target : parent.target) {
          if (!is_target_variable(target)) {
            option.target.push_back(target);
            last = -1;
            continue;
          }
          const int name = renamed[variable_number(target)];
          if (name == last) continue;  // the same label goes on
          if (used[name]) {
            fits = false;  // its variables stand apart
            break;
          }
          used[name] = true;
          option.target.push_back(target_variable(static_cast<std::uint32_t>(name)));
          last = name;
        }
        if (!fits) continue;
        option.features = parent.features;
        option.unlinked = parent.unlinked;
        option.rule = parent.rule;
        forest.cache().scorer().complete(option);
        // Rules that have become equal are one, the best.
        auto equal = std::find_if(fresh.options.begin(), fresh.options.end(),
                                  [&](const RuleOption& other) { return other.target == option.target; });
        if (equal == fresh.options.end()) {
          fresh.options.push_back(std::move(option));
        } else if (option.score > equal->score) {
          *equal = std::move(option);
        }
      }
      if (!fresh.options.empty()) fresh.finish({}, 0);
    });
    if (built) {
      forest.add_edge(part.node, &built->list, tails, origin(), symbols_);
    }
  }
}

}  // namespace treeglot::forest
