#include "subtrees/lexical_aligner.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hh"

namespace treeglot::subtrees {

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

std::uint64_t key_of(std::int32_t source, std::int32_t target) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(target);
}

// Sums of p over the words under each node of `a`, for each word of `b`: rows are nodes of a. `turned`: the rows of p
// are the words of b.
std::vector<double> inside_sums(const TreeShape& a, int m, std::span<const double> p, bool turned) {
  const int n = a.words, rows = a.nodes();
  std::vector<double> inside(static_cast<std::size_t>(rows) * m, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      inside[static_cast<std::size_t>(a.phrases + i) * m + j] =
          turned ? p[static_cast<std::size_t>(j) * n + i] : p[static_cast<std::size_t>(i) * m + j];
    }
  }
  auto add_to_parent = [&](int node) {
    if (a.parent[node] < 0) return;
    double* sum = &inside[static_cast<std::size_t>(a.parent[node]) * m];
    const double* part = &inside[static_cast<std::size_t>(node) * m];
    for (int j = 0; j < m; ++j) sum[j] += part[j];
  };
  for (int node = a.phrases; node < rows; ++node) add_to_parent(node);
  for (int node = a.phrases - 1; node >= 0; --node) add_to_parent(node);
  return inside;
}

// Adds to `scores` (rows: nodes of `a`, columns: nodes of `b`; transposed if `turned`) the logarithm of
//   prod over words j inside b's node of (sum over words i inside a's node of p(i, j)),  and the same outside.
// `divide`: each factor is divided by the number of words of a on its side (score2). `empty` is the logarithm of a sum
// over no words.
void add_terms(const TreeShape& a, const TreeShape& b, std::span<const double> p, bool turned, bool divide,
               double empty, std::vector<double>& scores) {
  const int n = a.words, m = b.words, rows = a.nodes(), columns = b.nodes();
  auto chance = [&](int i, int j) {
    return turned ? p[static_cast<std::size_t>(j) * n + i] : p[static_cast<std::size_t>(i) * m + j];
  };
  // Sums over the first words of the walk and over the last ones: nothing is ever subtracted, so small sums are exact.
  std::vector<double> before(static_cast<std::size_t>(n + 1) * m), after(before.size());
  for (int i = 0; i < n; ++i) {
    const int up = a.walk[i], down = a.walk[n - 1 - i];
    for (int j = 0; j < m; ++j) {
      before[static_cast<std::size_t>(i + 1) * m + j] = before[static_cast<std::size_t>(i) * m + j] + chance(up, j);
      after[static_cast<std::size_t>(n - 1 - i) * m + j] =
          after[static_cast<std::size_t>(n - i) * m + j] + chance(down, j);
    }
  }
  const std::vector<double> inside = inside_sums(a, m, p, turned);

  std::vector<double> in(columns), left(m + 1), right(m + 1), out(m);
  for (int s = 0; s < rows; ++s) {
    const double* sums = &inside[static_cast<std::size_t>(s) * m];
    const double* head = &before[static_cast<std::size_t>(a.low[s]) * m];
    const double* tail = &after[static_cast<std::size_t>(a.high[s]) * m];
    const int size = a.size(s), rest = n - size;
    std::fill(in.begin(), in.begin() + b.phrases, 0.0);
    for (int j = 0; j < m; ++j) {
      in[b.phrases + j] = std::log(sums[j]);
      out[j] = std::log(head[j] + tail[j]);
    }
    for (int t = b.phrases; t < columns; ++t) {
      if (b.parent[t] >= 0) in[b.parent[t]] += in[t];
    }
    for (int t = b.phrases - 1; t > 0; --t) in[b.parent[t]] += in[t];
    left[0] = right[m] = 0;
    for (int k = 0; k < m; ++k) {
      left[k + 1] = left[k] + out[b.walk[k]];
      right[m - 1 - k] = right[m - k] + out[b.walk[m - 1 - k]];
    }
    const double inner = divide ? std::log(size) : 0.0, outer = divide && rest > 0 ? std::log(rest) : 0.0;
    for (int t = 0; t < columns; ++t) {
      double total = in[t] - inner * b.size(t);
      if (b.size(t) < m) {
        total += rest > 0 ? left[b.low[t]] + right[b.high[t]] - outer * (m - b.size(t)) : empty * (m - b.size(t));
      }
      scores[turned ? static_cast<std::size_t>(t) * rows + s : static_cast<std::size_t>(s) * columns + t] += total;
    }
  }
}

