#include "lm/estimate.hh"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/external_sort.hh"

namespace treeglot::lm {
namespace {

// Suffix order: by the last word, then the one before it, and so on. n-grams with a common suffix are neighbours.
struct SuffixLess {
  int order;
  bool operator()(const Gram& a, const Gram& b) const {
    for (int i = order - 1; i >= 0; --i) {
      if (a.words[i] != b.words[i]) return a.words[i] < b.words[i];
    }
    return false;
  }
};

// Context order: by the first word and so on. n-grams with a common context are neighbours.
struct ContextLess {
  int order;
  bool operator()(const Gram& a, const Gram& b) const {
    for (int i = 0; i < order; ++i) {
      if (a.words[i] != b.words[i]) return a.words[i] < b.words[i];
    }
    return false;
  }
};

using SuffixSorter = ExternalSorter<Gram, SuffixLess>;
using ContextSorter = ExternalSorter<Gram, ContextLess>;

bool same_words(const Gram& a, int a_first, const Gram& b, int b_first, int length) {
  return std::equal(a.words.begin() + a_first, a.words.begin() + a_first + length, b.words.begin() + b_first);
}

std::uint64_t hash_words(const Gram& gram, int order) {
  std::uint64_t hash = 0x9E3779B97F4A7C15ull;
  for (int i = 0; i < order; ++i) {
    hash = (hash ^ gram.words[i]) * 0xD6E8FEB86659FD93ull;
    hash ^= hash >> 32;
  }
  return hash;
}

void append_number(std::string& out, float value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value == 0 ? 0.0f : value).ptr;
  out.append(buffer, end);
}

}  // namespace

// Counts n-grams of the highest order: equal ones are added up in a hash table until memory is full, then sorted away.
struct Estimator::Counter {
  Counter(const EstimateOptions& options)
      : order(options.order),
        capacity(std::max<std::size_t>(options.memory / 2 / (sizeof(Gram) + 8), 1 << 12)),
        sorter(options.folder, options.memory / 2, SuffixLess{options.order}) {
    slots.assign(1 << 12, kFree);
  }

  void add(const Gram& gram) {
    if (grams.size() * 2 >= slots.size()) grow();
    std::size_t mask = slots.size() - 1;
    for (std::size_t i = hash_words(gram, order) & mask;; i = (i + 1) & mask) {
      if (slots[i] == kFree) {
        slots[i] = static_cast<std::uint32_t>(grams.size());
        grams.push_back(gram);
        return;
      }
      if (same_words(grams[slots[i]], 0, gram, 0, order)) {
        ++grams[slots[i]].count;
        return;
      }
    }
  }

  void grow() {
    if (grams.size() >= capacity) {
      flush();
      return;
    }
    slots.assign(slots.size() * 2, kFree);
    std::size_t mask = slots.size() - 1;
    for (std::size_t g = 0; g < grams.size(); ++g) {
      std::size_t i = hash_words(grams[g], order) & mask;
      while (slots[i] != kFree) i = (i + 1) & mask;
      slots[i] = static_cast<std::uint32_t>(g);
    }
  }

  void flush() {
    for (const Gram& gram : grams) sorter.push(gram);
    grams.clear();
    std::fill(slots.begin(), slots.end(), kFree);
  }

  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  int order;
  std::size_t capacity;
  std::vector<Gram> grams;
  std::vector<std::uint32_t> slots;
  SuffixSorter sorter;
};

Estimator::Estimator(EstimateOptions options) : options_(std::move(options)) {
  counter_ = std::make_unique<Counter>(options_);
}

Estimator::~Estimator() = default;

