#include "base/numbers.hh"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

using treeglot::parse_number;
using treeglot::parse_number_with_strtod;
using treeglot::put_number;
using treeglot::round_decimal;

namespace {

std::string printed(double value) {
  char text[64];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%g", value))};
}

std::string ours(double value) {
  std::string text;
  put_number(text, value);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers_in_text)

BOOST_AUTO_TEST_CASE(both_ways_read_the_same) {
  const double infinite = std::numeric_limits<double>::infinity();
  const std::pair<const char*, double> good[] = {{"0", 0},
                                                 {"-0", -0.0},
                                                 {"1.5", 1.5},
                                                 {"-2e-3", -2e-3},
                                                 {".25", .25},
                                                 {"5.", 5},
                                                 {"1E3", 1000},
                                                 {"1e400", infinite},
                                                 {"-1e400", -infinite},
                                                 {"1e-400", 0},
                                                 {"inf", infinite},
                                                 {"-inf", -infinite},
                                                 {"Infinity", infinite},
                                                 {"4.9406564584124654e-324", 4.9406564584124654e-324}};
  for (const auto& [text, expected] : good) {
    for (auto parse : {&parse_number, &parse_number_with_strtod}) {
      double value = 7;
      BOOST_TEST(parse(text, value), text);
      BOOST_TEST(value == expected, text);
      BOOST_TEST(std::signbit(value) == std::signbit(expected), text);
    }
  }
  for (auto parse : {&parse_number, &parse_number_with_strtod}) {
    double value = 7;
    BOOST_TEST(parse("nan", value));
    BOOST_TEST(std::isnan(value));
    for (const char* bad : {"", " 1", "1 ", "+1", "0x10", "1,5", "1.5x", "-", "e5", "--1", "1e", ".", "x", "\t1"}) {
      BOOST_TEST(!parse(bad, value), bad);
    }
    BOOST_TEST(!parse(std::string_view("1\0002", 3), value));
    const std::string digits = "0." + std::string(200, '1');
    BOOST_TEST(parse(digits, value));
    BOOST_TEST(value == 1.0 / 9);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double number = std::bit_cast<double>(random());
    if (std::isnan(number)) continue;
    char text[64];
    std::snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.6g", number);
    double a = 0, b = 0;
    BOOST_REQUIRE(parse_number(text, a));
    BOOST_REQUIRE(parse_number_with_strtod(text, b));
    BOOST_REQUIRE(std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b));
  }
}

BOOST_AUTO_TEST_CASE(writing_equals_printf) {
  for (double value : {0.0,       1.0,   0.5,     10.0,  100000.0,    999999.0,     999998.5,    1e6,
                       1234567.0, 1e-4,  0.00012, 1e-5,  9.999995e-5, 9.9999949e-5, 0.9999995,   0.99999949,
                       2.5,       1e-16, 1e-17,   1e-37, 1e300,       0.1234565,    0.0009765625}) {
    BOOST_TEST(ours(value) == printed(value));
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponents(-20, 8);
  std::uniform_int_distribution<int> counts(1, 3000), digits(1, 9999999);
  int different = 0;
  for (int i = 0; i < 300000; ++i) {
    const double wide = std::pow(10.0, exponents(random));
    const double share = static_cast<double>(counts(random)) / counts(random);
    const double half = digits(random) / 1e7;  // seven digits: the last one is often a 5
    for (double value : {wide, share, half, static_cast<double>(static_cast<float>(wide)),
                         static_cast<double>(static_cast<float>(half))}) {
      if (ours(value) != printed(value)) {
        BOOST_TEST_MESSAGE(printed(value));
        ++different;
      }
    }
  }
  BOOST_TEST(different == 0);
}

BOOST_AUTO_TEST_CASE(rounds_as_printf_with_seven_decimals) {
  BOOST_TEST(round_decimal(1.0 / 256, 1e7) == 39062u);  // 39062.5: to the even one
  BOOST_TEST(round_decimal(3.0 / 256, 1e7) == 117188u);
  for (int whole = 1; whole < 1500; ++whole) {
    for (int part = 1; part <= whole; ++part) {
      char text[32];
      std::snprintf(text, sizeof text, "%.7f", static_cast<double>(part) / whole);
      const double read = std::strtod(text, nullptr);
      if (round_decimal(static_cast<double>(part) / whole, 1e7) / 1e7 != read) {
        BOOST_ERROR(std::to_string(part) + "/" + std::to_string(whole) + " is " + text);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
