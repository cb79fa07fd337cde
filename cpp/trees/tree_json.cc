#include "trees/tree_json.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace treeglot::treejson {

namespace {

using json::Kind;
using json::Value;
using Names = std::initializer_list<std::string_view>;

constexpr std::array<std::string_view, 6> kAnnotations = {"lemmas", "upos", "xpos", "feats", "deps", "misc"};
enum Annotation : std::size_t { kUpos = 1, kXpos = 2 };
constexpr std::string_view kUnset = "_";

// A value is not what its field holds; Place::read turns it into an InputError with the name of the field.
struct WrongType {
  std::string message;
};

std::string show(Value value) {
  constexpr std::size_t kLimit = 40;
  const std::string_view raw = value.raw();
  if (count_characters(raw) <= kLimit) return std::string(raw);
  std::size_t end = 0;
  for (std::size_t characters = 0; characters < kLimit - 3; ++characters) {
    do {
      ++end;
    } while ((static_cast<unsigned char>(raw[end]) & 0xC0) == 0x80);
  }
  return std::string(raw.substr(0, end)) + "...";
}

void expect(Value value, Kind kind, const char* what) {
  if (!value.is(kind)) throw WrongType{show(value) + " is not " + what};
}

std::string_view string_of(Value value) {
  expect(value, Kind::kString, "a string");
  return value.text();
}

std::int64_t integer_of(Value value) {
  expect(value, Kind::kInteger, "an integer");
  return value.integer();
}

// Numbers of words and phrases; what is too large for any is the largest or smallest number.
std::int32_t small_integer_of(Value value) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(integer_of(value), Limits::min(), Limits::max()));
}

Value list_of(Value value) {
  expect(value, Kind::kList, "a list");
  return value;
}

template <class T, class Read>
void read_list(Value value, std::vector<T>& items, Read read) {
  items.clear();
  items.reserve(list_of(value).size());
  for (const Value item : value) items.push_back(read(item));
}

template <std::size_t... n>
std::array<Value, sizeof...(n)> first_items(Value list, std::index_sequence<n...>) {
  auto place = list.begin();
  const auto take = [&](std::size_t) {
    const Value item = *place;
    ++place;
    return item;
  };
  return {take(n)...};
}

// The parts of a row, which must be so many.
template <std::size_t size>
std::array<Value, size> parts_of(Value row) {
  if (list_of(row).size() != size) throw WrongType{show(row) + " has not " + std::to_string(size) + " parts"};
  return first_items(row, std::make_index_sequence<size>());
}

struct Link {
  std::int64_t source, target;
  friend auto operator<=>(const Link&, const Link&) = default;
};

Link link_of(Value value) {
  const std::size_t size = list_of(value).size();
  if (size < 2 || size > 4) throw WrongType{"the link " + show(value) + " has not 2 to 4 parts"};
  auto place = value.begin();
  const Value source = *place, target = *++place;
  if (size > 2) {
    const std::string_view kind = string_of(*++place);
    if (kind != "good" && kind != "fuzzy") {
      throw WrongType{"the link kind " + quoted(kind) + " is neither good nor fuzzy"};
    }
  }
  if (size > 3) {
    const Value score = *++place;
    if (!score.is(Kind::kNull)) {
      if (!score.is(Kind::kInteger) && !score.is(Kind::kReal)) {
        throw WrongType{"the score " + show(score) + " is not a number"};
      }
      if (!std::isfinite(score.number())) throw WrongType{"the score is too large"};
    }
  }
  return {integer_of(source), integer_of(target)};
}

std::string link_text(const Link& link) { return std::to_string(link.source) + "-" + std::to_string(link.target); }

// Numbers of words from 0, or of nodes, where words are negative.
struct Ends {
  std::int64_t low, high;
};

// What is wrong with the links of a pair, or nothing.
std::string link_problem(std::vector<Link>& links, const char* what, Ends source, Ends target) {
  std::sort(links.begin(), links.end());
  for (const Link& link : links) {
    for (const auto& [side, node, ends] :
         {std::tuple("source", link.source, source), std::tuple("target", link.target, target)}) {
      if (node < ends.low || node >= ends.high) {
        return std::string(what) + " link " + link_text(link) + ": the " + side + " has no " + what + " " +
               std::to_string(node);
      }
    }
  }
  const auto twice = std::adjacent_find(links.begin(), links.end());
  return twice == links.end() ? "" : std::string(what) + " link " + link_text(*twice) + " is given twice";
}

Ends node_ends(const Sentence& sentence) {
  return {-static_cast<std::int64_t>(sentence.forms.size()), static_cast<std::int64_t>(sentence.phrases.size())};
}

