#include "align/trainer.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "align/gibbs.hh"
#include "base/parallel.hh"
#include "base/words.hh"

namespace treeglot::align {
namespace {

// exp(digamma(x)) for x >= 0, by interpolation below 16 and its series above; the error is below 1e-5.
class ExpDigamma {
 public:
  ExpDigamma() {
    for (std::size_t i = 0; i < table_.size(); ++i)
      table_[i] = static_cast<float>(exact(static_cast<double>(i) / kSteps));
  }
  float operator()(float x) const {
    if (x >= kLimit - 1) return x - 0.5f + 1.0f / (24.0f * x);
    const float scaled = x * kSteps;
    const auto index = static_cast<std::size_t>(scaled);
    const float part = scaled - static_cast<float>(index);
    return table_[index] + part * (table_[index + 1] - table_[index]);
  }

 private:
  static constexpr int kSteps = 512, kLimit = 16;
  static double exact(double x) {
    if (x <= 0) return 0;
    double shift = 0;
    while (x < 8) shift -= 1 / x++;
    const double y = 1 / (x * x);
    return std::exp(shift + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252)));
  }
  std::vector<float> table_ = std::vector<float>(kSteps * kLimit + 2);
};

constexpr float kFloor = 1e-9f;
constexpr double kBytesOfCell = 14;  // eight of each cell, 20 of each word pair, of which there are some three cells

class Trainer {
 public:
  Trainer(const Corpus& corpus, const TrainOptions& options, const Evidence& evidence)
      : corpus_(corpus), options_(options), evidence_(evidence) {
    threads_ = static_cast<int>(thread_count(options.threads));
    list_pairs();
  }

  Learnt run(const std::function<void(int, int, double)>& report) {
    const int sweeps = sampling_sweeps(options_, cells_.used.size()) * options_.chains;
    const int learning = options_.model1_iterations + options_.hmm_iterations, total = learning + sweeps;
    result_.forward = first_jumps(evidence_.forward);
    result_.reverse = first_jumps(evidence_.reverse);
    if (!evidence_.empty()) {
      null_target_.assign(corpus_.target_words.size(), 0.0);
      null_source_.assign(corpus_.source_words.size(), 0.0);
      maximise();
    }
    for (int iteration = 0; iteration < learning; ++iteration) {
      const double likelihood = expect(iteration >= options_.model1_iterations, iteration == 0 && evidence_.empty());
      maximise();
      if (iteration >= options_.model1_iterations) {
        update_jumps(result_.forward, forward_counts_, options_.smoothing, evidence_.forward, evidence_.jumps);
        update_jumps(result_.reverse, reverse_counts_, options_.smoothing, evidence_.reverse, evidence_.jumps);
      }
      if (report) report(iteration + 1, total, likelihood);
    }
    if (sweeps > 0) {
      std::vector<WordPairs::Chance>().swap(counts_);
      sample_links(corpus_, cells_, evidence_, options_, result_, [&](int done) {
        if (report) report(learning + done, total, 0.0);
      });
    }
    return std::move(result_);
  }

 private:
  JumpTable first_jumps(const std::optional<JumpTable>& known) const {
    JumpTable table = known ? *known : JumpTable::initial(0);
    table.null = static_cast<float>(options_.null);
    return table;
  }

