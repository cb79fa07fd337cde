#include "trees/conllu.hh"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.hh"

namespace treeglot::conllu {
namespace {

constexpr std::string_view kNames[kColumns] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                               "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
constexpr std::string_view kStandardColumns = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC";

const std::string kTabRemedy = "separate the ten columns by one tab each and write _ where there is no value";

bool starts_with_digit(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

// A plain number without sign or leading zeros, below a thousand million; -1 if it is none. Anything else could not be
// written back as it was.
std::int32_t parse_number(std::string_view text) {
  if (text.empty() || text.size() > 9 || (text[0] == '0' && text.size() > 1)) return -1;
  std::int32_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of the comment "# key = value" if it has this key.
std::optional<std::string_view> comment_value(std::string_view comment, std::string_view key) {
  comment.remove_prefix(1);
  comment = trimmed(comment);
  if (!comment.starts_with(key)) return std::nullopt;
  comment = trimmed(comment.substr(key.size()));
  if (!comment.starts_with('=')) return std::nullopt;
  return trimmed(comment.substr(1));
}

// The position in memory of the first byte whose high bit is set in a mask that is not 0, and the mask without it.
std::size_t first_byte(std::uint64_t mask) {
  const int zeros = std::endian::native == std::endian::little ? std::countr_zero(mask) : std::countl_zero(mask);
  return static_cast<std::size_t>(zeros) / 8;
}
std::uint64_t without_first_byte(std::uint64_t mask) {
  return std::endian::native == std::endian::little ? mask & (mask - 1) : mask & ~std::bit_floor(mask);
}

}  // namespace

void Scanner::fail(std::string_view line, std::size_t at, const std::string& message, std::string remedy) const {
  throw Error(line_, count_characters(line.substr(0, at)) + 1, message, std::move(remedy));
}

void Scanner::fail(const Row& row, Column column, std::size_t line, const std::string& message,
                   std::string remedy) const {
  const std::size_t start = row[kId].begin;
  throw Error(line, count_characters(text({start, row[column].begin - start})) + 1, message, std::move(remedy));
}

std::string Scanner::name(std::size_t word) const {
  return std::to_string(word + 1) + " (" + shown(text(sentence_.words[word].row[kForm])) + ")";
}

void Scanner::start_sentence() {
  sentence_.words.clear();
  sentence_.ranges.clear();
  sentence_.empty_nodes.clear();
  sentence_.comments.clear();
  sentence_.id = {};
  sentence_.ending = Ending::kBlankLine;
  sentence_.base = nullptr;
  delivered_ = false;
  begin_ = position_;
}

void Scanner::feed(std::string_view bytes) {
  if (delivered_) start_sentence();
  buffer_.erase(0, begin_);
  position_ -= begin_;
  searched_ -= begin_;
  begin_ = 0;
  buffer_.append(bytes);
}

const Sentence* Scanner::next() {
  if (failed_) throw Error(*failed_);
  try {
    return scan();
  } catch (const Error& error) {
    failed_.emplace(error);
    throw;
  }
}

const Sentence* Scanner::scan() {
  if (delivered_) start_sentence();
  std::string_view line;
  bool ended = false;
  for (;;) {
    const bool nothing = sentence_.words.empty() && sentence_.comments.empty() && sentence_.ranges.empty() &&
                         sentence_.empty_nodes.empty();
    if (nothing) begin_ = position_;
    if (!take_line(line, ended)) {
      if (!finished_ || nothing) return nullptr;
      if (sentence_.ending == Ending::kBlankLine) sentence_.ending = Ending::kNoBlankLine;
    } else if (line.find_first_not_of(' ') != std::string_view::npos) {
      read_line(line);
      if (!ended) sentence_.ending = Ending::kNoLineEnd;
      continue;
    } else if (nothing) {
      continue;
    }
    finish_sentence();
    delivered_ = true;
    sentence_.base = buffer_.data() + begin_;
    return &sentence_;
  }
}

// Takes one line without its end; `ended` says whether it had one. False if there is no complete line.
bool Scanner::take_line(std::string_view& line, bool& ended) {
  const std::size_t size = buffer_.size();
  const void* newline = searched_ < size ? std::memchr(buffer_.data() + searched_, '\n', size - searched_) : nullptr;
  const std::size_t end =
      newline != nullptr ? static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) : size;
  ended = newline != nullptr;
  const auto refuse_long = [](std::size_t number) {
    throw Error(number, 0, "the line is longer than 1,000,000 bytes",
                "split the sentence, or check that the file is CoNLL-U");
  };
  if (end - position_ > kMaxLineBytes + 1) refuse_long(line_ + 1);  // one more for a carriage return
  if (!ended && (!finished_ || position_ == size)) {
    searched_ = size;
    return false;
  }
  line = std::string_view(buffer_).substr(position_, end - position_);
  position_ = searched_ = ended ? end + 1 : size;
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > kMaxLineBytes) refuse_long(line_);
  if (at_start_) {
    at_start_ = false;
    check_start(line);
    if (line.starts_with(kBom)) line.remove_prefix(kBom.size());
  }
  if (!is_plain_ascii(line)) {
    check_text(line, line_);
    if (const std::size_t back = line.find('\r'); back != std::string_view::npos) {
      fail(line, back, "a carriage return inside the line", R"(end lines with \n or \r\n, and put neither in a value)");
    }
  }
  return true;
}

// Files that begin with the signature of something that is no UTF-8 text.
void Scanner::check_start(std::string_view line) {
  const auto refuse = [this](const std::string& what, std::string remedy) {
    throw Error(line_, 1, what, std::move(remedy));
  };
  if (line.starts_with("\x1f\x8b")) refuse("the file is packed by gzip", "give it a name that ends in .gz");
  if (line.starts_with("\x28\xb5\x2f\xfd")) refuse("the file is packed by zstd", "give it a name that ends in .zst");
  if (line.starts_with("PK\x03\x04")) refuse("the file is a zip archive", "unpack it first");
  if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
    refuse("the file is UTF-16, not UTF-8", "convert the file first, for example with: iconv -f utf-16 -t utf-8");
  }
}

