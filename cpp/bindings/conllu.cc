// Bindings of cpp/trees/conllu.hh.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_conllu(nb::module_&) {}
