#include "grammars/rule_text.hh"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace treeglot {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code point of an escape at the begin of the text, or -1.
int escape_at(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return -1;
  int value = 0;
  for (int i = 2; i < 6; ++i) {
    int digit = hex_value(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value >= 0xD800 && value <= 0xDFFF ? -1 : value;  // no character is half a surrogate pair
}

// x<digits> at the begin: how many characters; 0 if it is not there.
std::size_t variable_prefix(std::string_view text) {
  if (text.size() < 2 || text[0] != 'x') return 0;
  std::size_t end = 1;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > 1 ? end : 0;
}

// White space at the begin of the text (what Unicode or Python's str.split takes for it): its code point and length.
struct Space {
  int code = 0;
  std::size_t length = 0;
};

Space space_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const int first = byte(0);
  if ((first >= 0x09 && first <= 0x0D) || (first >= 0x1C && first <= 0x20)) return {first, 1};
  if (first == 0xC2 && (byte(1) == 0x85 || byte(1) == 0xA0)) return {byte(1), 2};
  if (first < 0xE1 || first > 0xE3 || byte(2) == 0) return {};
  const int code = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  if (code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
      code == 0x205F || code == 0x3000) {
    return {code, 3};
  }
  return {};
}

void put_escape(int code, std::string& out) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(code));
  out += buffer;
}

}  // namespace

void write_escaped(std::string_view text, const Escapes& escapes, std::string& out) {
  const std::size_t variable = variable_prefix(text);
  const bool first = (escapes.marks && text.starts_with('^')) ||
                     (variable > 0 && (variable < text.size() ? text[variable] == ':' : escapes.variable));
  const bool last = (escapes.marks && (text.ends_with('*') || text.ends_with('+'))) ||
                    (escapes.bracketed && text.ends_with(']') && text.find('[') != text.npos);
  for (std::size_t i = 0; i < text.size();) {
    std::string_view rest = text.substr(i);
    if ((i == 0 && first) || (i + 1 == text.size() && last) || rest.starts_with("|||") || escape_at(rest) >= 0 ||
        (escapes.brackets && (rest[0] == '(' || rest[0] == ')'))) {
      put_escape(static_cast<unsigned char>(text[i++]), out);
    } else if (Space space = space_at(rest); space.length > 0) {
      put_escape(space.code, out);
      i += space.length;
    } else {
      out += text[i++];
    }
  }
}

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view token) {
  throw std::invalid_argument(std::string(what) + ": " + std::string(token));
}

// Splits at single spaces; calls each(token).
template <class Each>
void split(std::string_view text, Each&& each) {
  std::size_t start = 0;
  while (start <= text.size()) {
    std::size_t end = std::min(text.find(' ', start), text.size());
    if (end == start) throw std::invalid_argument("a rule side is empty or has two spaces together");
    each(text.substr(start, end - start));
    start = end + 1;
  }
}

// Parts x<number>:rest; the number must be the next one.
bool take_variable(std::string_view& token, std::size_t& variables) {
  const std::size_t prefix = variable_prefix(token);
  if (prefix == 0 || prefix == token.size() || token[prefix] != ':') return false;
  if (token.substr(1, prefix - 1) != std::to_string(variables + 1))
    refuse("variables are not numbered in order", token);
  ++variables;
  token.remove_prefix(prefix + 1);
  return true;
}

// A gap x<number>:X, which may also be written x<number>.
bool take_gap(std::string_view token, std::size_t& variables) {
  if (variable_prefix(token) == token.size()) {
    std::string whole = std::string(token) + ":X";
    std::string_view rest = whole;
    return take_variable(rest, variables);
  }
  std::string_view rest = token;
  if (!take_variable(rest, variables)) return false;
  if (rest != "X") refuse("a gap is X", token);
  return true;
}

std::string content(std::string_view text, std::string_view token) {
  if (text.empty()) refuse("a symbol without a word or category", token);
  return unescape(text);
}