void Scanner::read_line(std::string_view line) {
  if (line[0] == '#') {
    read_comment(line);
    return;
  }
  Row row;
  if (!split(line, row)) refuse_columns(line);
  no_word_yet_ = false;
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (row[column].size == 0) {
      fail(row, static_cast<Column>(column), line_,
           "column " + std::to_string(column + 1) + " (" + std::string(kNames[column]) + ") is empty",
           column == kForm ? "every word needs a form; write _ if it is unknown" : "write _ where there is no value");
    }
  }
  const std::string_view id = text(row[kId]);
  if (id.find('-', 1) != std::string_view::npos) {
    read_range(line, row);
  } else if (id.find('.') != std::string_view::npos) {
    read_empty_node(line, row);
  } else {
    read_word(line, row);
  }
}

// Eight bytes at a time: columns are so short that a search for each tab would cost more than the reading.
bool Scanner::split(std::string_view line, Row& row) const {
  const std::size_t origin = static_cast<std::size_t>(line.data() - buffer_.data()) - begin_;
  std::size_t column = 0;
  std::size_t start = 0;
  const auto end_column = [&](std::size_t at) {
    if (column < kColumns) row[column] = {origin + start, at - start};
    ++column;
    start = at + 1;
  };
  std::size_t i = 0;
  for (; i + 8 <= line.size(); i += 8) {
    std::uint64_t tabs = bytes_equal(load_word(line.data() + i), '\t');
    while (tabs != 0) {
      end_column(i + first_byte(tabs));
      tabs = without_first_byte(tabs);
    }
  }
  for (; i < line.size(); ++i) {
    if (line[i] == '\t') end_column(i);
  }
  end_column(line.size());
  return column == kColumns;
}

void Scanner::refuse_columns(std::string_view line) const {
  if (line.starts_with(kBom)) {
    fail(line, 0, "a byte-order mark inside the file", "remove it; joining files with byte-order marks leaves them");
  }
  const std::string_view content = trimmed(line);
  if (no_word_yet_) {
    const std::string remedy = "name the file's true format, or convert it to CoNLL-U first";
    if (content.starts_with('<')) fail(line, 0, "this looks like XML, not CoNLL-U", remedy);
    if (content.starts_with('(')) fail(line, 0, "this looks like Penn brackets, not CoNLL-U", remedy);
    if (content.starts_with('{') || content.starts_with('['))
      fail(line, 0, "this looks like JSON, not CoNLL-U", remedy);
  }
  const auto tabs = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
  if (tabs + 1 < kColumns && starts_with_digit(content)) {
    std::size_t pieces = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool space = line[i] == ' ' || line[i] == '\t';
      pieces += !space && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t');
    }
    if (pieces >= kColumns) {
      fail(line, 0, "the columns are separated by spaces, not by tabs", "write one tab between two columns");
    }
  }
  fail(line, 0, std::to_string(tabs + 1) + (tabs == 0 ? " column" : " columns") + " instead of 10", kTabRemedy);
}