std::string word_name(const Sentence& sentence, std::size_t word) {
  return std::to_string(word + 1) + " (" + shown(sentence.forms[word]) + ")";
}

// What is wrong with the heads of a sentence, or nothing.
std::string head_problem(const Sentence& sentence, std::vector<std::uint8_t>& state) {
  const std::vector<std::int32_t>& heads = sentence.heads;
  const auto size = static_cast<std::int32_t>(heads.size());
  std::size_t roots = 0;
  for (std::size_t j = 0; j < heads.size(); ++j) {
    if (heads[j] < -1 || heads[j] >= size) {
      return "the head of word " + word_name(sentence, j) + " is " + std::to_string(std::int64_t{heads[j]} + 1) +
             ", but there are " + std::to_string(size) + " words";
    }
    roots += heads[j] == -1;
  }
  if (roots > 1) {
    std::string names;
    for (std::size_t j = 0, named = 0; j < heads.size() && named < 3; ++j) {
      if (heads[j] == -1) names += (named++ == 0 ? "" : ", ") + word_name(sentence, j);
    }
    return std::to_string(roots) + " roots: " + names;
  }
  enum : std::uint8_t { kNew, kOnPath, kDone };
  state.assign(heads.size(), kNew);
  for (std::int32_t start = 0; start < size; ++start) {
    std::int32_t n = start;
    for (; n != -1 && state[static_cast<std::size_t>(n)] == kNew; n = heads[static_cast<std::size_t>(n)]) {
      state[static_cast<std::size_t>(n)] = kOnPath;
    }
    if (n != -1 && state[static_cast<std::size_t>(n)] == kOnPath) {
      std::string names;
      std::size_t length = 0;
      std::int32_t k = n;
      do {
        if (length++ < 6) names += word_name(sentence, static_cast<std::size_t>(k)) + " → ";
        k = heads[static_cast<std::size_t>(k)];
      } while (k != n);
      return "a cycle: " + names + (length > 6 ? "… → " : "") + word_name(sentence, static_cast<std::size_t>(n));
    }
    for (n = start; n != -1 && state[static_cast<std::size_t>(n)] == kOnPath; n = heads[static_cast<std::size_t>(n)]) {
      state[static_cast<std::size_t>(n)] = kDone;
    }
  }
  return "";
}

}  // namespace

// An object of the line; every error names the field.
struct Scanner::Place {
  Value object;
  std::size_t line;
  const Place* above = nullptr;
  std::string_view name = {};

  std::string where() const { return above == nullptr ? "" : above->where() + std::string(name) + "."; }

  [[noreturn]] void fail(std::string_view field, const std::string& message) const {
    throw InputError(line, 0, "field " + where() + std::string(field) + ": " + message,
                     "see the fields in treeglot.trees.treejson");
  }

  void check_names(Names names) const {
    for (auto key = object.begin(); key != object.end(); ++ ++key) {
      const std::string_view text = (*key).text();
      if (std::find(names.begin(), names.end(), text) != names.end()) continue;
      std::string list;
      for (std::string_view known : names) list += (list.empty() ? "" : ", ") + std::string(known);
      fail(shown(text), "unknown; the fields here are " + list);
    }
  }

  std::optional<Value> find(std::string_view field) const {
    for (auto key = object.begin(); key != object.end(); ++key) {
      const bool same = (*key).text() == field;
      ++key;
      if (same) return *key;
    }
    return std::nullopt;
  }

  // Calls read(value) if the field is there; says whether it is.
  template <class Read>
  bool read(std::string_view field, Read read) const {
    const std::optional<Value> value = find(field);
    if (!value) return false;
    try {
      read(*value);
    } catch (const WrongType& error) {
      fail(field, error.message);
    }
    return true;
  }

  template <class T, class Read>
  bool read_items(std::string_view field, std::vector<T>& items, Read read_item) const {
    items.clear();
    return read(field, [&](Value value) { read_list(value, items, read_item); });
  }

  template <class Read>
  void require(std::string_view field, Read read_value) const {
    if (!read(field, read_value)) fail(field, "missing");
  }

  Place below(std::string_view field) const {
    std::optional<Value> value;
    require(field, [&](Value given) {
      expect(given, Kind::kObject, "an object");
      value = given;
    });
    return {*value, line, this, field};
  }

  // Words do not fit together; named by the sentence.
  [[noreturn]] void fail_sentence(const std::string& message) const {
    std::string side = where();
    if (!side.empty()) side.pop_back();
    fail(side.empty() ? "sentence" : side, message);
  }
};

