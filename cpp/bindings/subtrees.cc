// Bindings of cpp/subtrees: the lexical tree aligner. The global lock is released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings/in_use.hh"
#include "subtrees/lexical_aligner.hh"

namespace nb = nanobind;
namespace st = treeglot::subtrees;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

using Ints = std::vector<std::int32_t>;
// Word numbers, numbers of children of the phrases, children.
using Tree = std::tuple<Ints, Ints, Ints>;
using Numbers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using Link = std::tuple<std::int32_t, std::int32_t, double>;

st::WordTree words_of(const Tree& tree) { return {std::get<0>(tree), std::get<1>(tree), std::get<2>(tree)}; }

st::AlignerOptions options_of(int score, int skip, bool span1, bool words, bool chains, double floor, bool empty_is_one,
                              double least) {
  if (std::isnan(floor) || std::isnan(least)) throw nb::value_error("a limit that is no number");
  return {score, skip, span1, words, chains, floor, empty_is_one, least};
}

Matrix matrix_of(std::vector<double> values, std::size_t rows, std::size_t columns) {
  auto* kept = new std::vector<double>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Matrix(kept->data(), {rows, columns}, owner);
}

}  // namespace

void bind_subtrees(nb::module_& m) {
  nb::class_<st::WordTable>(m, "WordTable")
      .def(nb::init<>())
      .def("__len__", &st::WordTable::size)
      .def(
          "add",
          [](st::WordTable& self, Numbers source, Numbers target, Values forward, Values backward) {
            const std::size_t count = source.shape(0);
            if (target.shape(0) != count || forward.shape(0) != count || backward.shape(0) != count) {
              throw nb::value_error("columns of different lengths");
            }
            const auto *s = source.data(), *t = target.data();
            const auto *f = forward.data(), *b = backward.data();
            for (std::size_t k = 0; k < count; ++k) {
              if (!(f[k] >= 0 && b[k] >= 0 && std::isfinite(f[k]) && std::isfinite(b[k]))) {
                throw nb::value_error("a probability that is none");
              }
            }
            const Changing use(self);
            nb::gil_scoped_release release;
            for (std::size_t k = 0; k < count; ++k) self.set(s[k], t[k], f[k], b[k]);
          },
          nb::arg("source"), nb::arg("target"), nb::arg("target_given_source"), nb::arg("source_given_target"))
      .def(
          "matrices",
          [](const st::WordTable& self, const Ints& source, const Ints& target, double floor) {
            if (std::isnan(floor)) throw nb::value_error("a limit that is no number");
            std::vector<double> forward, backward;
            const Reading use(self);
            {
              nb::gil_scoped_release release;
              self.fill(source, target, floor, forward, backward);
            }
            return nb::make_tuple(matrix_of(std::move(forward), source.size(), target.size()),
                                  matrix_of(std::move(backward), source.size(), target.size()));
          },
          nb::arg("source"), nb::arg("target"), nb::arg("floor"))
      .def(
          "scores",
          [](const st::WordTable& self, const Tree& source, const Tree& target, int score, double floor,
             bool empty_is_one) {
            const st::TreeShape a = words_of(source).shape(), b = words_of(target).shape();
            if (std::isnan(floor)) throw nb::value_error("a limit that is no number");
            std::vector<double> forward, backward, scores;
            const Reading use(self);
            {
              nb::gil_scoped_release release;
              self.fill(std::get<0>(source), std::get<0>(target), floor, forward, backward);
              st::AlignerOptions options;
              options.score = score;
              options.floor = floor;
              options.empty_is_one = empty_is_one;
              scores = st::score_nodes(a, b, forward, backward, options);
            }
            return matrix_of(std::move(scores), static_cast<std::size_t>(a.nodes()),
                             static_cast<std::size_t>(b.nodes()));
          },
          nb::arg("source"), nb::arg("target"), nb::arg("score"), nb::arg("floor"), nb::arg("empty_is_one"))
      .def(
          "align",
          [](const st::WordTable& self, const std::vector<std::tuple<Tree, Tree>>& pairs, int score, int skip,
             bool span1, bool words, bool chains, double floor, bool empty_is_one, double least, int threads) {
            const st::AlignerOptions options =
                options_of(score, skip, span1, words, chains, floor, empty_is_one, least);
            std::vector<st::TreePair> trees;
            for (const auto& [source, target] : pairs) trees.push_back({words_of(source), words_of(target)});
            std::vector<std::vector<st::TreeLink>> links;
            const Reading use(self);
            {
              nb::gil_scoped_release release;
              links = st::align_trees(self, trees, options, threads);
            }
            std::vector<std::vector<Link>> result(links.size());
            for (std::size_t n = 0; n < links.size(); ++n) {
              for (const st::TreeLink& link : links[n]) {
                result[n].emplace_back(link.source, link.target, link.confidence);
              }
            }
            return result;
          },
          nb::arg("pairs"), nb::arg("score"), nb::arg("skip"), nb::arg("span1"), nb::arg("words"), nb::arg("chains"),
          nb::arg("floor"), nb::arg("empty_is_one"), nb::arg("least"), nb::arg("threads"));
  m.def(
      "choose_links",
      [](const Tree& source, const Tree& target,
         nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores, int skip, bool span1, bool words,
         bool chains) {
        const st::TreeShape a = words_of(source).shape(), b = words_of(target).shape();
        if (scores.shape(0) != static_cast<std::size_t>(a.nodes()) ||
            scores.shape(1) != static_cast<std::size_t>(b.nodes())) {
          throw nb::value_error("a row for each source node and a column for each target node are needed");
        }
        std::span<const double> values(scores.data(), scores.size());
        if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
          throw nb::value_error("a score that is no number");
        }
        std::vector<Link> result;
        nb::gil_scoped_release release;
        const st::AlignerOptions options = options_of(1, skip, span1, words, chains, 0.0, false, 0.0);
        for (const st::NodeLink& link : st::choose_links(a, b, values, {}, options)) {
          result.emplace_back(a.reference(link.source), b.reference(link.target), link.log_score);
        }
        return result;
      },
      nb::arg("source"), nb::arg("target"), nb::arg("scores"), nb::arg("skip"), nb::arg("span1"), nb::arg("words"),
      nb::arg("chains"));
}
