// Bindings of cpp/tuning: metrics and their statistics, the merged n-best lists and the optimisers, without the global
// lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/parallel.hh"
#include "bindings/in_use.hh"
#include "tuning/chrf.hh"
#include "tuning/expected.hh"
#include "tuning/learners.hh"
#include "tuning/mert.hh"
#include "tuning/metric.hh"
#include "tuning/ter.hh"

namespace nb = nanobind;
namespace tuning = treeglot::tuning;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = std::vector<double>;

using References = std::vector<std::vector<std::string>>;

constexpr std::size_t kTexts = 64;  // that a thread takes at once

const References& checked(const References& references) {
  for (const auto& translations : references) {
    if (translations.empty()) throw nb::value_error("a sentence without a reference");
  }
  return references;
}

// A row of statistics for each text; `fill(sentence, text, row)` counts them.
template <class Fill>
auto rows_of(Indices sentences, const std::vector<std::string>& texts, std::size_t columns, int threads, Fill fill) {
  const std::size_t count = texts.size();
  if (sentences.shape(0) != count) throw nb::value_error("one sentence number for each text is needed");
  auto* rows = new std::int32_t[count * columns];
  nb::capsule owner(rows, [](void* memory) noexcept { delete[] static_cast<std::int32_t*>(memory); });
  {
    nb::gil_scoped_release release;
    treeglot::for_each_piece((count + kTexts - 1) / kTexts, threads, [&] {
      return [&](std::size_t piece) {
        for (std::size_t i = piece * kTexts; i < std::min(count, (piece + 1) * kTexts); ++i) {
          fill(static_cast<std::size_t>(sentences.data()[i]), texts[i], rows + i * columns);
        }
      };
    });
  }
  return nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>(rows, {count, columns}, owner);
}

void expect_finite(std::span<const double> values) {
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
    throw nb::value_error("a number that is not finite");
  }
}

void expect(const tuning::Pool& pool, std::size_t size) {
  if (size != pool.features()) throw nb::value_error("one number for each feature is needed");
}

// A point in the space of weights, or a direction in it.
void expect(const tuning::Pool& pool, const Weights& weights) {
  expect(pool, weights.size());
  expect_finite(weights);
}

// Limits may be infinite.
void expect_limits(const tuning::Pool& pool, const Weights& limits) {
  expect(pool, limits.size());
  if (std::any_of(limits.begin(), limits.end(), [](double limit) { return std::isnan(limit); })) {
    throw nb::value_error("a limit that is no number");
  }
}

tuning::Space space_of(const tuning::Pool& pool, const std::vector<bool>& free, const Weights& lower,
                       const Weights& upper) {
  expect(pool, free.size());
  expect_limits(pool, lower);
  expect_limits(pool, upper);
  return {std::vector<char>(free.begin(), free.end()), lower, upper};
}

}  // namespace