std::uint64_t Estimator::add(std::string_view text) {
  if (finished_) throw std::logic_error("the model is finished already");
  const int order = options_.order;
  Gram gram{};
  std::size_t position = 0;
  while (position < text.size()) {
    std::size_t stop = std::min(text.find('\n', position), text.size());
    ++report_.sentences;
    std::fill(gram.words.begin(), gram.words.begin() + order, kBegin);
    gram.count = 1;
    auto shift_in = [&](WordId word) {
      std::copy(gram.words.begin() + 1, gram.words.begin() + order, gram.words.begin());
      gram.words[order - 1] = word;
      counter_->add(gram);
    };
    std::size_t i = position;
    while (true) {
      while (i < stop && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r')) ++i;
      if (i >= stop) break;
      std::size_t start = i;
      while (i < stop && text[i] != ' ' && text[i] != '\t' && text[i] != '\r') ++i;
      WordId word = vocabulary_.id(text.substr(start, i - start));
      if (word <= kEnd) return report_.sentences;
      ++report_.tokens;
      shift_in(word);
    }
    shift_in(kEnd);
    position = stop + 1;
  }
  return 0;
}

Discount estimate_discount(const std::array<std::uint64_t, 5>& t, const std::array<double, 3>& fallback) {
  Discount discount;
  bool defined = t[1] > 0 && t[2] > 0 && t[3] > 0;
  if (defined) {
    double y = static_cast<double>(t[1]) / static_cast<double>(t[1] + 2 * t[2]);
    for (int k = 1; k <= 3; ++k) {
      discount.amount[k] = k - (k + 1) * y * static_cast<double>(t[k + 1]) / static_cast<double>(t[k]);
      defined = defined && discount.amount[k] >= 0 && discount.amount[k] <= k;
    }
  }
  if (!defined) {
    discount.fallback = true;
    std::copy(fallback.begin(), fallback.end(), discount.amount.begin() + 1);
  }
  return discount;
}

EstimateReport Estimator::finish(const std::function<void(std::string_view)>& write) {
  if (std::exchange(finished_, true)) throw std::logic_error("the model is finished already");
  const int order = options_.order;
  const std::size_t memory = std::max<std::size_t>(options_.memory / (2 * order), 1 << 16);
  counter_->flush();
  counter_->slots = {};
  counter_->grams = {};
  counter_->sorter.finish();

  // Adjust: from the n-grams of the highest order in suffix order to all orders with adjusted counts.
  std::vector<ContextSorter> by_context;
  by_context.reserve(order);
  for (int k = 1; k <= order; ++k) by_context.emplace_back(options_.folder, memory, ContextLess{k});
  std::vector<std::array<std::uint64_t, 5>> counts_of_counts(order + 1);
  report_.grams.assign(order, 0);
  std::vector<std::uint64_t> adjusted(order + 1, 0);
  Gram previous{};
  int previous_length = 0;  // the valid length of `previous`: repeated <s> at its start count once
  auto emit = [&](int k) {  // the suffix of length k of `previous` is complete
    Gram gram{};
    std::copy(previous.words.begin() + order - k, previous.words.begin() + order, gram.words.begin());
    gram.count = adjusted[k];
    by_context[k - 1].push(gram);
    ++counts_of_counts[k][std::min<std::uint64_t>(adjusted[k], 4)];
    counts_of_counts[k][0] += adjusted[k] > 4;  // kept apart: t[4] must be exactly four
    ++report_.grams[k - 1];
    adjusted[k] = 0;
  };
  auto take = [&](const Gram& gram) {  // one distinct n-gram with its whole count
    int length = order;
    while (length > 1 && gram.words[order - length] == kBegin && gram.words[order - length + 1] == kBegin) --length;
    int common = 0;
    while (common < std::min(length, previous_length) &&
           gram.words[order - 1 - common] == previous.words[order - 1 - common]) {
      ++common;
    }
    for (int k = previous_length; k > common; --k) emit(k);
    adjusted[length] = gram.count;
    for (int k = std::max(common, 1); k < length; ++k) ++adjusted[k];
    previous = gram;
    previous_length = length;
  };
  Gram pending{};
  bool any = false;
  while (const Gram* next = counter_->sorter.next()) {
    if (any && same_words(pending, 0, *next, 0, order)) {
      pending.count += next->count;
      continue;
    }
    if (any) take(pending);
    pending = *next;
    any = true;
  }
  if (any) take(pending);
  for (int k = previous_length; k >= 1; --k) emit(k);
  counter_.reset();
  for (auto& t : counts_of_counts) t[4] -= t[0];

  report_.discounts.clear();
  for (int k = 1; k <= order; ++k) {
    report_.discounts.push_back(estimate_discount(counts_of_counts[k], options_.fallback));
  }

  // Normalise: each context's n-grams together give u = (c - D(c)) / sum and the context's back-off weight.
  std::vector<SuffixSorter> uninterpolated, backoffs;
  uninterpolated.reserve(order);
  backoffs.reserve(order);
  for (int k = 1; k <= order; ++k) {
    uninterpolated.emplace_back(options_.folder, memory, SuffixLess{k});
    backoffs.emplace_back(options_.folder, memory, SuffixLess{k});
  }
  double unigram_backoff = 1;
  for (int k = 1; k <= order; ++k) {
    const Discount& discount = report_.discounts[k - 1];
    by_context[k - 1].finish();
    std::vector<Gram> group;
    auto close = [&] {
      if (group.empty()) return;
      double sum = 0, held = 0;
      for (const Gram& gram : group) {
        sum += static_cast<double>(gram.count);
        held += discount.of(gram.count);
      }
      double gamma = held / sum;
      for (Gram gram : group) {
        double u = (static_cast<double>(gram.count) - discount.of(gram.count)) / sum;
        gram.value = {static_cast<float>(u), static_cast<float>(gamma)};
        uninterpolated[k - 1].push(gram);
      }
      if (k == 1) {
        unigram_backoff = gamma;
      } else {
        Gram context = group.front();
        context.words[k - 1] = 0;
        context.value = {0, static_cast<float>(gamma)};
        backoffs[k - 2].push(context);
      }
      group.clear();
    };
    while (const Gram* next = by_context[k - 1].next()) {
      if (!group.empty() && !same_words(group.front(), 0, *next, 0, k - 1)) close();
      group.push_back(*next);
    }
    close();
  }
  by_context.clear();

  // Interpolate in suffix order, lower order beside higher, and write.
  std::string out = "\\data\\\n";
  const std::uint64_t specials = 2;  // <unk> and <s> have no count of their own
  for (int k = 1; k <= order; ++k) {
    out += "ngram " + std::to_string(k) + "=" + std::to_string(report_.grams[k - 1] + (k == 1 ? specials : 0)) + "\n";
  }
  for (auto& sorter : backoffs) sorter.finish();
  std::unique_ptr<RecordReader<Gram>> lower;
  const double uniform = 1.0 / static_cast<double>(vocabulary_.size() - 1);
  for (int k = 1; k <= order; ++k) {
    uninterpolated[k - 1].finish();
    out += "\n\\" + std::to_string(k) + "-grams:\n";
    TemporaryFile kept(options_.folder);
    std::vector<Gram> keep_buffer;
    auto keep = [&](const Gram& gram) {
      keep_buffer.push_back(gram);
      if (keep_buffer.size() == 4096) {
        kept.write(keep_buffer.data(), keep_buffer.size() * sizeof(Gram));
        keep_buffer.clear();
      }
    };
    const Gram* context = k < order ? backoffs[k - 1].next() : nullptr;
    SuffixLess less{k};
    auto print = [&](const Gram& gram, double probability) {
      float log_backoff = 0;
      if (k < order) {
        while (context && less(*context, gram)) context = backoffs[k - 1].next();
        if (context && same_words(*context, 0, gram, 0, k)) log_backoff = std::log10(context->value.backoff);
      }
      append_number(out, static_cast<float>(std::log10(probability)));
      out += '\t';
      for (int i = 0; i < k; ++i) {
        if (i) out += ' ';
        out += vocabulary_.word(gram.words[i]);
      }
      if (k < order) {
        out += '\t';
        append_number(out, log_backoff);
      }
      out += '\n';
      if (out.size() > 1 << 16) {
        write(out);
        out.clear();
      }
    };
    const Gram* below = lower ? lower->next() : nullptr;
    if (k == 1) {  // ids 0 and 1: before all counted words
      Gram special{};
      special.words[0] = kUnknown;
      special.value.probability = static_cast<float>(unigram_backoff * uniform);
      print(special, special.value.probability);
      special.words[0] = kBegin;
      print(special, 1.0);
    }
    while (const Gram* next = uninterpolated[k - 1].next()) {
      Gram gram = *next;
      double base = uniform;
      if (k > 1) {
        while (below && !same_words(*below, 0, gram, 1, k - 1)) below = lower->next();
        if (!below) throw std::logic_error("an n-gram without its suffix");
        base = below->value.probability;
      }
      double probability = gram.value.probability + gram.value.backoff * base;
      gram.value.probability = static_cast<float>(probability);
      print(gram, probability);
      if (k < order) keep(gram);
    }
    kept.write(keep_buffer.data(), keep_buffer.size() * sizeof(Gram));
    lower = std::make_unique<RecordReader<Gram>>(std::move(kept));
  }
  out += "\n\\end\\\n";
  write(out);
  return report_;
}

}  // namespace treeglot::lm