  // For each source word, the target words that occur with it, and those that are known without; every cell of every
  // sentence gets its place in that row.
  void list_pairs() {
    const std::size_t sentences = corpus_.size(), words = corpus_.source_words.size();
    cells_.starts.assign(sentences + 1, 0);
    const std::size_t stride = memory_stride();
    std::size_t number = 0;
    for (std::size_t n = 0; n < sentences; ++n) {
      cells_.starts[n + 1] = cells_.starts[n];
      if (!takes_part(n) || (number++ % stride != 0 && !evidence_.links(n))) continue;
      cells_.used.push_back(n);
      cells_.starts[n + 1] +=
          static_cast<std::uint64_t>(corpus_.source_length(n)) * static_cast<std::uint64_t>(corpus_.target_length(n));
    }
    cells_.index.resize(cells_.starts.back());
    // positions of each source word, in the order of the text
    std::vector<std::uint64_t> starts(words + 1, 0);
    for (std::size_t n : cells_.used) {
      for (auto p = corpus_.source_starts[n]; p < corpus_.source_starts[n + 1]; ++p) ++starts[corpus_.source[p] + 1];
    }
    for (std::size_t w = 0; w < words; ++w) starts[w + 1] += starts[w];
    struct Place {
      std::uint32_t sentence, position;
    };
    std::vector<Place> places(starts.back());
    std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t n : cells_.used) {
      for (int i = 0; i < corpus_.source_length(n); ++i) {
        WordId word = corpus_.source[corpus_.source_starts[n] + static_cast<std::uint64_t>(i)];
        places[next[word]++] = {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(i)};
      }
    }
    // Blocks of words, so that threads can work apart; the rows are joined in the order of words.
    constexpr std::size_t kBlock = 256;
    const std::size_t blocks = (words + kBlock - 1) / kBlock;
    std::vector<std::vector<WordId>> block_targets(blocks);
    std::vector<std::vector<Cells::Extra>> block_extras(blocks);  // numbers within the row of the word
    std::vector<std::uint32_t> sizes(words, 0);
    const auto& known = evidence_.pairs;
    for_each_piece(blocks, threads_, [&] {
      std::vector<std::uint32_t> seen(corpus_.target_words.size(), 0xFFFFFFFF), index(corpus_.target_words.size());
      return [&, seen = std::move(seen), index = std::move(index)](std::size_t b) mutable {
        for (std::size_t w = b * kBlock; w < std::min(words, (b + 1) * kBlock); ++w) {
          std::uint32_t size = 0;
          for (auto p = starts[w]; p < starts[w + 1]; ++p) {
            const std::size_t n = places[p].sentence;
            const int length = corpus_.target_length(n);
            const WordId* target = corpus_.target.data() + corpus_.target_starts[n];
            std::uint32_t* cells = cells_.index.data() + cells_.starts[n] +
                                   static_cast<std::uint64_t>(places[p].position) * static_cast<std::uint64_t>(length);
            for (int j = 0; j < length; ++j) {
              const WordId e = target[j];
              if (seen[e] != w) {
                seen[e] = static_cast<std::uint32_t>(w);
                index[e] = size++;
                block_targets[b].push_back(e);
              }
              cells[j] = index[e];
            }
          }
          auto pair = std::partition_point(known.begin(), known.end(), [&](const auto& p) { return p.source < w; });
          for (; pair != known.end() && pair->source == w; ++pair) {
            const WordId e = pair->target;
            if (seen[e] != w) {
              seen[e] = static_cast<std::uint32_t>(w);
              index[e] = size++;
              block_targets[b].push_back(e);
            }
            block_extras[b].push_back(
                {static_cast<std::uint64_t>(w) << 32 | index[e], pair->target_given_source, pair->source_given_target});
          }
          sizes[w] = size;
        }
      };
    });
    WordPairs& pairs = result_.pairs;
    pairs.starts.assign(words + 1, 0);
    for (std::size_t w = 0; w < words; ++w) pairs.starts[w + 1] = pairs.starts[w] + sizes[w];
    pairs.targets.reserve(pairs.starts.back());
    for (std::vector<WordId>& part : block_targets) {
      pairs.targets.insert(pairs.targets.end(), part.begin(), part.end());
      std::vector<WordId>().swap(part);
    }
    for (const std::vector<Cells::Extra>& part : block_extras)
      for (Cells::Extra extra : part) {
        extra.pair = pairs.starts[extra.pair >> 32] + (extra.pair & 0xFFFFFFFF);
        cells_.extras.push_back(extra);
      }
    auto by_pair = [](const Cells::Extra& a, const Cells::Extra& b) { return a.pair < b.pair; };
    std::sort(cells_.extras.begin(), cells_.extras.end(), by_pair);
    pairs.chances.assign(pairs.targets.size(), {1.0f, 1.0f});
    counts_.assign(pairs.targets.size(), {0.0f, 0.0f});
    // Partners of unknown words: all alike.
    pairs.target_given_null.assign(corpus_.target_words.size() + 1, 1.0f);
    pairs.source_given_null.assign(words + 1, 1.0f);
    pairs.source_unseen.assign(words + 1, 1.0f / static_cast<float>(corpus_.target_words.size() + 1));
    pairs.target_unseen.assign(corpus_.target_words.size() + 1, 1.0f / static_cast<float>(words + 1));
    pairs.same_ratio =
        digamma_(static_cast<float>(options_.prior + options_.same)) / digamma_(static_cast<float>(options_.prior));
    if (options_.same > 0) {
      cells_.same.assign(words, 0xFFFFFFFF);
      for (std::size_t w = 0; w < words; ++w)
        for (auto k = pairs.starts[w]; k < pairs.starts[w + 1]; ++k)
          if (corpus_.target_words.word(pairs.targets[k]) == corpus_.source_words.word(static_cast<WordId>(w)))
            cells_.same[w] = static_cast<std::uint32_t>(k - pairs.starts[w]);
    }
  }

  // Every so many-th pair is learnt from, so that what is kept of each cell and word pair fits into the memory.
  std::size_t memory_stride() const {
    double cells = 0;
    for (std::size_t n = 0; n < corpus_.size(); ++n)
      if (takes_part(n)) cells += static_cast<double>(corpus_.source_length(n)) * corpus_.target_length(n);
    const double stride = std::ceil(cells * kBytesOfCell / (options_.memory * 1e6));
    return static_cast<std::size_t>(std::clamp(stride, 1.0, 1e15));
  }

  bool takes_part(std::size_t n) const {
    const int source = corpus_.source_length(n), target = corpus_.target_length(n);
    if (source > 0 && target > 0 && evidence_.links(n)) return true;
    return source > 0 && target > 0 && source <= options_.max_length && target <= options_.max_length;
  }

  // One pass over the text: counts_ and the jump counts.
  double expect(bool hmm, bool first) {
    WordPairs& pairs = result_.pairs;
    std::fill(counts_.begin(), counts_.end(), WordPairs::Chance{0.0f, 0.0f});
    null_target_.assign(corpus_.target_words.size(), 0.0);
    null_source_.assign(corpus_.source_words.size(), 0.0);
    forward_counts_ = JumpCounts();
    reverse_counts_ = JumpCounts();
    double likelihood = 0;
    // Jumps have few parameters: a few million cells are enough for them.
    const std::uint64_t stride = std::max<std::uint64_t>(1, cells_.starts.back() / 4'000'000);
    constexpr std::uint64_t kBatchCells = std::uint64_t{1} << 21;
    constexpr std::size_t kGroup = 32;
    std::vector<float> forward, reverse, forward_null, reverse_null;
    for (std::size_t begin = 0; begin < cells_.used.size();) {
      std::size_t end = begin;
      const std::uint64_t base = cells_.starts[cells_.used[begin]];
      while (end < cells_.used.size() && cells_.starts[cells_.used[end] + 1] - base <= kBatchCells) ++end;
      end = std::max(end, begin + 1);
      forward.resize(cells_.starts[cells_.used[end - 1] + 1] - base);
      reverse.resize(forward.size());
      const std::uint64_t source_base = corpus_.source_starts[cells_.used[begin]],
                          target_base = corpus_.target_starts[cells_.used[begin]];
      forward_null.resize(corpus_.target_starts[cells_.used[end - 1] + 1] - target_base);
      reverse_null.resize(corpus_.source_starts[cells_.used[end - 1] + 1] - source_base);
      const std::size_t groups = (end - begin + kGroup - 1) / kGroup;
      std::vector<JumpCounts> forward_parts(hmm ? groups : 0), reverse_parts(hmm ? groups : 0);
      std::vector<double> likelihoods(groups, 0.0);
      for_each_piece(groups, threads_, [&] {
        return [&, workspace = HmmWorkspace(), emission = std::vector<float>(), emission_reverse = std::vector<float>(),
                posterior = std::vector<float>(), null_emission = std::vector<float>()](std::size_t g) mutable {
          for (std::size_t u = begin + g * kGroup; u < std::min(end, begin + (g + 1) * kGroup); ++u) {
            const std::size_t n = cells_.used[u];
            const int I = corpus_.source_length(n), J = corpus_.target_length(n);
            const auto size = static_cast<std::size_t>(I) * static_cast<std::size_t>(J);
            emission.resize(size);
            emission_reverse.resize(size);
            posterior.resize(size);
            null_emission.resize(static_cast<std::size_t>(std::max(I, J)));
            const WordId* source = corpus_.source.data() + corpus_.source_starts[n];
            const WordId* target = corpus_.target.data() + corpus_.target_starts[n];
            const std::uint32_t* cells = cells_.index.data() + cells_.starts[n];
            const auto known = evidence_.links(n);
            if (known) only_known(*known, I, J, emission, emission_reverse);
            for (int i = 0; i < I && !known; ++i) {
              const WordPairs::Chance* row = pairs.chances.data() + pairs.starts[source[i]];
              for (int j = 0; j < J; ++j) {
                const WordPairs::Chance chance = row[cells[i * J + j]];
                emission[static_cast<std::size_t>(j * I + i)] = chance.target_given_source;
                emission_reverse[static_cast<std::size_t>(i * J + j)] = chance.source_given_target;
              }
            }
            float* q = forward.data() + (cells_.starts[n] - base);  // cells as in cells_: source by target
            float* r = reverse.data() + (cells_.starts[n] - base);
            float* q0 = forward_null.data() + (corpus_.target_starts[n] - target_base);
            float* r0 = reverse_null.data() + (corpus_.source_starts[n] - source_base);
            const bool jumps = hmm && u % stride == 0;
            for (int j = 0; j < J; ++j) null_emission[static_cast<std::size_t>(j)] = pairs.target_given_null[target[j]];
            if (known) nothing_else(emission, I, J, null_emission);
            if (hmm) {
              likelihoods[g] += workspace.posteriors(emission.data(), null_emission.data(), J, I, result_.forward,
                                                     posterior.data(), q0, jumps ? &forward_parts[g] : nullptr);
            } else {
              likelihoods[g] +=
                  model1(emission.data(), null_emission.data(), J, I, first && !known, posterior.data(), q0);
            }
            for (int i = 0; i < I; ++i)
              for (int j = 0; j < J; ++j) q[i * J + j] = posterior[static_cast<std::size_t>(j * I + i)];
            for (int i = 0; i < I; ++i) null_emission[static_cast<std::size_t>(i)] = pairs.source_given_null[source[i]];
            if (known) nothing_else(emission_reverse, J, I, null_emission);
            if (hmm) {
              likelihoods[g] += workspace.posteriors(emission_reverse.data(), null_emission.data(), I, J,
                                                     result_.reverse, r, r0, jumps ? &reverse_parts[g] : nullptr);
            } else {
              likelihoods[g] += model1(emission_reverse.data(), null_emission.data(), I, J, first && !known, r, r0);
            }
            if (options_.agreement > 0 && !first && !known) agree(q, r, I, J);
          }
        };
      });
      for (std::size_t g = 0; g < groups; ++g) {
        if (hmm) {
          forward_counts_.add(forward_parts[g]);
          reverse_counts_.add(reverse_parts[g]);
        }
        likelihood += likelihoods[g];
      }
      // Each source word's counts belong to one share of the work, and come in the order of the text.
      const auto shares = static_cast<std::size_t>(threads_);
      auto add_share = [&](std::size_t share) {
        for (std::size_t u = begin; u < end; ++u) {
          const std::size_t n = cells_.used[u];
          const int I = corpus_.source_length(n), J = corpus_.target_length(n);
          const WordId* source = corpus_.source.data() + corpus_.source_starts[n];
          const std::uint32_t* cells = cells_.index.data() + cells_.starts[n];
          const float* q = forward.data() + (cells_.starts[n] - base);
          const float* r = reverse.data() + (cells_.starts[n] - base);
          for (int i = 0; i < I; ++i) {
            if (source[i] % shares != share) continue;
            WordPairs::Chance* row = counts_.data() + pairs.starts[source[i]];
            for (int j = 0; j < J; ++j) {
              WordPairs::Chance& count = row[cells[i * J + j]];
              count.target_given_source += q[i * J + j];
              count.source_given_target += r[i * J + j];
            }
          }
          if (share == 0) {
            const WordId* target = corpus_.target.data() + corpus_.target_starts[n];
            for (int j = 0; j < J; ++j)
              null_target_[target[j]] +=
                  forward_null[corpus_.target_starts[n] - target_base + static_cast<std::uint64_t>(j)];
            for (int i = 0; i < I; ++i)
              null_source_[source[i]] +=
                  reverse_null[corpus_.source_starts[n] - source_base + static_cast<std::uint64_t>(i)];
          }
        }
      };
      for_each_piece(shares, threads_, [&] { return add_share; });
      begin = end;
    }
    return likelihood;
  }

  // Words can come from the known links alone.
  static void only_known(const Evidence::Links& links, int I, int J, std::vector<float>& emission,
                         std::vector<float>& emission_reverse) {
    std::fill(emission.begin(), emission.end(), 0.0f);
    std::fill(emission_reverse.begin(), emission_reverse.end(), 0.0f);
    for (const WordLink& link : links) {
      emission[static_cast<std::size_t>(link.target * I + link.source)] = 1;
      emission_reverse[static_cast<std::size_t>(link.source * J + link.target)] = 1;
    }
  }

  // ... and from nothing if they have none.
  static void nothing_else(const std::vector<float>& emission, int states, int observed, std::vector<float>& nothing) {
    for (int j = 0; j < observed; ++j) {
      const auto row = emission.begin() + static_cast<std::ptrdiff_t>(j) * states;
      nothing[static_cast<std::size_t>(j)] = std::find(row, row + states, 1.0f) == row + states ? 1.0f : 0.0f;
    }
  }

  // IBM model 1: any state with the same chance.
  double model1(const float* emission, const float* null_emission, int observed, int states, bool first,
                float* posterior, float* null_posterior) const {
    const auto p0 = static_cast<float>(options_.null);
    const float each = (1 - p0) / static_cast<float>(states);
    double likelihood = 0;
    for (int j = 0; j < observed; ++j) {
      const float* e = emission + static_cast<std::size_t>(j) * static_cast<std::size_t>(states);
      float* out = posterior + static_cast<std::size_t>(j) * static_cast<std::size_t>(states);
      const float nothing = first ? p0 : p0 * null_emission[j];
      float total = nothing;
      for (int i = 0; i < states; ++i) {
        out[i] = e[i] * each;
        total += out[i];
      }
      const float inverse = 1.0f / total;
      for (int i = 0; i < states; ++i) out[i] *= inverse;
      null_posterior[j] = nothing * inverse;
      likelihood += std::log(static_cast<double>(total));
    }
    return likelihood;
  }

  // Both directions keep what the other one believes too.
  void agree(float* q, float* r, int I, int J) const {
    const auto exponent = static_cast<float>(options_.agreement);
    auto both = [&](auto power) {
      for (int c = 0; c < I * J; ++c) {
        const float a = q[c], b = r[c];
        q[c] = a * power(b);
        r[c] = b * power(a);
      }
    };
    if (exponent == 1.0f) {
      both([](float x) { return x; });
    } else if (exponent == 0.5f) {
      both([](float x) { return std::sqrt(x); });
    } else if (exponent == 0.75f) {
      both([](float x) { return std::sqrt(x) * std::sqrt(std::sqrt(x)); });
    } else {
      both([&](float x) { return std::pow(x, exponent); });
    }
  }

  // New translation chances from the counts.
  void maximise() {
    WordPairs& pairs = result_.pairs;
    const auto prior = static_cast<float>(options_.prior);
    std::vector<double> totals(corpus_.target_words.size(), 0.0);
    std::vector<std::uint32_t> types(corpus_.target_words.size(), 0);
    for (std::size_t k = 0; k < pairs.targets.size(); ++k) {
      totals[pairs.targets[k]] += counts_[k].source_given_target;
      ++types[pairs.targets[k]];
    }
    for (const Cells::Extra& extra : cells_.extras) {
      counts_[extra.pair].target_given_source += extra.target_given_source;
      counts_[extra.pair].source_given_target += extra.source_given_target;
      totals[pairs.targets[extra.pair]] += extra.source_given_target;
    }
    std::vector<float> inverse_totals(totals.size());
    for (std::size_t e = 0; e < totals.size(); ++e) {
      inverse_totals[e] = 1.0f / std::max(1e-30f, digamma_(static_cast<float>(totals[e] + options_.prior * types[e])));
    }
    const float unseen = digamma_(prior);
    for (std::size_t e = 0; e < totals.size(); ++e)
      pairs.target_unseen[e] = std::max(kFloor, unseen * inverse_totals[e]);
    const std::size_t words = corpus_.source_words.size();
    constexpr std::size_t kBlock = 256;
    for_each_piece((words + kBlock - 1) / kBlock, threads_, [&] {
      return [&](std::size_t b) {
        for (std::size_t w = b * kBlock; w < std::min(words, (b + 1) * kBlock); ++w) {
          double total = 0;
          for (auto k = pairs.starts[w]; k < pairs.starts[w + 1]; ++k) total += counts_[k].target_given_source;
          total += options_.prior * static_cast<double>(pairs.starts[w + 1] - pairs.starts[w]);
          const float inverse = 1.0f / std::max(1e-30f, digamma_(static_cast<float>(total)));
          pairs.source_unseen[w] = std::max(kFloor, unseen * inverse);
          for (auto k = pairs.starts[w]; k < pairs.starts[w + 1]; ++k) {
            float extra = !cells_.same.empty() && k - pairs.starts[w] == cells_.same[w]
                              ? static_cast<float>(options_.same)
                              : 0.0f;
            pairs.chances[k].target_given_source =
                std::max(kFloor, digamma_(counts_[k].target_given_source + prior + extra) * inverse);
            pairs.chances[k].source_given_target = std::max(
                kFloor, digamma_(counts_[k].source_given_target + prior + extra) * inverse_totals[pairs.targets[k]]);
          }
        }
      };
    });
    normalise_null(null_target_, evidence_.target_from_nothing, pairs.target_given_null);
    normalise_null(null_source_, evidence_.source_from_nothing, pairs.source_given_null);
  }

  void normalise_null(std::vector<double>& counts, const std::vector<float>& more, std::vector<float>& chances) const {
    for (std::size_t w = 0; w < more.size(); ++w) counts[w] += more[w];
    double total = options_.null_prior;
    for (double count : counts) total += count + options_.null_prior;
    const float inverse = 1.0f / std::max(1e-30f, digamma_(static_cast<float>(total)));
    for (std::size_t w = 0; w <= counts.size(); ++w) {
      const double count = w < counts.size() ? counts[w] : 0;
      chances[w] = std::max(kFloor, digamma_(static_cast<float>(count + options_.null_prior)) * inverse);
    }
  }

  const Corpus& corpus_;
  TrainOptions options_;
  const Evidence& evidence_;
  int threads_;
  Cells cells_;
  std::vector<WordPairs::Chance> counts_;
  std::vector<double> null_target_, null_source_;
  JumpCounts forward_counts_, reverse_counts_;
  Learnt result_;
  ExpDigamma digamma_;
};

}  // namespace

void Corpus::add(std::string_view source_line, std::string_view target_line) {
  for_each_word(source_line, [&](std::string_view word) { source.push_back(source_words.id(word)); });
  for_each_word(target_line, [&](std::string_view word) { target.push_back(target_words.id(word)); });
  source_starts.push_back(source.size());
  target_starts.push_back(target.size());
}

Learnt learn(const Corpus& corpus, const TrainOptions& options, const std::function<void(int, int, double)>& report,
             const Evidence& evidence) {
  for (const double value : {options.prior, options.null_prior, options.null, options.agreement, options.same,
                             options.smoothing, options.sweeps, options.sampling_prior, options.sampling_null,
                             options.fertility_prior, options.bonus, options.memory}) {
    if (!(value >= 0) || std::isinf(value)) throw std::invalid_argument("an option that is no number from 0 on");
  }
  if (options.memory == 0) throw std::invalid_argument("no memory to learn in");
  if (options.model1_iterations < 0 || options.hmm_iterations < 0 || options.chains < 0) {
    throw std::invalid_argument("a negative number of rounds");
  }
  return Trainer(corpus, options, evidence).run(report);
}

}  // namespace treeglot::align
