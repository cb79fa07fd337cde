#include "trees/penn.hh"

#include <algorithm>

namespace treeglot::penn {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_atom(char c) { return !is_space(c) && c != '(' && c != ')'; }

// What stands for a bracket or a space, or 0. -LRB- -RRB- -LSB- -RSB- -LCB- -RCB- -SPC-
char plain_character(std::string_view escape) {
  constexpr std::pair<std::string_view, char> kEscapes[] = {
      {"-LRB-", '('}, {"-RRB-", ')'}, {"-LSB-", '['}, {"-RSB-", ']'}, {"-LCB-", '{'}, {"-RCB-", '}'}, {"-SPC-", ' '}};
  for (const auto& [text, character] : kEscapes) {
    if (escape == text) return character;
  }
  return 0;
}

// In words: an escape, / or * after an odd number of backslashes is meant as it stands; else an escape is its
// character. Half of the backslashes before it are dropped.
void unescape_word(std::string_view word, std::string& out) {
  std::size_t i = 0;
  while (i < word.size()) {
    std::size_t slashes = 0;
    while (i + slashes < word.size() && word[i + slashes] == '\\') ++slashes;
    const std::string_view rest = word.substr(i + slashes);
    const char character = rest.starts_with('-') ? plain_character(rest.substr(0, 5)) : '\0';
    const bool special = character != 0 || rest.starts_with('/') || rest.starts_with('*');
    if (special) {
      out.append(slashes / 2, '\\');
      const std::size_t size = character != 0 ? 5 : 1;
      if (character != 0 && slashes % 2 == 0) {
        out += character;
      } else {
        out.append(rest.substr(0, size));
      }
      i += slashes + size;
    } else {
      const std::size_t plain = slashes > 0 ? slashes : 1;
      out.append(word.substr(i, plain));
      i += plain;
    }
  }
}

// In labels *LRB* and *RRB* stand for brackets.
void unescape_label(std::string& label) {
  for (const auto& [escape, character] : {std::pair{"*LRB*", '('}, std::pair{"*RRB*", ')'}}) {
    for (std::size_t at = 0; (at = label.find(escape, at)) != std::string::npos; ++at)
      label.replace(at, 5, 1, character);
  }
}

}  // namespace

std::pair<std::string_view, std::string_view> split_label(std::string_view label) {
  const std::size_t mark = label.find_first_of("-=");
  if (mark == std::string_view::npos) return {label, {}};
  // The function after a label of `size` bytes, if one follows there.
  auto function = [&](std::size_t size) -> std::string_view {
    const std::string_view rest = label.substr(size);
    if (rest.size() < 2) return {};
    return rest[0] == '-' ? rest.substr(1) : rest[0] == '=' ? rest : std::string_view();
  };
  std::size_t sizes[3] = {mark, 0, 0};
  if (mark == 0) {
    if (label[0] == '=') return {label, {}};
    const std::size_t second = label.find_first_of("-=", 1);
    if (second != std::string_view::npos && second > 1 && label[second] == '-') sizes[0] = second + 1;  // -NONE-
    if (label.size() > 1 && label[1] == '-') {
      sizes[1] = 2;                                           // --
      if (label.size() > 2 && label[2] != '-') sizes[2] = 1;  // - before -X
    }
  }
  for (const std::size_t size : sizes) {
    if (size == 0) continue;
    if (const std::string_view rest = function(size); !rest.empty()) return {label.substr(0, size), rest};
  }
  return {label, {}};
}

void Scanner::fail(std::size_t at, const std::string& message, std::string remedy) const {
  throw InputError(lines_.number(), count_characters(line_.substr(0, at)) + 1, message, std::move(remedy));
}

const Tree* Scanner::next() {
  for (;;) {
    if (!in_line_) {
      if (!lines_.next(line_)) {
        if (lines_.finished() && in_tree_) {
          throw InputError(lines_.number(), 0,
                           "the file ends inside the tree that begins in line " + std::to_string(tree_.line) + ": " +
                               std::to_string(open_.size()) + " brackets are open",
                           "add the missing closing brackets, or copy the file again");
        }
        return nullptr;
      }
      in_line_ = true;
      position_ = 0;
    }
    if (read_pieces()) return &tree_;
    in_line_ = false;
  }
}

// Takes pieces of the line until a tree is complete; false at the end of the line.
bool Scanner::read_pieces() {
  const char* const text = line_.data();
  const std::size_t size = line_.size();
  std::size_t& i = position_;
  for (;;) {
    while (i < size && is_space(text[i])) ++i;
    if (i == size) return false;
    const std::size_t at = i;
    if (text[i] == '(') {
      ++i;
      while (i < size && is_space(text[i])) ++i;
      const std::size_t start = i;
      while (i < size && is_atom(text[i])) ++i;
      open_bracket(line_.substr(start, i - start));
      continue;
    }
    if (text[i] == ')') {
      ++i;
      if (!in_tree_) fail(at, ") without (", "remove the bracket, or add the one it closes");
      close_bracket(at);
    } else {
      while (i < size && is_atom(text[i])) ++i;
      const std::string_view word = line_.substr(at, i - at);
      if (!in_tree_) {
        fail(at, quoted(word) + " stands outside all brackets",
             "check that the file has bracketed trees and nothing else");
      }
      bare_word(word);
    }
    if (!open_.empty()) continue;
    in_tree_ = false;
    if (tree_.words.empty()) {
      fail(at, "a tree without words", "drop it, or read with failed='skip' or 'keep'");
    }
    finish_tree();
    return true;
  }
}

