// What the sums over derivations are made of (Goodman 1999): the value of a derivation is the product of its edges'
// values, that of a vertex the sum over its derivations.
//
// A semiring is an object, so that it may carry settings; those here have none. `inside` multiplies from left to right,
// the edge before its tails; `outside` wants a product that does not depend on the order.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace treeglot::hypergraph {

template <class S>
concept Semiring = requires(const S& s, const typename S::Value& a, const typename S::Value& b) {
  { s.zero() } -> std::convertible_to<typename S::Value>;  // no derivation
  { s.one() } -> std::convertible_to<typename S::Value>;
  { s.plus(a, b) } -> std::convertible_to<typename S::Value>;
  { s.times(a, b) } -> std::convertible_to<typename S::Value>;
};

// With a share of a whole: for posteriors. divide(zero, b) must be zero for every b.
template <class S>
concept DivisionSemiring = Semiring<S> && requires(const S& s, const typename S::Value& a) {
  { s.divide(a, a) } -> std::convertible_to<typename S::Value>;
};

// plus takes the better one: for k-best lists. `better` is a strict order of the values, zero is the worst, and a
// product does not get better when one of its parts gets worse.
template <class S>
concept OrderedSemiring =
    Semiring<S> && std::equality_comparable<typename S::Value> && requires(const S& s, const typename S::Value& a) {
      { s.better(a, a) } -> std::same_as<bool>;
    };

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// ln(e^a + e^b)
inline double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kMinusInfinity ? a : a + std::log1p(std::exp(b - a));
}

// Probabilities in natural logarithms.
struct LogSemiring {
  using Value = double;
  double zero() const { return kMinusInfinity; }
  double one() const { return 0; }
  double plus(double a, double b) const { return log_add(a, b); }
  double times(double a, double b) const { return a + b; }
  double divide(double a, double b) const { return a == kMinusInfinity ? a : a - b; }
};

// The best derivation, in logarithms. Its posteriors say how far the best derivation through a vertex or an edge is
// behind the best of all.
struct ViterbiSemiring {
  using Value = double;
  double zero() const { return kMinusInfinity; }
  double one() const { return 0; }
  double plus(double a, double b) const { return std::max(a, b); }
  double times(double a, double b) const { return a + b; }
  double divide(double a, double b) const { return a == kMinusInfinity ? a : a - b; }
  bool better(double a, double b) const { return a > b; }
};

// Probabilities as they are: for values that do not come near 1e-308.
struct ProbabilitySemiring {
  using Value = double;
  double zero() const { return 0; }
  double one() const { return 1; }
  double plus(double a, double b) const { return a + b; }
  double times(double a, double b) const { return a * b; }
  double divide(double a, double b) const { return a == 0 ? 0 : a / b; }
};

// The number of derivations; the greatest number stands for all that are greater.
struct CountSemiring {
  using Value = std::uint64_t;
  static constexpr Value kMany = std::numeric_limits<Value>::max();
  Value zero() const { return 0; }
  Value one() const { return 1; }
  Value plus(Value a, Value b) const { return a > kMany - b ? kMany : a + b; }
  Value times(Value a, Value b) const { return b != 0 && a > kMany / b ? kMany : a * b; }
};

// Whether there is a derivation.
struct BooleanSemiring {
  using Value = bool;
  bool zero() const { return false; }
  bool one() const { return true; }
  bool plus(bool a, bool b) const { return a || b; }
  bool times(bool a, bool b) const { return a && b; }
};

inline void add_scaled(double& sum, double scale, double part) { sum += scale * part; }

// An empty list stands for zeros.
inline void add_scaled(std::vector<double>& sum, double scale, const std::vector<double>& part) {
  if (sum.size() < part.size()) sum.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += scale * part[i];
}

// Expectations of what adds up over the edges of a derivation (the first-order semiring of Li and Eisner 2009). Of an
// edge: the logarithm of its probability and its own amount; of a vertex: the logarithm of its inside probability and
// the mean amount of its derivations. Theirs has the product of both in place of the mean; so nothing underflows.
// Another type of amounts needs a default (zero) and `add_scaled`.
template <class Amount = double>
struct ExpectationSemiring {
  struct Value {
    double log_probability = kMinusInfinity;
    Amount mean = {};
  };
  Value zero() const { return {}; }
  Value one() const { return {0, {}}; }
  Value plus(const Value& a, const Value& b) const {
    if (b.log_probability == kMinusInfinity) return a;
    if (a.log_probability == kMinusInfinity) return b;
    Value sum{log_add(a.log_probability, b.log_probability), {}};
    add_scaled(sum.mean, std::exp(a.log_probability - sum.log_probability), a.mean);
    add_scaled(sum.mean, std::exp(b.log_probability - sum.log_probability), b.mean);
    return sum;
  }
  Value times(const Value& a, const Value& b) const {
    if (a.log_probability == kMinusInfinity || b.log_probability == kMinusInfinity) return {};
    Value product{a.log_probability + b.log_probability, a.mean};
    add_scaled(product.mean, 1, b.mean);
    return product;
  }
};

}  // namespace treeglot::hypergraph
