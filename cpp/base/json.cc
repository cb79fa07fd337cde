#include "base/json.hh"

#include <algorithm>
#include <array>
#include <limits>

#include "base/numbers.hh"

namespace treeglot::json {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The bytes at which plain text of a string ends: quotes, backslashes, control characters.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (std::size_t c = 0; c < 0x20; ++c) special[c] = true;
  special['"'] = special['\\'] = true;
  return special;
}();

void append_utf8(std::string& out, std::uint32_t character) {
  auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | character >> 6);
    put(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    put(0xE0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  } else {
    put(0xF0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3F));
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  }
}

}  // namespace

std::string_view Value::raw() const {
  const Document::Node& node = document_->nodes_[place_];
  return document_->text_.substr(node.begin, node.end - node.begin);
}

std::int64_t Value::integer() const {
  std::string_view digits = raw();
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  for (char c : digits) {
    const int digit = c - '0';
    if (value > (kMost - digit) / 10) return negative ? std::numeric_limits<std::int64_t>::min() : kMost;
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

double Value::number() const {
  double value = 0;
  parse_number(raw(), value);
  return value;
}

void Document::fail(std::size_t at, const std::string& message) const {
  throw InputError(line_, count_characters(text_.substr(0, at)) + 1, "not JSON: " + message,
                   "each line must be one JSON object");
}

Value Document::parse(std::string_view text, std::size_t line) {
  text_ = text;
  line_ = line;
  place_ = 0;
  nodes_.clear();
  unescaped_.clear();
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) fail(0, "the text is too long");
  read_value(0);
  skip_space();
  if (place_ < text_.size()) fail(place_, "more text after the value");
  return {*this, 0};
}

std::uint32_t Document::open(Kind kind) {
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  const auto begin = static_cast<std::uint32_t>(place_);
  nodes_.push_back({kind, false, begin, begin, number + 1, 0, 0});
  return number;
}

void Document::read_value(int depth) {
  skip_space();
  if (place_ == text_.size()) fail(place_, "the line ends where a value must stand");
  const char c = text_[place_];
  if (c == '"') {
    read_string();
  } else if (c == '[' || c == '{') {
    if (depth == kMaxDepth) fail(place_, "more than " + std::to_string(kMaxDepth) + " lists and objects in each other");
    c == '[' ? read_list(depth) : read_object(depth);
  } else if (c == '-' || is_digit(c)) {
    read_number();
  } else {
    read_word();
  }
}

void Document::read_list(int depth) {
  const std::uint32_t list = open(Kind::kList);
  std::uint32_t size = 0;
  ++place_;
  skip_space();
  if (look() == ']') {
    ++place_;
  } else {
    for (bool more = true; more; ++place_) {
      read_value(depth + 1);
      ++size;
      skip_space();
      more = look() == ',';
      if (!more && look() != ']') fail(place_, "a comma or ] must stand here");
    }
  }
  Node& node = nodes_[list];
  node.size = size;
  node.end = static_cast<std::uint32_t>(place_);
  node.next = static_cast<std::uint32_t>(nodes_.size());
}

void Document::read_object(int depth) {
  const std::uint32_t object = open(Kind::kObject);
  std::uint32_t size = 0;
  ++place_;
  skip_space();
  if (look() == '}') {
    ++place_;
  } else {
    for (bool more = true; more; ++place_) {
      skip_space();
      if (look() != '"') fail(place_, "a key in double quotes must stand here");
      read_string();
      skip_space();
      if (look() != ':') fail(place_, "a colon must stand here");
      ++place_;
      read_value(depth + 1);
      ++size;
      skip_space();
      more = look() == ',';
      if (!more && look() != '}') fail(place_, "a comma or } must stand here");
    }
  }
  Node& node = nodes_[object];
  node.size = size;
  node.end = static_cast<std::uint32_t>(place_);
  node.next = static_cast<std::uint32_t>(nodes_.size());
  if (size > 1) refuse_twice(object);
}

void Document::refuse_twice(std::uint32_t object) {
  keys_.clear();
  for (std::uint32_t key = object + 1; key < nodes_[object].next; key = nodes_[key + 1].next) {
    keys_.push_back(text_of(nodes_[key]));
  }
  std::sort(keys_.begin(), keys_.end());
  const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
  if (twice != keys_.end()) {
    throw InputError(line_, 0, "not usable JSON: a key is given twice in one object: " + quoted(*twice),
                     "each line must be one JSON object");
  }
}

void Document::read_string() {
  const std::uint32_t string = open(Kind::kString);
  const std::size_t start = ++place_;
  while (place_ < text_.size() && !kSpecial[static_cast<unsigned char>(text_[place_])]) ++place_;
  if (look() == '"' && place_ < text_.size()) {
    nodes_[string].text_begin = static_cast<std::uint32_t>(start);
    nodes_[string].size = static_cast<std::uint32_t>(place_ - start);
  } else {
    const std::size_t before = unescaped_.size();
    unescape(start);
    nodes_[string].unescaped = true;
    nodes_[string].text_begin = static_cast<std::uint32_t>(before);
    nodes_[string].size = static_cast<std::uint32_t>(unescaped_.size() - before);
  }
  nodes_[string].end = static_cast<std::uint32_t>(++place_);
}

// The rest of a string with escapes, up to its closing quotes; all of it goes to unescaped_.
void Document::unescape(std::size_t start) {
  unescaped_.append(text_.substr(start, place_ - start));
  for (;;) {
    if (place_ >= text_.size()) fail(start - 1, "the string that begins here does not end");
    const char c = text_[place_];
    if (c == '"') return;
    if (static_cast<unsigned char>(c) < 0x20) fail(place_, "a control character inside a string");
    if (c != '\\') {
      unescaped_ += c;
      ++place_;
      continue;
    }
    const std::size_t at = place_++;
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    const std::size_t escape = place_ < text_.size() ? kEscapes.find(text_[place_]) : std::string_view::npos;
    if (escape != std::string_view::npos) {
      unescaped_ += kCharacters[escape];
      ++place_;
      continue;
    }
    if (look() != 'u') fail(at, "a backslash with a character that is not escaped so");
    std::uint32_t character = read_hex();
    if (character >= 0xD800 && character < 0xE000) {
      const bool pair = character < 0xDC00 && text_.substr(place_, 2) == "\\u";
      if (pair) ++place_;
      const std::uint32_t low = pair ? read_hex() : 0;
      if (low < 0xDC00 || low >= 0xE000) fail(at, "half of a surrogate pair, which is no character");
      character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(unescaped_, character);
  }
}

// The four digits after the u that is looked at.
std::uint32_t Document::read_hex() {
  const std::size_t at = place_++;
  std::uint32_t value = 0;
  for (int k = 0; k < 4; ++k, ++place_) {
    const char c = look();
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) fail(at - 1, "\\u without four hexadecimal digits");
    value = value << 4 | static_cast<std::uint32_t>(digit);
  }
  return value;
}

void Document::read_number() {
  const std::uint32_t number = open(Kind::kInteger);
  auto digits = [this] {
    const std::size_t start = place_;
    while (is_digit(look())) ++place_;
    if (place_ == start) fail(place_, "a digit must stand here");
  };
  if (look() == '-') {
    ++place_;
    if (look() == 'I') read_word();
  }
  if (look() == '0') {
    ++place_;
  } else {
    digits();
  }
  if (look() == '.') {
    ++place_;
    digits();
    nodes_[number].kind = Kind::kReal;
  }
  if (look() == 'e' || look() == 'E') {
    ++place_;
    if (look() == '+' || look() == '-') ++place_;
    digits();
    nodes_[number].kind = Kind::kReal;
  }
  nodes_[number].end = static_cast<std::uint32_t>(place_);
}

void Document::read_word() {
  const std::string_view rest = text_.substr(place_);
  constexpr std::pair<std::string_view, Kind> kWords[] = {
      {"null", Kind::kNull}, {"false", Kind::kFalse}, {"true", Kind::kTrue}};
  for (const auto& [word, kind] : kWords) {
    if (!rest.starts_with(word)) continue;
    const std::uint32_t number = open(kind);
    place_ += word.size();
    nodes_[number].end = static_cast<std::uint32_t>(place_);
    return;
  }
  for (const std::string_view name : {"NaN", "Infinity"}) {
    if (rest.starts_with(name)) fail(place_, std::string(name) + " is not a JSON number");
  }
  fail(place_, "no value begins like this");
}

}  // namespace treeglot::json
