// Bindings of cpp/lm: estimation, compilation and queries. The global lock is released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings/in_use.hh"
#include "lm/estimate.hh"
#include "lm/keys.hh"
#include "lm/model.hh"

namespace nb = nanobind;
namespace lm = treeglot::lm;
using treeglot::bindings::Changing;

namespace {

constexpr std::size_t kArpaBlock = std::size_t{1} << 20;  // bytes that are asked for at once

}  // namespace

void bind_lm(nb::module_& m) {
  m.attr("FORMAT_VERSION") = lm::kVersion;
  m.attr("MAX_ORDER") = lm::kMaxOrder;

  nb::class_<lm::Estimator>(m, "Estimator")
      .def(
          "__init__",
          [](lm::Estimator* self, int order, std::size_t memory, const std::string& folder,
             const std::array<double, 3>& fallback) {
            if (order < 1 || order > lm::kMaxOrder) throw nb::value_error("the order is out of range");
            new (self) lm::Estimator({order, memory, folder, fallback});
          },
          nb::arg("order"), nb::arg("memory"), nb::arg("folder"), nb::arg("fallback"))
      .def(
          "add",
          [](lm::Estimator& self, nb::bytes text) {
            std::string_view view(text.c_str(), text.size());
            const Changing use(self);
            nb::gil_scoped_release release;
            return self.add(view);
          },
          nb::arg("text"))
      .def(
          "finish",
          [](lm::Estimator& self, nb::callable write) {
            lm::EstimateReport report;
            const Changing use(self);
            {
              nb::gil_scoped_release release;
              report = self.finish([&](std::string_view part) {
                nb::gil_scoped_acquire acquire;
                write(nb::bytes(part.data(), part.size()));
              });
            }
            nb::list discounts;
            for (const lm::Discount& discount : report.discounts) {
              discounts.append(
                  nb::make_tuple(discount.amount[1], discount.amount[2], discount.amount[3], discount.fallback));
            }
            return nb::make_tuple(report.sentences, report.tokens, report.grams, discounts);
          },
          nb::arg("write"));

  m.def(
      "compile_arpa",
      [](nb::callable read, const std::string& path) {
        nb::object block;  // the one that is worked on
        try {
          nb::gil_scoped_release release;
          lm::compile_arpa(
              [&] {
                nb::gil_scoped_acquire acquire;
                block = read(kArpaBlock);
                const nb::bytes text = nb::cast<nb::bytes>(block);
                return std::string_view(text.c_str(), text.size());
              },
              path);
        } catch (const lm::ArpaError& error) {
          PyErr_SetObject(PyExc_ValueError, nb::make_tuple(error.line, error.message).ptr());
          throw nb::python_error();
        }
      },
      nb::arg("read"), nb::arg("path"));

  nb::class_<lm::State>(m, "State")
      .def("__eq__", [](const lm::State& a, const lm::State& b) { return a == b; })
      .def("__hash__", &lm::State::hash)
      .def_prop_ro("length", [](const lm::State& self) { return static_cast<int>(self.length); });

  nb::class_<lm::Model>(m, "Model")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = false)
      .def_prop_ro("order", &lm::Model::order)
      .def("__len__", &lm::Model::words)
      .def("grams", &lm::Model::grams, nb::arg("order"))
      .def(
          "id", [](const lm::Model& self, const std::string& word) { return self.id(word); }, nb::arg("word"))
      .def("begin_state", &lm::Model::begin_state)
      .def("null_state", &lm::Model::null_state)
      .def(
          "score",
          [](const lm::Model& self, const lm::State& in, std::uint32_t word) {
            lm::State out{};
            const lm::Score score = self.checked_score(in, word, out);
            return std::make_tuple(score.log10, static_cast<int>(score.used), out);
          },
          nb::arg("state"), nb::arg("word"))
      .def(
          "score_text",
          [](const lm::Model& self, nb::bytes text) {
            std::vector<lm::LineScore> scores;
            {
              const std::string_view view(text.c_str(), text.size());
              nb::gil_scoped_release release;
              scores = self.score_text(view);
            }
            nb::list result;
            for (const lm::LineScore& line : scores) {
              result.append(nb::make_tuple(line.log10, line.tokens, line.unknown));
            }
            return result;
          },
          nb::arg("text"));
}
