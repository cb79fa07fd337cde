#include "table/rule_counts.hh"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/external_sort.hh"
#include "base/hash.hh"
#include "base/parallel.hh"
#include "table/rule_counts_block.hh"
#include "table/rule_counts_lexicon.hh"

namespace treeglot {

using namespace counting;

std::uint64_t count_units(double count) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(count * static_cast<double>(kCountUnit))));
}

namespace {

constexpr std::size_t kSentences = 64;  // a thread takes so many at a time
constexpr std::size_t kMaxRuns = 64;    // open files; when there are so many, they become one
constexpr std::size_t kLeastBlock = 1 << 20;

struct TargetRecord {
  std::uint64_t target;  // hash
  std::uint64_t rule;    // number
  std::uint64_t count;
};
struct ByTarget {
  bool operator()(const TargetRecord& a, const TargetRecord& b) const {
    return a.target != b.target ? a.target < b.target : a.rule < b.rule;
  }
};
struct TotalRecord {
  std::uint64_t rule;
  std::uint64_t total;
  float taken;             // from all rules of the target, by discounting
  std::uint32_t distinct;  // how many there are
};
struct ByRule {
  bool operator()(const TotalRecord& a, const TotalRecord& b) const { return a.rule < b.rule; }
};

// How much of a count is taken away, from the numbers of rules that were seen once, twice ... Between whole numbers it
// is interpolated, so that a fractional count is discounted like its neighbours.
class Discounts {
 public:
  void see(std::uint64_t units) {
    const auto seen = static_cast<std::uint64_t>(std::max(1.0, std::nearbyint(count_value(units))));
    if (seen < frequencies_.size()) ++frequencies_[seen];
  }
  void estimate(Discounting kind, RuleStatistics& statistics) {
    kind_ = kind;
    auto n = [&](std::size_t r) { return static_cast<double>(frequencies_[r]); };
    if (kind == Discounting::kGoodTuring) {
      // d(r) = c*(r) / r with c*(r) = (r + 1) n(r+1) / n(r); at most 1 and never falling, which sparse n would break.
      double last = 0;
      for (std::size_t r = 1; r <= kMost; ++r) {
        double ratio = n(r) > 0 ? static_cast<double>(r + 1) * n(r + 1) / n(r) / static_cast<double>(r) : 1;
        if (n(r) > 0 && n(r + 1) == 0) ratio = 1;
        last = std::clamp(ratio, last, 1.0);
        values_[r] = statistics.discounts[r - 1] = last;
      }
    } else if (kind == Discounting::kKneserNey) {
      const double y = n(1) + 2 * n(2) > 0 ? n(1) / (n(1) + 2 * n(2)) : 0;
      for (std::size_t r = 1; r <= 3; ++r) {
        double d = n(r) > 0 ? static_cast<double>(r) - static_cast<double>(r + 1) * y * n(r + 1) / n(r) : 0;
        values_[r] = statistics.discounts[r - 1] = std::clamp(d, 0.0, static_cast<double>(r));
      }
    }
  }
  double taken(std::uint64_t units) const {
    const double count = count_value(units);
    switch (kind_) {
      case Discounting::kGoodTuring: {
        if (count >= kMost + 1) return 0;
        const auto below = static_cast<std::size_t>(count);
        const double low = values_[std::max<std::size_t>(below, 1)];
        const double high = below + 1 > kMost ? 1 : values_[below + 1];
        return count * (1 - (low + (count - static_cast<double>(below)) * (high - low)));
      }
      case Discounting::kKneserNey: {
        if (count >= 3) return values_[3];
        const auto below = static_cast<std::size_t>(count);
        return values_[below] + (count - static_cast<double>(below)) * (values_[below + 1] - values_[below]);
      }
      default:
        return 0;
    }
  }
  // Sums must not depend on the order of rules.
  std::uint64_t taken_units(std::uint64_t units) const {
    return static_cast<std::uint64_t>(std::llround(taken(units) * static_cast<double>(kCountUnit)));
  }

