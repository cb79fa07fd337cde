#include "align/gibbs.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "align/sampler.hh"
#include "align/tree_paths.hh"
#include "base/hash.hh"
#include "base/parallel.hh"

namespace treeglot::align {
namespace {

constexpr std::size_t kGroup = 8, kBatch = 128;  // sentences of a thread's piece, and between two updates of the counts

// One direction: words of the state side are linked to by words of the observed side.
struct Direction {
  bool reverse = false;
  const std::vector<WordId>*states = nullptr, *observed = nullptr;
  const std::vector<std::uint64_t>*state_starts = nullptr, *observed_starts = nullptr;
  std::size_t state_types = 0, observed_types = 0;
  JumpTable jumps;
  JumpRows rows;
  std::vector<std::uint16_t> first, links, drawn;  // of each observed word of the text: 0, or 1 + the state
  std::vector<float> counts;                       // of each word pair
  std::vector<float> totals;                       // of each state word
  std::vector<float> null_counts;                  // of each observed word
  double null_total = 0;
  std::vector<float> fertility;       // of each state word, with the prior
  std::vector<float> fertility_sum;   // of the kept sweeps
  std::vector<float> mean_fertility;  // of all words
  std::vector<double> jump_sum = std::vector<double>(JumpTable::kSize, 0.0);
  std::vector<std::uint8_t> paths;         // in the trees of the states of each sentence, if there are any
  std::vector<std::uint64_t> path_starts;  // by sentence
  PathWeights path_weights;
  std::vector<std::uint16_t> cell_sums, null_sums;  // chances of the kept sweeps, in parts of 65535 over all of them

  int state_count(std::size_t n) const { return static_cast<int>((*state_starts)[n + 1] - (*state_starts)[n]); }
  int observed_count(std::size_t n) const {
    return static_cast<int>((*observed_starts)[n + 1] - (*observed_starts)[n]);
  }
};

class Gibbs {
 public:
  Gibbs(const Corpus& corpus, const Cells& cells, const Evidence& evidence, const TrainOptions& options, Learnt& learnt)
      : corpus_(corpus), cells_(cells), evidence_(evidence), options_(options), learnt_(learnt), pairs_(learnt.pairs) {
    const std::size_t sources = corpus.source_words.size(), targets = corpus.target_words.size();
    set_up(directions_[0], false, corpus.source, corpus.source_starts, sources, corpus.target, corpus.target_starts,
           targets);
    set_up(directions_[1], true, corpus.target, corpus.target_starts, targets, corpus.source, corpus.source_starts,
           sources);
    find_paths(directions_[0], corpus.source_heads);
    find_paths(directions_[1], corpus.target_heads);
    directions_[0].jumps = learnt.forward;
    directions_[1].jumps = learnt.reverse;
    start_links();
  }

  void run(const std::function<void(int)>& report) {
    const int sweeps = sampling_sweeps(options_, cells_.used.size());
    const int kept_from = sweeps / 2;
    kept_ = options_.chains * (sweeps - kept_from);
    int done = 0;
    for (int chain = 0; chain < options_.chains; ++chain) {
      for (Direction& direction : directions_) restart(direction);
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int d = 0; d < 2; ++d) {
          const std::uint64_t place =
              (static_cast<std::uint64_t>(chain) << 32 | static_cast<std::uint64_t>(sweep)) * 2 +
              static_cast<std::uint64_t>(d);
          draw(directions_[d], directions_[1 - d], random_bits(random_bits(options_.seed, 0), place),
               sweep >= kept_from);
          fit(directions_[d], sweep >= kept_from);
        }
        report(++done);
      }
    }
    finish();
  }