// A hypothesis: two nodes and their score, rounded so that equal products are equal in whatever order they were made.
struct Hypothesis {
  std::int64_t score;
  std::int32_t source, target;
};

// Nodes over the same words, from the top: `first[k]` is the highest one of node k's chain.
std::vector<std::int32_t> chain_tops(const TreeShape& tree) {
  std::vector<std::int32_t> first(static_cast<std::size_t>(tree.nodes()));
  for (int node = 0; node < tree.nodes(); ++node) {
    const std::int32_t above = tree.parent[node];
    first[node] = above >= 0 && tree.size(above) == tree.size(node) ? first[above] : node;
  }
  return first;
}

class Chooser {
 public:
  Chooser(const TreeShape& source, const TreeShape& target, std::span<const double> scores,
          std::span<const double> confidence, const AlignerOptions& options)
      : source_(source), target_(target), scores_(scores), options_(options) {
    const std::int32_t rows = options.words ? source.nodes() : source.phrases;
    const std::int32_t columns = options.words ? target.nodes() : target.phrases;
    if (options.chains) {
      source_tops_ = chain_tops(source);
      target_tops_ = chain_tops(target);
    }
    for (std::int32_t s = 0; s < rows; ++s) {
      if (options.chains && source_tops_[s] != s) continue;
      for (std::int32_t t = 0; t < columns; ++t) {
        if (options.chains && target_tops_[t] != t) continue;
        const double score = score_of(s, t);
        if (score == kImpossible) continue;
        if (!confidence.empty() && confidence[static_cast<std::size_t>(s) * target_.nodes() + t] < options.least) {
          continue;
        }
        const bool later = options.span1 && (source.size(s) == 1 || target.size(t) == 1);
        (later ? single_ : long_).push_back({static_cast<std::int64_t>(std::llround(score * 1e8)), s, t});
      }
    }
    skipped_source_.assign(static_cast<std::size_t>(source.nodes()), 0);
    skipped_target_.assign(static_cast<std::size_t>(target.nodes()), 0);
    source_uses_.resize(static_cast<std::size_t>(source.nodes()));
    target_uses_.resize(static_cast<std::size_t>(target.nodes()));
  }

  std::vector<NodeLink> run() {
    for (auto* part : {&long_, &single_}) {
      std::sort(part->begin(), part->end(), [](const Hypothesis& a, const Hypothesis& b) {
        return a.score != b.score     ? a.score > b.score
               : a.source != b.source ? a.source < b.source
                                      : a.target < b.target;
      });
      std::vector<Hypothesis>& alive = *part;
      for (const Hypothesis& link : linked_) drop(alive, link);
      while (true) {
        const std::size_t chosen = options_.skip == 0 ? 0 : untied(alive);
        if (chosen >= alive.size()) break;
        const Hypothesis link = alive[chosen];
        linked_.push_back(link);
        drop(alive, link);
      }
    }
    std::vector<NodeLink> result;
    for (const Hypothesis& link : linked_) expand(link, result);
    return result;
  }

 private:
  double score_of(std::int32_t s, std::int32_t t) const {
    return scores_[static_cast<std::size_t>(s) * target_.nodes() + t];
  }

  bool fits(const Hypothesis& a, const Hypothesis& b) const {
    return a.source != b.source && a.target != b.target &&
           source_.below(a.source, b.source) == target_.below(a.target, b.target) &&
           source_.below(b.source, a.source) == target_.below(b.target, a.target);
  }

  void drop(std::vector<Hypothesis>& alive, const Hypothesis& link) const {
    std::erase_if(alive, [&](const Hypothesis& other) { return !fits(link, other); });
  }