Field Scanner::keep(std::string_view text) {
  const Field field{static_cast<std::uint32_t>(tree_.texts.size()), static_cast<std::uint32_t>(text.size())};
  tree_.texts.append(text);
  return field;
}

void Scanner::open_bracket(std::string_view label) {
  if (!in_tree_) {
    in_tree_ = true;
    tree_.words.clear();
    tree_.phrases.clear();
    tree_.texts.clear();
    tree_.line = lines_.number();
  }
  const auto number = static_cast<std::int32_t>(tree_.phrases.size());
  const auto begin = static_cast<std::int32_t>(tree_.words.size());
  std::int32_t parent = -1;
  if (!open_.empty()) {
    parent = open_.back().phrase;
    ++open_.back().children;
    open_.back().bare = false;
  }
  tree_.phrases.push_back({keep(label), {}, begin, begin, parent});
  open_.push_back({number});
}

void Scanner::bare_word(std::string_view word) {
  Open& top = open_.back();
  Field& label = tree_.phrases[static_cast<std::size_t>(top.phrase)].label;
  if (top.children == 0 && label.size == 0) {  // "(" and its label on different lines
    label = keep(word);
    return;
  }
  ++top.children;
  top.bare = true;
  tree_.words.push_back({keep(word), {}, {}});
}

void Scanner::close_bracket(std::size_t at) {
  const Open closed = open_.back();
  open_.pop_back();
  Tree::Phrase& phrase = tree_.phrases[static_cast<std::size_t>(closed.phrase)];
  const bool labelled = phrase.label.size > 0;
  std::string problem;
  if (closed.children == 0) {
    if (labelled) {
      problem = "nothing under the label " + quoted(tree_.text(phrase.label));
    } else if (!tree_.words.empty() || open_.size() > 1) {
      problem = "a bracket with nothing in it";
    }
  } else if (!labelled && (open_.size() > 1 || (!open_.empty() && tree_.phrases[0].label.size > 0))) {
    problem = "a bracket without a label";
  } else if (open_.empty() && closed.children > 1 && closed.unlabelled > 0) {
    problem = "brackets without labels side by side";
  }
  if (!problem.empty()) fail(at, problem, "every bracket needs a label and a word or phrase");
  if (closed.children == 0) {  // it has no phrases below, so it is the newest one
    tree_.phrases.pop_back();
    if (!open_.empty()) --open_.back().children;
  } else if (closed.children == 1 && closed.bare) {  // a pre-terminal
    tree_.words.back().tag = phrase.label;
    tree_.phrases.pop_back();
  } else {
    phrase.end = static_cast<std::int32_t>(tree_.words.size());
    if (!open_.empty() && !labelled) ++open_.back().unlabelled;
  }
  if (open_.empty()) {
    // The outer bracket without a label around one tree.
    if (!tree_.phrases.empty() && closed.children == 1 && !labelled) {
      tree_.phrases.erase(tree_.phrases.begin());
      for (Tree::Phrase& below : tree_.phrases) --below.parent;
    }
  }
}

void Scanner::finish_tree() {
  for (Tree::Word& word : tree_.words) {
    const std::string_view form = tree_.text(word.form);
    if (form.find_first_of("-\\") != std::string_view::npos) {
      std::string plain;
      unescape_word(form, plain);
      if (plain != form) word.form = keep(plain);
    }
    if (word.tag.size == 0) {
      word.tag = keep("_");
    } else {
      read_label(word.tag, word.tag, word.function);
    }
  }
  for (Tree::Phrase& phrase : tree_.phrases) read_label(phrase.label, phrase.label, phrase.function);
}

void Scanner::read_label(Field text, Field& label, Field& function) {
  const std::string_view whole = tree_.text(text);
  if (whole.find_first_of("-=*") == std::string_view::npos) {
    label = text;
    function = {};
    return;
  }
  auto place = [&](std::string_view part) {
    if (part.empty()) return Field{};
    if (part.find('*') == std::string_view::npos) {
      return Field{static_cast<std::uint32_t>(part.data() - tree_.texts.data()),
                   static_cast<std::uint32_t>(part.size())};
    }
    std::string plain(part);
    unescape_label(plain);
    return keep(plain);
  };
  const auto [first, second] = split_label(whole);
  // keep() may move the text: look at the parts by their places.
  const Field second_field{second.empty() ? 0 : static_cast<std::uint32_t>(second.data() - tree_.texts.data()),
                           static_cast<std::uint32_t>(second.size())};
  label = place(first);
  function = place(tree_.text(second_field));
}

}  // namespace treeglot::penn