 private:
  void set_up(Direction& direction, bool reverse, const std::vector<WordId>& states,
              const std::vector<std::uint64_t>& state_starts, std::size_t state_types,
              const std::vector<WordId>& observed, const std::vector<std::uint64_t>& observed_starts,
              std::size_t observed_types) {
    direction.reverse = reverse;
    direction.states = &states;
    direction.state_starts = &state_starts;
    direction.state_types = state_types;
    direction.observed = &observed;
    direction.observed_starts = &observed_starts;
    direction.observed_types = observed_types;
    direction.first.assign(observed.size(), 0);
    direction.fertility_sum.assign(state_types * kFertilities, 0.0f);
    direction.cell_sums.assign(cells_.starts.back(), 0);
    direction.null_sums.assign(observed.size(), 0);
    for (std::size_t n : cells_.used) longest_ = std::max(longest_, direction.state_count(n));
  }

  void find_paths(Direction& direction, const std::vector<std::int32_t>& heads) const {
    if (heads.empty() || options_.tree <= 0) return;
    direction.path_starts.assign(cells_.starts.size(), 0);
    std::uint64_t size = 0;
    for (std::size_t n : cells_.used) {
      direction.path_starts[n] = size;
      const auto length = static_cast<std::uint64_t>(direction.state_count(n));
      size += length * length;
    }
    direction.paths.resize(size);
    for_each_piece((cells_.used.size() + kBatch - 1) / kBatch, options_.threads, [&] {
      return [&](std::size_t g) {
        for (std::size_t u = g * kBatch; u < std::min(cells_.used.size(), (g + 1) * kBatch); ++u) {
          const std::size_t n = cells_.used[u];
          tree_paths({heads.data() + (*direction.state_starts)[n], static_cast<std::size_t>(direction.state_count(n))},
                     direction.paths.data() + direction.path_starts[n]);
        }
      };
    });
  }

  std::uint64_t pair(std::size_t n, const Direction& direction, int state, int observed) const {
    const int i = direction.reverse ? observed : state, j = direction.reverse ? state : observed;
    const std::uint64_t J = corpus_.target_starts[n + 1] - corpus_.target_starts[n];
    const WordId source = corpus_.source[corpus_.source_starts[n] + static_cast<std::uint64_t>(i)];
    return pairs_.starts[source] +
           cells_.index[cells_.starts[n] + static_cast<std::uint64_t>(i) * J + static_cast<std::uint64_t>(j)];
  }

  // The most probable links of the hidden Markov model.
  void start_links() {
    const std::size_t groups = (cells_.used.size() + kBatch - 1) / kBatch;
    for_each_piece(groups, options_.threads, [&] {
      return [&, hmm = HmmWorkspace(), emission = std::vector<float>(), null = std::vector<float>(),
              posterior = std::vector<float>(), nothing = std::vector<float>()](std::size_t g) mutable {
        for (std::size_t u = g * kBatch; u < std::min(cells_.used.size(), (g + 1) * kBatch); ++u) {
          for (Direction& direction : directions_) {
            const std::size_t n = cells_.used[u];
            const int I = direction.state_count(n), J = direction.observed_count(n);
            const auto size = static_cast<std::size_t>(I) * static_cast<std::size_t>(J);
            emission.resize(size);
            posterior.resize(size);
            null.resize(static_cast<std::size_t>(J));
            nothing.resize(null.size());
            const std::uint64_t begin = (*direction.observed_starts)[n];
            if (const auto known = evidence_.links(n)) {
              for (const WordLink& link : *known) {
                const int i = direction.reverse ? link.target : link.source,
                          j = direction.reverse ? link.source : link.target;
                direction.first[begin + static_cast<std::uint64_t>(j)] = static_cast<std::uint16_t>(i + 1);
              }
              continue;
            }
            for (int j = 0; j < J; ++j) {
              const WordId word = (*direction.observed)[begin + static_cast<std::uint64_t>(j)];
              null[static_cast<std::size_t>(j)] =
                  direction.reverse ? pairs_.source_given_null[word] : pairs_.target_given_null[word];
              for (int i = 0; i < I; ++i) {
                const WordPairs::Chance chance = pairs_.chances[pair(n, direction, i, j)];
                emission[static_cast<std::size_t>(j * I + i)] =
                    direction.reverse ? chance.source_given_target : chance.target_given_source;
              }
            }
            hmm.posteriors(emission.data(), null.data(), J, I, direction.jumps, posterior.data(), nothing.data(),
                           nullptr);
            for (int j = 0; j < J; ++j) {
              const float* row = posterior.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(I);
              const auto best = std::max_element(row, row + I) - row;
              if (row[best] > nothing[static_cast<std::size_t>(j)])
                direction.first[begin + static_cast<std::uint64_t>(j)] = static_cast<std::uint16_t>(best + 1);
            }
          }
        }
      };
    });
  }

