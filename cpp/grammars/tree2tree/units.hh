// Unit pairs of a bi-parsed pair: source spans F with the target spans V(F) that they may become (spec: tree-to-tree,
// sections 1 and 3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grammars/tree2tree/covers.hh"
#include "grammars/tree2tree/licence.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot {

// What makes a span pair a unit pair.
enum class UnitKind : std::uint8_t {
  kConsistent,  // the word links
  kLicensed,    // links between nodes
  kEither,      // either of them
};

struct UnitOptions {
  int max_trees = 3;
  int max_variants = 4;
  bool open = false;  // how node links license a pair: reading `open` instead of `exact`
};

// A source span and its E, the preferred one first.
struct Unit {
  WordSpan source;
  bool one_tree = false;
  std::vector<WordSpan> targets;
  double weight() const { return 1.0 / static_cast<double>(targets.size()); }
};

// Keeps its buffers from pair to pair.
class UnitFinder {
 public:
  explicit UnitFinder(const UnitOptions& options) : options_(options) {}

  // Both sides must pass is_tree().
  void reset(const ParsedPair& pair);
  // The units with at least one E, by source span.
  void find(UnitKind kind, std::vector<Unit>& out);

  const TreeCovers& source() const { return source_; }
  const TreeCovers& target() const { return target_; }

 private:
  // A target span of at most max_trees trees and the hull of its linked words.
  struct TargetSpan {
    WordSpan span, hull;
    std::uint32_t trees;
    bool linked_ends;  // one tree, or the first and the last have links
  };

  bool linked_ends(const TreeCovers& covers, const std::vector<std::uint32_t>& before, WordSpan span);
  WordSpan tight(WordSpan source) const;  // empty if it is not consistent
  void add_consistent(WordSpan source, std::vector<WordSpan>& out);
  void add_licensed(WordSpan source, std::vector<WordSpan>& out);

  UnitOptions options_;
  const ParsedPair* pair_ = nullptr;
  TreeCovers source_, target_;
  std::vector<std::uint32_t> source_links_, target_links_;  // links of the words before each place
  std::vector<WordSpan> source_spans_;
  std::vector<TargetSpan> target_spans_;  // by hull; within one in the order of V(F)
  std::vector<std::uint32_t> by_order_;   // all target spans in the order of licensed ones
  NodeLicence licence_;
  std::vector<std::uint32_t> cover_, other_cover_;
};

}  // namespace treeglot
