// The recombination lattice of a search and the k best paths through it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "search/phrase_options.hh"

namespace treeglot::search {

// One way to reach a hypothesis: from which one, by translating which span how. `score` is that of the whole path.
struct Arrival {
  double score = 0;
  std::uint32_t from = 0;
  std::uint32_t begin = 0, end = 0;
  const PhraseOption* option = nullptr;
};

using Path = std::vector<Arrival>;  // in the order of translation

// Calls `take` with the paths from the start (node 0) to `goal`, best first; of equally good ones always the same
// first. `arrivals(node)` gives the ways into a node, best first. Stops when `take` returns false or there are no more
// paths. Exact and lazy: a path deviates from a better one in one node, and only those of popped paths are looked at.
void best_paths(std::uint32_t goal, const std::function<const std::vector<Arrival>&(std::uint32_t)>& arrivals,
                const std::function<bool(const Path&, double)>& take);

}  // namespace treeglot::search
