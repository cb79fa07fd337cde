#include "hypergraph/hypergraph.hh"

#include <stdexcept>
#include <string>

namespace treeglot::hypergraph {
namespace {

// Numbers below kNone.
void require_room(std::size_t size, std::size_t more) {
  if (more >= kNone - size) throw std::length_error("a hypergraph has at most 2^32 - 2 vertices, edges and tails");
}

}  // namespace

VertexId Hypergraph::add_vertices(std::size_t count) {
  if (frozen_) throw std::logic_error("the hypergraph is frozen: no vertex can be added");
  require_room(vertices_, count);
  const VertexId first = static_cast<VertexId>(vertices_);
  vertices_ += count;
  return first;
}

EdgeId Hypergraph::add_edge(VertexId head, std::span<const VertexId> tails) {
  if (frozen_) throw std::logic_error("the hypergraph is frozen: no edge can be added");
  require_vertex(head);
  for (VertexId tail : tails) require_vertex(tail);
  require_room(heads_.size(), 1);
  require_room(tails_.size(), tails.size());
  tails_.insert(tails_.end(), tails.begin(), tails.end());
  first_tail_.push_back(static_cast<std::uint32_t>(tails_.size()));
  heads_.push_back(head);
  return static_cast<EdgeId>(heads_.size() - 1);
}

void Hypergraph::freeze() {
  if (frozen_) return;
  // Lists by counting: first the sizes, then the ends of the lists move up to where they belong.
  auto fill = [&](Lists& lists, auto each) {
    lists.starts.assign(vertices_ + 1, 0);
    each([&](VertexId vertex, EdgeId) { ++lists.starts[vertex + 1]; });
    for (std::size_t v = 0; v < vertices_; ++v) lists.starts[v + 1] += lists.starts[v];
    lists.edges.resize(lists.starts[vertices_]);
    std::vector<std::uint32_t> next(lists.starts.begin(), lists.starts.end() - 1);
    each([&](VertexId vertex, EdgeId edge) { lists.edges[next[vertex]++] = edge; });
  };
  fill(incoming_, [&](auto add) {
    for (EdgeId e = 0; e < edges(); ++e) add(heads_[e], e);
  });
  std::vector<EdgeId> last;  // by vertex, its outgoing edge that was seen last
  fill(outgoing_, [&](auto add) {
    last.assign(vertices_, kNone);
    for (EdgeId e = 0; e < edges(); ++e) {
      for (VertexId tail : tails(e)) {
        if (last[tail] == e) continue;
        last[tail] = e;
        add(tail, e);
      }
    }
  });
  TopologicalOrder sorted;
  sorted.start(vertices_);
  for (VertexId v = 0; v < vertices_; ++v) {
    sorted.add(
        v, [&](VertexId vertex) { return incoming(vertex).size(); },
        [&](VertexId vertex, std::uint32_t i) { return tails(incoming(vertex)[i]); });
  }
  order_ = sorted.order();
  frozen_ = true;
}

void Hypergraph::clear() {
  vertices_ = 0;
  heads_.clear();
  tails_.clear();
  first_tail_.assign(1, 0);
  order_.clear();
  frozen_ = false;
}

void Hypergraph::require_frozen() const {
  if (!frozen_) throw std::logic_error("the hypergraph is not frozen yet: call freeze() when it is complete");
}

void Hypergraph::require_vertex(VertexId vertex) const {
  if (vertex < vertices_) return;
  throw std::out_of_range("no vertex " + std::to_string(vertex) + ": the hypergraph has " + std::to_string(vertices_));
}

}  // namespace treeglot::hypergraph
