// Options of grammars from Python's keyword arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "grammars/options.hh"

inline treeglot::GivenOptions given_options(const nanobind::dict& given) {
  namespace nb = nanobind;
  treeglot::GivenOptions options;
  for (auto [key, value] : given) {
    treeglot::OptionValue& option = options[nb::cast<std::string>(key)];
    if (nb::isinstance<nb::bool_>(value)) {
      option = nb::cast<bool>(value);
    } else if (nb::isinstance<nb::int_>(value)) {
      option = nb::cast<std::int64_t>(value);
    } else if (nb::isinstance<nb::float_>(value)) {
      option = nb::cast<double>(value);
    } else {
      option = nb::cast<std::string>(value);
    }
  }
  return options;
}

inline nanobind::object option_value(const treeglot::OptionValue& value) {
  return std::visit([](const auto& content) { return nanobind::cast(content); }, value);
}
