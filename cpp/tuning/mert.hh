// Minimum error rate training (Och 2003): along a line through weight space every hypothesis has a score that is linear
// in the step, so the winner of a sentence follows the upper envelope of its lines, and the corpus score is constant
// between the breakpoints of all envelopes. One sweep over the breakpoints finds the exact optimum on the line.
#pragma once

#include <cstdint>
#include <vector>

#include "tuning/pool.hh"

namespace treeglot::tuning {

struct Breakpoint {
  double position;           // from here on ...
  std::uint32_t hypothesis;  // ... this one wins
};

// The upper envelope of the lines intercept[h] + x * slope[h], from left to right; the first position is -infinity.
// Starts from the winners far to the left, at x = 0 and far to the right, which the shorter call finds itself (of equal
// lines the first wins), and splits between winners (quickhull): what does not rise above the tent of these three is
// looked at once, and nothing is sorted.
class Envelope {
 public:
  const std::vector<Breakpoint>& operator()(const double* slope, const double* intercept, std::size_t count,
                                            std::uint32_t left, std::uint32_t middle, std::uint32_t right);
  const std::vector<Breakpoint>& operator()(const double* slope, const double* intercept, std::size_t count);

 private:
  struct Piece {
    std::uint32_t left, right;
    std::size_t begin, end;  // of candidates_
  };
  std::vector<std::uint32_t> candidates_, scratch_;
  std::vector<Piece> stack_;
  std::vector<Breakpoint> result_;
};

struct Step {
  double size = 0;     // along the direction
  double score = 0;    // there
  double current = 0;  // at step 0
};

// The best step within [lower, upper] (which contains 0) from the point where hypothesis h scores intercept[h] when a
// step of 1 adds slope[h]; the arrays cover the pool, sentence after sentence. Step 0 is kept if nothing is better;
// otherwise the middle of the best interval, the widest of equally good ones. Intervals narrower than `narrowest` are
// left out: no decoder would reproduce them.
Step line_search(const Pool& pool, const double* slope, const double* intercept, double lower, double upper,
                 double narrowest);

struct MertOptions {
  int random_directions = 2;  // a sweep, besides the coordinates
  int sweeps = 25;            // at most, for each start that goes on
  int trial_sweeps = 2;       // after which only the best ...
  int finalists = 3;          // ... go on
  double narrowest = 1e-6;
  int threads = 0;  // 0: all cores
};

struct Optimum {
  std::vector<double> weights;
  double score = 0;  // of the highest-scoring hypotheses
};

// Climb from every start, along coordinates and random directions in random order; from the most promising ones until
// a whole sweep brings nothing. One result per start; independent of the number of threads.
std::vector<Optimum> mert(const Pool& pool, const Space& space, const std::vector<std::vector<double>>& starts,
                          std::uint64_t seed, const MertOptions& options);

}  // namespace treeglot::tuning
