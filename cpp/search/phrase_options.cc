#include "search/phrase_options.hh"

#include <algorithm>

#include "base/hash.hh"

namespace treeglot::search {

OptionBuilder::OptionBuilder(const PhraseSource& table, const lm::Model& model, const Weights& weights, int table_limit)
    : table_(table),
      model_(model),
      weights_(weights),
      limit_(table_limit > 0 ? static_cast<std::size_t>(table_limit) : std::numeric_limits<std::size_t>::max()),
      lm_ids_(new std::atomic<lm::WordId>[table.target_size()]) {
  for (std::size_t i = 0; i < table.target_size(); ++i) lm_ids_[i].store(kNoWord, std::memory_order_relaxed);
}

lm::WordId OptionBuilder::lm_id(WordId target) const {
  lm::WordId id = lm_ids_[target].load(std::memory_order_relaxed);
  if (id == kNoWord) {
    id = model_.id(table_.target_word(target));
    lm_ids_[target].store(id, std::memory_order_relaxed);  // every thread would store the same
  }
  return id;
}

double OptionBuilder::fixed_score(const PhraseOption& option) const {
  double total = weights_[kPhrasePenalty] - weights_[kWordPenalty] * static_cast<double>(option.words.size());
  if (option.unknown) return total + weights_[kUnknownWord] * kLowestScore;
  for (int i = 0; i < 4; ++i) total += weights_[kTranslation + i] * option.scores[i];
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
  option.estimate = option.fixed + weights_[kLanguageModel] * kLn10 * total;
  for (int o = 0; o < 3; ++o) {
    option.backward[o] = weights_[kReordering + o] * option.reordering[o];
    option.forward[o] = weights_[kReordering + 3 + o] * option.reordering[3 + o];
  }
}

void OptionBuilder::sort(PhraseOptionList& list) {
  std::stable_sort(list.options.begin(), list.options.end(),
                   [](const PhraseOption& a, const PhraseOption& b) { return a.estimate > b.estimate; });
  for (int o = 0; o < 3; ++o) {
    for (const PhraseOption& option : list.options) list.order[o].push_back(&option);
    std::stable_sort(list.order[o].begin(), list.order[o].end(), [o](const PhraseOption* a, const PhraseOption* b) {
      return a->estimate + a->backward[o] > b->estimate + b->backward[o];
    });
  }
}

std::unique_ptr<PhraseOptionList> OptionBuilder::look_up(std::span<const WordId> source, PhraseMatches& buffer) const {
  buffer.clear();
  table_.lookup(source, buffer, targets_to_score(limit_));
  if (buffer.size() == 0) return nullptr;
  // The best `limit_` by estimate; of equal ones those that come first in the table. A heap keeps the worst on top.
  struct Kept {
    double estimate;
    std::size_t match;
    bool operator<(const Kept& other) const {
      return estimate != other.estimate ? estimate > other.estimate : match < other.match;
    }
  };
  std::vector<Kept> best;
  PhraseOption trial;
  // The language model only takes away (unless its weight is negative), so a bad table score needs no query.
  bool skip = weights_[kLanguageModel] >= 0;
  for (std::size_t n = 0; n < buffer.size(); ++n) {
    PhraseMatch match = buffer[n];
    trial.words.assign(match.target.begin(), match.target.end());
    trial.scores = match.scores;
    trial.fixed = fixed_score(trial);
    bool full = best.size() >= limit_;
    if (full && skip && trial.fixed <= best.front().estimate) continue;
    for (WordId& word : trial.words) word = lm_id(word);
    complete(trial);
    if (full) {
      if (trial.estimate <= best.front().estimate) continue;
      std::pop_heap(best.begin(), best.end());
      best.pop_back();
    }
    best.push_back({trial.estimate, n});
    std::push_heap(best.begin(), best.end());
  }
  std::sort(best.begin(), best.end());
  auto list = std::make_unique<PhraseOptionList>();
  list->options.resize(best.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    PhraseMatch match = buffer[best[i].match];
    PhraseOption& option = list->options[i];
    for (WordId word : match.target) {
      option.words.push_back(lm_id(word));
      if (!option.text.empty()) option.text += ' ';
      option.text += table_.target_word(word);
    }
    option.links.assign(match.links.begin(), match.links.end());
    option.scores = match.scores;
    option.reordering = match.reordering;
    option.fixed = fixed_score(option);
    complete(option);
  }
  sort(*list);
  return list;
}

std::unique_ptr<PhraseOptionList> OptionBuilder::copy(std::string_view word) const {
  auto list = std::make_unique<PhraseOptionList>();
  PhraseOption& option = list->options.emplace_back();
  option.unknown = true;
  option.text = word;
  option.words = {model_.id(word)};
  option.links = {{0, 0}};
  option.fixed = fixed_score(option);
  complete(option);
  sort(*list);
  return list;
}

std::size_t OptionCache::Hash::operator()(const std::u32string& words) const {
  return hash_bytes(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(char32_t));
}

const PhraseOptionList* OptionCache::get(std::span<const WordId> source) {
  key_.assign(source.begin(), source.end());
  auto found = lists_.find(key_);
  if (found != lists_.end()) return found->second.get();
  std::unique_ptr<PhraseOptionList> list = builder_.look_up(source, buffer_);
  if (!list) return nullptr;  // most spans are no phrase; remembering them all would crowd out the others
  return lists_.emplace(key_, std::move(list)).first->second.get();
}

void SentenceOptions::prepare(const std::vector<std::string_view>& words, const OptionBuilder& builder,
                              OptionCache& cache, int longest, int reach) {
  cache.trim();
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
      lists_[begin * longest_ + (end - begin - 1)] = cache.get({ids_.data() + begin, ids_.data() + end});
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
