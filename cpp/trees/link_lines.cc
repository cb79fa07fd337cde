#include "trees/link_lines.hh"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/text.hh"

namespace treeglot {

namespace {

// Reads a token from its beginning.
struct Cursor {
  std::string_view rest;

  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  // One to nine digits.
  bool number(std::uint32_t& value) {
    std::size_t size = 0;
    value = 0;
    while (size < rest.size() && size < 9 && rest[size] >= '0' && rest[size] <= '9') {
      value = value * 10 + static_cast<std::uint32_t>(rest[size++] - '0');
    }
    rest.remove_prefix(size);
    return size > 0;
  }
  // ":" and what a score may consist of; true without one.
  bool score(std::string_view& text) {
    if (rest.empty()) return true;
    if (!take(':') || rest.empty() || rest.find_first_not_of("-+0123456789.eE") != std::string_view::npos) return false;
    text = rest;
    return true;
  }
};

bool is_number(std::string_view text, bool finite, double& value) {
  const std::string copy(text);
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && !std::isnan(value) && (!finite || std::isfinite(value));
}

// Calls take(token, its column) for each token between blanks.
template <class Take>
void for_each_token(std::string_view text, Take take) {
  auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  for (std::size_t i = 0; i < text.size();) {
    if (blank(text[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < text.size() && !blank(text[i])) ++i;
    take(text.substr(start, i - start), [&] { return count_characters(text.substr(0, start)) + 1; });
  }
}

// Sorts the links of a line; of two equal ones the later is refused.
template <class Link, class Read>
void finish(std::string_view text, std::size_t line, std::vector<Link>& links, Read read) {
  if (!std::is_sorted(links.begin(), links.end())) std::sort(links.begin(), links.end());
  const auto twice = std::adjacent_find(links.begin(), links.end());
  if (twice == links.end()) return;
  bool first = true;
  for_each_token(text, [&](std::string_view token, auto column) {
    Link link;
    if (!read(token, link) || link != *twice) return;
    if (!first) {
      throw InputError(line, column(), std::string("the link ").append(shown(token)).append(" is given twice"),
                       "remove one of them");
    }
    first = false;
  });
}

}  // namespace

void read_word_links(std::string_view text, std::size_t line, std::vector<WordLink>& links) {
  links.clear();
  std::string_view score;
  std::uint32_t source = 0, target = 0;
  // 3-4, 3p4, 3?4; possible: 3-4-P, 3-4P; sure: S
  auto parse = [&](std::string_view token) {
    Cursor cursor{token};
    score = {};
    if (!cursor.number(source) || !(cursor.take('-') || cursor.take('p') || cursor.take('?'))) return false;
    if (!cursor.number(target)) return false;
    const Cursor before = cursor;
    cursor.take('-');
    if (!(cursor.take('S') || cursor.take('P') || cursor.take('s') || cursor.take('p'))) cursor = before;
    return cursor.score(score);
  };
  for_each_token(text, [&](std::string_view token, auto column) {
    if (!parse(token)) {
      throw InputError(line, column(), quoted(token) + " is not a link",
                       "write links as 3-4, possible ones as 3-4-P or 3-4P");
    }
    double value = 0;
    if (!score.empty() && !is_number(score, false, value)) {
      throw InputError(line, column(), quoted(score) + " is not a number", "correct the score");
    }
    if (source > 65535 || target > 65535) {
      throw InputError(line, column(),
                       std::string("the link ")
                           .append(shown(token))
                           .append(" is beyond the longest sentence, which has 65,535 words"),
                       "check that the links belong to these sentences and whether they count from 0 or 1");
    }
    links.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)});
  });
  finish(text, line, links, [&](std::string_view token, WordLink& link) {
    const bool good = parse(token);
    link = {static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)};
    return good;
  });
}

void read_node_links(std::string_view text, std::size_t line, std::vector<NodeLinkEnds>& links, double threshold) {
  links.clear();
  std::string_view score;
  auto parse = [&](std::string_view token, NodeLinkEnds& link) {
    Cursor cursor{token};
    score = {};
    link.source.is_word = cursor.take('w');
    if (!cursor.number(link.source.number) || !cursor.take('-')) return false;
    link.target.is_word = cursor.take('w');
    if (!cursor.number(link.target.number)) return false;
    if (cursor.rest.starts_with("-P")) cursor.rest.remove_prefix(2);
    return cursor.score(score) && score.size() <= 40;
  };
  for_each_token(text, [&](std::string_view token, auto column) {
    NodeLinkEnds link;
    if (!parse(token, link)) {
      throw InputError(line, column(), quoted(token) + " is not a link of nodes",
                       "write links as 3-4, words as w4, scores as 3-w4:0.5");
    }
    double value = threshold;
    if (!score.empty() && !is_number(score, true, value)) {
      throw InputError(line, column(), "the score " + quoted(score) + " is not a number", "correct the score");
    }
    if (value >= threshold) links.push_back(link);
  });
  finish(text, line, links, parse);
}

}  // namespace treeglot