  void count(Direction& direction, std::size_t n, int j, std::uint16_t link, float by) {
    const WordId word = (*direction.observed)[(*direction.observed_starts)[n] + static_cast<std::uint64_t>(j)];
    if (link == 0) {
      direction.null_counts[word] += by;
      direction.null_total += static_cast<double>(by);
    } else {
      const int i = link - 1;
      direction.counts[pair(n, direction, i, j)] += by;
      direction.totals[(*direction.states)[(*direction.state_starts)[n] + static_cast<std::uint64_t>(i)]] += by;
    }
  }

  // Priors and evidence alone; words written alike have a larger prior.
  void clear(Direction& direction) const {
    const double prior = options_.sampling_prior, all = prior * static_cast<double>(direction.observed_types + 1);
    direction.counts.assign(pairs_.targets.size(), static_cast<float>(prior));
    direction.totals.assign(direction.state_types, static_cast<float>(all));
    direction.null_counts.assign(direction.observed_types, static_cast<float>(prior));
    direction.null_total = all;
    for (std::size_t w = 0; w < cells_.same.size(); ++w) {
      if (cells_.same[w] == 0xFFFFFFFF) continue;
      const std::uint64_t k = pairs_.starts[w] + cells_.same[w];
      direction.counts[k] += static_cast<float>(options_.same);
      direction.totals[direction.reverse ? pairs_.targets[k] : w] += static_cast<float>(options_.same);
    }
    for (const Cells::Extra& extra : cells_.extras) {
      const float more = direction.reverse ? extra.source_given_target : extra.target_given_source;
      direction.counts[extra.pair] += more;
      const auto row = std::upper_bound(pairs_.starts.begin(), pairs_.starts.end(), extra.pair) - 1;
      const auto source = static_cast<std::size_t>(row - pairs_.starts.begin());
      direction.totals[direction.reverse ? pairs_.targets[extra.pair] : source] += more;
    }
    const auto& nothing = direction.reverse ? evidence_.source_from_nothing : evidence_.target_from_nothing;
    for (std::size_t w = 0; w < nothing.size(); ++w) {
      direction.null_counts[w] += nothing[w];
      direction.null_total += static_cast<double>(nothing[w]);
    }
  }

  void restart(Direction& direction) {
    clear(direction);
    direction.links = direction.drawn = direction.first;
    for (std::size_t n : cells_.used) {
      const std::uint64_t begin = (*direction.observed_starts)[n];
      for (int j = 0; j < direction.observed_count(n); ++j)
        count(direction, n, j, direction.links[begin + static_cast<std::uint64_t>(j)], 1);
    }
    direction.jumps = direction.reverse ? learnt_.reverse : learnt_.forward;
    direction.path_weights = {};
    fit(direction, false);
  }

  // Every sentence once.
  void draw(Direction& direction, const Direction& other, std::uint64_t key, bool keep) {
    const float share = 65535.0f / static_cast<float>(kept_);
    for (std::size_t begin = 0; begin < cells_.used.size(); begin += kBatch) {
      const std::size_t end = std::min(cells_.used.size(), begin + kBatch);
      for_each_piece((end - begin + kGroup - 1) / kGroup, options_.threads, [&] {
        return [&, sampler = SentenceSampler(), sums = std::vector<float>(),
                room = std::vector<float>()](std::size_t g) mutable {
          for (std::size_t u = begin + g * kGroup; u < std::min(end, begin + (g + 1) * kGroup); ++u)
            draw_sentence(direction, other, cells_.used[u], random_bits(key, cells_.used[u]), keep ? share : 0, sampler,
                          sums, room);
        };
      });
      for (std::size_t u = begin; u < end; ++u) {
        const std::size_t n = cells_.used[u];
        const std::uint64_t first = (*direction.observed_starts)[n];
        for (int j = 0; j < direction.observed_count(n); ++j) {
          const std::uint64_t at = first + static_cast<std::uint64_t>(j);
          if (direction.drawn[at] == direction.links[at]) continue;
          count(direction, n, j, direction.links[at], -1);
          count(direction, n, j, direction.drawn[at], 1);
          direction.links[at] = direction.drawn[at];
        }
      }
    }
  }

