#include "grammars/mwu/text.hh"

#include <stdexcept>
#include <vector>

namespace treeglot::mwu {

namespace {

void write_source_side(std::span<const Symbol> source, const TextOf& word, const TextOf& category, std::string& out) {
  std::size_t variables = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint32_t id = symbol_id(source[i]);
    const SymbolKind kind = symbol_kind(source[i]);
    if (kind == SymbolKind::kPlace) {
      out += '/';
      out += std::to_string(id);
      continue;
    }
    if (i > 0) out += ' ';
    if (kind == SymbolKind::kWord) {
      write_escaped(word(id), {}, out);
      continue;
    }
    variables += kind == SymbolKind::kSite;
    out += 'x';
    out += std::to_string(variables);
    out += ':';
    write_escaped(category(id), {}, out);
  }
}

[[noreturn]] void refuse(std::string_view what, std::string_view token) {
  throw std::invalid_argument(std::string(what) + ": " + std::string(token));
}

std::size_t number_of(std::string_view digits, std::string_view token) {
  if (digits.empty() || digits.size() > 5) refuse("no place of a head behind the last /", token);
  std::size_t number = 0;
  for (char digit : digits) {
    if (digit < '0' || digit > '9') refuse("no place of a head behind the last /", token);
    number = number * 10 + static_cast<std::size_t>(digit - '0');
  }
  return number;
}

// The number of a variable x<number>: at the begin of a text, which is taken away; 0 if there is none.
std::size_t take_variable(std::string_view& text, std::string_view token) {
  if (!text.starts_with('x')) return 0;
  std::size_t end = 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (end == 1 || end == text.size() || text[end] != ':') return 0;
  if (end > 6) refuse("no rule has so many variables", token);
  const std::size_t number = std::stoul(std::string(text.substr(1, end - 1)));
  if (number == 0) refuse("variables are numbered from 1", token);
  text.remove_prefix(end + 1);
  return number;
}

std::vector<SourceText> parse_source_side(std::string_view text, const IsTag&) {
  std::vector<SourceText> result;
  std::vector<std::size_t> heads;
  std::size_t variables = 0;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (end == start) throw std::invalid_argument("a rule side is empty or has two spaces together");
    const std::string_view token = text.substr(start, end - start);
    start = end + 1;
    const std::size_t slash = token.rfind('/');
    if (slash == token.npos) refuse("no place of a head (/0, /1 ...) behind the word", token);
    heads.push_back(number_of(token.substr(slash + 1), token));
    std::string_view rest = token.substr(0, slash);
    const std::size_t number = take_variable(rest, token);
    if (rest.empty()) refuse("a place of a head without a word", token);
    SymbolKind kind = SymbolKind::kWord;
    if (number == variables + 1) {
      ++variables;
      kind = SymbolKind::kSite;
    } else if (number > 0 && number == variables) {
      kind = SymbolKind::kMore;
    } else if (number > 0) {
      refuse("variables are not numbered in order", token);
    }
    result.push_back({kind, unescape(rest)});
    result.push_back({SymbolKind::kPlace, std::to_string(heads.back())});
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i] > heads.size() || heads[i] == i + 1) refuse("a head that is not another word of the rule", text);
  }
  return result;
}

}  // namespace

SymbolText unit_text() {
  return {write_source_side, parse_source_side,
          [](std::span<const TargetSymbol> target, const TextOf& word, const TextOf&, std::string& out) {
            write_target(target, word, out);
          }};
}

}  // namespace treeglot::mwu
