// Bindings of cpp/base for files: the checksum, and whether what is mapped is still there.
#include <nanobind/nanobind.h>

#include "base/checksum.hh"
#include "base/mapped_file.hh"

namespace nb = nanobind;

void bind_files(nb::module_& m) {
  m.attr("COPIED") = treeglot::MappedFile::kCopied;
  m.def(
      "checksum",
      [](nb::bytes data, std::uint64_t seed) {
        nb::gil_scoped_release release;
        return treeglot::checksum_of(data.c_str(), data.size(), seed);
      },
      nb::arg("data"), nb::arg("seed") = 0);
  m.def("check_mapped_files", &treeglot::check_mapped_files);
}
