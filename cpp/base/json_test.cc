#include "base/json.hh"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>

using treeglot::InputError;
using treeglot::json::Document;
using treeglot::json::Kind;
using treeglot::json::Value;

namespace {

std::string text_of(const std::string& json) {
  Document document;
  return std::string(document.parse(json, 1).text());
}

void refuses(const std::string& json, std::size_t column, const std::string& cause) {
  Document document;
  BOOST_CHECK_EXCEPTION(document.parse(json, 7), InputError, [&](const InputError& error) {
    BOOST_TEST_CONTEXT(json) {
      BOOST_TEST(error.line == 7u);
      BOOST_TEST(error.column == column);
      BOOST_TEST(!error.remedy.empty());
      BOOST_TEST(std::string(error.what()).find(cause) != std::string::npos, error.what());
    }
    return true;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json)

BOOST_AUTO_TEST_CASE(values) {
  Document document;
  const std::string text = "\t{ \"a\" : [1, -2.5e1, \"x\", [], {}, true, false, null] , \"\\u0062\": {\"c\": -0}} ";
  const Value root = document.parse(text, 1);
  BOOST_TEST(root.is(Kind::kObject));
  BOOST_TEST(root.size() == 2u);
  auto place = root.begin();
  BOOST_TEST((*place).text() == "a");
  const Value list = *++place;
  BOOST_TEST(list.size() == 8u);
  const Kind kinds[] = {Kind::kInteger, Kind::kReal, Kind::kString, Kind::kList,
                        Kind::kObject,  Kind::kTrue, Kind::kFalse,  Kind::kNull};
  std::size_t n = 0;
  for (const Value value : list) BOOST_TEST(value.is(kinds[n++]));
  BOOST_TEST(n == 8u);
  auto item = list.begin();
  BOOST_TEST((*item).integer() == 1);
  BOOST_TEST((*++item).number() == -25.0);
  BOOST_TEST((*item).raw() == "-2.5e1");
  BOOST_TEST((*++item).text() == "x");
  BOOST_TEST((*++place).text() == "b");
  const Value object = *++place;
  BOOST_TEST(object.raw() == "{\"c\": -0}");
  auto member = object.begin();
  BOOST_TEST((*++member).integer() == 0);
  BOOST_TEST((++member == object.end()));
  BOOST_TEST((++place == root.end()));
  // The next text.
  BOOST_TEST(document.parse("[]", 2).size() == 0u);
}

BOOST_AUTO_TEST_CASE(strings) {
  BOOST_TEST(text_of("\"\"").empty());
  BOOST_TEST(text_of("\"plain \xc3\xa4\"") == "plain \xc3\xa4");
  BOOST_TEST(text_of(R"("a\"\\\/\b\f\n\r\tz")") == "a\"\\/\b\f\n\r\tz");
  BOOST_TEST(text_of(R"("\u0041\u00e4\u4F60\ud83d\uDE00!")") == "A\xc3\xa4\xe4\xbd\xa0\xf0\x9f\x98\x80!");
  BOOST_TEST(text_of(R"("\u0000")") == std::string(1, '\0'));
}

BOOST_AUTO_TEST_CASE(numbers) {
  Document document;
  using Limits = std::numeric_limits<std::int64_t>;
  BOOST_TEST(document.parse("9223372036854775807", 1).integer() == Limits::max());
  BOOST_TEST(document.parse("9223372036854775808", 1).integer() == Limits::max());
  BOOST_TEST(document.parse("-9223372036854775809", 1).integer() == Limits::min());
  BOOST_TEST(document.parse("1e999", 1).number() == std::numeric_limits<double>::infinity());
  BOOST_TEST(document.parse("0.5", 1).number() == 0.5);
}

BOOST_AUTO_TEST_CASE(what_is_no_json) {
  refuses("", 1, "the line ends");
  refuses("[1, 2", 6, "a comma or ]");
  refuses("[1,]", 4, "no value begins like this");
  refuses("[1 2]", 4, "a comma or ]");
  refuses("{\"a\" 1}", 6, "a colon");
  refuses("{\"a\": 1,}", 9, "a key in double quotes");
  refuses("{a: 1}", 2, "a key in double quotes");
  refuses("{\"a\": 1", 8, "a comma or }");
  refuses("{\"a\":", 6, "the line ends");
  refuses("[] []", 4, "more text");
  refuses("\"\xc3\xa4\" x", 5, "more text");
  refuses("[\"ab", 2, "does not end");
  refuses("[\"ab\\", 5, "a backslash");
  refuses("\"a\tb\"", 3, "a control character");
  refuses(R"("\x41")", 2, "a backslash");
  refuses(R"("\u12g4")", 2, "four hexadecimal digits");
  refuses(R"("\u12)", 2, "four hexadecimal digits");
  refuses(R"("\ud800")", 2, "surrogate");
  refuses(R"("\ud800\u0041")", 2, "surrogate");
  refuses(R"("\udc00\ud800")", 2, "surrogate");
  refuses("01", 2, "more text");
  refuses("1.", 3, "a digit");
  refuses("-", 2, "a digit");
  refuses("1e+", 4, "a digit");
  refuses("+1", 1, "no value");
  refuses("NaN", 1, "NaN is not a JSON number");
  refuses("-Infinity", 2, "Infinity is not a JSON number");
  refuses("nul", 1, "no value");
  refuses(R"({"a": 1, "b": 2, "\u0061": 3})", 0, "a key is given twice in one object: 'a'");
  refuses(std::string(Document::kMaxDepth + 1, '['), Document::kMaxDepth + 1, "in each other");
  refuses(std::string(1'000'000, '['), Document::kMaxDepth + 1, "in each other");
}

BOOST_AUTO_TEST_CASE(as_deep_as_allowed) {
  Document document;
  const std::string text = std::string(Document::kMaxDepth, '[') + std::string(Document::kMaxDepth, ']');
  BOOST_TEST(document.parse(text, 1).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
