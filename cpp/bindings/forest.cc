// Bindings of cpp/forest: forests built by hand and the search in them. Decoders build theirs natively; this is for
// tests, measurements and looking at small examples.
#include "forest/forest.hh"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include "bindings/in_use.hh"
#include "forest/cube_pruning.hh"

namespace nb = nanobind;
namespace forest = treeglot::forest;
namespace lm = treeglot::lm;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

using Target = std::vector<std::variant<std::uint32_t, std::string>>;
using Option = std::pair<Target, std::vector<std::pair<std::uint16_t, float>>>;
using Step = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::vector<std::uint32_t>>;
using Derivation = std::tuple<double, std::vector<double>, std::vector<std::string>, std::vector<Step>>;

// A forest together with its options and words.
class PyForest {
 public:
  PyForest(const lm::Model& model, const std::vector<double>& weights) : model_(model), weights_(weights) {
    if (weights.size() <= forest::kWordFeature)
      throw nb::value_error("weights of language model and words are missing");
    for (double weight : weights) {
      if (!std::isfinite(weight)) throw nb::value_error("a weight is not finite");
    }
  }

  std::uint32_t add_node(int begin, int end) {
    const Changing use(*this);
    return forest_.add_node(forest::NodeKind::kSpan, begin, end);
  }

  void add_edge(std::uint32_t head, const std::vector<Option>& options, const std::vector<std::uint32_t>& tails) {
    const Changing use(*this);
    check_node(head);
    for (std::uint32_t tail : tails) check_node(tail);
    if (options.empty()) throw nb::value_error("an edge needs an option");
    forest::OptionList list;
    for (const Option& option : options) {
      options_.push_back(make(option, tails.size()));
      options_.back().rule = static_cast<std::uint32_t>(list.size());
      list.push_back(&options_.back());
    }
    std::stable_sort(list.begin(), list.end(), [](const forest::RuleOption* a, const forest::RuleOption* b) {
      return a->estimate > b->estimate;
    });
    lists_.push_back(std::move(list));
    forest_.add_edge(head, &lists_.back(), tails);
  }

  void set_goal(std::uint32_t goal) {
    const Changing use(*this);
    check_node(goal);
    forest_.set_goal(goal);
  }

  std::size_t size() const { return forest_.size(); }
  const forest::Forest& forest() const { return forest_; }
  const std::string& word(std::uint32_t id) const { return words_[id]; }

 private:
  void check_node(std::uint32_t node) const {
    if (node >= forest_.size()) throw nb::index_error("no such node");
  }

  forest::RuleOption make(const Option& option, std::size_t tails) {
    forest::RuleOption result;
    std::vector<bool> used(tails);
    for (const auto& symbol : option.first) {
      if (const std::uint32_t* variable = std::get_if<std::uint32_t>(&symbol)) {
        if (*variable >= tails || used[*variable]) throw nb::value_error("each tail must stand in a target once");
        used[*variable] = true;
        result.target.push_back(treeglot::target_variable(*variable));
        result.lm_words.push_back(0);
      } else {
        const std::string& word = std::get<std::string>(symbol);
        auto [entry, fresh] = ids_.emplace(word, static_cast<std::uint32_t>(words_.size()));
        if (fresh) words_.push_back(word);
        result.target.push_back(entry->second);
        result.lm_words.push_back(model_.id(word));
      }
    }
    if (std::find(used.begin(), used.end(), false) != used.end()) {
      throw nb::value_error("each tail must stand in a target once");
    }
    for (auto [feature, value] : option.second) {
      if (feature <= forest::kWordFeature || feature >= weights_.size()) throw nb::value_error("no such feature");
      if (!std::isfinite(value)) throw nb::value_error("the value of a feature is not finite");
      result.features.push_back({feature, value});
    }
    forest::prepare_option(model_, weights_, result);
    return result;
  }

  const lm::Model& model_;
  const std::vector<double> weights_;
  forest::Forest forest_;
  std::deque<forest::RuleOption> options_;
  std::deque<forest::OptionList> lists_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> words_;
};

}  // namespace

void bind_forest(nb::module_& m) {
  m.attr("LANGUAGE_MODEL_FEATURE") = forest::kLanguageModelFeature;
  m.attr("WORD_FEATURE") = forest::kWordFeature;

  nb::class_<PyForest>(m, "Forest")
      .def(nb::init<const lm::Model&, const std::vector<double>&>(), nb::arg("model"), nb::arg("weights"),
           nb::keep_alive<1, 2>())
      .def("add_node", &PyForest::add_node, nb::arg("begin") = 0, nb::arg("end") = 0)
      .def("add_edge", &PyForest::add_edge, nb::arg("head"), nb::arg("options"), nb::arg("tails"))
      .def("set_goal", &PyForest::set_goal, nb::arg("goal"))
      .def("__len__", &PyForest::size);

  nb::class_<forest::ForestSearch>(m, "Search")
      .def(
          "__init__",
          [](forest::ForestSearch* self, const lm::Model& model, const std::vector<double>& weights, int stack_limit,
             double stack_threshold, int pop_limit) {
            if (std::isnan(stack_threshold)) throw nb::value_error("a threshold that is no number");
            new (self) forest::ForestSearch(model, weights, {stack_limit, stack_threshold, pop_limit});
          },
          nb::arg("model"), nb::arg("weights"), nb::kw_only(), nb::arg("stack_limit") = 300,
          nb::arg("stack_threshold") = 1e-3, nb::arg("pop_limit") = 0, nb::keep_alive<1, 2>())
      .def(
          "run",
          [](forest::ForestSearch& self, const PyForest& input, int size, bool distinct, bool steps) {
            std::vector<forest::ForestDerivation> derivations;
            const Changing use(self);
            const Reading read(input);
            {
              nb::gil_scoped_release release;
              derivations = self.run(input.forest(), {size, distinct}, steps);
            }
            std::vector<Derivation> result;
            for (const forest::ForestDerivation& derivation : derivations) {
              std::vector<std::string> words;
              for (treeglot::TargetSymbol word : derivation.words) words.push_back(input.word(word));
              std::vector<Step> list;
              for (const forest::DerivationStep& step : derivation.steps) {
                list.emplace_back(step.node, step.edge, step.option->rule, step.below);
              }
              result.emplace_back(derivation.score, derivation.features, std::move(words), std::move(list));
            }
            return result;
          },
          nb::arg("forest"), nb::arg("size") = 1, nb::kw_only(), nb::arg("distinct") = false, nb::arg("steps") = true)
      .def("counts", [](const forest::ForestSearch& self) {
        const Reading use(self);
        forest::SearchCounts counts = self.counts();
        return std::make_tuple(counts.nodes, counts.hypotheses, counts.states);
      });
}