  // The first hypothesis that has no competitor: another one with the same score that cannot be linked besides it.
  // Those that have are skipped; with skip2, so is everything else with one of their nodes.
  std::size_t untied(const std::vector<Hypothesis>& alive) {
    ++round_;
    for (std::size_t begin = 0, end; begin < alive.size(); begin = end) {
      for (end = begin + 1; end < alive.size() && alive[end].score == alive[begin].score;) ++end;
      mark_ties(std::span(alive).subspan(begin, end - begin));
      for (std::size_t i = begin; i < end; ++i) {
        const bool skipped = options_.skip == 2 &&
                             (skipped_source_[alive[i].source] == round_ || skipped_target_[alive[i].target] == round_);
        if (!tied_[i - begin] && !skipped) return i;
      }
      if (options_.skip == 2) {
        for (std::size_t i = begin; i < end; ++i) {
          if (!tied_[i - begin]) continue;
          skipped_source_[alive[i].source] = skipped_target_[alive[i].target] = round_;
        }
      }
    }
    return alive.size();
  }

  // Which of these, all with one score, have competitors. Most share a node with another; only the rest is compared.
  void mark_ties(std::span<const Hypothesis> group) {
    tied_.assign(group.size(), 0);
    if (group.size() == 1) return;
    ++stamp_;
    auto count = [&](std::vector<std::pair<std::uint32_t, std::uint32_t>>& uses, std::int32_t node) {
      auto& [stamp, number] = uses[node];
      number = stamp == stamp_ ? number + 1 : 1;
      stamp = stamp_;
    };
    for (const Hypothesis& hypothesis : group) {
      count(source_uses_, hypothesis.source);
      count(target_uses_, hypothesis.target);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      tied_[i] = source_uses_[group[i].source].second > 1 || target_uses_[group[i].target].second > 1 ||
                 std::any_of(group.begin(), group.end(),
                             [&](const Hypothesis& other) { return &other != &group[i] && !fits(group[i], other); });
    }
  }

  // A link of two chains: phrases from the top, the word with the word.
  void expand(const Hypothesis& link, std::vector<NodeLink>& out) const {
    const double score = score_of(link.source, link.target);
    if (!options_.chains) {
      out.push_back({link.source, link.target, score});
      return;
    }
    std::int32_t s = link.source, t = link.target;
    auto in_chain = [](const TreeShape& tree, const std::vector<std::int32_t>& tops, std::int32_t node,
                       std::int32_t top) { return node < tree.phrases && tops[node] == top; };
    while (in_chain(source_, source_tops_, s, link.source) && in_chain(target_, target_tops_, t, link.target)) {
      out.push_back({s++, t++, score});  // in preorder, the only child of a phrase comes next
    }
    if (options_.words && source_.size(link.source) == 1 && target_.size(link.target) == 1) {
      out.push_back({source_.phrases + source_.walk[source_.low[link.source]],
                     target_.phrases + target_.walk[target_.low[link.target]], score});
    } else if (s == link.source) {  // a word and a phrase over several words
      out.push_back({link.source, link.target, score});
    }
  }

  const TreeShape &source_, &target_;
  std::span<const double> scores_;
  const AlignerOptions& options_;
  std::vector<std::int32_t> source_tops_, target_tops_;
  std::vector<Hypothesis> long_, single_, linked_;
  std::vector<std::uint32_t> skipped_source_, skipped_target_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> source_uses_, target_uses_;  // stamp, number of uses
  std::uint32_t round_ = 0, stamp_ = 0;
  std::vector<char> tied_;
};

}  // namespace

void WordTable::set(std::int32_t source, std::int32_t target, double target_given_source, double source_given_target) {
  pairs_[key_of(source, target)] = {target_given_source, source_given_target};
}