  void draw_sentence(Direction& direction, const Direction& other, std::size_t n, std::uint64_t key, float share,
                     SentenceSampler& sampler, std::vector<float>& sums, std::vector<float>& room) const {
    const int I = direction.state_count(n), J = direction.observed_count(n);
    const std::uint64_t state_begin = (*direction.state_starts)[n], observed_begin = (*direction.observed_starts)[n];
    if (share > 0) sums.assign(static_cast<std::size_t>(I + 1) * static_cast<std::size_t>(J), 0.0f);
    if (const auto known = evidence_.links(n)) {
      draw_known(direction, *known, n, key, sums);
      if (share > 0) add_sums(direction, n, share, sums);
      return;
    }
    const WordId* states = direction.states->data() + state_begin;
    const WordId* observed = direction.observed->data() + observed_begin;
    sampler.resize(I, J);
    const std::uint32_t* index = cells_.index.data() + cells_.starts[n];
    if (direction.reverse) {
      for (int j = 0; j < J; ++j, index += I) {
        const float* row = direction.counts.data() + pairs_.starts[observed[j]];
        float* out = sampler.lexical(j);
        for (int i = 0; i < I; ++i) out[i] = row[index[i]];
      }
    } else {
      const auto stride = sampler.stride();
      for (int i = 0; i < I; ++i, index += J) {
        const float* row = direction.counts.data() + pairs_.starts[states[i]];
        float* out = sampler.lexical(0) + i;
        for (int j = 0; j < J; ++j, out += stride) *out = row[index[j]];
      }
    }
    std::copy_n(direction.links.data() + observed_begin, J, sampler.links.data());
    std::copy_n(other.links.data() + state_begin, I, sampler.other_links.data());
    for (int j = 0; j < J; ++j) sampler.null[static_cast<std::size_t>(j)] = direction.null_counts[observed[j]];
    sampler.null_total = static_cast<float>(direction.null_total);
    for (int i = 0; i < I; ++i) {
      sampler.totals[static_cast<std::size_t>(i)] = direction.totals[states[i]];
      std::copy_n(direction.fertility.data() + static_cast<std::size_t>(states[i]) * kFertilities, kFertilities,
                  sampler.fertility(i));
    }
    if (!direction.paths.empty()) {
      const std::uint8_t* path = direction.paths.data() + direction.path_starts[n];
      const auto stride = sampler.stride(), size = static_cast<std::size_t>(I) * stride;
      room.assign(2 * size, 0.0f);
      float *there = room.data(), *back = room.data() + size;
      for (int a = 0; a < I; ++a, there += stride, back += stride) {
        for (int b = 0; b < I; ++b, ++path) {
          there[b] = direction.path_weights.there()[*path];
          back[b] = direction.path_weights.back()[*path];
        }
      }
      sampler.paths = room.data();
      sampler.paths_back = room.data() + size;
    }
    sampler.begin(direction.rows, static_cast<float>(options_.sampling_null), static_cast<float>(options_.bonus),
                  states, observed);
    sampler.sweep(key, share > 0 ? sums.data() : nullptr);
    std::copy_n(sampler.links.data(), J, direction.drawn.data() + observed_begin);
    if (share > 0) add_sums(direction, n, share, sums);
  }

