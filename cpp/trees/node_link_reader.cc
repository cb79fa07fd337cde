#include "trees/node_link_reader.hh"

#include <string>

namespace treeglot {

std::uint32_t node_number(NodeEnd end, std::size_t phrases, std::size_t words, bool target, std::size_t line) {
  const std::size_t size = end.is_word ? words : phrases;
  if (end.number >= size) {
    throw InputError(line, 0,
                     std::string("the ") + (target ? "target" : "source") + " has no " +
                         (end.is_word ? "word w" : "phrase ") + std::to_string(end.number) + ", only " +
                         std::to_string(size),
                     "give the links of these pairs");
  }
  return static_cast<std::uint32_t>(end.is_word ? phrases + end.number : end.number);
}

void NodeLinkReader::feed(std::string_view bytes) {
  lines_.feed(bytes);
  read();
}

void NodeLinkReader::finish() {
  lines_.finish();
  read();
  const std::size_t lines = starts_.size() - 1;
  if (lines != bitext_.sentences()) {
    throw InputError(
        std::min(lines, bitext_.sentences()) + 1, 0,
        std::to_string(lines) + " lines of node links for " + std::to_string(bitext_.sentences()) + " sentence pairs",
        "give the links of these pairs");
  }
  bitext_.set_node_links(links_, starts_);
}

void NodeLinkReader::read() {
  for (std::string_view line; lines_.next(line);) {
    const std::size_t pair = starts_.size() - 1;
    read_node_links(line, lines_.number(), ends_, threshold_);
    if (pair < bitext_.sentences()) {
      const ParsedSentence source = bitext_.source()[pair], target = bitext_.target()[pair];
      for (const NodeLinkEnds& ends : ends_) {
        links_.push_back({node_number(ends.source, source.phrases.size(), source.size(), false, lines_.number()),
                          node_number(ends.target, target.phrases.size(), target.size(), true, lines_.number())});
      }
    }
    starts_.push_back(links_.size());
  }
}

}  // namespace treeglot