void Scanner::read_comment(std::string_view line) {
  if (!sentence_.words.empty() || !sentence_.ranges.empty() || !sentence_.empty_nodes.empty()) {
    fail(line, 0, "a comment inside a sentence",
         "move it above the sentence's first word, or put a blank line before it if a new sentence starts here");
  }
  if (sentence_.comments.empty()) {
    first_comment_line_ = line_;
    if (no_word_yet_) {
      if (const auto columns = comment_value(line, "global.columns"); columns && *columns != kStandardColumns) {
        fail(line, 0, "CoNLL-U Plus with columns other than the ten of CoNLL-U",
             "convert the file to the columns " + std::string(kStandardColumns));
      }
    }
  }
  const char* const origin = buffer_.data() + begin_;
  sentence_.comments.push_back({static_cast<std::size_t>(line.data() - origin), line.size()});
  if (sentence_.id.size == 0) {
    if (const auto id = comment_value(line, "sent_id")) {
      sentence_.id = {static_cast<std::size_t>(id->data() - origin), id->size()};
    }
  }
}

void Scanner::read_word(std::string_view line, const Row& row) {
  const std::string_view id = text(row[kId]);
  const auto words = static_cast<std::int32_t>(sentence_.words.size());
  const std::int32_t number = parse_number(id);
  if (number != words + 1) {
    if (line.starts_with(kBom)) {
      fail(line, 0, "a byte-order mark inside the file", "remove it; joining files with byte-order marks leaves them");
    }
    if (number < 0) {
      fail(line, 0, "the id " + quoted(id) + " is not a word number", "number the words 1, 2, 3, …");
    }
    if (number == 1) {
      fail(line, 0, "word 1 again before the sentence ended", "put a blank line between two sentences");
    }
    if (number >= 1 && number <= words) {
      fail(line, 0, "the id " + std::to_string(number) + " is given twice", "number the words 1, 2, 3, …");
    }
    fail(line, 0, "the id is " + std::to_string(number) + " where " + std::to_string(words + 1) + " must follow",
         "number the words 1, 2, 3, … without gaps");
  }
  const std::string_view head = text(row[kHead]);
  std::int32_t parent = kNoHead;
  if (head != "_") {
    parent = parse_number(head) - 1;
    if (parent < kRoot) {
      fail(row, kHead, line_, "the head " + quoted(head) + " is not a word number",
           "HEAD is the id of a word, 0 for the root, or _ everywhere if there is no tree");
    }
  }
  sentence_.words.push_back({row, line_, parent});
  range_open_ = false;
  empty_count_ = 0;
}

void Scanner::read_range(std::string_view line, const Row& row) {
  const std::string_view id = text(row[kId]);
  const auto words = static_cast<std::int32_t>(sentence_.words.size());
  const std::size_t dash = id.find('-', 1);
  const std::int32_t first = parse_number(id.substr(0, dash));
  const std::int32_t last = parse_number(id.substr(dash + 1));
  if (first < 0 || last < 0) {
    fail(line, 0, "the id " + quoted(id) + " is neither a word number nor a range",
         "a multiword range is written as 3-4");
  }
  if (first < 1 || last < first) {
    fail(line, 0, "the range " + quoted(id) + " is empty or backwards", "write the first and the last word, as in 3-4");
  }
  if (first == 1 && words > 0) {
    fail(line, 0, "word 1 again before the sentence ended", "put a blank line between two sentences");
  }
  if (range_open_ || first <= range_end_) {
    fail(line, 0, "the range " + quoted(id) + " overlaps the range before it", "a word can be in one range only");
  }
  if (first != words + 1) {
    fail(line, 0, "the range " + quoted(id) + " stands before word " + std::to_string(words + 1),
         "put the line of a range directly before its first word");
  }
  sentence_.ranges.push_back({first - 1, last, line_, row});
  range_end_ = last;
  range_open_ = true;
}

void Scanner::read_empty_node(std::string_view line, const Row& row) {
  const std::string_view id = text(row[kId]);
  const auto words = static_cast<std::int32_t>(sentence_.words.size());
  const std::size_t dot = id.find('.');
  const std::int32_t after = parse_number(id.substr(0, dot));
  const std::int32_t number = parse_number(id.substr(dot + 1));
  if (after < 0 || number < 1) {
    fail(line, 0, "the id " + quoted(id) + " is neither a word number nor an empty node",
         "an empty node is written as 5.1");
  }
  if (after != words || range_open_) {
    fail(line, 0,
         "the empty node " + quoted(id) + " does not stand directly after word " + std::to_string(after) +
             (range_open_ ? ", but after the line of a range" : ""),
         "put empty nodes after their word and before the range or word that follows");
  }
  if (number != empty_count_ + 1) {
    fail(line, 0,
         "the empty node is " + quoted(id) + " where " + std::to_string(after) + "." +
             std::to_string(empty_count_ + 1) + " must follow",
         "number the empty nodes after one word 1, 2, 3, …");
  }
  sentence_.empty_nodes.push_back({after, row});
  ++empty_count_;
}

