// Factored forests: sums over all groupings of τ in one pass over τ, and the groupings that are listed as edges.
//
// All groupings of a unit into `a` groups have the same probability, 2^-a / Z, where Z is the sum over all of them; so
// those above a threshold are the ones with few groups. Where several trees have a unit, its probabilities are the
// means of theirs (`Forest`); trees with the same groups count as one here.
#include <algorithm>
#include <cmath>

#include "grammars/mwu/forest.hh"

namespace treeglot::mwu {

namespace {

using Part = TreeForest::Part;
constexpr double kNothing = -1e300;  // the logarithm of 0, to be added to
constexpr double kLeast = 1e-300;    // no probability is 0, however many groupings there are
constexpr double kHalf = -0.69314718055994530942;

double add_logarithms(double a, double b) {
  if (a < b) std::swap(a, b);
  return b <= kNothing ? a : a + std::log1p(std::exp(b - a));
}

// The groupings of one unit in one tree, or in several that have the same.
struct Ways {
  double share = 0;                   // of the trees' weights, of those that have the unit
  std::uint32_t size = 0;             // of τ
  std::vector<Part> parts;            // by begin, then by end
  std::vector<std::uint32_t> first;   // by begin, in parts; and the end
  std::vector<double> behind;         // by begin: the logarithm of the sum over the groupings of what follows
  std::vector<std::uint32_t> fewest;  // by begin: groups that what follows needs

