#include "forest/closing.hh"

namespace treeglot::forest {

namespace {

// Nodes that other nodes of the same words may fill: not those of spans and glue, nor steps on the way to a node.
bool is_open(const Node& node) {
  return node.kind != NodeKind::kSpan && node.kind != NodeKind::kGlue && node.kind != NodeKind::kGoal &&
         !(node.kind == NodeKind::kGroup && node.detail != 0);
}

// The topmost constituent over these words that some grammar works on.
NodeId constituent_over(const SentenceForest& forest, int begin, int end) {
  const auto phrases = forest.sentence().phrases;
  for (std::size_t n = 0; n < phrases.size(); ++n) {
    if (phrases[n].begin != begin || phrases[n].end != end) continue;
    const NodeId node = forest.find(NodeKind::kConstituent, begin, end, static_cast<std::uint32_t>(n) + 1);
    if (node != SentenceForest::kNoNode) return node;
  }
  return SentenceForest::kNoNode;
}

}  // namespace

void JoinMatcher::match(SentenceForest& forest) {
  const std::size_t nodes = forest.forest().size();
  for (NodeId id = 0; id < nodes; ++id) {
    const Node& node = forest.forest()[id];
    if (!is_open(node)) continue;
    const NodeKind kind = node.kind;
    const int begin = node.begin, end = node.end;
    if (kind != NodeKind::kGroup) {
      if (NodeId span = forest.find(NodeKind::kSpan, begin, end); span != SentenceForest::kNoNode) {
        forest.join(id, span);
      }
    }
    if (kind == NodeKind::kConstituent || end - begin < 2) continue;
    if (NodeId constituent = constituent_over(forest, begin, end); constituent != SentenceForest::kNoNode) {
      forest.join(id, constituent);
    }
  }
}

void CopyMatcher::match(SentenceForest& forest) {
  const std::size_t nodes = forest.forest().size();
  for (NodeId id = 0; id < nodes; ++id) {
    if (forest.forest()[id].kind == NodeKind::kWord && !forest.has_edges(id)) {
      forest.copy_word(id, forest.forest()[id].begin);
    }
  }
}

void GoalMatcher::match(SentenceForest& forest) {
  const int size = forest.size();
  const NodeId goal = forest.goal();
  forest.set_goal(goal);
  if (size == 0) {
    forest.add_edge(goal, forest.sequence(0, -1), {}, kFromJoin);
    return;
  }
  auto take = [&](NodeKind kind, std::uint32_t detail) {
    const NodeId whole = forest.find(kind, 0, size, detail);
    if (whole != SentenceForest::kNoNode) forest.join(goal, whole);
  };
  if (forest.sentence().has_dependency()) {
    take(forest.hdrs().is_leaf(forest.hdrs().root()) ? NodeKind::kWord : NodeKind::kSubtree, 0);
  }
  take(NodeKind::kConstituent, 1);
  take(NodeKind::kGlue, 0);
  if (!forest.has_edges(goal)) take(NodeKind::kWord, 0);  // a constituency tree that is only a pre-terminal
}

}  // namespace treeglot::forest
