// Numbers in text, read and written, whatever the locale and the standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace treeglot {

// Reads a decimal number ("-1.5", "2e-7", "inf", "nan") that is the whole text. What is too large for a double becomes
// infinite, what is too small 0. Returns false if the text is no number.
bool parse_number(std::string_view text, double& value);

// The same without std::from_chars, which some standard libraries lack for floating numbers.
bool parse_number_with_strtod(std::string_view text, double& value);

// The whole number nearest to value * power, as printf rounds: by the exact product, one half goes to the even
// neighbour. `power` is a power of ten up to 1e22 (a double has those exactly), the product is below 2^52.
inline std::uint64_t round_decimal(double value, double power) {
  const double product = value * power, below = std::floor(product), part = product - below;
  const auto whole = static_cast<std::uint64_t>(below);
  if (part != 0.5) return whole + (part > 0.5);
  const double lost = std::fma(value, power, -product);  // what the product was rounded by
  return whole + (lost != 0 ? lost > 0 : whole & 1);
}

// Appends as printf("%g"), digit for digit but faster (tables of millions of lines are mostly numbers): six digits, no
// trailing zeros.
void put_number(std::string& out, double value);

}  // namespace treeglot
