// Bindings of cpp/lm: estimation, compilation and queries. The global lock is released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "lm/estimate.hh"
#include "lm/keys.hh"
#include "lm/model.hh"

namespace nb = nanobind;
namespace lm = treeglot::lm;

namespace {

// A state as Python keeps it: opaque, comparable, hashable.
struct PyState {
  lm::State state;
};

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
            nb::gil_scoped_release release;
            return self.add(view);
          },
          nb::arg("text"))
      .def(
          "finish",
          [](lm::Estimator& self, nb::callable write) {
            lm::EstimateReport report;
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
      [](nb::object lines, const std::string& path) {
        nb::iterator iterator = nb::iter(lines);
        nb::object line;
        std::string_view view;
        try {
          lm::compile_arpa(
              [&](std::string_view& out) {
                if (iterator == nb::iterator::sentinel()) return false;
                line = nb::borrow(*iterator);
                ++iterator;
                nb::bytes text = nb::cast<nb::bytes>(line);
                out = std::string_view(text.c_str(), text.size());
                return true;
              },
              path);
        } catch (const lm::ArpaError& error) {
          PyErr_SetObject(PyExc_ValueError, nb::make_tuple(error.line, error.message).ptr());
          throw nb::python_error();
        }
      },
      nb::arg("lines"), nb::arg("path"));

  nb::class_<PyState>(m, "State")
      .def("__eq__", [](const PyState& a, const PyState& b) { return a.state == b.state; })
      .def("__hash__",
           [](const PyState& a) {
             std::size_t hash = a.state.length;
             for (int i = 0; i < a.state.length; ++i) hash = hash * 1000003u + a.state.words[i];
             return hash;
           })
      .def_prop_ro("length", [](const PyState& a) { return static_cast<int>(a.state.length); });

  nb::class_<lm::Model>(m, "Model")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = false)
      .def_prop_ro("order", &lm::Model::order)
      .def("grams", &lm::Model::grams, nb::arg("order"))
      .def(
          "id", [](const lm::Model& self, const std::string& word) { return self.id(word); }, nb::arg("word"))
      .def("begin_state", [](const lm::Model& self) { return PyState{self.begin_state()}; })
      .def("null_state", [](const lm::Model& self) { return PyState{self.null_state()}; })
      .def(
          "score",
          [](const lm::Model& self, const PyState& in, std::uint32_t word) {
            PyState out{};
            lm::Score score = self.score(in.state, word, out.state);
            return std::make_tuple(score.log10, static_cast<int>(score.used), out);
          },
          nb::arg("state"), nb::arg("word"))
      .def(
          "score_text",
          [](const lm::Model& self, nb::bytes text) {
            std::vector<std::tuple<double, std::uint64_t, std::uint64_t>> result;
            std::string_view view(text.c_str(), text.size());
            {
              nb::gil_scoped_release release;
              for (std::size_t position = 0; position < view.size();) {
                std::size_t stop = std::min(view.find('\n', position), view.size());
                std::uint64_t tokens = 0, unknown = 0;
                double total = self.score_line(view.substr(position, stop - position), tokens, unknown);
                result.emplace_back(total, tokens, unknown);
                position = stop + 1;
              }
            }
            return result;
          },
          nb::arg("text"));
}
