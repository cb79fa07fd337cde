#include "grammars/mwu/forest.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hypergraph/inside_outside.hh"
#include "hypergraph/viterbi.hh"

namespace treeglot::mwu {

void Forest::take_trees(std::size_t count) {
  while (trees_.size() < count) trees_.push_back(std::make_unique<TreeForest>(options_));
  weights_.assign(count, 1.0);
}

void Forest::start(std::span<const std::int32_t> heads) {
  take_trees(1);
  trees_[0]->start(heads);
}

void Forest::start(const ParsedSentence& sentence) {
  take_trees(std::max<std::size_t>(sentence.trees(), 1));
  for (std::size_t n = 0; n < trees(); ++n) trees_[n]->start(sentence.heads_of(n));
  if (trees() == 1) return;
  const double total = std::accumulate(sentence.weights.begin(), sentence.weights.end(), 0.0);
  for (std::size_t n = 0; n < trees(); ++n) weights_[n] = sentence.weights[n] / total;
}

std::uint64_t Forest::unit_cuts() const {
  std::uint64_t cuts = 0;
  for (const auto& tree : trees_) cuts += tree->units().cuts();
  return cuts;
}

void Forest::build(const TreeGroupFilter& filter) {
  graph_.clear();
  p_.clear();
  kept_ = {};
  members_.clear();
  std::vector<hypergraph::Hypergraph> graphs(trees() - 1);  // of further trees, and of the first if there are any
  std::vector<std::vector<double>> p(trees() - 1);
  if (trees() > 1) {
    graphs.emplace_back();
    p.emplace_back();
  }
  for (std::size_t n = 0; n < trees(); ++n) {
    GroupFilter own;
    if (filter) own = [&filter, n](std::span<const Place> sigma) { return filter(n, sigma); };
    trees_[n]->build(own, trees() == 1 ? graph_ : graphs[n], trees() == 1 ? p_ : p[n]);
  }
  if (trees() > 1) {
    graph_.clear();
    join_vertices();
  }
  if (options_.factored) {
    list_groupings();
    return;
  }
  if (trees() > 1) join_edges(graphs, p);
  graph_.freeze();
  sum();
  if (options_.delta > 0) prune(true);
}

// What a vertex is, whatever the tree.
void Forest::key_of(const TreeForest& forest, VertexId vertex, std::vector<std::uint32_t>& key) const {
  constexpr std::uint32_t kGroup = 0x10000, kNext = 0x10001, kOutside = 0x10002;  // none is a word
  key.clear();
  if (vertex == kRoot) return;
  const Tree& tree = forest.tree();
  std::vector<Place> sigma, tau;
  forest.sigma(vertex, sigma);
  if (forest.is_group(vertex)) {
    key.push_back(kGroup);
    key.insert(key.end(), sigma.begin(), sigma.end());
  } else {
    const std::span<const Place> words = forest.words(vertex);
    for (Place word : words) {
      const bool top = std::binary_search(sigma.begin(), sigma.end(), word);
      key.push_back(word);
      key.push_back(top ? kOutside : static_cast<std::uint32_t>(tree.head(word)));
    }
    key.push_back(kNext);
    forest.tau(vertex, tau);
    for (Place word : tau) {
      key.push_back(word);
      key.push_back(static_cast<std::uint32_t>(tree.head(word)));
    }
  }
  key.push_back(kNext);
  for (std::size_t i = 0; i < sigma.size(); ++i) {  // the yield, as spans with gaps between them
    if (i > 0 && tree.end(sigma[i - 1]) == tree.begin(sigma[i])) {
      key.back() = tree.end(sigma[i]);
    } else {
      key.push_back(tree.begin(sigma[i]));
      key.push_back(tree.end(sigma[i]));
    }
  }
}

// Vertices of the trees' forests that are one; those of the first tree keep their numbers.
void Forest::join_vertices() {
  std::map<std::vector<std::uint32_t>, VertexId> known;
  std::vector<std::vector<Member>> all;
  std::vector<std::uint32_t> key;
  joined_.resize(std::max(joined_.size(), trees()));
  for (std::uint32_t n = 0; n < trees(); ++n) {
    joined_[n].clear();
    for (VertexId v = 0; v < trees_[n]->vertices(); ++v) {
      key_of(*trees_[n], v, key);
      auto [place, fresh] = known.try_emplace(key, static_cast<VertexId>(all.size()));
      if (fresh) all.emplace_back();
      all[place->second].push_back({n, v});
      joined_[n].push_back(place->second);
    }
  }
  member_starts_.assign(1, 0);
  for (const std::vector<Member>& same : all) {
    members_.insert(members_.end(), same.begin(), same.end());
    member_starts_.push_back(static_cast<std::uint32_t>(members_.size()));
  }
  graph_.add_vertices(all.size());
}

// The edges into each vertex, equal ones once, with the mean of their probabilities.
void Forest::join_edges(std::span<const hypergraph::Hypergraph> graphs, std::span<const std::vector<double>> p) {
  std::vector<std::vector<EdgeId>> first(graphs.size());  // edges are listed head after head
  for (std::size_t n = 0; n < graphs.size(); ++n) {
    first[n].assign(graphs[n].vertices() + 1, static_cast<EdgeId>(graphs[n].edges()));
    for (auto e = static_cast<EdgeId>(graphs[n].edges()); e-- > 0;) first[n][graphs[n].head(e)] = e;
  }
  std::map<std::vector<VertexId>, std::size_t> known;
  std::vector<VertexId> tails;
  for (VertexId v = 0; v < graph_.vertices(); ++v) {
    known.clear();
    double total = 0;
    for (const Member& member : members(v)) total += weights_[member.tree];
    for (const Member& member : members(v)) {
      const hypergraph::Hypergraph& graph = graphs[member.tree];
      for (EdgeId e = first[member.tree][member.vertex]; e < graph.edges() && graph.head(e) == member.vertex; ++e) {
        tails.clear();
        for (VertexId tail : graph.tails(e)) tails.push_back(joined_[member.tree][tail]);
        auto [place, fresh] = known.try_emplace(tails, p_.size());
        if (fresh) {
          graph_.add_edge(v, tails);
          p_.push_back(0);
        }
        p_[place->second] += weights_[member.tree] / total * p[member.tree][e];
      }
    }
  }
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

// `complete`: all edges are in the graph.
void Forest::prune(bool complete) {
  std::vector<std::uint8_t> keep(graph_.edges(), 0);
  bool all = complete;
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

}  // namespace treeglot::mwu
