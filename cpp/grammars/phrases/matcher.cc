#include "grammars/phrases/matcher.hh"

#include "trees/head_dependents.hh"

namespace treeglot::forest {

void PhraseMatcher::match(SentenceForest& forest) {
  if (free_phrases_) match_members(forest);
  const std::size_t nodes = forest.forest().size();
  for (NodeId id = 0; id < nodes; ++id) {
    const Node& node = forest.forest()[id];
    // Spans have phrases among their own rules; steps on the way to a node are no units.
    if (node.kind == NodeKind::kSpan || node.kind == NodeKind::kGlue || node.kind == NodeKind::kGoal ||
        (node.kind == NodeKind::kGroup && node.detail != 0)) {
      continue;
    }
    if (const CachedOptions* known = forest.phrase(node.begin, node.end)) {
      forest.add_edge(id, &known->list, {}, kFromPhrases);
    }
  }
}

void PhraseMatcher::match_members(SentenceForest& forest) {
  if (!forest.sentence().has_dependency()) return;
  HdrView& hdrs = forest.hdrs();
  std::vector<std::vector<std::size_t>> runs;  // by the place where they end: where they begin
  for (std::uint16_t n : hdrs.bottom_up()) {
    std::span<const HdrMember> members = hdrs.members(n);
    if (members.size() < 3) continue;  // two members have no run but the whole subtree
    runs.assign(members.size() + 1, {});
    bool any = false;
    for_each_structure(members, forest.options().max_phrase_words, [&](std::size_t first, std::size_t last, bool) {
      if (!forest.phrase(members[first].begin, members[last - 1].end)) return;
      runs[last].push_back(first);
      any = true;
    });
    if (!any) continue;
    // prefixes[i]: the first i members.
    std::vector<NodeId> prefixes(members.size() + 1, SentenceForest::kNoNode);
    for (std::size_t end = 1; end <= members.size(); ++end) {
      const bool last = end == members.size();
      prefixes[end] = last ? forest.subtree(n) : forest.helper(members[0].begin, members[end - 1].end);
      auto extend = [&](std::size_t begin, NodeId part) {
        const NodeId both[2] = {begin == 0 ? part : prefixes[begin], part};
        forest.add_edge(prefixes[end], forest.sequence(begin == 0 ? 1 : 2, last ? kPseudoFeature : -1),
                        {both, begin == 0 ? 1u : 2u}, kFromPseudo);
      };
      const HdrMember& member = members[end - 1];
      extend(end - 1, member.type == MemberType::kInternal ? forest.subtree(member.place) : forest.word(member.place));
      for (std::size_t begin : runs[end]) extend(begin, forest.group(members[begin].begin, member.end));
    }
  }
}

}  // namespace treeglot::forest
