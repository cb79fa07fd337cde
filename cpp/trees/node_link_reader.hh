// Links of nodes for a bitext that is there already, from the lines of a file (treeglot.trees.nodelinks), a line for
// each pair.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text.hh"
#include "trees/link_lines.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// The number of a node among the phrases and words of a sentence; throws InputError with `line` as its place.
std::uint32_t node_number(NodeEnd end, std::size_t phrases, std::size_t words, bool target, std::size_t line);

class NodeLinkReader {
 public:
  // Links with a score below `threshold` do not count.
  NodeLinkReader(ParsedBitext& bitext, double threshold) : bitext_(bitext), threshold_(threshold) {}

  void feed(std::string_view bytes);
  // Gives the links to the bitext, in place of those that it has. Both throw InputError.
  void finish();

 private:
  void read();

  ParsedBitext& bitext_;
  double threshold_;
  LineScanner lines_;
  std::vector<NodeLinkEnds> ends_;
  std::vector<NodeLink> links_;
  std::vector<std::uint64_t> starts_{0};
};

}  // namespace treeglot
