// Options of grammars: declared once, with type, default, limits and a line of help; given by name, checked here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace treeglot {

using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

// When an option matters.
enum class OptionUse : std::uint8_t { kExtraction = 1, kMatching = 2, kBoth = 3 };

struct OptionSpec {
  std::string name;
  OptionValue standard;              // the default; its type is the option's type
  double low = 0, high = 0;          // of numbers
  std::vector<std::string> choices;  // of texts
  OptionUse use = OptionUse::kExtraction;
  std::string help;  // one line

  // The value in the option's type; throws std::invalid_argument that says what is wrong.
  OptionValue checked(const OptionValue& value) const;
};

inline OptionSpec flag_option(std::string name, bool standard, OptionUse use, std::string help) {
  return {std::move(name), standard, 0, 1, {}, use, std::move(help)};
}
inline OptionSpec number_option(std::string name, std::int64_t standard, double low, double high, OptionUse use,
                                std::string help) {
  return {std::move(name), standard, low, high, {}, use, std::move(help)};
}
inline OptionSpec share_option(std::string name, double standard, double low, double high, OptionUse use,
                               std::string help) {
  return {std::move(name), standard, low, high, {}, use, std::move(help)};
}
// The first choice is the default.
inline OptionSpec choice_option(std::string name, std::vector<std::string> choices, OptionUse use, std::string help) {
  std::string standard = choices.front();
  return {std::move(name), std::move(standard), 0, 0, std::move(choices), use, std::move(help)};
}

// Values that somebody gave, by name.
using GivenOptions = std::map<std::string, OptionValue, std::less<>>;

// Every option of a grammar with its value.
class OptionValues {
 public:
  OptionValues() = default;
  // Fills in defaults. Throws std::invalid_argument for an option that `specs` does not have or a value that does not
  // fit; with `lenient`, options that it does not have are left out (they belong to other grammars of the system).
  OptionValues(const std::vector<OptionSpec>& specs, const GivenOptions& given, bool lenient = false);

  bool flag(std::string_view name) const { return std::get<bool>(at(name)); }
  int number(std::string_view name) const { return static_cast<int>(std::get<std::int64_t>(at(name))); }
  double share(std::string_view name) const { return std::get<double>(at(name)); }
  const std::string& choice(std::string_view name) const { return std::get<std::string>(at(name)); }
  // Of a choice its value, of a flag "true" or "false".
  std::string text(std::string_view name) const;

 private:
  const OptionValue& at(std::string_view name) const;
  std::map<std::string, OptionValue, std::less<>> values_;
};

}  // namespace treeglot
