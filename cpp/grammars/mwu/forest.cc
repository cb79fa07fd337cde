#include "grammars/mwu/forest.hh"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hypergraph/inside_outside.hh"
#include "hypergraph/viterbi.hh"

namespace treeglot::mwu {

void Forest::start(std::span<const std::int32_t> heads) { units_.reset(heads); }

void Forest::build(const GroupFilter& filter) {
  graph_.clear();
  unit_of_.assign(1, kNoUnit);
  vertex_of_.clear();
  p_.clear();
  kept_ = {};
  group_of_.clear();
  group_sigma_.assign(1, nullptr);
  graph_.add_vertex();
  if (tree().size() == 0) {  // v0 needs nothing
    graph_.add_edge(kRoot, std::span<const VertexId>());
    p_.push_back(1);
  }
  // New vertices come behind those that are there.
  for (VertexId next = 0; next < unit_of_.size() && tree().size() > 0; ++next) add_edges(next, filter);
  graph_.freeze();
  sum();
  if (options_.delta > 0) prune();
}

VertexId Forest::vertex(UnitId unit) {
  if (vertex_of_.size() <= unit) vertex_of_.resize(units_.count(), hypergraph::kNone);
  if (vertex_of_[unit] == hypergraph::kNone) {
    vertex_of_[unit] = graph_.add_vertex();
    unit_of_.push_back(unit);
    group_sigma_.push_back(nullptr);
  }
  return vertex_of_[unit];
}

VertexId Forest::group(std::span<const Place> sigma) {
  auto [place, fresh] = group_of_.try_emplace({sigma.begin(), sigma.end()});
  if (fresh) {
    place->second = graph_.add_vertex();
    unit_of_.push_back(kNoUnit);
    group_sigma_.push_back(&place->first);
  }
  return place->second;
}

void Forest::sigma(VertexId vertex, std::vector<Place>& out) const {
  if (group_sigma_[vertex]) {
    out = *group_sigma_[vertex];
  } else {
    units_.sigma(unit_of_[vertex], out);
  }
}

void Forest::add_edges(VertexId head, const GroupFilter& filter) {
  if (is_group(head)) {
    add_alternatives(head);
    return;
  }
  const bool root = head == kRoot;
  if (root) {
    tau_.assign(1, static_cast<Place>(tree().root()));
  } else {
    units_.tau(unit_of_[head], tau_);
  }
  const std::size_t first = p_.size();
  double total = 0;
  auto add_best = [&](const GroupFilter& allowed) {
    chart_.reset(tau_, allowed);
    for (int count = 0; (root || count < options_.k) && chart_.next(tails_); ++count) {
      tail_vertices_.clear();
      for (UnitId tail : tails_) tail_vertices_.push_back(vertex(tail));
      graph_.add_edge(head, tail_vertices_);
      p_.push_back(static_cast<double>(chart_.words()) / static_cast<double>(tails_.size()));
      total += p_.back();
    }
  };
  if (tau_.empty()) {
    graph_.add_edge(head, std::span<const VertexId>());
    p_.push_back(1);
    return;
  }
  if (options_.factored) {
    if (filter && !root) add_groupings(head, filter);
    if (p_.size() == first) add_groupings(head, {});
    return;
  }
  if (filter && !root) add_best(filter);
  if (p_.size() == first) add_best({});
  for (std::size_t e = first; e < p_.size(); ++e) p_[e] /= total;
}

// The units of a group, by their size.
void Forest::add_alternatives(VertexId group) {
  const std::vector<Place>& sigma = *group_sigma_[group];
  const Units::Range alternatives = units_.of(sigma);
  double total = 0;
  for (UnitId unit = alternatives.first; unit < alternatives.last; ++unit) total += units_.size(unit);
  for (UnitId unit = alternatives.first; unit < alternatives.last; ++unit) {
    const VertexId tail = vertex(unit);
    graph_.add_edge(group, {tail});
    p_.push_back(units_.size(unit) / total);
  }
}

// The ways to cut τ into groups, those with fewer groups first.
void Forest::add_groupings(VertexId head, const GroupFilter& filter) {
  const std::size_t size = tau_.size(), first = p_.size();
  // By place in τ: where groups that begin there may end.
  std::vector<std::vector<std::size_t>> ends(size);
  constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  for (std::size_t begin = 0; begin < size; ++begin) {
    bool siblings = true;
    for (std::size_t end = begin + 1; end <= size && end - begin <= static_cast<std::size_t>(options_.max_words);
         ++end) {
      if (end > begin + 1) siblings = siblings && tree().next_sibling(tau_[end - 2]) == tau_[end - 1];
      if (!siblings && !options_.any_siblings) break;
      const std::span<const Place> sigma = std::span<const Place>(tau_).subspan(begin, end - begin);
      if ((!filter || filter(sigma)) && units_.of(sigma).size() > 0) ends[begin].push_back(end);
    }
  }
  std::vector<std::size_t> fewest(size + 1, kNever);
  fewest[size] = 0;
  for (std::size_t begin = size; begin-- > 0;) {
    for (std::size_t end : ends[begin]) {
      if (fewest[end] != kNever) fewest[begin] = std::min(fewest[begin], fewest[end] + 1);
    }
  }
  if (fewest[0] == kNever) return;
  struct Step {
    std::size_t begin, next;  // in τ, in ends[begin]
  };
  std::vector<Step> steps;
  double total = 0;
  const std::vector<Place> tau = tau_;
  for (std::size_t groups = fewest[0]; groups <= size; ++groups) {
    steps.assign(1, {0, 0});
    while (!steps.empty()) {
      Step& last = steps.back();
      if (last.next == ends[last.begin].size()) {
        steps.pop_back();
        continue;
      }
      const std::size_t end = ends[last.begin][last.next++], left = groups - steps.size();
      if (fewest[end] == kNever || fewest[end] > left || left > size - end) continue;
      if (end < size) {
        steps.push_back({end, 0});
        continue;
      }
      if (p_.size() - first == kMaxGroupings) {
        ++cuts_;
        groups = size;
        break;
      }
      tail_vertices_.clear();
      for (const Step& step : steps) {
        const std::size_t stop = ends[step.begin][step.next - 1];
        tail_vertices_.push_back(group(std::span<const Place>(tau).subspan(step.begin, stop - step.begin)));
      }
      graph_.add_edge(head, tail_vertices_);
      p_.push_back(std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(groups - fewest[0], 1000))));
      total += p_.back();
    }
  }
  for (std::size_t e = first; e < p_.size(); ++e) p_[e] /= total;
}

