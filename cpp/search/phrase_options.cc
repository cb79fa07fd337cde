#include "search/phrase_options.hh"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/parallel.hh"

namespace treeglot::search {

namespace {

constexpr std::size_t kMostCached = 300000;  // translations in the cache of one thread

}  // namespace

OptionBuilder::OptionBuilder(const PhraseSource& table, const lm::Model& model, int table_limit)
    : table_(table),
      model_(model),
      limit_(table_limit > 0 ? static_cast<std::size_t>(table_limit) : std::numeric_limits<std::size_t>::max()),
      vocabulary_(model) {
  vocabulary_.add(table);
  vocabulary_.finish();
}

double OptionBuilder::fixed_score(const PhraseOption& option) const {
  double total = weights_[kPhrases] + weights_[kWords] * static_cast<double>(option.words.size());
  if (option.copied()) return total + weights_[kCopied];
  const TableScores& scores = (*option.matches)[option.match].scores;
  for (int i = 0; i < 4; ++i) total += weights_[kTranslation + i] * scores[i];
  return total;
}

double OptionBuilder::lm_score(std::span<const WordId> target) const {
  lm::State states[2];
  states[0] = model_.null_state();
  int now = 0;
  double total = 0;
  for (WordId word : target) {
    total += model_.score(states[now], vocabulary_.lm_id(word), states[1 - now]).log10;
    now = 1 - now;
  }
  return total;
}

// Scores the words without context: the language model's part of the estimate, and what later queries can skip.
void OptionBuilder::complete(PhraseOption& option) const {
  lm::State states[2];
  states[0] = model_.null_state();
  int now = 0;
  std::size_t kept = lm::kMaxOrder;
  double total = 0;
  std::array<double, lm::kMaxOrder> before{};
  for (std::size_t i = 0; i < option.words.size(); ++i) {
    if (i < kept) before[i] = total;
    total += model_.score(states[now], option.words[i], states[1 - now]).log10;
    now = 1 - now;
  }
  for (std::size_t i = 0; i < kept; ++i) {
    option.lm_rest[i] = i < option.words.size() ? static_cast<float>(total - before[i]) : 0.0f;
  }
  option.state = states[now];
  option.estimate = option.fixed + weights_[kLanguageModel] * std::numbers::ln10 * total;
  if (option.copied()) return;
  const ReorderingScores& reordering = (*option.matches)[option.match].reordering;
  for (int o = 0; o < 3; ++o) {
    option.backward[o] = weights_[kReordering + o] * reordering[o];
    option.forward[o] = weights_[kReordering + 3 + o] * reordering[3 + o];
  }
}

void OptionBuilder::sort(PhraseOptionList& list) {
  std::stable_sort(list.options.begin(), list.options.end(),
                   [](const PhraseOption& a, const PhraseOption& b) { return a.estimate > b.estimate; });
  for (int o = 0; o < 3; ++o) {
    list.order[o].clear();
    for (const PhraseOption& option : list.options) list.order[o].push_back(&option);
    std::stable_sort(list.order[o].begin(), list.order[o].end(), [o](const PhraseOption* a, const PhraseOption* b) {
      return a->estimate + a->backward[o] > b->estimate + b->backward[o];
    });
  }
}

void OptionBuilder::score(const PhraseMatches& matches, PhraseOptionList& list) const {
  // The best `limit_` by estimate; of equal ones those that come first in the table. A heap keeps the worst on top.
  struct Kept {
    double estimate;
    std::size_t match;
    bool operator<(const Kept& other) const {
      return estimate != other.estimate ? estimate > other.estimate : match < other.match;
    }
  };
  std::vector<Kept> best;
  list.log10.resize(matches.size(), std::numeric_limits<double>::quiet_NaN());
  // The language model only takes away (unless its weight is negative), so a bad table score needs no query.
  bool skip = weights_[kLanguageModel] >= 0;
  for (std::size_t n = 0; n < matches.size(); ++n) {
    const PhraseMatch match = matches[n];
    double fixed = weights_[kPhrases] + weights_[kWords] * static_cast<double>(match.target.size());
    for (int i = 0; i < 4; ++i) fixed += weights_[kTranslation + i] * match.scores[i];
    bool full = best.size() >= limit_;
    if (full && skip && fixed <= best.front().estimate) continue;
    if (std::isnan(list.log10[n])) list.log10[n] = lm_score(match.target);
    const double estimate = fixed + weights_[kLanguageModel] * std::numbers::ln10 * list.log10[n];
    if (full) {
      if (estimate <= best.front().estimate) continue;
      std::pop_heap(best.begin(), best.end());
      best.pop_back();
    }
    best.push_back({estimate, n});
    std::push_heap(best.begin(), best.end());
  }
  std::sort(best.begin(), best.end());
  list.options.assign(best.size(), {});
  for (std::size_t i = 0; i < best.size(); ++i) {
    PhraseOption& option = list.options[i];
    option.matches = &matches;
    option.match = static_cast<std::uint32_t>(best[i].match);
    for (WordId word : matches[option.match].target) option.words.push_back(vocabulary_.lm_id(word));
    option.fixed = fixed_score(option);
    complete(option);
  }
  sort(list);
}

std::unique_ptr<PhraseOptionList> OptionBuilder::copy(std::string_view word) const {
  auto list = std::make_unique<PhraseOptionList>();
  PhraseOption& option = list->options.emplace_back();
  option.words = {model_.id(word)};
  option.fixed = fixed_score(option);
  complete(option);
  sort(*list);
  return list;
}

void SentenceOptions::prepare(const std::vector<std::string_view>& words, const OptionBuilder& builder,
                              PhraseOptionCache& cache, int longest, int reach) {
  if (cache.size() > kMostCached) cache.clear();
  const PhraseSource& table = builder.table();
  size_ = static_cast<int>(words.size());
  longest_ = std::max(1, std::min({longest, table.longest_source(), size_}));
  ids_.clear();
  for (std::string_view word : words) ids_.push_back(table.source_id(word));
  lists_.assign(static_cast<std::size_t>(size_) * longest_, nullptr);
  copied_.clear();
  for (int begin = 0; begin < size_; ++begin) {
    for (int end = begin + 1; end <= std::min(size_, begin + longest_); ++end) {
      if (ids_[end - 1] == kNoWord) break;
      const PhraseOptionCache::Entry* entry =
          cache.get({ids_.data() + begin, ids_.data() + end},
                    [&](const PhraseMatches& matches, PhraseOptionList& list) { builder.score(matches, list); });
      if (entry) lists_[begin * longest_ + (end - begin - 1)] = &entry->list;
    }
    const PhraseOptionList*& single = lists_[begin * longest_];
    if (!single) {
      copied_.push_back(builder.copy(words[begin]));
      single = copied_.back().get();
    }
  }
  // Gaps between covered words are at most `reach` long; a full matrix for a very long sentence would not fit.
  band_ = std::min({size_, reach < 0 ? size_ : std::max(reach, 1), 1024});
  costs_.assign(static_cast<std::size_t>(size_) * band_, kNever);
  for (int begin = 0; begin < size_; ++begin) {
    double* row = costs_.data() + static_cast<std::size_t>(begin) * band_;
    int limit = std::min(size_, begin + band_);
    for (int middle = begin; middle < limit; ++middle) {
      check_stopped();
      double left = middle == begin ? 0 : row[middle - begin - 1];
      if (left == kNever) continue;
      for (int end = middle + 1; end <= std::min(limit, middle + longest_); ++end) {
        if (const PhraseOptionList* list = at(middle, end)) {
          row[end - begin - 1] = std::max(row[end - begin - 1], left + list->best());
        }
      }
    }
  }
  tail_.assign(static_cast<std::size_t>(size_) + 1, kNever);
  tail_[size_] = 0;
  for (int begin = size_ - 1; begin >= 0; --begin) {
    for (int end = begin + 1; end <= std::min(size_, begin + longest_); ++end) {
      if (const PhraseOptionList* list = at(begin, end))
        tail_[begin] = std::max(tail_[begin], list->best() + tail_[end]);
    }
  }
}

}  // namespace treeglot::search
