// The words of a line: whatever blanks separate.
#pragma once

#include <string_view>

namespace treeglot::align {

template <class Take>
void for_each_word(std::string_view line, Take take) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && blank(line[i])) ++i;
    if (i >= line.size()) return;
    const std::size_t start = i;
    while (i < line.size() && !blank(line[i])) ++i;
    take(line.substr(start, i - start));
  }
}

}  // namespace treeglot::align