  // Any of a word's known links, or none if it has none; `sums` gets what was drawn, if it has room.
  void draw_known(Direction& direction, const Evidence::Links& known, std::size_t n, std::uint64_t key,
                  std::vector<float>& sums) const {
    const int I = direction.state_count(n), J = direction.observed_count(n);
    std::uint16_t* drawn = direction.drawn.data() + (*direction.observed_starts)[n];
    for (int j = 0; j < J; ++j) {
      drawn[j] = 0;
      std::uint64_t number = 0;
      for (const WordLink& link : known) {
        const int i = direction.reverse ? link.target : link.source;
        if ((direction.reverse ? link.source : link.target) != j) continue;
        // the k-th of them takes the place of the others in one of k cases
        if (random_bits(random_bits(key, static_cast<std::uint64_t>(j)), number) % (number + 1) == 0)
          drawn[j] = static_cast<std::uint16_t>(i + 1);
        ++number;
      }
      if (!sums.empty()) sums[static_cast<std::size_t>(j) * static_cast<std::size_t>(I + 1) + drawn[j]] += 1;
    }
  }

  void add_sums(Direction& direction, std::size_t n, float share, const std::vector<float>& sums) const {
    const int I = direction.state_count(n), J = direction.observed_count(n);
    const std::uint64_t observed_begin = (*direction.observed_starts)[n];
    std::uint16_t* out = direction.cell_sums.data() + cells_.starts[n];  // observed by states
    const float* row = sums.data();
    for (int j = 0; j < J; ++j, row += I + 1, out += I) {
      direction.null_sums[observed_begin + static_cast<std::uint64_t>(j)] += static_cast<std::uint16_t>(row[0] * share);
      for (int i = 0; i < I; ++i)
        out[i] = static_cast<std::uint16_t>(out[i] + static_cast<unsigned>(row[i + 1] * share));
    }
  }

  // Fertilities and jumps of the present links.
  void fit(Direction& direction, bool keep) {
    std::vector<float>& table = direction.fertility;
    table.assign(direction.state_types * kFertilities, 0.0f);
    std::vector<double> all(kFertilities, 1.0);
    std::vector<int> words;
    JumpCounts jumps;
    direction.rows.fill(direction.jumps, longest_);
    // Jumps have few parameters: some sentences are enough for them.
    const std::size_t stride = std::max<std::size_t>(1, cells_.used.size() / 5000);
    for (std::size_t u = 0; u < cells_.used.size(); ++u) {
      const std::size_t n = cells_.used[u];
      const int I = direction.state_count(n), J = direction.observed_count(n);
      const std::uint16_t* links = direction.links.data() + (*direction.observed_starts)[n];
      const WordId* states = direction.states->data() + (*direction.state_starts)[n];
      words.assign(static_cast<std::size_t>(I), 0);
      for (int j = 0; j < J; ++j)
        if (links[j] != 0) ++words[links[j] - 1u];
      for (int i = 0; i < I; ++i) {
        const auto number = static_cast<std::size_t>(std::min(words[static_cast<std::size_t>(i)], kFertilities - 1));
        table[static_cast<std::size_t>(states[i]) * kFertilities + number] += 1;
        all[number] += 1;
      }
      if (u % stride == 0) count_jumps(direction, n, links, J, I, jumps);
    }
    if (!direction.paths.empty()) direction.path_weights.update(options_.tree);
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    for (std::size_t w = 0; w < direction.state_types; ++w) {
      for (std::size_t f = 0; f < kFertilities; ++f)
        table[w * kFertilities + f] += static_cast<float>(options_.fertility_prior * all[f] / sum);
    }
    const auto& known = direction.reverse ? evidence_.target_fertility : evidence_.source_fertility;
    for (std::size_t k = 0; k < known.size(); ++k) table[k] += known[k];
    direction.mean_fertility.resize(kFertilities);
    for (std::size_t f = 0; f < kFertilities; ++f) direction.mean_fertility[f] = static_cast<float>(all[f] / sum);
    update_jumps(direction.jumps, jumps, options_.smoothing, direction.reverse ? evidence_.reverse : evidence_.forward,
                 evidence_.jumps);
    direction.rows.fill(direction.jumps, longest_);
    if (keep) {
      for (std::size_t k = 0; k < table.size(); ++k) direction.fertility_sum[k] += table[k];
      for (std::size_t d = 0; d < JumpTable::kSize; ++d)
        direction.jump_sum[d] += static_cast<double>(direction.jumps.weight[d]);
    }
  }

