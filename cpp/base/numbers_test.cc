#include "base/numbers.hh"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

using treeglot::parse_number;
using treeglot::parse_number_with_strtod;

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

BOOST_AUTO_TEST_SUITE_END()