SourceText parse_member(std::string_view token, std::size_t& variables,
                        const std::function<bool(std::string_view)>& is_tag) {
  std::string_view text = token;
  const bool head = text.starts_with('^');
  if (head) text.remove_prefix(1);
  if (!take_variable(text, variables)) {
    return {head ? SymbolKind::kHeadWord : SymbolKind::kWord, content(text, token)};
  }
  if (text.ends_with('*')) {
    if (head) refuse("the head is not an internal dependent", token);
    text.remove_suffix(1);
    std::string plain = content(text, token);
    SymbolKind kind = is_tag(plain) ? SymbolKind::kInternalTag : SymbolKind::kInternalWord;
    return {kind, std::move(plain)};
  }
  if (text.ends_with('+')) {
    if (!head) refuse("a run has the head", token);
    text.remove_suffix(1);
    std::string plain = content(text, token);
    SymbolKind kind = is_tag(plain) ? SymbolKind::kRunTag : SymbolKind::kRunWord;
    return {kind, std::move(plain)};
  }
  if (text.ends_with(']') && text.find('[') != text.npos) {
    return {head ? SymbolKind::kHeadPhrasal : SymbolKind::kPhrasal, content(text, token)};
  }
  return {head ? SymbolKind::kHeadVariable : SymbolKind::kVariable, content(text, token)};
}

void parse_tree_token(std::string_view token, std::size_t& variables, int& depth, std::vector<SourceText>& out) {
  std::string_view text = token;
  std::size_t closing = 0;
  while (text.ends_with(')')) {
    text.remove_suffix(1);
    ++closing;
  }
  if (text.starts_with('(')) {
    if (depth == 0 && !out.empty()) refuse("a fragment has one root", token);
    out.push_back({SymbolKind::kOpen, content(text.substr(1), token)});
    ++depth;
  } else if (depth == 0) {
    refuse("outside the brackets", token);
  } else if (take_variable(text, variables)) {
    out.push_back({SymbolKind::kSite, content(text, token)});
  } else {
    out.push_back({SymbolKind::kWord, content(text, token)});
  }
  for (; closing > 0; --closing) {
    if (--depth < 0) refuse("too many closing brackets", token);
    out.push_back({SymbolKind::kClose, ""});
  }
}

}  // namespace

void write_source(std::span<const Symbol> source, const TextOf& word, const TextOf& category, std::string& out) {
  const bool tree = !source.empty() && symbol_kind(source[0]) == SymbolKind::kOpen;
  // Without brackets and without a head it may have gaps, and x1 alone is read as one.
  const bool flat = !tree && std::none_of(source.begin(), source.end(), [](Symbol symbol) {
    const SymbolKind kind = symbol_kind(symbol);
    return kind == SymbolKind::kHeadWord || kind == SymbolKind::kHeadVariable || kind == SymbolKind::kHeadPhrasal ||
           kind == SymbolKind::kRunWord || kind == SymbolKind::kRunTag;
  });
  if (!tree && !source.empty() && symbol_kind(source.back()) == SymbolKind::kClose) {
    out += "+ ";
    source = source.first(source.size() - 1);
  }
  const Escapes word_escapes{tree, flat, false};
  const Escapes category_escapes{tree, false, !tree};
  std::size_t variables = 0;
  bool space = false;
  for (Symbol symbol : source) {
    const SymbolKind kind = symbol_kind(symbol);
    if (kind == SymbolKind::kClose) {
      out += ')';
      continue;
    }
    if (space) out += ' ';
    space = true;
    const std::uint32_t id = symbol_id(symbol);
    switch (kind) {
      case SymbolKind::kHeadWord:
      case SymbolKind::kHeadVariable:
      case SymbolKind::kHeadPhrasal:
      case SymbolKind::kRunWord:
      case SymbolKind::kRunTag:
        out += '^';
        break;
      case SymbolKind::kOpen:
        out += '(';
        break;
      default:
        break;
    }
    if (is_variable(symbol)) {
      out += 'x';
      out += std::to_string(++variables);
      out += ':';
    }
    switch (kind) {
      case SymbolKind::kWord:
      case SymbolKind::kHeadWord:
        write_escaped(word(id), word_escapes, out);
        break;
      case SymbolKind::kInternalWord:
        write_escaped(word(id), word_escapes, out);
        out += '*';
        break;
      case SymbolKind::kInternalTag:
        write_escaped(category(id), word_escapes, out);
        out += '*';
        break;
      case SymbolKind::kRunWord:
        write_escaped(word(id), word_escapes, out);
        out += '+';
        break;
      case SymbolKind::kRunTag:
        write_escaped(category(id), word_escapes, out);
        out += '+';
        break;
      case SymbolKind::kVariable:
      case SymbolKind::kHeadVariable:
      case SymbolKind::kOpen:
      case SymbolKind::kSite:
        write_escaped(category(id), category_escapes, out);
        break;
      case SymbolKind::kPhrasal:
      case SymbolKind::kHeadPhrasal:
        write_escaped(category(id), word_escapes, out);
        break;
      case SymbolKind::kGap:
        out += 'X';
        break;
      case SymbolKind::kPlace:  // of grammars with a notation of their own
      case SymbolKind::kMore:
      case SymbolKind::kClose:
        break;
    }
  }
}