 private:
  static constexpr std::size_t kMost = 10;
  Discounting kind_ = Discounting::kNone;
  std::array<std::uint64_t, kMost + 2> frequencies_{};
  std::array<double, kMost + 1> values_{};
};

class Counter {
 public:
  Counter(const ParsedBitext& corpus, const CategoryInterner& categories, const RuleCountOptions& options)
      : corpus_(corpus),
        categories_(categories),
        options_(options),
        lexicon_(corpus),
        word_ranks_(text_ranks(corpus.source().words.size(),
                               [&](std::uint32_t id) -> const std::string& { return corpus.source().words.word(id); })),
        targets_(corpus.target().words) {
    threads_ = thread_count(options.threads, corpus.size() / kSentences);
  }

  void extract(const std::function<std::unique_ptr<RuleExtractor>()>& make) {
    blocks_.resize(threads_);
    for_each_piece(threads_, static_cast<int>(threads_), [&] {
      return [&](std::size_t t) {
        try {
          work(*make(), blocks_[t]);
        } catch (...) {
          next_sentence_ = corpus_.size();  // the others need not go on
          throw;
        }
      };
    });
    statistics_.sentences = corpus_.size();
    statistics_.occurrences = occurrences_;
    order_ = std::make_unique<SymbolOrder>(word_ranks_, categories_);
    targets_.rank_categories(categories_);
    for (RuleBlock& block : blocks_) block.sort(*order_);
  }

  RuleStatistics finish(RuleConsumer& consumer) {
    ExternalSorter<TotalRecord, ByRule> totals(options_.folder, options_.memory / 5, ByRule{},
                                               static_cast<int>(threads_));
    find_totals(consumer, totals);
    give(consumer, totals);
    return statistics_;
  }

 private:
  // Extracts until there is no sentence left; what does not fit in the block goes to disk.
  void work(RuleExtractor& extractor, RuleBlock& block) {
    const std::size_t limit = std::max(kLeastBlock, options_.memory * 3 / 5 / threads_);
    RuleLexicon::Scratch scratch;
    std::uint64_t seen = 0;
    double weight = 1;
    const RuleSink sink = [&](const ExtractedRule& rule) {
      ++seen;
      const RuleLexicon::Weights weights = lexicon_.weights(rule, scratch);
      block.add(rule, count_units(rule.count * weight), weights.target, weights.source, weights.unlinked);
    };
    while (true) {
      const std::size_t first = next_sentence_.fetch_add(kSentences);
      if (first >= corpus_.size()) break;
      const std::size_t last = std::min(first + kSentences, corpus_.size());
      for (std::size_t n = first; n < last; ++n) {
        if (options_.progress) options_.progress->check();
        weight = corpus_.weight(n);
        extractor.extract(corpus_[n], sink);
        if (block.bytes() > limit) spill(block);
      }
      if (options_.progress) {
        options_.progress->done = 0.6 * static_cast<double>(last) / static_cast<double>(corpus_.size());
      }
    }
    occurrences_ += seen;
    std::lock_guard lock(runs_mutex_);
    for (const auto& [name, count] : extractor.statistics()) statistics_.counters[name] += count;
  }

  void spill(RuleBlock& block) {
    SymbolOrder order(word_ranks_, categories_);
    block.sort(order);
    auto run = std::make_unique<Run>(options_.folder);
    std::unique_ptr<Cursor> cursor = block.cursor();
    Group group;
    while (!cursor->done()) {
      group.clear();
      const std::span<const Symbol> source = cursor->source();
      group.source.assign(source.begin(), source.end());
      cursor->take(group);
      run->write(group);
    }
    run->finish();
    block.clear();
    std::lock_guard lock(runs_mutex_);
    ++statistics_.runs;
    runs_.push_back(std::move(run));
    if (runs_.size() < kMaxRuns) return;
    SymbolOrder all(word_ranks_, categories_);
    targets_.rank_categories(categories_);
    auto merged = std::make_unique<Run>(options_.folder);
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const auto& run : runs_) cursors.push_back(run->cursor());
    Merger merger(std::move(cursors), all, targets_);
    while (merger.next(group)) merged->write(group);
    merged->finish();
    runs_.clear();
    runs_.push_back(std::move(merged));
  }

