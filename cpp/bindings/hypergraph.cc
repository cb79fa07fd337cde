// Bindings of cpp/hypergraph: for tests, notebooks and small questions. Weights and values cross the border as lists.
#include "hypergraph/hypergraph.hh"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "hypergraph/inside_outside.hh"
#include "hypergraph/viterbi.hh"
#include "hypergraph/yield.hh"

namespace nb = nanobind;
namespace hg = treeglot::hypergraph;

namespace {

using Numbers = std::vector<std::uint32_t>;
using Target = std::vector<std::variant<std::uint32_t, std::string>>;  // of an edge: words and numbers of tails
using Part = std::pair<hg::EdgeId, Numbers>;
using Expectation = hg::ExpectationSemiring<std::vector<double>>;

Numbers list_of(std::span<const std::uint32_t> numbers) { return {numbers.begin(), numbers.end()}; }

void require_edge(const hg::Hypergraph& graph, hg::EdgeId edge) {
  if (edge >= graph.edges()) throw nb::index_error("no such edge");
}
void require_lists(const hg::Hypergraph& graph, hg::VertexId vertex) {
  graph.require_frozen();
  graph.require_vertex(vertex);
}

double usable(double weight) {
  if (std::isnan(weight) || weight == std::numeric_limits<double>::infinity()) {
    throw nb::value_error("a weight must be a number below infinity");
  }
  return weight;
}

void read(nb::handle from, double& to) { to = usable(nb::cast<double>(from)); }
void read(nb::handle from, std::uint64_t& to) { to = nb::cast<std::uint64_t>(from); }
void read(nb::handle from, bool& to) { to = nb::cast<bool>(from); }
void read(nb::handle from, Expectation::Value& to) {
  auto [weight, amounts] = nb::cast<std::pair<double, std::vector<double>>>(from);
  to = {usable(weight), std::move(amounts)};
}
nb::object written(const Expectation::Value& value) {
  return nb::cast(std::make_pair(value.log_probability, value.mean));
}
template <class Value>
nb::object written(const Value& value) {
  return nb::cast(value);
}
template <class Value>
nb::list written_list(const std::vector<Value>& values) {
  nb::list result;
  for (const Value& value : values) result.append(written(value));
  return result;
}

template <class S>
std::vector<typename S::Value> weights_of(const hg::Hypergraph& graph, const nb::sequence& weights) {
  std::vector<typename S::Value> result;
  for (nb::handle weight : weights) {
    typename S::Value value;
    read(weight, value);
    result.push_back(std::move(value));
  }
  if (result.size() != graph.edges()) {
    throw nb::value_error(("a weight for each edge is needed: there are " + std::to_string(graph.edges()) +
                           " edges and " + std::to_string(result.size()) + " weights")
                              .c_str());
  }
  return result;
}

// Calls action with the semiring of that name.
template <class Action>
nb::object with_semiring(const std::string& name, const Action& action) {
  if (name == "log") return action(hg::LogSemiring());
  if (name == "viterbi") return action(hg::ViterbiSemiring());
  if (name == "probability") return action(hg::ProbabilitySemiring());
  if (name == "count") return action(hg::CountSemiring());
  if (name == "boolean") return action(hg::BooleanSemiring());
  if (name == "expectation") return action(Expectation());
  throw nb::value_error(
      ("no semiring '" + name + "': there are log, viterbi, probability, count, boolean and expectation").c_str());
}

template <class S>
struct Sums {
  Sums(const hg::Hypergraph& graph, const nb::sequence& given, hg::VertexId goal)
      : weights(weights_of<S>(graph, given)),
        inside(hg::inside<S>(graph, weights)),
        outside(hg::outside<S>(graph, weights, goal, inside)) {}
  std::vector<typename S::Value> weights, inside, outside;
};

template <class Value>
nb::object written_marginals(const hg::Marginals<Value>& marginals) {
  return nb::make_tuple(written_list(marginals.vertices), written_list(marginals.edges));
}

// The words of derivations.
struct TargetYields {
  using Signature = hg::Yield;
  std::vector<Numbers> words, tails;  // by edge: a word, and kNone or the tail that stands there
  template <class Parts>
  Signature signature(hg::EdgeId edge, const Parts& parts) const {
    Signature result;
    for (std::size_t i = 0; i < words[edge].size(); ++i) {
      result.append(tails[edge][i] == hg::kNone ? hg::Yield::of_word(words[edge][i]) : parts(tails[edge][i]));
    }
    return result;
  }
  std::uint64_t key(const Signature& signature) const { return signature.value; }
};

TargetYields yields_of(const hg::Hypergraph& graph, const std::vector<Target>& targets) {
  if (targets.size() != graph.edges()) throw nb::value_error("a yield for each edge is needed");
  TargetYields result;
  std::unordered_map<std::string, std::uint32_t> ids;
  for (hg::EdgeId e = 0; e < graph.edges(); ++e) {
    result.words.emplace_back();
    result.tails.emplace_back();
    for (const auto& symbol : targets[e]) {
      const std::uint32_t* tail = std::get_if<std::uint32_t>(&symbol);
      if (tail && *tail >= graph.tails(e).size()) throw nb::value_error("a yield names a tail that its edge has not");
      result.tails.back().push_back(tail ? *tail : hg::kNone);
      const std::uint32_t fresh = static_cast<std::uint32_t>(ids.size());
      result.words.back().push_back(tail ? 0 : ids.emplace(std::get<std::string>(symbol), fresh).first->second);
    }
  }
  return result;
}

}  // namespace

