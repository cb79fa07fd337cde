#include "grammars/mwu/forest.hh"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hypergraph/inside_outside.hh"
#include "hypergraph/prune.hh"
#include "hypergraph/viterbi.hh"

namespace treeglot::mwu {

void Forest::start(std::span<const std::int32_t> heads) { units_.reset(heads); }

void Forest::build(const GroupFilter& filter) {
  graph_.clear();
  unit_of_.assign(1, kNoUnit);
  vertex_of_.clear();
  p_.clear();
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
  }
  return vertex_of_[unit];
}

void Forest::add_edges(VertexId head, const GroupFilter& filter) {
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
  if (filter && !root) add_best(filter);
  if (p_.size() == first) add_best({});
  for (std::size_t e = first; e < p_.size(); ++e) p_[e] /= total;
}

void Forest::sum() {
  using hypergraph::ProbabilitySemiring;
  inside_ = hypergraph::inside<ProbabilitySemiring>(graph_, p_);
  outside_ =
      options_.paper_outside ? paper_outside() : hypergraph::outside<ProbabilitySemiring>(graph_, p_, kRoot, inside_);
  auto posteriors = hypergraph::posteriors<ProbabilitySemiring>(graph_, p_, kRoot, inside_, outside_);
  vertex_posteriors_ = std::move(posteriors.vertices);
  edge_posteriors_ = std::move(posteriors.edges);
}

// As printed: a mean over the edges out of the unit, each with all edges into its head.
std::vector<double> Forest::paper_outside() const {
  std::vector<double> result(graph_.vertices(), 1.0);
  const std::span<const VertexId> order = graph_.order();
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    const std::span<const EdgeId> outgoing = graph_.outgoing(*vertex);
    if (outgoing.empty()) continue;
    double sum = 0;
    for (EdgeId out : outgoing) {
      const VertexId head = graph_.head(out);
      for (EdgeId edge : graph_.incoming(head)) {
        double product = result[head] * p_[edge];
        for (VertexId tail : graph_.tails(edge)) {
          if (tail != *vertex) product *= inside_[tail];
        }
        sum += product;
      }
    }
    result[*vertex] = sum / static_cast<double>(outgoing.size());
  }
  return result;
}

void Forest::prune() {
  std::vector<std::uint8_t> keep(graph_.edges(), 0);
  std::vector<double> logarithms(graph_.edges());
  for (EdgeId e = 0; e < graph_.edges(); ++e) {
    keep[e] = graph_.tails(e).empty() || edge_posteriors_[e] > options_.delta;
    logarithms[e] = std::log(p_[e]);
  }
  const hypergraph::BestDerivations<hypergraph::ViterbiSemiring> best(graph_, logarithms);
  std::vector<VertexId> used{kRoot};
  while (!used.empty()) {
    const EdgeId edge = best.best_edge(used.back());
    used.pop_back();
    keep[edge] = 1;
    for (VertexId tail : graph_.tails(edge)) used.push_back(tail);
  }
  hypergraph::Subgraph left = hypergraph::subgraph(graph_, hypergraph::useful(graph_, kRoot, keep));
  std::vector<double> p;
  std::vector<UnitId> units;
  for (EdgeId e : left.edges) p.push_back(p_[e]);
  for (VertexId v : left.vertices) units.push_back(unit_of_[v]);
  graph_ = std::move(left.graph);
  unit_of_ = std::move(units);
  p_ = options_.renormalise ? hypergraph::normalised(graph_, p) : std::move(p);
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
  std::string out = "{\"vertices\": [";
  for (VertexId v = 0; v < vertices(); ++v) {
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
  for (EdgeId e = 0; e < edges(); ++e) {
    if (graph_.tails(e).empty()) continue;
    out += first ? "{\"head\": " : ", {\"head\": ";
    first = false;
    out += std::to_string(graph_.head(e));
    out += ", \"tails\": ";
    put_list(out, graph_.tails(e));
    out += ", \"p\": ";
    put(out, p_[e]);
    out += ", \"posterior\": ";
    put(out, edge_posteriors_[e]);
    out += '}';
  }
  out += "]}";
  return out;
}

}  // namespace treeglot::mwu