void Forest::sum() {
  using hypergraph::ProbabilitySemiring;
  if (kept_.edges.empty() && !options_.paper_outside) {
    sum_whole();
    return;
  }
  inside_ = hypergraph::inside<ProbabilitySemiring>(graph_, p_);
  outside_ =
      options_.paper_outside ? paper_outside() : hypergraph::outside<ProbabilitySemiring>(graph_, p_, kRoot, inside_);
  auto posteriors = hypergraph::posteriors<ProbabilitySemiring>(graph_, p_, kRoot, inside_, outside_);
  vertex_posteriors_ = std::move(posteriors.vertices);
  edge_posteriors_ = std::move(posteriors.edges);
}

// The same for a forest with all its edges, whose probabilities add up to 1 at every vertex: then inside sums are 1.
void Forest::sum_whole() {
  inside_.assign(graph_.vertices(), 1.0);
  outside_.assign(graph_.vertices(), 0.0);
  edge_posteriors_.resize(graph_.edges());
  outside_[kRoot] = 1;
  const std::span<const VertexId> order = graph_.order();
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    for (EdgeId edge : graph_.incoming(*vertex)) {
      const double through = edge_posteriors_[edge] = outside_[*vertex] * p_[edge];
      for (VertexId tail : graph_.tails(edge)) outside_[tail] += through;
    }
  }
  vertex_posteriors_ = outside_;
}

// As printed: a mean over the edges out of the unit, each with all edges into its head.
std::vector<double> Forest::paper_outside() const {
  std::vector<double> result(graph_.vertices(), 1.0);
  const std::span<const VertexId> order = graph_.order();
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    double sum = 0;
    int outgoing = 0;
    for (EdgeId out : graph_.outgoing(*vertex)) {
      if (!kept_edge(out)) continue;
      ++outgoing;
      const VertexId head = graph_.head(out);
      for (EdgeId edge : graph_.incoming(head)) {
        if (!kept_edge(edge)) continue;
        double product = result[head] * p_[edge];
        for (VertexId tail : graph_.tails(edge)) {
          if (tail != *vertex) product *= inside_[tail];
        }
        sum += product;
      }
    }
    if (outgoing > 0) result[*vertex] = sum / outgoing;
  }
  return result;
}

