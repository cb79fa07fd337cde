#include "base/number_text.hh"

#include <charconv>
#include <cstddef>

namespace treeglot {

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