void bind_tuning(nb::module_& m) {
  nb::class_<tuning::References>(m, "References")
      .def(
          "__init__",
          [](tuning::References* self, const References& references) {
            new (self) tuning::References(checked(references));
          },
          nb::arg("references"))
      .def("__len__", &tuning::References::size)
      .def(
          "statistics",
          [](const tuning::References& self, Indices sentences, const std::vector<std::string>& texts, int threads) {
            return rows_of(sentences, texts, tuning::kOrder + 2, threads,
                           [&](std::size_t sentence, std::string_view text, std::int32_t* row) {
                             const tuning::Statistics statistics = self.statistics(sentence, text);
                             row = std::copy(statistics.correct.begin(), statistics.correct.end(), row);
                             row[0] = statistics.length;
                             row[1] = statistics.reference;
                           });
          },
          nb::arg("sentences"), nb::arg("texts"), nb::arg("threads") = 1);

  nb::class_<tuning::ChrfReferences>(m, "ChrfReferences")
      .def(
          "__init__",
          [](tuning::ChrfReferences* self, const References& references, bool words) {
            new (self) tuning::ChrfReferences(checked(references), words);
          },
          nb::arg("references"), nb::arg("words") = false)
      .def(
          "statistics",
          [](const tuning::ChrfReferences& self, Indices sentences, const std::vector<std::string>& texts,
             int threads) {
            return rows_of(sentences, texts, 3 * static_cast<std::size_t>(self.orders()), threads,
                           [&](auto... arguments) { self.statistics(arguments...); });
          },
          nb::arg("sentences"), nb::arg("texts"), nb::arg("threads") = 1);

  nb::class_<tuning::TerReferences>(m, "TerReferences")
      .def(
          "__init__",
          [](tuning::TerReferences* self, const References& references) {
            new (self) tuning::TerReferences(checked(references));
          },
          nb::arg("references"))
      .def(
          "statistics",
          [](const tuning::TerReferences& self, Indices sentences, const std::vector<std::string>& texts, int threads) {
            return rows_of(sentences, texts, 2, threads, [&](auto... arguments) { self.statistics(arguments...); });
          },
          nb::arg("sentences"), nb::arg("texts"), nb::arg("threads") = 1);

  nb::class_<tuning::Metric>(m, "Metric")
      .def(
          "__init__",
          [](tuning::Metric* self, const std::vector<std::tuple<std::string, double>>& parts, int references) {
            std::vector<tuning::Metric::Part> chosen;
            for (const auto& [name, weight] : parts) {
              using Kind = tuning::Metric::Kind;
              if (!(weight > 0 && std::isfinite(weight))) throw nb::value_error("weights of metrics are above 0");
              if (name == "bleu") {
                chosen.push_back({Kind::bleu, weight, tuning::kOrder});
              } else if (name == "chrf" || name == "chrf++") {
                const int words = name == "chrf" ? 0 : tuning::kWordOrder;
                chosen.push_back({Kind::chrf, weight, tuning::kCharacterOrder + words});
              } else if (name == "ter") {
                chosen.push_back({Kind::ter, weight, 0});
              } else {
                throw nb::value_error("no metric of that name");
              }
            }
            if (chosen.empty() || references < 1) throw nb::value_error("a metric and a reference are needed");
            new (self) tuning::Metric(chosen, references);
          },
          nb::arg("parts"), nb::arg("references") = 1)
      .def_prop_ro("columns", &tuning::Metric::columns)
      .def(
          "score",
          [](const tuning::Metric& self, Counts rows) {
            if (rows.shape(1) != self.columns()) throw nb::value_error("other columns than the metric's");
            tuning::Totals totals(self.counts(), 0.0);
            std::vector<std::int32_t> counts(self.counts());
            for (std::size_t i = 0; i < rows.shape(0); ++i) {
              self.expand(rows.data() + i * self.columns(), counts.data());
              tuning::add(totals, counts.data());
            }
            return self.score(totals);
          },
          nb::arg("rows"))
      .def(
          "sentences",
          [](const tuning::Metric& self, Counts rows) {
            if (rows.shape(1) != self.columns()) throw nb::value_error("other columns than the metric's");
            std::vector<double> scores(rows.shape(0));
            std::vector<std::int32_t> counts(self.counts());
            for (std::size_t i = 0; i < scores.size(); ++i) {
              self.expand(rows.data() + i * self.columns(), counts.data());
              scores[i] = self.sentence(counts.data());
            }
            return scores;
          },
          nb::arg("rows"));

  m.def(
      "logistic_regression",
      [](Matrix rows, const Weights& offsets, double l2) {
        if (rows.shape(0) != offsets.size()) throw nb::value_error("one offset for each row is needed");
        Weights values(rows.data(), rows.data() + rows.shape(0) * rows.shape(1));
        expect_finite(values);
        expect_finite(offsets);
        expect_finite({&l2, 1});
        return tuning::logistic_regression(values, offsets, rows.shape(1), l2);
      },
      nb::arg("rows"), nb::arg("offsets"), nb::arg("l2"));
  m.def(
      "upper_envelope",
      [](const Weights& slopes, const Weights& intercepts) {
        if (slopes.size() != intercepts.size()) throw nb::value_error("one intercept for each slope is needed");
        expect_finite(slopes);
        expect_finite(intercepts);
        std::vector<std::tuple<double, std::uint32_t>> result;
        tuning::Envelope envelope;
        for (const auto& part : envelope(slopes.data(), intercepts.data(), slopes.size())) {
          result.emplace_back(part.position, part.hypothesis);
        }
        return result;
      },
      nb::arg("slopes"), nb::arg("intercepts"));

  nb::class_<tuning::Pool>(m, "Pool")
      .def(nb::init<std::size_t, std::size_t, tuning::Metric>(), nb::arg("sentences"), nb::arg("features"),
           nb::arg("metric"))
      .def("__len__", [](const tuning::Pool& self) { return self.size(); })
      .def(
          "add",
          [](tuning::Pool& self, Indices sentences, Matrix values, Counts statistics) {
            std::size_t count = sentences.shape(0), added = 0;
            if (values.shape(0) != count || statistics.shape(0) != count ||
                statistics.shape(1) != self.metric().columns() || values.shape(1) != self.features()) {
              throw nb::value_error("the shapes do not fit each other");
            }
            expect_finite({values.data(), values.size()});
            const Changing use(self);
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < count; ++i) {
              auto sentence = static_cast<std::size_t>(sentences.data()[i]);
              added += self.add(sentence, values.data() + i * self.features(),
                                statistics.data() + i * self.metric().columns());
            }
            self.close();
            return added;
          },
          nb::arg("sentences"), nb::arg("values"), nb::arg("statistics"))
      .def("varies", &tuning::Pool::varies, nb::arg("feature"))
      .def(
          "score",
          [](const tuning::Pool& self, const Weights& weights) {
            expect(self, weights);
            const Reading use(self);
            nb::gil_scoped_release release;
            return self.best_score(weights.data());
          },
          nb::arg("weights"))
      .def(
          "line_search",
          [](const tuning::Pool& self, const Weights& weights, const Weights& direction, double lower, double upper,
             double narrowest) {
            expect(self, weights);
            expect(self, direction);
            if (!(lower <= 0 && 0 <= upper)) throw nb::value_error("the range must contain 0");
            expect_finite({&narrowest, 1});
            const Reading use(self);
            nb::gil_scoped_release release;
            Weights slope(self.size()), intercept(self.size());
            for (std::size_t s = 0; s < self.sentences(); ++s) {
              self.score(s, direction.data(), slope.data() + self.offset(s));
              self.score(s, weights.data(), intercept.data() + self.offset(s));
            }
            tuning::Step step = tuning::line_search(self, slope.data(), intercept.data(), lower, upper, narrowest);
            return std::make_tuple(step.size, step.score, step.current);
          },
          nb::arg("weights"), nb::arg("direction"), nb::arg("lower") = -std::numeric_limits<double>::infinity(),
          nb::arg("upper") = std::numeric_limits<double>::infinity(), nb::arg("narrowest") = 1e-6)
      .def(
          "mert",
          [](const tuning::Pool& self, const std::vector<Weights>& starts, const std::vector<bool>& free,
             const Weights& lower, const Weights& upper, std::uint64_t seed, int random_directions, int sweeps,
             int trial_sweeps, int finalists, double narrowest, int threads) {
            tuning::Space space = space_of(self, free, lower, upper);
            for (const Weights& start : starts) expect(self, start);
            expect_finite({&narrowest, 1});
            std::vector<std::tuple<Weights, double>> results;
            const Reading use(self);
            nb::gil_scoped_release release;
            tuning::MertOptions options{random_directions, sweeps, trial_sweeps, finalists, narrowest, threads};
            for (auto& point : tuning::mert(self, space, starts, seed, options)) {
              results.emplace_back(std::move(point.weights), point.score);
            }
            return results;
          },
          nb::arg("starts"), nb::arg("free"), nb::arg("lower"), nb::arg("upper"), nb::arg("seed"), nb::kw_only(),
          nb::arg("random_directions"), nb::arg("sweeps"), nb::arg("trial_sweeps"), nb::arg("finalists"),
          nb::arg("narrowest"), nb::arg("threads"))
      .def(
          "mira",
          [](const tuning::Pool& self, const Weights& start, const std::vector<bool>& free, const Weights& lower,
             const Weights& upper, std::uint64_t seed, double c, double decay, int epochs, bool safe_hope) {
            tuning::Space space = space_of(self, free, lower, upper);
            expect(self, start);
            expect_finite(std::array{c, decay});
            const Reading use(self);
            nb::gil_scoped_release release;
            tuning::Optimum best = tuning::mira(self, space, start, seed, {c, decay, epochs, safe_hope});
            return std::make_tuple(best.weights, best.score);
          },
          nb::arg("start"), nb::arg("free"), nb::arg("lower"), nb::arg("upper"), nb::arg("seed"), nb::kw_only(),
          nb::arg("c"), nb::arg("decay"), nb::arg("epochs"), nb::arg("safe_hope"))
      .def(
          "pro",
          [](const tuning::Pool& self, const Weights& start, const std::vector<bool>& free, const Weights& lower,
             const Weights& upper, std::uint64_t seed, int samples, int kept, double threshold, double l2) {
            tuning::Space space = space_of(self, free, lower, upper);
            expect(self, start);
            const Reading use(self);
            expect_finite(std::array{threshold, l2});
            nb::gil_scoped_release release;
            tuning::ProResult result = tuning::pro(self, space, start, seed, {samples, kept, threshold, l2});
            return std::make_tuple(result.weights, result.pairs);
          },
          nb::arg("start"), nb::arg("free"), nb::arg("lower"), nb::arg("upper"), nb::arg("seed"), nb::kw_only(),
          nb::arg("samples"), nb::arg("kept"), nb::arg("threshold"), nb::arg("l2"))
      .def(
          "expected",
          [](const tuning::Pool& self, const Weights& weights, int threads) {
            expect(self, weights);
            const Reading use(self);
            nb::gil_scoped_release release;
            double perplexity = 0;
            tuning::Expected result = tuning::expected(self, weights, true, threads, &perplexity);
            return std::make_tuple(result.value, result.gradient, perplexity);
          },
          nb::arg("weights"), nb::arg("threads") = 0)
      .def(
          "maximise_expected",
          [](const tuning::Pool& self, const Weights& start, const std::vector<bool>& free, const Weights& lower,
             const Weights& upper, double perplexity, int levels, double l2, int steps, int threads) {
            tuning::Space space = space_of(self, free, lower, upper);
            expect(self, start);
            const Reading use(self);
            expect_finite(std::array{perplexity, l2});
            nb::gil_scoped_release release;
            tuning::Optimum best =
                tuning::maximise_expected(self, space, start, {perplexity, levels, l2, steps, threads});
            return std::make_tuple(best.weights, best.score);
          },
          nb::arg("start"), nb::arg("free"), nb::arg("lower"), nb::arg("upper"), nb::kw_only(), nb::arg("perplexity"),
          nb::arg("levels"), nb::arg("l2"), nb::arg("steps"), nb::arg("threads"));
}
