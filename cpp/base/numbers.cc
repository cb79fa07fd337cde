#include "base/numbers.hh"

#include <locale.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <version>

#ifdef __APPLE__
#include <xlocale.h>
#endif

namespace treeglot {

bool parse_number_with_strtod(std::string_view text, double& value) {
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", locale_t{});
  // strtod also takes blanks before the number, a plus and hexadecimal digits.
  if (text.empty() || text.find_first_of("xX") != std::string_view::npos) return false;
  if (const char first = text.front(); first != '-' && first != '.' && first != 'i' && first != 'I' && first != 'n' &&
                                       first != 'N' && !(first >= '0' && first <= '9')) {
    return false;
  }
  char buffer[64];
  std::string long_text;
  const char* begin = buffer;
  if (text.size() < sizeof buffer) {
    std::memcpy(buffer, text.data(), text.size());
    buffer[text.size()] = '\0';
  } else {
    begin = long_text.assign(text).c_str();
  }
  char* end = nullptr;
  value = ::strtod_l(begin, &end, plain);
  return end == begin + text.size();
}

bool parse_number(std::string_view text, double& value) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) return stop == end && parse_number_with_strtod(text, value);
  return error == std::errc() && stop == end;
#else
  return parse_number_with_strtod(text, value);
#endif
}

}  // namespace treeglot
