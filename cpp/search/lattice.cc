#include "search/lattice.hh"

#include <algorithm>
#include <queue>

namespace treeglot::search {
namespace {

// A path that follows path `parent` from the goal back to its node number `position`, enters that node by its arrival
// number `rank`, and is the best possible before it.
struct Candidate {
  double score;
  std::uint32_t parent, position, rank;
  std::uint64_t number;  // in order of discovery
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : number > other.number;
  }
};

struct Backward {
  std::vector<std::uint32_t> nodes;  // from the goal to the first one after the start
  std::vector<std::uint32_t> ranks;
};

}  // namespace

void best_paths(std::uint32_t goal, const std::function<const std::vector<Arrival>&(std::uint32_t)>& arrivals,
                const std::function<bool(const Path&, double)>& take) {
  std::vector<Backward> backwards;
  std::priority_queue<Candidate> queue;
  std::uint64_t discovered = 0;
  if (goal == 0) {
    take({}, 0);
    return;
  }
  queue.push({arrivals(goal)[0].score, 0, 0, 0, discovered++});
  Path path;
  while (!queue.empty()) {
    Candidate top = queue.top();
    queue.pop();
    Backward back;
    if (top.position > 0) {
      const Backward& parent = backwards[top.parent];
      back.nodes.assign(parent.nodes.begin(), parent.nodes.begin() + top.position + 1);
      back.ranks.assign(parent.ranks.begin(), parent.ranks.begin() + top.position);
    } else {
      back.nodes.push_back(goal);
    }
    back.ranks.push_back(top.rank);
    path.clear();
    for (std::uint32_t i = 0;; ++i) {
      const Arrival& arrival = arrivals(back.nodes[i])[back.ranks[i]];
      path.push_back(arrival);
      if (i < top.position) continue;
      if (arrival.from == 0) break;
      back.nodes.push_back(arrival.from);
      back.ranks.push_back(0);
    }
    std::uint32_t number = static_cast<std::uint32_t>(backwards.size());
    for (std::uint32_t i = top.position; i < back.nodes.size(); ++i) {
      const std::vector<Arrival>& ways = arrivals(back.nodes[i]);
      std::uint32_t next = back.ranks[i] + 1;
      if (next >= ways.size()) continue;
      queue.push({top.score - ways[next - 1].score + ways[next].score, number, i, next, discovered++});
    }
    backwards.push_back(std::move(back));
    std::reverse(path.begin(), path.end());
    if (!take(path, top.score)) return;
  }
}

}  // namespace treeglot::search
