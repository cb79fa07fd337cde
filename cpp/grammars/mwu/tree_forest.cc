#include "grammars/mwu/tree_forest.hh"

namespace treeglot::mwu {

void TreeForest::build(const GroupFilter& filter, EdgeList& edges, std::vector<double>& p) {
  unit_of_.assign(1, kNoUnit);
  vertex_of_.clear();
  const std::size_t size = tree().size();
  if (options_.factored) {
    sigmas_.clear();
    sigma_of_.assign(1, 0);
    sibling_group_.assign(size * static_cast<std::size_t>(options_.max_words), hypergraph::kNone);
    any_group_.clear();
    parts_.clear();
    part_starts_.assign(1, 0);
    alternatives_.clear();
    alternative_starts_.assign(1, 0);
    // New vertices come behind those that are there.
    for (VertexId next = 0; next < unit_of_.size(); ++next) {
      if (is_group(next)) {
        find_alternatives(next);
      } else if (size > 0) {
        find_parts(next, filter);
      }
      part_starts_.push_back(static_cast<std::uint32_t>(parts_.size()));
      alternative_starts_.push_back(static_cast<std::uint32_t>(alternatives_.size()));
    }
    return;
  }
  for (VertexId next = 0; next < unit_of_.size(); ++next) add_edges(next, filter, edges, p);
  edges.finish(unit_of_.size());
}

VertexId TreeForest::add_vertex(UnitId unit, std::uint32_t sigma) {
  unit_of_.push_back(unit);
  if (options_.factored) sigma_of_.push_back(sigma);
  return static_cast<VertexId>(unit_of_.size() - 1);
}

VertexId TreeForest::vertex(UnitId unit) {
  if (vertex_of_.size() <= unit) vertex_of_.resize(units_.count(), hypergraph::kNone);
  if (vertex_of_[unit] == hypergraph::kNone) vertex_of_[unit] = add_vertex(unit, 0);
  return vertex_of_[unit];
}

VertexId TreeForest::group(std::span<const Place> sigma, bool siblings) {
  VertexId* known;
  if (siblings) {
    known = &sibling_group_[sigma[0] * static_cast<std::size_t>(options_.max_words) + sigma.size() - 1];
  } else {
    known = &any_group_.try_emplace({sigma.begin(), sigma.end()}, hypergraph::kNone).first->second;
  }
  if (*known == hypergraph::kNone) {
    sigmas_.emplace_back(sigma.begin(), sigma.end());
    *known = add_vertex(kNoUnit, static_cast<std::uint32_t>(sigmas_.size() - 1));
  }
  return *known;
}

void TreeForest::sigma(VertexId vertex, std::vector<Place>& out) const {
  if (is_group(vertex)) {
    out = sigmas_[sigma_of_[vertex]];
  } else {
    units_.sigma(unit_of_[vertex], out);
  }
}

void TreeForest::tau(VertexId vertex, std::vector<Place>& out) const {
  if (vertex == kRoot) {
    out.clear();
    if (tree().root() >= 0) out.push_back(static_cast<Place>(tree().root()));
  } else {
    units_.tau(unit_of_[vertex], out);
  }
}

void TreeForest::add_edges(VertexId head, const GroupFilter& filter, EdgeList& edges, std::vector<double>& p) {
  tau(head, tau_);
  if (tau_.empty()) {
    edges.add(head, {});
    p.push_back(1);
    return;
  }
  const bool root = head == kRoot;
  const std::size_t first = p.size();
  double total = 0;
  auto add_best = [&](const GroupFilter& allowed) {
    chart_.reset(tau_, allowed);
    for (int count = 0; (root || count < options_.k) && chart_.next(tails_); ++count) {
      tail_vertices_.clear();
      for (UnitId tail : tails_) tail_vertices_.push_back(vertex(tail));
      edges.add(head, tail_vertices_);
      p.push_back(static_cast<double>(chart_.words()) / static_cast<double>(tails_.size()));
      total += p.back();
    }
  };
  if (filter && !root) add_best(filter);
  if (p.size() == first) add_best({});
  for (std::size_t e = first; e < p.size(); ++e) p[e] /= total;
}

void TreeForest::find_parts(VertexId unit, const GroupFilter& filter) {
  tau(unit, tau_);
  if (tau_.empty()) return;
  if (filter && unit != kRoot && add_parts(filter)) return;
  add_parts({});
}

// The groups of all groupings whose groups pass the filter; false if there is no grouping.
bool TreeForest::add_parts(const GroupFilter& filter) {
  const auto size = static_cast<std::uint32_t>(tau_.size());
  ranges_.clear();
  from_start_.assign(size + 1, 0);
  to_the_end_.assign(size + 1, 0);
  from_start_[0] = to_the_end_[size] = 1;
  for (std::uint32_t begin = 0; begin < size; ++begin) {
    bool siblings = true;
    for (std::uint32_t end = begin + 1; end <= size && end - begin <= static_cast<std::uint32_t>(options_.max_words);
         ++end) {
      if (end > begin + 1) siblings = siblings && tree().next_sibling(tau_[end - 2]) == tau_[end - 1];
      if (!siblings && !options_.any_siblings) break;
      const std::span<const Place> sigma = std::span<const Place>(tau_).subspan(begin, end - begin);
      if (filter && !filter(sigma)) continue;
      if ((siblings ? units_.of_siblings(sigma) : units_.of_group(sigma)).size() == 0) continue;
      ranges_.push_back({begin, end, siblings});
      from_start_[end] = from_start_[end] || from_start_[begin];
    }
  }
  for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
    to_the_end_[range->begin] = to_the_end_[range->begin] || to_the_end_[range->end];
  }
  if (!to_the_end_[0]) return false;
  for (const Range& range : ranges_) {
    if (!from_start_[range.begin] || !to_the_end_[range.end]) continue;
    const auto sigma = std::span<const Place>(tau_).subspan(range.begin, range.end - range.begin);
    parts_.push_back({range.begin, range.end, group(sigma, range.siblings)});
  }
  return true;
}

void TreeForest::find_alternatives(VertexId group) {
  const Units::Range units = units_.of(sigmas_[sigma_of_[group]]);
  for (UnitId unit = units.first; unit < units.last; ++unit) alternatives_.push_back(vertex(unit));
}

}  // namespace treeglot::mwu
