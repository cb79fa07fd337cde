// A scanner for treeglot's JSON lines: what treeglot.trees.treejson reads, natively and with the same checks. A line is
// a sentence or a pair of sentences, of which one side is taken; empty lines are skipped. It is fed and asked like
// conllu::Scanner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hh"
#include "base/text.hh"
#include "trees/phrase_tree.hh"

namespace treeglot::treejson {

// A line holds a whole sentence or pair, so it may be much longer than a line of text.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 28;

// Which sentence of a pair is wanted.
enum class Take { kSource, kTarget };

struct Sentence {
  struct Range {
    std::int64_t start, end;  // as the file has them: nobody has checked them
    std::string_view form;    // may be empty
  };
  std::size_t line = 0;
  std::string_view id;
  std::vector<std::string_view> forms, tags;
  bool has_dependency = false;
  std::vector<std::int32_t> heads;          // 0-based, -1 for the root: a tree, projective or not
  std::vector<std::string_view> relations;  // to the heads; empty if they are not given
  std::vector<std::int64_t> true_heads;     // before lifting; empty if they are not given
  bool has_constituency = false;
  PhraseTree phrases;                                         // with gaps or without
  std::vector<std::string_view> phrase_tags, word_functions;  // the tags that the constituency tree has for the words
  std::vector<std::string_view> comments;
  std::vector<std::pair<std::string_view, std::string_view>> notes;
  std::vector<Range> ranges;
};

class Scanner {
 public:
  explicit Scanner(Take take = Take::kSource) : take_(take), lines_(kMaxLineBytes) {}

  void feed(std::string_view bytes) { lines_.feed(bytes); }
  void finish() { lines_.finish(); }

  // The sentence of the next line, good until the next call of next() or feed(); nullptr if more input is needed or
  // none is left. Throws InputError.
  const Sentence* next();

 private:
  struct Place;
  struct Columns;

  void read_pair(const Place& pair);
  void read_sentence(const Place& place, Sentence& sentence);
  void read_columns(const Place& place, const Place& sentence_place, std::size_t words, Columns& columns);
  // Those that a tree has for its words, if it does.
  bool read_own_columns(const Place& tree, const Place& above, std::size_t words, Columns& columns);
  void read_tags(const Columns& columns, std::size_t words, std::vector<std::string_view>& tags) const;
  void read_dependency(const Place& place, const Place& above, Sentence& sentence);
  void read_phrases(const Place& place, const Place& above, Sentence& sentence);
  void read_rest(const Place& place, Sentence& sentence);

  Take take_;
  LineScanner lines_;
  json::Document document_;
  Sentence sentence_, other_;  // the wanted one; the other of a pair, which is checked too
  PhraseTreeBuilder builder_;
  std::vector<std::string_view> labels_, functions_;
  std::vector<std::vector<std::int32_t>> children_;
  std::vector<std::uint8_t> state_;
};

}  // namespace treeglot::treejson