void bind_hypergraph(nb::module_& m) {
  nb::class_<hg::Hypergraph>(m, "Hypergraph")
      .def(nb::init<>())
      .def("add_vertex", &hg::Hypergraph::add_vertex)
      .def("add_vertices", &hg::Hypergraph::add_vertices, nb::arg("count"))
      .def(
          "add_edge",
          [](hg::Hypergraph& self, hg::VertexId head, const Numbers& tails) { return self.add_edge(head, tails); },
          nb::arg("head"), nb::arg("tails") = Numbers())
      .def("freeze", &hg::Hypergraph::freeze)
      .def_prop_ro("vertices", &hg::Hypergraph::vertices)
      .def_prop_ro("edges", &hg::Hypergraph::edges)
      .def(
          "head",
          [](const hg::Hypergraph& self, hg::EdgeId edge) {
            require_edge(self, edge);
            return self.head(edge);
          },
          nb::arg("edge"))
      .def(
          "tails",
          [](const hg::Hypergraph& self, hg::EdgeId edge) {
            require_edge(self, edge);
            return list_of(self.tails(edge));
          },
          nb::arg("edge"))
      .def(
          "incoming",
          [](const hg::Hypergraph& self, hg::VertexId vertex) {
            require_lists(self, vertex);
            return list_of(self.incoming(vertex));
          },
          nb::arg("vertex"))
      .def(
          "outgoing",
          [](const hg::Hypergraph& self, hg::VertexId vertex) {
            require_lists(self, vertex);
            return list_of(self.outgoing(vertex));
          },
          nb::arg("vertex"))
      .def("order", [](const hg::Hypergraph& self) {
        self.require_frozen();
        return list_of(self.order());
      });

  m.def(
      "inside",
      [](const hg::Hypergraph& graph, const nb::sequence& weights, const std::string& semiring) {
        return with_semiring(semiring, [&]<class S>(const S&) -> nb::object {
          return written_list(hg::inside<S>(graph, weights_of<S>(graph, weights)));
        });
      },
      nb::arg("graph"), nb::arg("weights"), nb::arg("semiring") = "log");
  m.def(
      "outside",
      [](const hg::Hypergraph& graph, const nb::sequence& weights, hg::VertexId goal, const std::string& semiring) {
        return with_semiring(semiring, [&]<class S>(const S&) -> nb::object {
          return written_list(Sums<S>(graph, weights, goal).outside);
        });
      },
      nb::arg("graph"), nb::arg("weights"), nb::arg("goal"), nb::arg("semiring") = "log");
  m.def(
      "through",
      [](const hg::Hypergraph& graph, const nb::sequence& weights, hg::VertexId goal, const std::string& semiring) {
        return with_semiring(semiring, [&]<class S>(const S&) -> nb::object {
          const Sums<S> sums(graph, weights, goal);
          return written_marginals(hg::through<S>(graph, sums.weights, sums.inside, sums.outside));
        });
      },
      nb::arg("graph"), nb::arg("weights"), nb::arg("goal"), nb::arg("semiring") = "log");
  m.def(
      "posteriors",
      [](const hg::Hypergraph& graph, const nb::sequence& weights, hg::VertexId goal, const std::string& semiring) {
        return with_semiring(semiring, [&]<class S>(const S&) -> nb::object {
          if constexpr (hg::DivisionSemiring<S>) {
            const Sums<S> sums(graph, weights, goal);
            return written_marginals(hg::posteriors<S>(graph, sums.weights, goal, sums.inside, sums.outside));
          } else {
            throw nb::value_error("posteriors are shares: of log, viterbi and probability; see through");
          }
        });
      },
      nb::arg("graph"), nb::arg("weights"), nb::arg("goal"), nb::arg("semiring") = "log");
  m.def(
      "kbest",
      [](const hg::Hypergraph& graph, const nb::sequence& weights, hg::VertexId goal, std::uint32_t size,
         const std::optional<std::vector<Target>>& yields) {
        graph.require_vertex(goal);
        const hg::BestDerivations<hg::ViterbiSemiring, TargetYields> best(
            graph, weights_of<hg::ViterbiSemiring>(graph, weights),
            yields ? yields_of(graph, *yields) : TargetYields());
        hg::LazyKBest kbest(best);
        kbest.reset(yields.has_value());
        std::vector<std::pair<double, std::vector<Part>>> result;
        for (std::uint32_t rank = 0; rank < size && kbest.has(goal, rank); ++rank) {
          std::vector<Part> parts;
          for (hg::DerivationPart& part : hg::derivation_parts(kbest, goal, rank)) {
            parts.emplace_back(part.edge, std::move(part.tails));
          }
          result.emplace_back(kbest.value(goal, rank), std::move(parts));
        }
        return result;
      },
      nb::arg("graph"), nb::arg("weights"), nb::arg("goal"), nb::arg("size"), nb::kw_only(),
      nb::arg("yields") = nb::none());
}