// The columns of annotation. Only those of tags are kept; the others are checked.
struct Scanner::Columns {
  std::vector<std::string_view> upos, xpos;
};

const Sentence* Scanner::next() {
  for (std::string_view line; lines_.next(line);) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Value record = document_.parse(line, lines_.number());
    const Place place{record, lines_.number()};
    if (!record.is(Kind::kObject)) {
      throw InputError(lines_.number(), 0, "not a JSON object", "each line must be one JSON object");
    }
    if (place.find("source") || place.find("target")) {
      read_pair(place);
    } else {
      read_sentence(place, sentence_);
    }
    sentence_.line = lines_.number();
    return &sentence_;
  }
  return nullptr;
}

void Scanner::read_pair(const Place& pair) {
  pair.check_names({"id", "source", "target", "word_links", "node_links"});
  Sentence& source = take_ == Take::kSource ? sentence_ : other_;
  Sentence& target = take_ == Take::kSource ? other_ : sentence_;
  read_sentence(pair.below("source"), source);
  read_sentence(pair.below("target"), target);
  std::vector<Link> word_links, node_links;
  pair.read_items("word_links", word_links, link_of);
  pair.read_items("node_links", node_links, link_of);
  std::string_view id;
  pair.read("id", [&](Value value) { id = string_of(value); });
  const auto size = [](const Sentence& sentence) { return static_cast<std::int64_t>(sentence.forms.size()); };
  std::string problem = link_problem(word_links, "word", {0, size(source)}, {0, size(target)});
  if (problem.empty()) problem = link_problem(node_links, "node", node_ends(source), node_ends(target));
  if (problem.empty()) return;
  pair.fail("word_links and node_links", (id.empty() ? "" : "pair " + std::string(id) + ": ") + problem);
}

void Scanner::read_columns(const Place& place, const Place& sentence_place, std::size_t words, Columns& columns) {
  columns.upos.clear();
  columns.xpos.clear();
  std::array<std::optional<std::size_t>, kAnnotations.size()> sizes;
  for (std::size_t n = 0; n < kAnnotations.size(); ++n) {
    place.read(kAnnotations[n], [&](Value value) {
      if (n == kUpos || n == kXpos) {
        read_list(value, n == kUpos ? columns.upos : columns.xpos, string_of);
      } else {
        for (const Value item : list_of(value)) string_of(item);
      }
      sizes[n] = value.size();
    });
  }
  for (std::size_t n = 0; n < kAnnotations.size(); ++n) {
    if (sizes[n].value_or(words) != words) {
      sentence_place.fail_sentence(std::to_string(words) + " forms but " + std::to_string(*sizes[n]) + " " +
                                   std::string(kAnnotations[n]));
    }
  }
}

// XPOS, else UPOS.
void Scanner::read_tags(const Columns& columns, std::size_t words, std::vector<std::string_view>& tags) const {
  tags.assign(words, kUnset);
  for (const auto* column : {&columns.upos, &columns.xpos}) {
    for (std::size_t j = 0; j < column->size(); ++j) {
      if ((*column)[j] != kUnset) tags[j] = (*column)[j];
    }
  }
}

void Scanner::read_sentence(const Place& place, Sentence& sentence) {
  place.check_names({"id", "forms", "lemmas", "upos", "xpos", "feats", "deps", "misc", "dependency", "constituency",
                     "comments", "ranges", "empty_nodes", "notes"});
  place.require("forms", [&](Value value) { read_list(value, sentence.forms, string_of); });
  Columns columns;
  read_columns(place, place, sentence.forms.size(), columns);
  read_tags(columns, sentence.forms.size(), sentence.tags);
  sentence.phrase_tags = sentence.tags;
  sentence.heads.clear();
  sentence.relations.clear();
  sentence.true_heads.clear();
  sentence.phrases.clear();
  sentence.word_functions.clear();
  sentence.has_dependency = place.find("dependency").has_value();
  if (sentence.has_dependency) read_dependency(place.below("dependency"), place, sentence);
  sentence.has_constituency = place.find("constituency").has_value();
  if (sentence.has_constituency) read_phrases(place.below("constituency"), place, sentence);
  read_rest(place, sentence);
}

bool Scanner::read_own_columns(const Place& tree, const Place& above, std::size_t words, Columns& columns) {
  if (!tree.find("tokens")) return false;
  const Place own = tree.below("tokens");
  own.check_names({"lemmas", "upos", "xpos", "feats", "deps", "misc"});
  read_columns(own, above, words, columns);
  return true;
}

