#include "grammars/options.hh"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace treeglot {

namespace {

std::string text_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

}  // namespace

OptionValue OptionSpec::checked(const OptionValue& value) const {
  auto refuse = [&](const std::string& why) { throw std::invalid_argument(name + " " + why); };
  if (std::holds_alternative<bool>(standard)) {
    if (!std::holds_alternative<bool>(value)) refuse("is true or false");
    return value;
  }
  if (const auto* text = std::get_if<std::string>(&standard)) {
    const auto* given = std::get_if<std::string>(&value);
    if (!given || std::find(choices.begin(), choices.end(), *given) == choices.end()) {
      std::string all;
      for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
      refuse("is one of " + all + (given ? ", not " + *given : ""));
    }
    (void)text;
    return value;
  }
  const bool whole = std::holds_alternative<std::int64_t>(standard);
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value); real && !whole) {
    number = *real;
  } else {
    refuse(whole ? "is a whole number" : "is a number");
  }
  if (!(number >= low && number <= high)) {
    refuse("must be from " + text_of(low) + " to " + text_of(high) + ", not " + text_of(number));
  }
  if (whole) return static_cast<std::int64_t>(number);
  return number;
}

OptionValues::OptionValues(const std::vector<OptionSpec>& specs, const GivenOptions& given, bool lenient) {
  for (const OptionSpec& spec : specs) values_[spec.name] = spec.standard;
  for (const auto& [name, value] : given) {
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const OptionSpec& candidate) { return candidate.name == name; });
    if (spec == specs.end()) {
      if (lenient) continue;
      throw std::invalid_argument("there is no option " + name);
    }
    values_[name] = spec->checked(value);
  }
}

std::string OptionValues::text(std::string_view name) const {
  const OptionValue& value = at(name);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

const OptionValue& OptionValues::at(std::string_view name) const {
  const auto place = values_.find(name);
  if (place == values_.end()) throw std::logic_error("a grammar asks for an option it did not declare");
  return place->second;
}

}  // namespace treeglot