void Forest::prune() {
  std::vector<std::uint8_t> keep(graph_.edges(), 0);
  bool all = true;
  for (EdgeId e = 0; e < graph_.edges(); ++e) {
    keep[e] = graph_.tails(e).empty() || edge_posteriors_[e] > options_.delta;
    all = all && keep[e];
  }
  if (all) return;
  std::vector<double> logarithms(graph_.edges());
  for (EdgeId e = 0; e < graph_.edges(); ++e) logarithms[e] = std::log(p_[e]);
  const hypergraph::BestDerivations<hypergraph::ViterbiSemiring> best(graph_, logarithms);
  std::vector<VertexId> used{kRoot};
  while (!used.empty()) {
    const EdgeId edge = best.best_edge(used.back());
    used.pop_back();
    keep[edge] = 1;
    for (VertexId tail : graph_.tails(edge)) used.push_back(tail);
  }
  kept_ = hypergraph::useful(graph_, kRoot, keep);
  for (EdgeId e = 0; e < graph_.edges(); ++e) {
    if (!kept_.edges[e]) p_[e] = 0;
  }
  if (options_.renormalise) p_ = hypergraph::normalised(graph_, p_);
  sum();
}

namespace {

void put(std::string& out, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  out += text;
}

template <class Numbers>
void put_list(std::string& out, const Numbers& numbers) {
  out += '[';
  for (bool first = true; auto number : numbers) {
    if (!first) out += ", ";
    first = false;
    out += std::to_string(number);
  }
  out += ']';
}

}  // namespace

std::string Forest::json() const {
  std::vector<std::uint32_t> number(vertices(), 0);  // of vertices and of groups that are left
  std::uint32_t units = 0, groups = 0;
  std::string out = "{\"vertices\": [";
  for (VertexId v = 0; v < vertices(); ++v) {
    if (!kept(v)) continue;
    if (is_group(v)) {
      number[v] = groups++;
      continue;
    }
    number[v] = units++;
    out += v > 0 ? ", {\"words\": " : "{\"words\": ";
    put_list(out, words(v));
    out += ", \"inside\": ";
    put(out, inside_[v]);
    out += ", \"outside\": ";
    put(out, outside_[v]);
    out += ", \"posterior\": ";
    put(out, vertex_posteriors_[v]);
    out += '}';
  }
  out += "], \"edges\": [";
  bool first = true;
  std::vector<std::uint32_t> tails;
  for (EdgeId e = 0; e < edges(); ++e) {
    if (graph_.tails(e).empty() || !kept_edge(e) || is_group(graph_.head(e))) continue;
    out += first ? "{\"head\": " : ", {\"head\": ";
    first = false;
    out += std::to_string(number[graph_.head(e)]);
    out += ", \"tails\": ";
    tails.clear();
    for (VertexId tail : graph_.tails(e)) tails.push_back(number[tail]);
    put_list(out, tails);
    out += ", \"p\": ";
    put(out, p_[e]);
    out += ", \"posterior\": ";
    put(out, edge_posteriors_[e]);
    out += '}';
  }
  out += ']';
  if (options_.factored) {
    out += ", \"groups\": [";
    first = true;
    for (VertexId v = 0; v < vertices(); ++v) {
      if (!kept(v) || !is_group(v)) continue;
      out += first ? "{\"words\": " : ", {\"words\": ";
      first = false;
      put_list(out, *group_sigma_[v]);
      out += ", \"alternatives\": [";
      bool first_unit = true;
      for (EdgeId e : graph_.incoming(v)) {
        if (!kept_edge(e)) continue;
        out += first_unit ? "{\"vertex\": " : ", {\"vertex\": ";
        first_unit = false;
        out += std::to_string(number[graph_.tails(e)[0]]);
        out += ", \"p\": ";
        put(out, p_[e]);
        out += '}';
      }
      out += "]}";
    }
    out += ']';
  }
  out += '}';
  return out;
}

}  // namespace treeglot::mwu
