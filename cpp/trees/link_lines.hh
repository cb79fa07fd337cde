// Links as lines of text: Pharaoh's word links "0-0 1-2" (treeglot.trees.wordlinks) and links of nodes "0-0 2-w4"
// (treeglot.trees.nodelinks), a line for each sentence pair. Marks of possible links are read and forgotten, as are
// scores of word links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/words.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// The links of one line, sorted; throws InputError with `line` as its place. A link that is given twice is an error.
void read_word_links(std::string_view text, std::size_t line, std::vector<WordLink>& links);

// One end of a link of nodes: phrase or word `number`.
struct NodeEnd {
  std::uint32_t number;
  bool is_word;
  friend bool operator==(const NodeEnd&, const NodeEnd&) = default;
  friend auto operator<=>(const NodeEnd&, const NodeEnd&) = default;
};
struct NodeLinkEnds {
  NodeEnd source, target;
  friend bool operator==(const NodeLinkEnds&, const NodeLinkEnds&) = default;
  friend auto operator<=>(const NodeLinkEnds&, const NodeLinkEnds&) = default;
};
// Links with a score below `threshold` are left out; one without a score counts.
void read_node_links(std::string_view text, std::size_t line, std::vector<NodeLinkEnds>& links, double threshold = 0);

}  // namespace treeglot
