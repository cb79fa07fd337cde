// A scanner for Penn Treebank brackets: what treeglot.trees.penn reads, natively. A tree may take one line or many, and
// a line may hold several trees. It is fed and asked like conllu::Scanner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hh"

namespace treeglot::penn {

// A piece of the tree's text.
struct Field {
  std::uint32_t begin = 0, size = 0;
};

// Phrases are in preorder, words in surface order; `parent` is -1 for the root. Functions may be empty.
struct Tree {
  struct Word {
    Field form, tag, function;
  };
  struct Phrase {
    Field label, function;
    std::int32_t begin, end, parent;
  };
  std::vector<Word> words;
  std::vector<Phrase> phrases;
  std::size_t line = 0;  // on which it begins

  std::string_view text(Field field) const { return std::string_view(texts).substr(field.begin, field.size); }
  std::string texts;
};

class Scanner {
 public:
  void feed(std::string_view bytes) { lines_.feed(bytes); }
  void finish() { lines_.finish(); }

  // The next complete tree, good until the next call; nullptr if more input is needed or none is left. Throws
  // InputError.
  const Tree* next();

 private:
  struct Open {
    std::int32_t phrase;
    std::int32_t children = 0;
    std::int32_t unlabelled = 0;  // phrases without a label among them
    bool bare = false;            // the last child is a word without brackets of its own
  };

  bool read_pieces();
  void open_bracket(std::string_view label);
  void bare_word(std::string_view word);
  void close_bracket(std::size_t at);
  void finish_tree();
  Field keep(std::string_view text);
  void read_label(Field text, Field& label, Field& function);
  [[noreturn]] void fail(std::size_t at, const std::string& message, std::string remedy) const;

  LineScanner lines_;
  std::string_view line_;
  std::size_t position_ = 0;  // in line_
  bool in_line_ = false;
  bool in_tree_ = false;
  Tree tree_;
  std::vector<Open> open_;
};

// Label and function of what stands behind a bracket: NP-SBJ is NP and SBJ, NP=2 is NP and =2, -NONE- is whole.
std::pair<std::string_view, std::string_view> split_label(std::string_view label);

}  // namespace treeglot::penn
