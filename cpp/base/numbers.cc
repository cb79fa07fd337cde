#include "base/numbers.hh"

#include <locale.h>

#include <charconv>
#include <cstddef>
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

namespace {

constexpr int kDigits = 6;
// Powers of ten that a double has exactly.
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

}  // namespace

void put_number(std::string& out, double value) {
  if (value == 1) {  // the most frequent probability of a table
    out += '1';
    return;
  }
  if (!(value >= 1e-16 && value < 999999)) {
    char text[32];
    auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::general, kDigits);
    out.append(text, result.ptr);
    return;
  }
  // value * 10^shift has six digits before the point; the decimal exponent of the first one is 5 - shift.
  int shift = kDigits - 1 - static_cast<int>(std::floor(std::ilogb(value) * 0.30102999566398120));
  if (value * kPowers[shift] < 1e5) {
    ++shift;
  } else if (value * kPowers[shift] >= 1e6) {
    --shift;
  }
  std::uint64_t number = round_decimal(value, kPowers[shift]);
  if (number >= 1000000) {  // 9.999999 becomes 10
    number /= 10;
    --shift;
  }
  int digits = kDigits;
  while (number % 10 == 0) {
    number /= 10;
    --digits;
  }
  // Before the digits there is room for "0.000".
  const int exponent = kDigits - 1 - shift;
  char text[24];
  char* first = text + 6;
  for (int i = digits; i-- > 0; number /= 10) first[i] = static_cast<char>('0' + number % 10);
  char* last = first + digits;
  if (exponent < -4) {
    if (digits > 1) {
      *(first - 1) = *first;
      *first-- = '.';
    }
    *last++ = 'e';
    *last++ = '-';
    *last++ = static_cast<char>('0' + -exponent / 10);
    *last++ = static_cast<char>('0' + -exponent % 10);
  } else if (exponent < 0) {
    for (int zeros = -exponent - 1; zeros > 0; --zeros) *--first = '0';
    *--first = '.';
    *--first = '0';
  } else if (digits <= exponent + 1) {
    while (last < text + 6 + exponent + 1) *last++ = '0';
  } else {
    --first;
    for (int i = 0; i <= exponent; ++i) first[i] = first[i + 1];
    first[exponent + 1] = '.';
  }
  out.append(first, static_cast<std::size_t>(last - first));
}

}  // namespace treeglot
