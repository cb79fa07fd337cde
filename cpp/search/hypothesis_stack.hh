// One stack of the search: hypotheses that cover the same number of words, of which those that no extension can
// tell apart are recombined.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/model.hh"
#include "search/lattice.hh"

namespace treeglot::search {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

// Hypotheses that every extension treats alike but for the language model and reordering scores of their own: same
// coverage, same last source span (its begin only if a swap can follow).
struct Vertex {
  std::uint32_t coverage;
  std::uint32_t begin, end;
  std::uint8_t next;                   // bit o: orientation o can follow
  bool complete;                       // covers the sentence
  std::uint32_t first[3] = {0, 0, 0};  // its ranked hypotheses for each orientation that can follow
  std::uint32_t count = 0;
};

struct Hypothesis {
  Arrival best;
  double total;  // score + future cost
  std::uint32_t vertex;
  std::uint32_t others = kNone;  // head of a list of worse arrivals
  lm::State state;
};

struct OtherArrival {
  Arrival arrival;
  std::uint32_t next;
};

class HypothesisStack {
 public:
  // `forward`: reordering scores towards the next phrase count; `beam`: how far below the best a total may be.
  HypothesisStack(const std::vector<Vertex>& vertices, bool forward, double beam)
      : vertices_(vertices), forward_(forward), beam_(beam) {}

  // Empties the stack. `expected` is a guess at the number of hypotheses; `keep_others` keeps the losers of
  // recombination for k-best lists.
  void reset(std::size_t expected, bool keep_others);

  // The least total that is worth adding.
  double threshold() const { return best_ + beam_; }
  // Adds a hypothesis, or makes it another arrival of the one it equals.
  void add(const Hypothesis& fresh, std::vector<OtherArrival>& others);
  // Keeps the best hypotheses; of equally good ones those that came first.
  void prune(std::size_t limit);

  const std::vector<Hypothesis>& hypotheses() const { return hypotheses_; }

 private:
  std::uint64_t key(const Hypothesis& hypothesis) const;
  bool same(const Hypothesis& a, const Hypothesis& b) const;
  void rebuild_index(std::size_t slots);

  const std::vector<Vertex>& vertices_;
  const bool forward_;
  const double beam_;
  bool keep_others_ = false;
  double best_ = kNever;
  std::vector<Hypothesis> hypotheses_;
  std::vector<std::uint32_t> index_;  // open addressing by key
  std::vector<std::uint32_t> order_;
};

}  // namespace treeglot::search
