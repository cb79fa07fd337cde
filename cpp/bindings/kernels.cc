// Bindings of cpp/kernels: shared sub-trees and kernel matrices. The global lock is released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>

#include "bindings/in_use.hh"
#include "kernels/forest.hh"
#include "kernels/tree_kernel.hh"

namespace nb = nanobind;
namespace kn = treeglot::kernels;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

using Ids = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Real>
using Matrix = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check(double decay) {
  if (!(decay >= 0 && std::isfinite(decay))) throw nb::value_error("the decay is a number from 0 on");
}

kn::Space space(int number) {
  if (number < 0 || number > static_cast<int>(kn::Space::kRoot)) throw nb::value_error("no such space");
  return static_cast<kn::Space>(number);
}

std::span<const kn::NodeId> checked(const kn::Forest& forest, const Ids& ids) {
  const std::span<const kn::NodeId> result(ids.data(), ids.shape(0));
  for (const kn::NodeId id : result) {
    if (id >= forest.size()) throw nb::index_error("no such sub-tree");
  }
  return result;
}

template <class Real>
bool fill(const kn::Forest& self, Ids rows, const kn::Columns& columns, int number, double decay, bool normalize,
          int threads, Matrix<Real> out) {
  const kn::Space chosen = space(number);
  check(decay);
  const auto ids = checked(self, rows);
  if (out.shape(0) != ids.size() || out.shape(1) != columns.size()) throw nb::value_error("the sizes do not fit");
  const Reading use(self);
  nb::gil_scoped_release release;
  return kn::kernel_matrix(self, ids, columns, chosen, decay, normalize, threads, out.data());
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<kn::Forest::Mark>(m, "Mark");
  nb::class_<kn::Columns>(m, "Columns").def("__len__", &kn::Columns::size);
  nb::class_<kn::Forest>(m, "Forest")
      .def(nb::init<>())
      .def("__len__", &kn::Forest::size)
      .def(
          "add",
          [](kn::Forest& self, const std::vector<std::string>& labels, const std::vector<std::int32_t>& arity,
             const std::vector<std::string>& words) {
            const Changing use(self);
            try {
              return self.add(labels, arity, words);
            } catch (const std::invalid_argument& error) {
              throw nb::value_error(error.what());
            }
          },
          nb::arg("labels"), nb::arg("arity"), nb::arg("words"))
      .def(
          "write",
          [](const kn::Forest& self, kn::NodeId node) {
            if (node >= self.size()) throw nb::index_error("no such sub-tree");
            kn::Forest::Preorder tree = self.write(node);
            return nb::make_tuple(std::move(tree.labels), std::move(tree.arity), std::move(tree.words));
          },
          nb::arg("node"))
      .def("mark", &kn::Forest::mark)
      .def(
          "truncate",
          [](kn::Forest& self, const kn::Forest::Mark& mark) {
            const Changing use(self);
            self.truncate(mark);
          },
          nb::arg("mark"))
      .def(
          "columns", [](const kn::Forest& self, Ids ids) { return kn::Columns(self, checked(self, ids)); },
          nb::arg("ids"))
      .def(
          "self_kernels",
          [](const kn::Forest& self, Ids nodes, int number, double decay, int threads) {
            const kn::Space chosen = space(number);
            check(decay);
            const auto ids = checked(self, nodes);
            const Reading use(self);
            nb::gil_scoped_release release;
            return kn::self_kernels(self, ids, chosen, decay, threads);
          },
          nb::arg("ids"), nb::arg("space"), nb::arg("decay"), nb::arg("threads"))
      .def("fill", &fill<float>, nb::arg("rows"), nb::arg("columns"), nb::arg("space"), nb::arg("decay"),
           nb::arg("normalize"), nb::arg("threads"), nb::arg("out").noconvert())
      .def("fill", &fill<double>, nb::arg("rows"), nb::arg("columns"), nb::arg("space"), nb::arg("decay"),
           nb::arg("normalize"), nb::arg("threads"), nb::arg("out").noconvert());
}