  void prepare() {
    first.assign(size + 2, static_cast<std::uint32_t>(parts.size()));
    for (auto n = static_cast<std::uint32_t>(parts.size()); n-- > 0;) first[parts[n].begin] = n;
    for (std::uint32_t begin = size; begin-- > 0;) first[begin] = std::min(first[begin], first[begin + 1]);
    behind.assign(size + 1, kNothing);
    fewest.assign(size + 1, size + 1);
    behind[size] = 0;
    fewest[size] = 0;
    for (std::size_t n = parts.size(); n-- > 0;) {
      const Part& part = parts[n];
      behind[part.begin] = add_logarithms(behind[part.begin], kHalf + behind[part.end]);
      fewest[part.begin] = std::min(fewest[part.begin], fewest[part.end] + 1);
    }
  }
  std::span<const Part> from(std::uint32_t begin) const {
    return {parts.data() + first[begin], parts.data() + first[begin + 1]};
  }
  // Of a grouping with so many groups.
  double p(std::size_t groups) const {
    return std::max(std::exp(kHalf * static_cast<double>(groups) - behind[0]), kLeast);
  }
  // Of a grouping by its groups: 0 if it is not there.
  double p_of(std::span<const VertexId> groups) const {
    std::uint32_t at = 0;
    for (VertexId group : groups) {
      if (at == size) return 0;
      const auto all = from(at);
      auto part = std::find_if(all.begin(), all.end(), [&](const Part& one) { return one.group == group; });
      if (part == all.end()) return 0;
      at = part->end;
    }
    return at == size ? p(groups.size()) : 0;
  }
  // Calls take(groups) for the groupings with at most so many groups, fewer groups first, until it says false.
  template <class Take>
  void list(std::size_t most, Take&& take) const {
    struct Step {
      std::uint32_t begin, next;  // in τ, in parts
    };
    std::vector<Step> steps;
    std::vector<VertexId> groups;
    for (std::size_t count = fewest[0]; count <= std::min<std::size_t>(most, size); ++count) {
      steps.assign(1, {0, first[0]});
      while (!steps.empty()) {
        Step& last = steps.back();
        if (last.next == first[last.begin + 1]) {
          steps.pop_back();
          continue;
        }
        const std::uint32_t end = parts[last.next++].end;
        const std::size_t left = count - steps.size();
        if (fewest[end] > left || left > size - end) continue;
        if (end < size) {
          steps.push_back({end, first[end]});
          continue;
        }
        groups.clear();
        for (const Step& step : steps) groups.push_back(parts[step.next - 1].group);
        if (!take(groups)) return;
      }
    }
  }
};

}  // namespace

struct Forest::Groupings {
  std::vector<std::vector<Ways>> ways;                          // by vertex
  std::vector<std::vector<std::pair<VertexId, double>>> units;  // by group: its alternatives and their p
};

void Forest::list_groupings() {
  const std::size_t count = count_;
  Groupings all;
  all.ways.resize(count);
  all.units.resize(count);
  std::vector<Place> tau;
  auto number = [&](std::size_t tree, VertexId v) { return members_.empty() ? v : joined_[tree][v]; };
  auto collect = [&](VertexId v, std::size_t n, VertexId own, double share) {
    const TreeForest& forest = *trees_[n];
    if (forest.is_group(own)) {
      double total = 0;
      for (VertexId unit : forest.alternatives(own)) total += static_cast<double>(forest.words(unit).size());
      for (VertexId unit : forest.alternatives(own)) {
        const double p = share * static_cast<double>(forest.words(unit).size()) / total;
        const VertexId joined = number(n, unit);
        auto known = members_.empty() ? all.units[v].end()
                                      : std::find_if(all.units[v].begin(), all.units[v].end(),
                                                     [&](const auto& other) { return other.first == joined; });
        if (known == all.units[v].end()) {
          all.units[v].emplace_back(joined, p);
        } else {
          known->second += p;
        }
      }
      return;
    }
    forest.tau(own, tau);
    if (tau.empty()) return;
    Ways fresh;
    fresh.share = share;
    fresh.size = static_cast<std::uint32_t>(tau.size());
    const auto parts = forest.parts(own);
    fresh.parts.assign(parts.begin(), parts.end());
    for (Part& part : fresh.parts) part.group = number(n, part.group);
    for (Ways& known : all.ways[v]) {
      if (known.parts == fresh.parts) {
        known.share += share;
        return;
      }
    }
    fresh.prepare();
    all.ways[v].push_back(std::move(fresh));
  };
  for (VertexId v = 0; v < count; ++v) {
    if (members_.empty()) {
      collect(v, 0, v, 1);
      continue;
    }
    double total = 0;
    for (const Member& member : members(v)) total += weights_[member.tree];
    for (const Member& member : members(v)) collect(v, member.tree, member.vertex, weights_[member.tree] / total);
  }

  // From the top down.
  inside_.assign(count, 1.0);
  outside_.assign(count, 0.0);
  outside_[kRoot] = 1;
  std::vector<double> reached;
  for (VertexId v : order_) {
    for (const auto& [unit, p] : all.units[v]) outside_[unit] += outside_[v] * p;
    for (const Ways& ways : all.ways[v]) {
      reached.assign(ways.size + 1, 0);
      reached[0] = outside_[v] * ways.share;
      for (const Part& part : ways.parts) {
        const double through = reached[part.begin] * std::exp(kHalf + ways.behind[part.end] - ways.behind[part.begin]);
        reached[part.end] += through;
        outside_[part.group] += through;
      }
    }
  }

  // From the bottom up: the best grouping of every unit, for the best derivation.
  std::vector<double> best(count, kNothing);
  std::vector<std::vector<VertexId>> best_groups(count);
  std::vector<double> suffix;
  std::vector<const Part*> taken;
  for (auto place = order_.rbegin(); options_.delta > 0 && place != order_.rend(); ++place) {
    const VertexId v = *place;
    if (all.ways[v].empty() && all.units[v].empty()) best[v] = 0;
    for (const auto& [unit, p] : all.units[v]) best[v] = std::max(best[v], std::log(p) + best[unit]);
    for (const Ways& ways : all.ways[v]) {
      suffix.assign(ways.size + 1, kNothing);
      taken.assign(ways.size + 1, nullptr);
      suffix[ways.size] = 0;
      for (std::size_t n = ways.parts.size(); n-- > 0;) {
        const Part& part = ways.parts[n];
        const double score = kHalf + best[part.group] + suffix[part.end];
        if (score >= suffix[part.begin]) {
          suffix[part.begin] = score;
          taken[part.begin] = &part;
        }
      }
      const double score = std::log(ways.share) - ways.behind[0] + suffix[0];
      if (score <= best[v]) continue;
      best[v] = score;
      best_groups[v].clear();
      for (std::uint32_t at = 0; at < ways.size; at = taken[at]->end) best_groups[v].push_back(taken[at]->group);
    }
  }

  // The edges.
  vertex_posteriors_ = outside_;
  edge_posteriors_.clear();
  bool complete = true;
  auto add = [&](VertexId head, std::span<const VertexId> tails, double p, double posterior) {
    edges_.add(head, tails);
    p_.push_back(p);
    edge_posteriors_.push_back(posterior);
  };
  for (VertexId v = 0; v < count; ++v) {
    const double above = options_.paper_outside ? 1.0 : outside_[v];
    for (const auto& [unit, p] : all.units[v]) add(v, std::span(&unit, 1), p, above * p);
    if (all.ways[v].empty() && all.units[v].empty()) add(v, {}, 1, above);
    std::map<std::vector<VertexId>, std::size_t> known;  // of several trees
    for (const Ways& ways : all.ways[v]) {
      auto p_of = [&](const std::vector<VertexId>& groups) {
        if (all.ways[v].size() == 1) return ways.p(groups.size());
        double p = 0;
        for (const Ways& other : all.ways[v]) p += other.share * other.p_of(groups);
        return p;
      };
      std::size_t most = ways.size, listed = 0;
      if (options_.delta > 0) {  // some tree must give a grouping its share of δ, to be above it in all
        const double least = options_.delta / static_cast<double>(all.ways[v].size());
        most = 0;
        for (std::size_t a = ways.fewest[0]; a <= ways.size && above * ways.share * ways.p(a) > least * (1 - 1e-12);
             ++a) {
          most = a;
        }
        complete = complete && most == ways.size;
      }
      ways.list(most, [&](const std::vector<VertexId>& groups) {
        if (options_.delta <= 0 && listed == kMaxListed) {
          complete = false;
          ++cuts_;
          return false;
        }
        if (all.ways[v].size() > 1 && !known.try_emplace(groups, p_.size()).second) return true;
        const double p = p_of(groups);
        ++listed;
        if (options_.delta > 0 && above * p <= options_.delta && groups != best_groups[v]) {
          complete = false;
          return true;
        }
        add(v, groups, p, above * p);
        return true;
      });
      const std::vector<VertexId>& chosen = best_groups[v];
      const bool there = all.ways[v].size() > 1 ? known.contains(chosen) : chosen.size() <= most;
      if (!chosen.empty() && !there && ways.p_of(chosen) > 0) {
        if (all.ways[v].size() > 1) known.emplace(chosen, p_.size());
        add(v, chosen, p_of(chosen), above * p_of(chosen));
      }
    }
  }
  edges_.finish(count);
  if (options_.paper_outside && (complete || options_.delta <= 0)) sum();
  if (options_.delta > 0) prune(complete);
}

}  // namespace treeglot::mwu
