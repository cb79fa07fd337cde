// The translation options of a sentence: the best translations of each of its spans under the current weights, with
// everything that does not depend on their context computed once, and the estimate of what uncovered spans will cost.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lm/model.hh"
#include "search/features.hh"
#include "search/phrase_cache.hh"
#include "search/target_vocabulary.hh"
#include "table/phrase_source.hh"

namespace treeglot::search {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();

// A translation of one source phrase under given weights.
struct PhraseOption {
  std::vector<WordId> words;           // language model ids
  double fixed = 0;                    // weighted table scores, numbers of words and phrases, copied words
  double estimate = 0;                 // fixed + weighted language model score of the words by themselves
  double backward[3]{}, forward[3]{};  // weighted reordering scores by orientation: monotone, swap, discontinuous
  // lm_rest[i]: log10 of words i, i + 1, ... by themselves, for the first words.
  std::array<float, lm::kMaxOrder> lm_rest{};
  lm::State state;  // after the words by themselves
  // What the table says: one of the matches in the cache; nullptr: a copied word.
  const PhraseMatches* matches = nullptr;
  std::uint32_t match = 0;

  bool copied() const { return !matches; }
};

// The options of one source phrase: by estimate, and by estimate + backward[o] for each orientation o.
struct PhraseOptionList {
  std::vector<PhraseOption> options;
  std::array<std::vector<const PhraseOption*>, 3> order;
  std::vector<double> log10;  // of the words of each match by themselves, under any weights; NaN: not asked for yet
  double best() const { return options.front().estimate; }
};

// Scores translations under the current weights: shared by all threads, which only read it.
class OptionBuilder {
 public:
  OptionBuilder(const PhraseSource& table, const lm::Model& model, int table_limit);

  void set_weights(const Weights& weights) { weights_ = weights; }
  const Weights& weights() const { return weights_; }
  const PhraseSource& table() const { return table_; }
  // How many translations of a source phrase a cache should look at.
  std::size_t most() const { return targets_to_score(limit_); }

  // The best translations of a source phrase, in place of what `list` had under other weights. `matches` must outlive
  // it.
  void score(const PhraseMatches& matches, PhraseOptionList& list) const;
  // A word that is copied.
  std::unique_ptr<PhraseOptionList> copy(std::string_view word) const;

 private:
  double fixed_score(const PhraseOption& option) const;
  double lm_score(std::span<const WordId> target) const;  // log10 of words of the table by themselves
  void complete(PhraseOption& option) const;
  static void sort(PhraseOptionList& list);

  const PhraseSource& table_;
  const lm::Model& model_;
  Weights weights_{};
  std::size_t limit_;
  TargetVocabulary vocabulary_;
};

using PhraseOptionCache = PhraseCache<PhraseOptionList>;

// The spans of a sentence with their options, and future costs.
class SentenceOptions {
 public:
  // `longest`: words of the longest phrase to use; `reach`: longest gap between covered words (-1: any).
  void prepare(const std::vector<std::string_view>& words, const OptionBuilder& builder, PhraseOptionCache& cache,
               int longest, int reach);

  int size() const { return size_; }
  int longest() const { return longest_; }
  const PhraseOptionList* at(int begin, int end) const { return lists_[begin * longest_ + (end - begin - 1)]; }
  // The best that options can give for a span by themselves.
  double future(int begin, int end) const {
    if (end == size_) return tail_[begin];
    if (end - begin <= band_) return costs_[static_cast<std::size_t>(begin) * band_ + (end - begin - 1)];
    return tail_[begin] - tail_[end];
  }

 private:
  int size_ = 0, longest_ = 1, band_ = 0;
  std::vector<WordId> ids_;
  std::vector<const PhraseOptionList*> lists_;
  std::vector<std::unique_ptr<PhraseOptionList>> copied_;
  std::vector<double> costs_, tail_;
};

}  // namespace treeglot::search
