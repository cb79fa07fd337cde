#include "grammars/mwu/forest.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "hypergraph/inside_outside.hh"

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
  edges_.clear();
  p_.clear();
  kept_ = {};
  members_.clear();
  const bool one = trees() == 1;
  std::vector<EdgeList> edges(one ? 0 : trees());
  std::vector<std::vector<double>> p(edges.size());
  for (std::size_t n = 0; n < trees(); ++n) {
    GroupFilter own;
    if (filter) own = [&filter, n](std::span<const Place> sigma) { return filter(n, sigma); };
    trees_[n]->build(own, one ? edges_ : edges[n], one ? p_ : p[n]);
  }
  count_ = trees_[0]->vertices();
  if (!one) join_vertices();
  find_order(count_);
  if (options_.factored) {
    list_groupings();
    return;
  }
  if (!one) join_edges(edges, p);
  sum();
  if (options_.delta > 0) prune(true);
}

// What is below a unit covers fewer words than it, and the units of a group cover as many as the group.
void Forest::find_order(std::size_t vertices) {
  covered_.resize(vertices);
  places_.assign(2 * tree().size() + 4, 0);
  std::vector<Place> sigma;
  for (VertexId v = 0; v < vertices; ++v) {
    std::uint32_t& covered = covered_[v];
    if (v == kRoot) {
      covered = static_cast<std::uint32_t>(2 * tree().size() + 2);
    } else {
      const TreeForest& forest = at(v);
      covered = forest.is_group(local(v));
      forest.sigma(local(v), sigma);
      for (Place word : sigma)
        covered += 2u * static_cast<std::uint32_t>(forest.tree().end(word) - forest.tree().begin(word));
    }
    ++places_[covered];
  }
  std::uint32_t next = 0;
  for (std::size_t size = places_.size(); size-- > 0;) next += std::exchange(places_[size], next);
  order_.resize(vertices);
  for (VertexId v = 0; v < vertices; ++v) order_[places_[covered_[v]]++] = v;
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
  count_ = all.size();
}

// The edges into each vertex, equal ones once, with the mean of their probabilities.
void Forest::join_edges(std::span<const EdgeList> edges, std::span<const std::vector<double>> p) {
  std::map<std::vector<VertexId>, std::size_t> known;
  std::vector<VertexId> tails;
  for (VertexId v = 0; v < count_; ++v) {
    known.clear();
    double total = 0;
    for (const Member& member : members(v)) total += weights_[member.tree];
    for (const Member& member : members(v)) {
      const EdgeList& own = edges[member.tree];
      for (EdgeId e : own.into(member.vertex)) {
        tails.clear();
        for (VertexId tail : own.tails(e)) tails.push_back(joined_[member.tree][tail]);
        auto [place, fresh] = known.try_emplace(tails, p_.size());
        if (fresh) {
          edges_.add(v, tails);
          p_.push_back(0);
        }
        p_[place->second] += weights_[member.tree] / total * p[member.tree][e];
      }
    }
  }
  edges_.finish(count_);
}

void Forest::sum() {
  if (options_.paper_outside || (!kept_.edges.empty() && !options_.renormalise)) {
    sum_any();
  } else {
    sum_down();
  }
}

// Where the probabilities of the edges into every vertex add up to 1: then inside sums are 1.
void Forest::sum_down() {
  inside_.assign(vertices(), 1.0);
  outside_.assign(vertices(), 0.0);
  edge_posteriors_.resize(edges_.size());
  outside_[kRoot] = 1;
  for (VertexId v : order_) {
    for (EdgeId e : edges_.into(v)) {
      const double through = edge_posteriors_[e] = outside_[v] * p_[e];
      for (VertexId tail : edges_.tails(e)) outside_[tail] += through;
    }
  }
  vertex_posteriors_ = outside_;
}