  void count_jumps(Direction& direction, std::size_t n, const std::uint16_t* links, int J, int I, JumpCounts& jumps) {
    const auto states = static_cast<std::size_t>(I);
    const std::uint8_t* paths = direction.paths.empty() ? nullptr : direction.paths.data() + direction.path_starts[n];
    int last = 0;
    for (int j = 0; j < J; ++j) {
      if (links[j] == 0) continue;
      jumps.taken[static_cast<std::size_t>(JumpTable::clipped(links[j] - last))] += 1;
      const double mass = 1.0 / static_cast<double>(direction.rows.sum(last, I));
      for (int i = 1; i <= I; ++i) jumps.possible[static_cast<std::size_t>(JumpTable::clipped(i - last))] += mass;
      if (paths != nullptr && last > 0) {
        linear_.resize(states);
        for (int i = 1; i <= I; ++i)
          linear_[static_cast<std::size_t>(i - 1)] = static_cast<double>(direction.jumps.at(i - last));
        direction.path_weights.see({paths + static_cast<std::size_t>(last - 1) * states, states}, linear_,
                                   links[j] - 1u);
      }
      last = links[j];
    }
  }

  float chance(std::uint16_t sum) const { return std::min(1.0f, static_cast<float>(sum) / 65535.0f); }

  // The model of the averaged chances, and the links of the text.
  void finish() {
    Sampled& sampled = learnt_.sampled;
    for (Direction& direction : directions_) {
      std::vector<std::uint16_t>().swap(direction.drawn);
      clear(direction);
      for (std::size_t n : cells_.used) {
        const int I = direction.state_count(n), J = direction.observed_count(n);
        const std::uint64_t begin = (*direction.observed_starts)[n];
        const std::uint16_t* row = direction.cell_sums.data() + cells_.starts[n];
        for (int j = 0; j < J; ++j, row += I) {
          const float nothing = chance(direction.null_sums[begin + static_cast<std::uint64_t>(j)]);
          if (nothing >= kLeastChance) count(direction, n, j, 0, nothing);
          for (int i = 0; i < I; ++i)
            if (chance(row[i]) >= kLeastChance)
              count(direction, n, j, static_cast<std::uint16_t>(i + 1), chance(row[i]));
          const auto best = std::max_element(row, row + I) - row;
          direction.links[begin + static_cast<std::uint64_t>(j)] =
              static_cast<std::uint16_t>(chance(row[best]) > nothing ? best + 1 : 0);
        }
      }
      JumpTable& jumps = direction.reverse ? learnt_.reverse : learnt_.forward;
      for (std::size_t d = 0; d < JumpTable::kSize; ++d)
        jumps.weight[d] = static_cast<float>(direction.jump_sum[d] / kept_);
      jumps.null = static_cast<float>(options_.sampling_null);
      std::vector<float>& fertility = direction.reverse ? sampled.target_fertility : sampled.source_fertility;
      fertility = direction.fertility_sum;
      for (float& value : fertility) value /= static_cast<float>(kept_);
      fertility.insert(fertility.end(), direction.mean_fertility.begin(), direction.mean_fertility.end());
      const auto prior = static_cast<float>(options_.sampling_prior);
      std::vector<float>& unseen = direction.reverse ? pairs_.target_unseen : pairs_.source_unseen;
      for (std::size_t w = 0; w < direction.state_types; ++w) unseen[w] = prior / direction.totals[w];
      std::vector<float>& null = direction.reverse ? pairs_.source_given_null : pairs_.target_given_null;
      const auto null_total = static_cast<float>(direction.null_total);
      for (std::size_t w = 0; w < direction.observed_types; ++w) null[w] = direction.null_counts[w] / null_total;
      null[direction.observed_types] = prior / null_total;
    }
    for (std::size_t w = 0; w < corpus_.source_words.size(); ++w) {
      for (auto k = pairs_.starts[w]; k < pairs_.starts[w + 1]; ++k) {
        pairs_.chances[k] = {directions_[0].counts[k] / directions_[0].totals[w],
                             directions_[1].counts[k] / directions_[1].totals[pairs_.targets[k]]};
      }
    }
    pairs_.same_ratio = static_cast<float>((options_.sampling_prior + options_.same) / options_.sampling_prior);
    learnt_.bonus = static_cast<float>(options_.bonus);
    keep_links(sampled);
  }

