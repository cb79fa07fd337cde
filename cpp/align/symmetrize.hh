// From two directional word alignments to one, exactly as Moses' symal does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trees/aligned_bitext.hh"

namespace treeglot::align {

enum class Heuristic { kIntersection, kUnion, kGrow, kGrowDiag, kGrowDiagFinal, kGrowDiagFinalAnd, kForward, kReverse };

// `forward` and `reverse` are sorted, without repetitions. In a forward alignment each target word has at most one
// link, in a reverse one each source word; links of other kinds are taken as they are. The result is sorted.
std::vector<WordLink> symmetrize(const std::vector<WordLink>& forward, const std::vector<WordLink>& reverse,
                                 Heuristic heuristic);

// The links of a Pharaoh line, sorted. Returns what is wrong with the line, or an empty string.
std::string parse_links(std::string_view line, std::vector<WordLink>& links);
void append_links(const std::vector<WordLink>& links, std::string& out);

}  // namespace treeglot::align
