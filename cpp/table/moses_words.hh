// Words in files whose columns end at |||: Moses' tokenizer escapes bars, and so do we, but only where three stand
// together. Reading undoes it.
#pragma once

#include <string>
#include <string_view>

namespace treeglot {

inline constexpr std::string_view kBars = "|||", kEscapedBars = "&#124;&#124;&#124;";

inline void put_replaced(std::string& out, std::string_view text, std::string_view what, std::string_view by) {
  for (std::size_t at; (at = text.find(what)) != text.npos; text.remove_prefix(at + what.size())) {
    out.append(text.substr(0, at)).append(by);
  }
  out.append(text);
}

inline void put_moses_word(std::string& out, std::string_view word) { put_replaced(out, word, kBars, kEscapedBars); }

// The word of a token, which may be in the buffer.
inline std::string_view read_moses_word(std::string_view token, std::string& buffer) {
  if (token.find(kEscapedBars) == token.npos) return token;
  buffer.clear();
  put_replaced(buffer, token, kEscapedBars, kBars);
  return buffer;
}

}  // namespace treeglot
