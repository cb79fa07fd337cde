// The forest of a sentence as JSON (spec: mwu-forest, section 5).
#include <cstdio>

#include "grammars/mwu/forest.hh"

namespace treeglot::mwu {

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
  std::vector<Place> words_of_sigma;
  std::vector<std::uint32_t> trees_of_vertex;
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
    if (!members_.empty()) {
      trees_of_vertex.clear();
      for (const Member& member : members(v)) trees_of_vertex.push_back(member.tree);
      out += ", \"parses\": ";
      put_list(out, trees_of_vertex);
    }
    out += '}';
  }
  out += "], \"edges\": [";
  bool first = true;
  std::vector<std::uint32_t> tails;
  for (EdgeId e = 0; e < edges_.size(); ++e) {
    if (edges_.tails(e).empty() || !kept_edge(e) || is_group(edges_.head(e))) continue;
    out += first ? "{\"head\": " : ", {\"head\": ";
    first = false;
    out += std::to_string(number[edges_.head(e)]);
    out += ", \"tails\": ";
    tails.clear();
    for (VertexId tail : edges_.tails(e)) tails.push_back(number[tail]);
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
      sigma(v, words_of_sigma);
      put_list(out, words_of_sigma);
      out += ", \"alternatives\": [";
      bool first_unit = true;
      for (EdgeId e : edges_.into(v)) {
        if (!kept_edge(e)) continue;
        out += first_unit ? "{\"vertex\": " : ", {\"vertex\": ";
        first_unit = false;
        out += std::to_string(number[edges_.tails(e)[0]]);
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
