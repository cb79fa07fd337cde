#include "forest/matcher.hh"

#include <algorithm>
#include <iterator>

#include "base/hash.hh"
#include "base/parallel.hh"

namespace treeglot::forest {

namespace {

// A pseudo rule of more parts is built step by step, so that the language model can choose on the way.
constexpr std::size_t kFlatPseudo = 6;

}  // namespace

SentenceForest::SentenceForest(OptionCache& cache, const PhraseSource* phrases, const GrammarBlock& phrase_block,
                               const ForestOptions& options)
    : cache_(cache), phrases_(phrases), phrase_block_(phrase_block), options_(options) {}

void SentenceForest::start(const ParsedCorpus& corpus, std::size_t n) {
  cache_.trim();
  corpus_ = &corpus;
  sentence_ = corpus[n];
  forest_.clear();
  nodes_.clear();
  sources_.clear();
  source_starts_.assign(1, 0);
  copies_.clear();
  kept_.clear();
  in_order_.clear();
  helpers_ = 0;
  scattered_.clear();
  phrase_ids_.clear();
  if (phrases_) {
    for (int j = 0; j < size(); ++j) phrase_ids_.push_back(phrases_->source_id(word_text(j)));
  }
  if (sentence_.has_dependency()) {
    hdrs_.reset(sentence_);
    subtree_at_.assign(size() + 1, -1);
    next_subtree_.assign(size(), -1);
    for (int j = 0; j < size(); ++j) {
      next_subtree_[j] = subtree_at_[hdrs_.subtree_begin(j)];
      subtree_at_[hdrs_.subtree_begin(j)] = j;
    }
  }
}

void SentenceForest::ids(const RuleTable& table, TableIds& out) const {
  out.words.clear();
  out.tags.clear();
  out.labels.clear();
  for (int j = 0; j < size(); ++j) {
    out.words.push_back(table.word_id(word_text(j)));
    out.tags.push_back(table.category_id(tag_text(j)));
  }
  for (std::size_t n = 0; n < sentence_.phrases.size(); ++n) {
    out.labels.push_back(table.category_id(label_text(static_cast<int>(n))));
  }
}

NodeId SentenceForest::node(NodeKind kind, int begin, int end, std::uint32_t detail) {
  auto [entry, fresh] = nodes_.try_emplace(key(kind, begin, end, detail), 0);
  if (fresh) entry->second = forest_.add_node(kind, begin, end, detail);
  return entry->second;
}

NodeId SentenceForest::find(NodeKind kind, int begin, int end, std::uint32_t detail) const {
  auto entry = nodes_.find(key(kind, begin, end, detail));
  return entry == nodes_.end() ? kNoNode : entry->second;
}

NodeId SentenceForest::subtree(int j) {
  if (hdrs_.is_leaf(j)) return word(j);
  return node(NodeKind::kSubtree, hdrs_.subtree_begin(j), hdrs_.subtree_end(j), 0);
}

NodeId SentenceForest::span_tail(int begin, int end) {
  if (options_.dependency_nodes && sentence_.has_dependency()) {
    if (const NodeId known = subtree_over(begin, end); known != kNoNode) return known;
  }
  return span(begin, end);
}

NodeId SentenceForest::subtree_over(int begin, int end) {
  for (int j = subtree_at_[begin]; j >= 0; j = next_subtree_[j]) {
    if (hdrs_.subtree_end(j) == end) return subtree(j);
  }
  return kNoNode;
}

void SentenceForest::add_edge(NodeId head, const OptionList* options, std::span<const NodeId> tails,
                              std::uint16_t origin, std::span<const Symbol> source) {
  std::uint32_t number = 0;
  if (!source.empty()) {
    sources_.insert(sources_.end(), source.begin(), source.end());
    source_starts_.push_back(static_cast<std::uint32_t>(sources_.size()));
    number = static_cast<std::uint32_t>(source_starts_.size() - 1);
  }
  check_stopped();
  forest_.add_edge(head, options, tails, origin, number);
}

void SentenceForest::keep_rules(NodeId node, std::size_t first, float least) {
  for (std::size_t e = first; e < forest_[node].edges.size(); ++e) {
    const OptionList& options = *forest_[node].edges[e].options;
    const auto low = [least](const RuleOption* option) { return option->score < least; };
    if (std::none_of(options.begin(), options.end(), low)) continue;
    auto kept = std::make_unique<OptionList>();
    std::remove_copy_if(options.begin(), options.end(), std::back_inserter(*kept), low);
    forest_.set_options(node, e, kept.get());
    kept_.push_back(std::move(kept));
  }
}

std::span<const Symbol> SentenceForest::source_side(const Edge& edge) const {
  if (edge.source == 0) return {};
  return {sources_.data() + source_starts_[edge.source - 1], sources_.data() + source_starts_[edge.source]};
}

const CachedOptions* SentenceForest::phrase(int begin, int end) {
  check_stopped();
  if (!phrases_ || end - begin > options_.max_phrase_words || end - begin > phrases_->longest_source()) return nullptr;
  for (int j = begin; j < end; ++j) {
    if (phrase_ids_[j] == kNoWord) return nullptr;
  }
  return cache_.phrase(*phrases_, phrase_block_, {phrase_ids_.data() + begin, phrase_ids_.data() + end});
}

const OptionList* SentenceForest::sequence(std::size_t tails, int feature) {
  const std::uint64_t key = (std::uint64_t{tails} << 8) | static_cast<std::uint64_t>(feature + 1);
  const CachedOptions* cached = cache_.other(key, [&](CachedOptions& fresh) {
    RuleOption option;
    for (std::size_t i = 0; i < tails; ++i) option.target.push_back(target_variable(static_cast<std::uint32_t>(i)));
    if (feature >= 0) option.features.push_back({static_cast<std::uint16_t>(feature), 1.0f});
    cache_.scorer().complete(option);
    fresh.options.push_back(std::move(option));
    fresh.finish({}, 0);
  });
  return &cached->list;
}

void SentenceForest::add_pseudo(NodeId head, std::span<const NodeId> parts) {
  const std::uint64_t key = hash_bytes(reinterpret_cast<const char*>(parts.data()), parts.size_bytes(), head);
  if (!in_order_.insert(key).second) return;
  if (parts.size() <= kFlatPseudo) {
    add_edge(head, sequence(parts.size(), kPseudoFeature), parts, kFromPseudo);
    return;
  }
  NodeId left = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const NodeId pair[2] = {left, parts[i]};
    const bool last = i + 1 == parts.size();
    NodeId joined = last ? head : helper(forest_[parts[0]].begin, forest_[parts[i]].end);
    add_edge(joined, sequence(2, last ? kPseudoFeature : -1), pair, kFromPseudo);
    left = joined;
  }
}

void SentenceForest::copy_word(NodeId node, int j) {
  auto copied = std::make_unique<CachedOptions>();
  RuleOption option;
  int first = 0;  // equal words are one
  while (sentence_.words[first] != sentence_.words[j]) ++first;
  option.target.push_back(
      cache_.canonical(word_text(j), cache_.scorer().vocabulary().size() + static_cast<std::uint32_t>(first)));
  option.lm_words.push_back(cache_.scorer().vocabulary().model().id(word_text(j)));
  option.features.push_back({kCopiedFeature, 1.0f});
  cache_.scorer().complete_with_lm_words(option);
  copied->options.push_back(std::move(option));
  copied->finish({}, 0);
  add_edge(node, &copied->list, {}, kFromCopy);
  copies_.push_back(std::move(copied));
}

std::string_view SentenceForest::target_text(TargetSymbol word) const {
  const TargetVocabulary& vocabulary = cache_.scorer().vocabulary();
  return word < vocabulary.size() ? vocabulary.word(word) : word_text(static_cast<int>(word - vocabulary.size()));
}

void SentenceForest::join(NodeId head, NodeId tail) { add_edge(head, sequence(1, -1), {&tail, 1}, kFromJoin); }

}  // namespace treeglot::forest