void WordTable::fill(std::span<const std::int32_t> source, std::span<const std::int32_t> target, double floor,
                     std::vector<double>& target_given_source, std::vector<double>& source_given_target) const {
  target_given_source.assign(source.size() * target.size(), floor);
  source_given_target.assign(source.size() * target.size(), floor);
  std::size_t place = 0;
  for (std::int32_t s : source) {
    for (std::int32_t t : target) {
      const std::size_t here = place++;
      if (s < 0 || t < 0) continue;
      const auto pair = pairs_.find(key_of(s, t));
      if (pair == pairs_.end()) continue;
      target_given_source[here] = std::max(floor, pair->second.target_given_source);
      source_given_target[here] = std::max(floor, pair->second.source_given_target);
    }
  }
}

std::vector<double> score_nodes(const TreeShape& source, const TreeShape& target,
                                std::span<const double> target_given_source,
                                std::span<const double> source_given_target, const AlignerOptions& options) {
  std::vector<double> scores(static_cast<std::size_t>(source.nodes()) * target.nodes(), 0.0);
  // score1 sums over the words that are generated, score2 over those that generate, and takes the mean.
  const bool mean = options.score == 2;
  const double empty = options.empty_is_one ? 0.0 : std::log(options.floor);
  add_terms(source, target, mean ? target_given_source : source_given_target, false, mean, empty, scores);
  // The table is turned: its rows are the words of the second tree here.
  add_terms(target, source, mean ? source_given_target : target_given_source, true, mean, empty, scores);
  return scores;
}

std::vector<double> explained(const TreeShape& source, const TreeShape& target,
                              std::span<const double> target_given_source,
                              std::span<const double> source_given_target) {
  std::vector<double> result(static_cast<std::size_t>(source.nodes()) * target.nodes(), 0.0);
  auto add = [&](const TreeShape& a, const TreeShape& b, std::span<const double> p, bool turned) {
    const std::vector<double> inside = inside_sums(a, b.words, p, turned);
    std::vector<double> sums(static_cast<std::size_t>(b.nodes()));
    for (int s = 0; s < a.nodes(); ++s) {
      std::fill(sums.begin(), sums.begin() + b.phrases, 0.0);
      for (int j = 0; j < b.words; ++j) {
        sums[b.phrases + j] = std::min(1.0, inside[static_cast<std::size_t>(s) * b.words + j]);
        if (b.parent[b.phrases + j] >= 0) sums[b.parent[b.phrases + j]] += sums[b.phrases + j];
      }
      for (int t = b.phrases - 1; t > 0; --t) sums[b.parent[t]] += sums[t];
      for (int t = 0; t < b.nodes(); ++t) {
        const std::size_t place =
            turned ? static_cast<std::size_t>(t) * a.nodes() + s : static_cast<std::size_t>(s) * b.nodes() + t;
        result[place] += sums[t] / (a.size(s) + b.size(t));
      }
    }
  };
  add(source, target, source_given_target, false);
  add(target, source, target_given_source, true);
  return result;
}

std::vector<NodeLink> choose_links(const TreeShape& source, const TreeShape& target, std::span<const double> scores,
                                   std::span<const double> confidence, const AlignerOptions& options) {
  return Chooser(source, target, scores, confidence, options).run();
}

std::vector<std::vector<TreeLink>> align_trees(const WordTable& table, std::span<const TreePair> pairs,
                                               const AlignerOptions& options, int threads) {
  std::vector<std::vector<TreeLink>> result(pairs.size());
  for_each_piece(pairs.size(), threads, [&] {
    return [&, forward = std::vector<double>(), backward = std::vector<double>()](std::size_t n) mutable {
      const auto& [source, target] = pairs[n];
      const TreeShape a = source.shape(), b = target.shape();
      table.fill(source.words, target.words, options.floor, forward, backward);
      const std::vector<double> scores = score_nodes(a, b, forward, backward, options);
      const std::vector<double> confidence = explained(a, b, forward, backward);
      for (const NodeLink& link : choose_links(a, b, scores, confidence, options)) {
        const std::size_t place = static_cast<std::size_t>(link.source) * b.nodes() + link.target;
        result[n].push_back({a.reference(link.source), b.reference(link.target), confidence[place]});
      }
    };
  });
  return result;
}

}  // namespace treeglot::subtrees
