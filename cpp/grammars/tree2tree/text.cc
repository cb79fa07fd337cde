#include "grammars/tree2tree/text.hh"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace treeglot {

namespace {

constexpr std::string_view kLeftBracket = "-LRB-", kRightBracket = "-RRB-";
constexpr Escapes kLabel{.brackets = true, .variable = false, .bracketed = false, .marks = false};

void write_label(std::string_view label, std::string& out) { write_escaped(label, kLabel, out); }

void write_word(std::string_view word, std::string& out) {
  std::string plain;  // without brackets, and what looks like one escaped
  bool escaped = word.starts_with("\\u");
  if (escaped) {
    plain = "\\u005c";
    word.remove_prefix(1);
  }
  std::string rest;
  write_escaped(word, {.brackets = true, .variable = false, .bracketed = false, .marks = false}, rest);
  for (std::size_t i = 0; i < rest.size();) {
    const std::string_view text = std::string_view(rest).substr(i);
    if (text.starts_with("\\u0028") || text.starts_with("\\u0029")) {
      plain += text[5] == '8' ? kLeftBracket : kRightBracket;
      i += 6;
    } else if (text.starts_with(kLeftBracket) || text.starts_with(kRightBracket)) {
      plain += "\\u002d";
      ++i;
    } else {
      plain += rest[i++];
    }
  }
  out += plain;
}

std::string read_word(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with(kLeftBracket)) {
      plain += '(';
      i += kLeftBracket.size();
    } else if (text.substr(i).starts_with(kRightBracket)) {
      plain += ')';
      i += kRightBracket.size();
    } else {
      plain += text[i++];
    }
  }
  return unescape(plain);
}

// Puts a blank before everything but the first thing.
struct Blanks {
  std::string& out;
  bool first = true;
  void next() {
    if (!first) out += ' ';
    first = false;
  }
};

void write_variable(std::size_t number, std::string_view label, std::string& out) {
  out += 'x';
  out += std::to_string(number);
  out += ':';
  write_label(label, out);
}

void write_source_side(std::span<const Symbol> source, const TextOf& word, const TextOf& category, std::string& out) {
  Blanks blanks{out};
  std::size_t variables = 0;
  for (Symbol symbol : source) {
    const std::uint32_t id = symbol_id(symbol);
    switch (symbol_kind(symbol)) {
      case SymbolKind::kClose:
        out += ')';
        break;
      case SymbolKind::kOpen:
        blanks.next();
        out += '(';
        write_label(category(id), out);
        break;
      case SymbolKind::kSite:
      case SymbolKind::kMore:
        blanks.next();
        if (symbol_kind(symbol) == SymbolKind::kSite) ++variables;
        write_variable(variables, category(id), out);
        break;
      default:
        blanks.next();
        write_word(word(id), out);
        break;
    }
  }
}

void write_target_side(std::span<const TargetSymbol> target, const TextOf& word, const TextOf& category,
                       std::string& out) {
  Blanks blanks{out};
  std::uint32_t variable = 0;  // that of the last frontier node
  for (std::size_t i = 0; i < target.size(); ++i) {
    const TargetSymbol symbol = target[i];
    if (is_target_variable(symbol)) continue;  // said with its first node
    if (is_target_word(symbol)) {
      blanks.next();
      write_word(word(symbol), out);
      continue;
    }
    switch (target_node_kind(symbol)) {
      case TargetNode::kClose:
        out += ')';
        break;
      case TargetNode::kOpen:
        blanks.next();
        out += '(';
        write_label(category(target_category(symbol)), out);
        break;
      case TargetNode::kFrontier:
        blanks.next();
        if (i + 1 < target.size() && is_target_variable(target[i + 1])) variable = variable_number(target[i + 1]);
        write_variable(variable + 1, category(target_category(symbol)), out);
        break;
    }
  }
}

[[noreturn]] void refuse(std::string_view what, std::string_view token) {
  throw std::invalid_argument(std::string(what) + ": " + std::string(token));
}

// The number of a variable x<number>: at the begin of a token, which is taken away; 0 if there is none.
std::size_t take_variable(std::string_view& token) {
  if (!token.starts_with('x')) return 0;
  std::size_t end = 1;
  while (end < token.size() && token[end] >= '0' && token[end] <= '9') ++end;
  if (end == 1 || end == token.size() || token[end] != ':') return 0;
  if (end > 10) refuse("no rule has so many variables", token);
  const std::size_t number = std::stoul(std::string(token.substr(1, end - 1)));
  if (number == 0) refuse("variables are numbered from 1", token);
  token.remove_prefix(end + 1);
  return number;
}

std::vector<SourceText> parse_source_side(std::string_view text, const IsTag&) {
  std::vector<SourceText> result;
  std::size_t variables = 0;
  int depth = 0;
  bool open = false;  // whether the last variable may have further nodes
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (end == start) throw std::invalid_argument("a rule side is empty or has two spaces together");
    const std::string_view token = text.substr(start, end - start);
    start = end + 1;
    std::string_view rest = token;
    int closing = 0;
    while (rest.ends_with(')')) {
      rest.remove_suffix(1);
      ++closing;
    }
    if (rest.starts_with('(')) {
      if (rest.size() == 1) refuse("a node without a label", token);
      result.push_back({SymbolKind::kOpen, unescape(rest.substr(1))});
      ++depth;
    } else if (const std::size_t number = take_variable(rest); number > 0) {
      if (rest.empty()) refuse("a variable without a label", token);
      if (number == variables + 1) {
        ++variables;
        result.push_back({SymbolKind::kSite, unescape(rest)});
      } else if (number == variables && open) {
        result.push_back({SymbolKind::kMore, unescape(rest)});
      } else {
        refuse("variables are not numbered in order", token);
      }
      open = true;
    } else {
      if (rest.empty() || depth == 0) refuse("a word outside the brackets", token);
      result.push_back({SymbolKind::kWord, read_word(rest)});
      open = false;
    }
    for (; closing > 0; --closing) {
      if (--depth < 0) refuse("too many closing brackets", token);
      result.push_back({SymbolKind::kClose, ""});
    }
  }
  if (depth != 0) throw std::invalid_argument("a bracket is not closed");
  return result;
}

}  // namespace

SymbolText tree_sequence_text() { return {write_source_side, parse_source_side, write_target_side}; }

}  // namespace treeglot