void Scanner::finish_sentence() {
  range_end_ = 0;
  range_open_ = false;
  empty_count_ = 0;
  const std::size_t words = sentence_.words.size();
  for (const Range& range : sentence_.ranges) {
    if (static_cast<std::size_t>(range.end) > words) {
      fail(range.row, kId, range.line,
           "the range " + quoted(text(range.row[kId])) + " goes beyond the sentence of " + std::to_string(words) +
               (words == 1 ? " word" : " words"),
           "correct the range, or add the missing words");
    }
  }
  if (words == 0) {
    if (sentence_.empty_nodes.empty()) {
      throw Error(first_comment_line_, 0, "comments without a sentence",
                  "add the sentence's words below them, or remove the blank line between the comments and the words");
    }
    throw Error(line_, 0, "a sentence without words", "add its words, or remove it");
  }
  check_heads();
}

void Scanner::check_heads() {
  const auto& words = sentence_.words;
  const auto size = static_cast<std::int32_t>(words.size());
  std::size_t unset = 0;
  std::size_t roots = 0;
  for (std::size_t j = 0; j < words.size(); ++j) {
    const Word& word = words[j];
    if (word.head == kNoHead) {
      ++unset;
    } else if (word.head >= size) {
      fail(word.row, kHead, word.line,
           "the head of word " + name(j) + " is " + std::to_string(word.head + 1) + ", but the sentence has " +
               std::to_string(size) + (size == 1 ? " word" : " words"),
           "correct the head");
    } else if (word.head == kRoot) {
      ++roots;
    }
  }
  sentence_.has_heads = unset == 0;
  if (unset != 0) {
    const bool all = unset == words.size();
    for (std::size_t j = 0; j < words.size(); ++j) {
      if (all && text(words[j].row[kDeprel]) != "_") {
        fail(words[j].row, kDeprel, words[j].line, "word " + name(j) + " has a relation but no head",
             "give every word a head, or write _ as HEAD and DEPREL of all words");
      }
      if (!all && words[j].head == kNoHead) {
        fail(words[j].row, kHead, words[j].line, "word " + name(j) + " has no head, but other words have one",
             "give every word a head, or write _ as HEAD and DEPREL of all words");
      }
    }
    return;
  }
  if (roots > 1) {
    std::string names;
    std::size_t seen = 0;
    std::size_t second = 0;
    for (std::size_t j = 0; j < words.size() && seen < 3; ++j) {
      if (words[j].head != kRoot) continue;
      names += (seen == 0 ? "" : ", ") + name(j);
      if (++seen == 2) second = j;
    }
    fail(words[second].row, kHead, words[second].line,
         std::to_string(roots) + " roots: " + names + (roots > 3 ? ", …" : ""), "attach all but one of them");
  }
  check_cycle(roots == 1);
}

// Follows heads from every word; each word is visited once. Without a root there is always a cycle.
void Scanner::check_cycle(bool has_root) {
  const auto& words = sentence_.words;
  state_.assign(words.size(), -1);  // -1: new; otherwise the word whose walk came by
  for (std::size_t start = 0; start < words.size(); ++start) {
    const auto walk = static_cast<std::int32_t>(start);
    auto n = walk;
    while (n != kRoot && state_[static_cast<std::size_t>(n)] == -1) {
      state_[static_cast<std::size_t>(n)] = walk;
      n = words[static_cast<std::size_t>(n)].head;
    }
    if (n == kRoot || state_[static_cast<std::size_t>(n)] != walk) continue;
    const auto first = static_cast<std::size_t>(n);
    std::string names = name(first);
    std::size_t length = 1;
    for (auto k = words[first].head; k != n; k = words[static_cast<std::size_t>(k)].head, ++length) {
      if (length < 6) names += " → " + name(static_cast<std::size_t>(k));
    }
    names += (length > 6 ? " → … → " : " → ") + name(first);
    fail(words[first].row, kHead, words[first].line, (has_root ? "a cycle: " : "no root, but a cycle: ") + names,
         has_root ? "correct one of these heads" : "give one word the head 0 and correct the others");
  }
}

}  // namespace treeglot::conllu