  void keep_links(Sampled& sampled) const {
    struct Place {
      std::uint64_t key;
      bool unknown;
      std::size_t pair;
      auto operator<=>(const Place&) const = default;
    };
    std::vector<Place> order;
    for (std::size_t n : cells_.used) {
      PairKey key;
      for (auto p = corpus_.source_starts[n]; p < corpus_.source_starts[n + 1]; ++p)
        key.source(corpus_.source_words.word(corpus_.source[p]));
      for (auto p = corpus_.target_starts[n]; p < corpus_.target_starts[n + 1]; ++p)
        key.target(corpus_.target_words.word(corpus_.target[p]));
      order.push_back({key.value(), !evidence_.links(n), n});
    }
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k > 0 && order[k].key == order[k - 1].key) continue;  // of equal pairs, the first whose links are known
      const std::size_t n = order[k].pair;
      if (const auto known = evidence_.links(n)) {
        const std::uint16_t sure = LinkChance::pack(1, true);
        for (const WordLink& link : *known) sampled.links.push_back({link.source, link.target, sure, sure});
        sampled.keys.push_back(order[k].key);
        sampled.starts.push_back(sampled.links.size());
        continue;
      }
      const int I = corpus_.source_length(n), J = corpus_.target_length(n);
      const std::uint16_t* forward = directions_[0].cell_sums.data() + cells_.starts[n];  // target by source
      const std::uint16_t* reverse = directions_[1].cell_sums.data() + cells_.starts[n];  // source by target
      const std::uint16_t* there = directions_[0].links.data() + corpus_.target_starts[n];
      const std::uint16_t* back = directions_[1].links.data() + corpus_.source_starts[n];
      for (int i = 0; i < I; ++i) {
        for (int j = 0; j < J; ++j) {
          const float a = chance(forward[j * I + i]), b = chance(reverse[i * J + j]);
          const bool first = there[j] == i + 1, second = back[i] == j + 1;
          if (a < kLeastChance && b < kLeastChance && !first && !second) continue;
          sampled.links.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j),
                                   LinkChance::pack(a, first), LinkChance::pack(b, second)});
        }
      }
      sampled.keys.push_back(order[k].key);
      sampled.starts.push_back(sampled.links.size());
    }
  }

  const Corpus& corpus_;
  const Cells& cells_;
  const Evidence& evidence_;
  const TrainOptions& options_;
  Learnt& learnt_;
  WordPairs& pairs_;
  Direction directions_[2];
  std::vector<double> linear_;
  int longest_ = 0, kept_ = 1;
};

}  // namespace

int sampling_sweeps(const TrainOptions& options, std::size_t pairs) {
  if (options.sweeps <= 0 || pairs == 0) return 0;
  const double wanted = options.sweeps * std::sqrt(5000.0 / static_cast<double>(pairs));
  return std::clamp(static_cast<int>(std::lround(wanted)), 4, 100);
}

void sample_links(const Corpus& corpus, const Cells& cells, const Evidence& evidence, const TrainOptions& options,
                  Learnt& learnt, const std::function<void(int)>& report) {
  Gibbs(corpus, cells, evidence, options, learnt).run(report);
}

void PairKey::source(std::string_view word) { source_ = mix(source_ * 0x9FB21C651E98DF25ull + hash_bytes(word)); }
void PairKey::target(std::string_view word) { target_ = mix(target_ * 0x9FB21C651E98DF25ull + hash_bytes(word)); }
std::uint64_t PairKey::value() const { return mix(source_ + 0x9E3779B97F4A7C15ull * target_); }

}  // namespace treeglot::align
