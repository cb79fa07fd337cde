#include "grammars/span_pairs.hh"

#include <charconv>

namespace treeglot {

namespace {

// Reads a number and the character after it; false if they are not there.
bool number(std::string_view& text, std::size_t& value, char end) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > 65535) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (end == '\0') return text.empty();
  if (text.empty() || text.front() != end) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string SpanPairs::add(std::string_view line, std::size_t source_length, std::size_t target_length) {
  std::size_t at = 0;
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (true) {
    while (at < line.size() && blank(line[at])) ++at;
    if (at == line.size()) break;
    const std::size_t start = at;
    while (at < line.size() && !blank(line[at])) ++at;
    const std::string_view token = line.substr(start, at - start);
    std::string_view rest = token;
    std::size_t a = 0, b = 0, c = 0, d = 0;
    if (!number(rest, a, '-') || !number(rest, b, ':') || !number(rest, c, '-') || !number(rest, d, '\0')) {
      return "\"" + std::string(token.substr(0, 40)) + "\" is not a pair of spans such as 0-2:1-3";
    }
    if (a >= b || c >= d || b > source_length || d > target_length) {
      return "the spans " + std::string(token) + " are outside of the sentences of " + std::to_string(source_length) +
             " and " + std::to_string(target_length) + " words";
    }
    spans_.push_back({static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(c),
                      static_cast<std::uint16_t>(d)});
  }
  starts_.push_back(spans_.size());
  return {};
}

}  // namespace treeglot
