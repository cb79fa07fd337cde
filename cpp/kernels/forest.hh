// Trees in which equal sub-trees are stored once. Kernel values depend only on what a sub-tree looks like, so every
// kernel works on these shared nodes: a node is a sub-tree, its children have smaller numbers than itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace treeglot::kernels {

using NodeId = std::uint32_t;

class Forest {
 public:
  // Adds a tree whose nodes (phrases and pre-terminals) are given in preorder. `arity` is 0 for a pre-terminal; its
  // production then includes `words[k]`. Equal words make equal pre-terminals, so a caller that wants tags only gives
  // "" for all. Returns the shared node of each given node. Throws std::invalid_argument if this is not one tree.
  std::vector<NodeId> add(std::span<const std::string> labels, std::span<const std::int32_t> arity,
                          std::span<const std::string> words);

  // The tree under a node, as `add` takes it.
  struct Preorder {
    std::vector<std::string> labels;
    std::vector<std::int32_t> arity;
    std::vector<std::string> words;
  };
  Preorder write(NodeId node) const;

  std::size_t size() const { return nodes_.size(); }
  std::size_t productions() const { return production_keys_.size(); }

  std::uint32_t production(NodeId node) const { return nodes_[node].production; }
  std::uint32_t label(NodeId node) const { return nodes_[node].label; }
  std::span<const NodeId> children(NodeId node) const {
    return {children_.data() + nodes_[node].first_child, nodes_[node].arity};
  }

  // Trees that were added after a mark can be forgotten, so that a long stream of queries does not fill the memory.
  struct Mark {
    std::size_t nodes, children, productions, symbols;
  };
  Mark mark() const { return {nodes_.size(), children_.size(), production_keys_.size(), symbol_names_.size()}; }
  void truncate(const Mark& mark);

 private:
  struct Node {
    std::uint32_t production, label, first_child, arity;
  };

  std::uint32_t symbol(const std::string& name);
  NodeId intern(std::uint32_t label, std::uint32_t word, std::span<const NodeId> children);
  std::string node_key(std::uint32_t production, std::span<const NodeId> children) const;

  std::vector<Node> nodes_;
  std::vector<NodeId> children_;
  std::unordered_map<std::string, NodeId> known_;
  std::unordered_map<std::string, std::uint32_t> known_productions_;
  std::vector<const std::string*> production_keys_;
  std::unordered_map<std::string, std::uint32_t> symbols_;
  std::vector<const std::string*> symbol_names_;
};

}  // namespace treeglot::kernels