void write_target(std::span<const TargetSymbol> target, const TextOf& word, std::string& out) {
  bool space = false;
  for (TargetSymbol symbol : target) {
    if (space) out += ' ';
    space = true;
    if (is_target_variable(symbol)) {
      out += 'x';
      out += std::to_string(variable_number(symbol) + 1);
    } else {
      write_escaped(word(symbol), {false, true, false}, out);
    }
  }
}

std::vector<SourceText> parse_source(std::string_view text, RuleFamily family,
                                     const std::function<bool(std::string_view)>& is_tag) {
  std::vector<SourceText> result;
  std::size_t variables = 0, heads = 0;
  int depth = 0;
  const bool run = family == RuleFamily::kMembers && text.starts_with("+ ");
  if (run) text.remove_prefix(2);
  split(text, [&](std::string_view token) {
    if (family == RuleFamily::kTree) {
      parse_tree_token(token, variables, depth, result);
    } else if (family == RuleFamily::kMembers) {
      result.push_back(parse_member(token, variables, is_tag));
      heads += token.starts_with('^');
    } else if (take_gap(token, variables)) {
      result.push_back({SymbolKind::kGap, ""});
    } else {
      result.push_back({SymbolKind::kWord, unescape(token)});
    }
  });
  if (family == RuleFamily::kMembers && heads != 1) throw std::invalid_argument("a rule has exactly one head (^)");
  if (depth != 0) throw std::invalid_argument("a bracket is not closed");
  if (run) result.push_back({SymbolKind::kClose, ""});
  return result;
}

std::vector<TargetText> parse_target(std::string_view text, std::size_t variables) {
  std::vector<TargetText> result;
  std::vector<bool> seen(variables);
  std::size_t distinct = 0;
  split(text, [&](std::string_view token) {
    if (variable_prefix(token) != token.size()) {
      result.push_back({-1, unescape(token)});
      return;
    }
    std::size_t number = 0;  // of at most nine digits, so that it fits
    if (token.size() <= 10) number = std::stoul(std::string(token.substr(1)));
    if (number < 1 || number > variables || seen[number - 1])
      refuse("not a variable that the target still needs", token);
    seen[number - 1] = true;
    ++distinct;
    result.push_back({static_cast<int>(number - 1), ""});
  });
  if (distinct != variables) throw std::invalid_argument("a variable is missing on the target side");
  return result;
}

SymbolText symbol_text(RuleFamily family) {
  return {write_source,
          [family](std::string_view text, const IsTag& is_tag) { return parse_source(text, family, is_tag); },
          [](std::span<const TargetSymbol> target, const TextOf& word, const TextOf&, std::string& out) {
            write_target(target, word, out);
          }};
}

std::string unescape(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    int code = escape_at(text.substr(i));
    if (code < 0) {
      result += text[i++];
      continue;
    }
    i += 6;
    if (code < 0x80) {
      result += static_cast<char>(code);
    } else if (code < 0x800) {
      result += static_cast<char>(0xC0 | code >> 6);
      result += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      result += static_cast<char>(0xE0 | code >> 12);
      result += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      result += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return result;
}

}  // namespace treeglot