void Scanner::read_dependency(const Place& place, const Place& above, Sentence& sentence) {
  place.check_names({"heads", "deprels", "true_heads", "tokens"});
  const std::size_t words = sentence.forms.size();
  Columns columns;
  read_own_columns(place, above, words, columns);
  place.require("heads", [&](Value value) { read_list(value, sentence.heads, small_integer_of); });
  const bool has_deprels = place.read_items("deprels", sentence.relations, string_of);
  const bool has_true_heads = place.read_items("true_heads", sentence.true_heads, integer_of);
  const auto check_size = [&](const char* name, std::size_t size) {
    if (size == words) return;
    place.fail("heads", std::to_string(words) + " words but " + std::to_string(size) + " " + name);
  };
  check_size("heads", sentence.heads.size());
  if (has_deprels) check_size("deprels", sentence.relations.size());
  if (has_true_heads) check_size("true_heads", sentence.true_heads.size());
  if (words == 0) place.fail("heads", "a tree without words");
  if (const std::string problem = head_problem(sentence, state_); !problem.empty()) place.fail("heads", problem);
}

void Scanner::read_phrases(const Place& place, const Place& above, Sentence& sentence) {
  place.check_names({"labels", "children", "functions", "word_functions", "ids", "word_ids", "secondary", "tokens"});
  const std::size_t words = sentence.forms.size();
  if (Columns columns; read_own_columns(place, above, words, columns)) {
    read_tags(columns, words, sentence.phrase_tags);
  }
  place.require("labels", [&](Value value) { read_list(value, labels_, string_of); });
  std::size_t phrases = 0;
  place.require("children", [&](Value value) {
    for (const Value below : list_of(value)) {
      if (phrases == children_.size()) children_.emplace_back();
      read_list(below, children_[phrases++], small_integer_of);
    }
  });
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string_view>> edges;
  place.read_items("secondary", edges, [](Value row) {
    const auto [node, parent, label] = parts_of<3>(row);
    return std::tuple(integer_of(node), integer_of(parent), string_of(label));
  });
  for (const auto& [node, parent, label] : edges) {
    for (const std::int64_t end : {node, parent}) {
      if (end >= -static_cast<std::int64_t>(words) && end < static_cast<std::int64_t>(labels_.size())) continue;
      place.fail("secondary", "no node for the edge [" + std::to_string(node) + ", " + std::to_string(parent) + ", " +
                                  quoted(label) + "]");
    }
  }
  const bool has_functions = place.read_items("functions", functions_, string_of);
  const bool has_word_functions = place.read_items("word_functions", sentence.word_functions, string_of);
  std::vector<std::string_view> ids, word_ids;
  place.read_items("ids", ids, string_of);
  place.read_items("word_ids", word_ids, string_of);
  if (words > 0 &&
      ((has_functions && functions_.size() != labels_.size()) || (!ids.empty() && ids.size() != labels_.size()))) {
    place.fail("children", "labels, children, functions and ids differ in number");
  }
  try {
    builder_.build({labels_, functions_, std::span(children_).first(phrases)}, words, sentence.phrases);
  } catch (const std::invalid_argument& error) {
    place.fail("children", error.what());
  }
  const auto check_size = [&](const char* name, std::size_t size) {
    if (size == words) return;
    place.fail("children", std::to_string(words) + " words but " + std::to_string(size) + " " + name);
  };
  if (has_word_functions) check_size("word_functions", sentence.word_functions.size());
  if (!word_ids.empty()) check_size("word_ids", word_ids.size());
}

void Scanner::read_rest(const Place& place, Sentence& sentence) {
  sentence.id = {};
  place.read("id", [&](Value value) { sentence.id = string_of(value); });
  place.read_items("comments", sentence.comments, string_of);
  place.read_items("ranges", sentence.ranges, [](Value row) {
    const auto [start, end, columns] = parts_of<3>(row);
    const std::int64_t first = integer_of(start), last = integer_of(end);
    std::vector<std::string_view> texts;
    read_list(columns, texts, string_of);
    return Sentence::Range{first, last, texts.size() > 1 ? texts[1] : std::string_view()};
  });
  std::vector<std::int64_t> empty_nodes;
  place.read_items("empty_nodes", empty_nodes, [](Value row) {
    const auto [after, columns] = parts_of<2>(row);
    const std::int64_t words = integer_of(after);
    std::vector<std::string_view> texts;
    read_list(columns, texts, string_of);
    return words;
  });
  place.read_items("notes", sentence.notes, [](Value row) {
    const auto [key, note] = parts_of<2>(row);
    return std::pair(string_of(key), string_of(note));
  });
}

}  // namespace treeglot::treejson
