// Interpolated modified Kneser-Ney estimation (Chen and Goodman 1998), in the streaming form of Heafield et al. 2013:
// count, adjust, normalise and interpolate are passes over sorted records, which go to disk beyond a memory limit.
//
// Conventions: a sentence is <s> w1 ... wn </s>; n-grams that begin with <s> keep their count, all other lower orders
// count the words seen before them; <unk> gets the share of an unseen word of a uniform distribution over the
// vocabulary without <s>.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lm/vocabulary.hh"

namespace treeglot::lm {

inline constexpr int kMaxOrder = 6;

// An n-gram and what a pass knows of it: a count, or a probability and a back-off weight.
struct Gram {
  std::array<WordId, kMaxOrder> words;
  union {
    std::uint64_t count;
    struct {
      float probability;
      float backoff;
    } value;
  };
};

// The three discounts of one order: for counts 1, 2, and 3 or more.
struct Discount {
  std::array<double, 4> amount{};  // [0] is 0
  bool fallback = false;           // the counts of counts did not define it
  double of(std::uint64_t count) const { return amount[count > 3 ? 3 : count]; }
};

struct EstimateOptions {
  int order = 4;
  std::size_t memory = std::size_t{1} << 30;
  std::string folder = "/tmp";                  // for sorted runs
  std::array<double, 3> fallback{0.5, 1, 1.5};  // discounts where the data defines none
};

struct EstimateReport {
  std::uint64_t sentences = 0, tokens = 0;
  std::vector<std::uint64_t> grams;  // per order
  std::vector<Discount> discounts;   // per order
};

class Estimator {
 public:
  explicit Estimator(EstimateOptions options);
  ~Estimator();
  Estimator(const Estimator&) = delete;

  // Adds lines of text; words are separated by white space. `text` must end with a line's end or be the last part.
  // Returns the 1-based number of the first line (counted over all calls) that holds <s>, </s> or <unk> as a word, or
  // 0.
  std::uint64_t add(std::string_view text);

  // Estimates and writes the model as ARPA text through `write`. Nothing can be done after it.
  EstimateReport finish(const std::function<void(std::string_view)>& write);

 private:
  struct Counter;
  EstimateOptions options_;
  Vocabulary vocabulary_;
  EstimateReport report_;
  std::unique_ptr<Counter> counter_;
  bool finished_ = false;
};

// The discounts that counts of counts t[1..4] define; falls back where they are not positive and increasing enough.
Discount estimate_discount(const std::array<std::uint64_t, 5>& t, const std::array<double, 3>& fallback);

}  // namespace treeglot::lm
