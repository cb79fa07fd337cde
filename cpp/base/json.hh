// JSON text as flat values, strictly (RFC 8259): no comments, no NaN, no trailing commas, no key twice in one object,
// no half of a surrogate pair. A Document is used for one text after another and keeps its memory.
//
//   json::Document document;
//   for (json::Value item : document.parse(line, number)) ...    // of a list
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hh"

namespace treeglot::json {

enum class Kind : std::uint8_t { kNull, kFalse, kTrue, kInteger, kReal, kString, kList, kObject };

class Document;

// A value of a document, good until the next text is parsed.
class Value {
 public:
  Value(const Document& document, std::uint32_t place) : document_(&document), place_(place) {}

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }
  std::string_view raw() const;   // as it stands in the text
  std::string_view text() const;  // of a string, without escapes
  std::size_t size() const;       // items of a list, members of an object
  // Of an integer; what is too large for the type becomes its largest or smallest value.
  std::int64_t integer() const;
  double number() const;  // of an integer or a real; may be infinite

  // Items of a list; of an object keys and values by turns.
  class Iterator {
   public:
    Iterator(const Document& document, std::uint32_t place) : document_(&document), place_(place) {}
    Value operator*() const { return {*document_, place_}; }
    Iterator& operator++();
    friend bool operator==(const Iterator& one, const Iterator& other) { return one.place_ == other.place_; }

   private:
    const Document* document_;
    std::uint32_t place_;
  };
  Iterator begin() const { return {*document_, place_ + 1}; }
  Iterator end() const;

 private:
  const Document* document_;
  std::uint32_t place_;
};

class Document {
 public:
  static constexpr int kMaxDepth = 64;

  // The value of a text, which must be UTF-8 without NUL and stay where it is. `line` is for errors. Throws InputError.
  Value parse(std::string_view text, std::size_t line);

 private:
  friend class Value;
  struct Node {
    Kind kind;
    bool unescaped;            // the text of a string is in unescaped_, not in text_
    std::uint32_t begin, end;  // in text_
    std::uint32_t next;        // the node after this one and all below it
    std::uint32_t size;        // of list, object or text
    std::uint32_t text_begin;  // of a string
  };

  void read_value(int depth);
  void read_list(int depth);
  void read_object(int depth);
  void read_string();
  void unescape(std::size_t start);
  std::uint32_t read_hex();
  void read_number();
  void read_word();
  void refuse_twice(std::uint32_t object);
  void skip_space();
  char look() const { return place_ < text_.size() ? text_[place_] : '\0'; }
  std::uint32_t open(Kind kind);
  std::string_view text_of(const Node& node) const;
  [[noreturn]] void fail(std::size_t at, const std::string& message) const;

  std::string_view text_;
  std::size_t line_ = 0;
  std::size_t place_ = 0;
  std::vector<Node> nodes_;
  std::string unescaped_;
  std::vector<std::string_view> keys_;
};

inline void Document::skip_space() {
  while (place_ < text_.size() &&
         (text_[place_] == ' ' || text_[place_] == '\t' || text_[place_] == '\n' || text_[place_] == '\r')) {
    ++place_;
  }
}

inline Kind Value::kind() const { return document_->nodes_[place_].kind; }

inline std::string_view Value::text() const { return document_->text_of(document_->nodes_[place_]); }

inline std::size_t Value::size() const { return document_->nodes_[place_].size; }

inline Value::Iterator& Value::Iterator::operator++() {
  place_ = document_->nodes_[place_].next;
  return *this;
}

inline Value::Iterator Value::end() const { return {*document_, document_->nodes_[place_].next}; }

inline std::string_view Document::text_of(const Node& node) const {
  return (node.unescaped ? std::string_view(unescaped_) : text_).substr(node.text_begin, node.size);
}

}  // namespace treeglot::json
