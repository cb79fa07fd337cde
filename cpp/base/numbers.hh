// Numbers in text, whatever the locale and the standard library.
#pragma once

#include <string_view>

namespace treeglot {

// Reads a decimal number ("-1.5", "2e-7", "inf", "nan") that is the whole text. What is too large for a double becomes
// infinite, what is too small 0. Returns false if the text is no number.
bool parse_number(std::string_view text, double& value);

// The same without std::from_chars, which some standard libraries lack for floating numbers.
bool parse_number_with_strtod(std::string_view text, double& value);

}  // namespace treeglot
