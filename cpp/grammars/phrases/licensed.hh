// Phrase pairs that links between the nodes of two trees license (spec: tree-to-tree, section 3). Phrases are any spans
// of words: how many trees they have does not matter.
#pragma once

#include <span>
#include <vector>

#include "grammars/phrase_pairs.hh"
#include "grammars/tree2tree/licence.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// Keeps its buffers from pair to pair.
class LicensedPhrases {
 public:
  // Of at most `max_length` words a side; `open` instead of `exact` is the other reading of the links.
  LicensedPhrases(int max_length, bool open) : max_length_(static_cast<std::uint32_t>(max_length)), open_(open) {}

  // By source begin, source end, target begin, target end, each once. None if a side has no tree.
  const std::vector<PhraseSpan>& find(const ParsedPair& pair);

 private:
  void find_exact();
  void find_open();
  void add(WordSpan source, WordSpan target);

  std::uint32_t max_length_;
  bool open_;
  TreeCovers source_, target_;
  NodeLicence licence_;
  std::vector<std::vector<WordSpan>> targets_;  // by number of trees: target spans whose trees all have links
  std::vector<std::uint32_t> cover_, other_cover_;
  std::vector<PhraseSpan> spans_;
};

}  // namespace treeglot
