#include "align/symmetrize.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

namespace treeglot::align {
namespace {

using Point = std::pair<int, int>;  // target, source: symal scans by target word

class Grower {
 public:
  Grower(const std::vector<WordLink>& forward, const std::vector<WordLink>& reverse)
      : forward_(forward), reverse_(reverse) {
    int sources = 0, targets = 0;
    for (const auto* links : {&forward, &reverse}) {
      for (WordLink link : *links) {
        both_.insert({link.target, link.source});
        sources = std::max(sources, link.source + 1);
        targets = std::max(targets, link.target + 1);
      }
    }
    source_covered_.assign(static_cast<std::size_t>(sources), false);
    target_covered_.assign(static_cast<std::size_t>(targets), false);
    std::vector<WordLink> common;
    std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(), std::back_inserter(common));
    for (WordLink link : common) add({link.target, link.source});
  }

  // Points found during a scan are scanned too if they come later in the order of targets and sources.
  void grow(bool diagonal) {
    static constexpr std::array<Point, 8> kNeighbours{
        {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
    const std::size_t neighbours = diagonal ? 8 : 4;
    for (bool added = true; added;) {
      added = false;
      for (auto at = current_.begin(); at != current_.end(); ++at) {
        for (std::size_t k = 0; k < neighbours; ++k) {
          const Point point{at->first + kNeighbours[k].first, at->second + kNeighbours[k].second};
          if (both_.contains(point) && !(target_covered(point) && source_covered(point))) {
            add(point);
            added = true;
          }
        }
      }
    }
  }

  void finish(bool both_uncovered) {
    for (const auto* links : {&forward_, &reverse_}) {
      for (WordLink link : *links) {
        const Point point{link.target, link.source};
        const bool t = target_covered(point), s = source_covered(point);
        if (both_uncovered ? !t && !s : !t || !s) add(point);
      }
    }
  }

  std::vector<WordLink> links() const {
    std::vector<WordLink> result;
    for (Point point : current_) {
      result.push_back({static_cast<std::uint16_t>(point.second), static_cast<std::uint16_t>(point.first)});
    }
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  bool target_covered(Point point) const { return target_covered_[static_cast<std::size_t>(point.first)]; }
  bool source_covered(Point point) const { return source_covered_[static_cast<std::size_t>(point.second)]; }
  void add(Point point) {
    current_.insert(point);
    target_covered_[static_cast<std::size_t>(point.first)] = true;
    source_covered_[static_cast<std::size_t>(point.second)] = true;
  }

  const std::vector<WordLink>&forward_, &reverse_;
  std::set<Point> both_, current_;
  std::vector<bool> source_covered_, target_covered_;
};

}  // namespace

std::vector<WordLink> symmetrize(const std::vector<WordLink>& forward, const std::vector<WordLink>& reverse,
                                 Heuristic heuristic) {
  std::vector<WordLink> result;
  switch (heuristic) {
    case Heuristic::kForward:
      return forward;
    case Heuristic::kReverse:
      return reverse;
    case Heuristic::kIntersection:
      std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(), std::back_inserter(result));
      return result;
    case Heuristic::kUnion:
      std::set_union(forward.begin(), forward.end(), reverse.begin(), reverse.end(), std::back_inserter(result));
      return result;
    default:
      break;
  }
  Grower grower(forward, reverse);
  grower.grow(heuristic != Heuristic::kGrow);
  if (heuristic == Heuristic::kGrowDiagFinal) grower.finish(false);
  if (heuristic == Heuristic::kGrowDiagFinalAnd) grower.finish(true);
  return grower.links();
}

std::string parse_links(std::string_view line, std::vector<WordLink>& links) {
  links.clear();
  std::string problem;
  const char *at = line.data(), *end = at + line.size();
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (true) {
    while (at != end && blank(*at)) ++at;
    if (at == end) break;
    const char* start = at;
    while (at != end && !blank(*at)) ++at;
    std::uint16_t source = 0, target = 0;
    auto first = std::from_chars(start, at, source);
    bool good = first.ec == std::errc() && first.ptr != at && *first.ptr == '-';
    if (good) {
      auto second = std::from_chars(first.ptr + 1, at, target);
      good = second.ec == std::errc() && second.ptr == at;
    }
    if (!good) {
      problem.push_back('\'');
      problem.append(start, std::min<std::size_t>(40, static_cast<std::size_t>(at - start)));
      problem.append("' is not a link such as 0-1");
      return problem;
    }
    links.push_back({source, target});
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return problem;
}

void append_links(const std::vector<WordLink>& links, std::string& out) {
  char buffer[16];
  bool first = true;
  for (WordLink link : links) {
    if (!first) out.push_back(' ');
    first = false;
    char* end = std::to_chars(buffer, buffer + sizeof buffer, link.source).ptr;
    *end++ = '-';
    end = std::to_chars(end, buffer + sizeof buffer, link.target).ptr;
    out.append(buffer, end);
  }
}

}  // namespace treeglot::align