  unsigned class_of(const Group& group) const { return options_.rule_class ? options_.rule_class(group.source) : 0; }

  Merger merge() {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const RuleBlock& block : blocks_) cursors.push_back(block.cursor());
    for (const auto& run : runs_) cursors.push_back(run->cursor());
    return Merger(std::move(cursors), *order_, targets_);
  }

  void tick(double from, double to, std::uint64_t done, std::uint64_t all) {
    if (!options_.progress || (done & 0xFFF) != 0) return;
    options_.progress->check();
    const double part = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    options_.progress->done = from + (to - from) * std::min(part, 1.0);
  }

  // First merge: totals of target sides, frequencies of symbols, numbers of rules by count.
  void find_totals(RuleConsumer& consumer, ExternalSorter<TotalRecord, ByRule>& totals) {
    const int sorting = static_cast<int>(threads_);
    ExternalSorter<TargetRecord, ByTarget> by_target(options_.folder, options_.memory / 5, ByTarget{}, sorting);
    SymbolUse use;
    for (std::size_t kind = 0; kind < use.source.size(); ++kind) {
      const bool word = id_is_word(symbol(static_cast<SymbolKind>(kind), 0));
      use.source[kind].resize(word ? corpus_.source().words.size() : categories_.size() + 1);
    }
    use.target.resize(corpus_.target().words.size());
    for (auto& categories : use.nodes) categories.resize(categories_.size() + 1);
    {
      Merger merger = merge();
      Group group;
      while (merger.next(group)) {
        for (Symbol symbol : group.source) {
          std::vector<std::uint64_t>& uses = use.source[static_cast<std::size_t>(symbol_kind(symbol))];
          if (symbol_id(symbol) >= uses.size()) uses.resize(symbol_id(symbol) + 1);  // numbers have no bound
          ++uses[symbol_id(symbol)];
        }
        const unsigned of_class = class_of(group);
        if (of_class >= rules_of_class_.size()) rules_of_class_.resize(of_class + 1);
        rules_of_class_[of_class] += group.rules.size();
        for (const Group::Rule& rule : group.rules) {
          const std::span<const TargetSymbol> target = group.target(rule);
          for (TargetSymbol symbol : target) {
            if (is_target_word(symbol)) {
              ++use.target[symbol];
              continue;
            }
            if (is_target_node(symbol)) {
              ++use.nodes[static_cast<std::size_t>(target_node_kind(symbol))][target_category(symbol)];
              continue;
            }
            if (variable_number(symbol) >= use.variables.size()) use.variables.resize(variable_number(symbol) + 1);
            ++use.variables[variable_number(symbol)];
          }
          discounts_.see(rule.count);
          by_target.push({hash_bytes(reinterpret_cast<const char*>(target.data()), target.size_bytes(), of_class),
                          all_rules_, rule.count});
          tick(0.6, 0.7, all_rules_, statistics_.occurrences / 2);
          ++all_rules_;
        }
      }
    }
    discounts_.estimate(options_.discounting, statistics_);
    consumer.begin(use);
    by_target.finish();
    statistics_.runs += by_target.runs();
    std::vector<TargetRecord> same;
    auto close = [&] {
      TotalRecord record{0, 0, 0, static_cast<std::uint32_t>(same.size())};
      std::uint64_t taken = 0;
      for (const TargetRecord& target : same) record.total += target.count;
      if (options_.discounting != Discounting::kNone) {
        for (const TargetRecord& target : same) taken += discounts_.taken_units(target.count);
      }
      record.taken = static_cast<float>(count_value(taken));
      for (const TargetRecord& target : same) {
        record.rule = target.rule;
        totals.push(record);
      }
      statistics_.targets += !same.empty();
      same.clear();
    };
    std::uint64_t done = 0;
    while (const TargetRecord* next = by_target.next()) {
      tick(0.7, 0.8, ++done, all_rules_);
      if (!same.empty() && same.front().target != next->target) close();
      same.push_back(*next);
    }
    close();
  }

  // Second merge: the rules with all that is known about them.
  void give(RuleConsumer& consumer, ExternalSorter<TotalRecord, ByRule>& totals) {
    totals.finish();
    statistics_.runs += totals.runs();
    Merger merger = merge();
    Group group;
    std::vector<CountedRule> rules;
    const double least = options_.min_count - 1e-6;
    std::uint64_t number = 0;
    while (merger.next(group)) {
      CountedSource source{group.source, {}, 0};
      std::uint64_t taken = 0;
      for (const Group::Rule& rule : group.rules) {
        source.total += rule.count;
        if (options_.discounting != Discounting::kNone) taken += discounts_.taken_units(rule.count);
      }
      rules.clear();
      for (const Group::Rule& rule : group.rules) {
        const TotalRecord* total = totals.next();
        if (!total || total->rule != number) throw std::runtime_error("the totals of target sides are out of step");
        tick(0.8, 1.0, number++, all_rules_);
        if (count_value(rule.count) < least) {
          ++statistics_.dropped;
          continue;
        }
        double forward = count_value(rule.count), backward = forward;
        if (options_.discounting != Discounting::kNone) {
          const double less = forward - discounts_.taken(rule.count);
          const double all = static_cast<double>(rules_of_class_[class_of(group)]);
          forward = backward = less;
          if (options_.discounting == Discounting::kKneserNey) {
            forward += count_value(taken) * total->distinct / all;
            backward += total->taken * static_cast<double>(group.rules.size()) / all;
          }
        }
        rules.push_back({group.target(rule), group.labels_of(rule), rule.count, total->total,
                         forward / count_value(source.total), backward / count_value(total->total), rule.lexical_target,
                         rule.lexical_source, rule.unlinked});
      }
      if (rules.empty()) continue;
      if (rules.size() > 1) {
        std::sort(rules.begin(), rules.end(), [&](const CountedRule& a, const CountedRule& b) {
          if (a.target_given_source != b.target_given_source) return a.target_given_source > b.target_given_source;
          return targets_.compare(a.target, b.target) < 0;
        });
      }
      source.rules = rules;
      statistics_.rules += rules.size();
      ++statistics_.sources;
      consumer.take(source);
    }
  }

  const ParsedBitext& corpus_;
  const CategoryInterner& categories_;
  const RuleCountOptions& options_;
  const RuleLexicon lexicon_;
  const std::vector<std::uint32_t> word_ranks_;
  TargetOrder targets_;
  std::size_t threads_;
  std::atomic<std::size_t> next_sentence_{0};
  std::atomic<std::uint64_t> occurrences_{0};
  std::vector<RuleBlock> blocks_;  // one for each thread
  std::mutex runs_mutex_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::unique_ptr<SymbolOrder> order_;
  std::uint64_t all_rules_ = 0;
  std::vector<std::uint64_t> rules_of_class_;
  Discounts discounts_;
  RuleStatistics statistics_;
};

}  // namespace

RuleStatistics count_rules(const ParsedBitext& corpus, const CategoryInterner& categories,
                           const std::function<std::unique_ptr<RuleExtractor>()>& make, const RuleCountOptions& options,
                           RuleConsumer& consumer) {
  Counter counter(corpus, categories, options);
  counter.extract(make);
  return counter.finish(consumer);
}

}  // namespace treeglot