// In general.
void Forest::sum_any() {
  using hypergraph::ProbabilitySemiring;
  hypergraph::Hypergraph graph;
  graph.add_vertices(vertices());
  for (EdgeId e = 0; e < edges_.size(); ++e) graph.add_edge(edges_.head(e), edges_.tails(e));
  graph.freeze();
  inside_ = hypergraph::inside<ProbabilitySemiring>(graph, p_);
  outside_ =
      options_.paper_outside ? paper_outside() : hypergraph::outside<ProbabilitySemiring>(graph, p_, kRoot, inside_);
  auto posteriors = hypergraph::posteriors<ProbabilitySemiring>(graph, p_, kRoot, inside_, outside_);
  vertex_posteriors_ = std::move(posteriors.vertices);
  edge_posteriors_ = std::move(posteriors.edges);
}

// As printed: a mean over the edges out of the unit, each with all edges into its head.
std::vector<double> Forest::paper_outside() const {
  std::vector<double> result(vertices(), 1.0), sums(vertices(), 0.0);
  std::vector<std::uint32_t> outgoing(vertices(), 0);
  for (VertexId head : order_) {
    if (outgoing[head] > 0) result[head] = sums[head] / outgoing[head];
    for (EdgeId out : edges_.into(head)) {
      if (!kept_edge(out)) continue;
      for (VertexId vertex : edges_.tails(out)) {
        ++outgoing[vertex];
        for (EdgeId edge : edges_.into(head)) {
          if (!kept_edge(edge)) continue;
          double product = result[head] * p_[edge];
          for (VertexId tail : edges_.tails(edge)) {
            if (tail != vertex) product *= inside_[tail];
          }
          sums[vertex] += product;
        }
      }
    }
  }
  return result;
}

// Keeps the edges of the best derivation, too: the largest product, of equal ones the first edge. A derivation that is
// more probable than δ has only edges that are kept anyway.
void Forest::keep_best(std::vector<std::uint8_t>& keep) {
  std::vector<double> best(vertices(), 0.0);
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    for (EdgeId e : edges_.into(*v)) {
      if (!keep[e]) continue;
      double product = p_[e];
      for (VertexId tail : edges_.tails(e)) product *= best[tail];
      best[*v] = std::max(best[*v], product);
    }
  }
  if (best[kRoot] > options_.delta * (1 + 1e-9)) return;
  std::vector<EdgeId> chosen(vertices(), 0);
  best.assign(vertices(), -std::numeric_limits<double>::infinity());
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    for (EdgeId e : edges_.into(*v)) {
      double product = std::log(p_[e]);
      for (VertexId tail : edges_.tails(e)) product += best[tail];
      if (product <= best[*v]) continue;
      best[*v] = product;
      chosen[*v] = e;
    }
  }
  std::vector<VertexId> used{kRoot};
  while (!used.empty()) {
    const EdgeId edge = chosen[used.back()];
    used.pop_back();
    keep[edge] = 1;
    for (VertexId tail : edges_.tails(edge)) used.push_back(tail);
  }
}

// `complete`: all edges are listed.
void Forest::prune(bool complete) {
  std::vector<std::uint8_t> keep(edges_.size());
  bool all = complete;
  for (EdgeId e = 0; e < edges_.size(); ++e) {
    keep[e] = edges_.tails(e).empty() || edge_posteriors_[e] > options_.delta;
    all = all && keep[e];
  }
  if (all) return;
  keep_best(keep);
  // A vertex that has lost all its edges goes with the edges that need it; then what v0 no longer reaches.
  std::vector<std::uint8_t> derived(vertices(), 0), reached(vertices(), 0);
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    for (EdgeId e : edges_.into(*v)) {
      for (VertexId tail : edges_.tails(e)) keep[e] = keep[e] && derived[tail];
      derived[*v] = derived[*v] || keep[e];
    }
  }
  reached[kRoot] = 1;
  for (VertexId v : order_) {
    double total = 0;
    for (EdgeId e : edges_.into(v)) {
      keep[e] = keep[e] && reached[v];
      if (!keep[e]) {
        p_[e] = 0;
        continue;
      }
      total += p_[e];
      for (VertexId tail : edges_.tails(e)) reached[tail] = 1;
    }
    if (!options_.renormalise || total == 0) continue;
    for (EdgeId e : edges_.into(v)) p_[e] /= total;
  }
  kept_.vertices = std::move(reached);
  kept_.edges = std::move(keep);
  sum();
}

}  // namespace treeglot::mwu
