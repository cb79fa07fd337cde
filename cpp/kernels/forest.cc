#include "kernels/forest.hh"

#include <cstring>
#include <stdexcept>

namespace treeglot::kernels {

namespace {

// Distinguishes the production of a pre-terminal from that of a phrase with the same label.
constexpr std::uint32_t kPhrase = 0xFFFFFFFFu;

void append(std::string& key, std::uint32_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

std::uint32_t Forest::symbol(const std::string& name) {
  const auto [place, is_new] = symbols_.try_emplace(name, static_cast<std::uint32_t>(symbols_.size()));
  if (is_new) symbol_names_.push_back(&place->first);
  return place->second;
}

std::string Forest::node_key(std::uint32_t production, std::span<const NodeId> children) const {
  std::string key;
  append(key, production);
  for (const NodeId child : children) append(key, child);
  return key;
}

NodeId Forest::intern(std::uint32_t label, std::uint32_t word, std::span<const NodeId> children) {
  std::string key;
  append(key, label);
  append(key, children.empty() ? word : kPhrase);
  for (const NodeId child : children) append(key, nodes_[child].label);
  const auto [rule, new_rule] =
      known_productions_.try_emplace(std::move(key), static_cast<std::uint32_t>(known_productions_.size()));
  if (new_rule) production_keys_.push_back(&rule->first);
  const std::uint32_t production = rule->second;

  const auto [place, is_new] = known_.try_emplace(node_key(production, children), static_cast<NodeId>(nodes_.size()));
  if (is_new) {
    nodes_.push_back(
        {production, label, static_cast<std::uint32_t>(children_.size()), static_cast<std::uint32_t>(children.size())});
    children_.insert(children_.end(), children.begin(), children.end());
  }
  return place->second;
}

std::vector<NodeId> Forest::add(std::span<const std::string> labels, std::span<const std::int32_t> arity,
                                std::span<const std::string> words) {
  const std::size_t size = labels.size();
  if (size == 0 || arity.size() != size || words.size() != size) {
    throw std::invalid_argument("labels, arity and words must be as many as the nodes, at least one");
  }
  std::size_t open = 1;
  for (std::size_t k = 0; k < size; ++k) {  // before anything is stored
    if (open == 0 || arity[k] < 0) throw std::invalid_argument("the nodes do not form one tree in preorder");
    open += static_cast<std::size_t>(arity[k]) - 1;
  }
  if (open != 0) throw std::invalid_argument("the nodes do not form one tree in preorder");

  std::vector<NodeId> result(size), waiting, below;
  for (std::size_t k = size; k-- > 0;) {  // children come after their parent; the leftmost waits on top
    below.clear();
    for (std::int32_t c = 0; c < arity[k]; ++c) {
      below.push_back(waiting.back());
      waiting.pop_back();
    }
    result[k] = intern(symbol(labels[k]), arity[k] == 0 ? symbol(words[k]) : 0, below);
    waiting.push_back(result[k]);
  }
  return result;
}

Forest::Preorder Forest::write(NodeId top) const {
  Preorder result;
  std::vector<NodeId> waiting{top};
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    const auto below = children(node);
    result.labels.push_back(*symbol_names_[nodes_[node].label]);
    result.arity.push_back(static_cast<std::int32_t>(below.size()));
    result.words.emplace_back();
    if (below.empty()) {  // the word is the second number of the production's key
      std::uint32_t word;
      std::memcpy(&word, production_keys_[nodes_[node].production]->data() + sizeof word, sizeof word);
      result.words.back() = *symbol_names_[word];
    }
    waiting.insert(waiting.end(), below.rbegin(), below.rend());
  }
  return result;
}

void Forest::truncate(const Mark& mark) {
  for (std::size_t n = mark.nodes; n < nodes_.size(); ++n) {
    known_.erase(node_key(nodes_[n].production, children(static_cast<NodeId>(n))));
  }
  if (mark.nodes < nodes_.size()) nodes_.resize(mark.nodes);
  if (mark.children < children_.size()) children_.resize(mark.children);
  while (production_keys_.size() > mark.productions) {
    known_productions_.erase(known_productions_.find(*production_keys_.back()));
    production_keys_.pop_back();
  }
  while (symbol_names_.size() > mark.symbols) {
    symbols_.erase(symbols_.find(*symbol_names_.back()));
    symbol_names_.pop_back();
  }
}

}  // namespace treeglot::kernels
