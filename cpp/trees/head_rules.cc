#include "trees/head_rules.hh"

#include <algorithm>
#include <stdexcept>

#include "trees/penn.hh"

namespace treeglot {

namespace {

constexpr std::uint32_t kAny = 0xFFFFFFFF;

// The bytes of the first character as a number.
std::uint32_t first_character(std::string_view text) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < text.size() && i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (i > 0 && (byte & 0xC0) != 0x80) break;
    value = value << 8 | byte;
  }
  return value;
}

}  // namespace

HeadFinder::HeadFinder(std::span<const HeadTable> tables) {
  if (tables.size() > 32) throw std::invalid_argument("more than 32 head tables");
  tables_.resize(tables.size());
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const HeadTable& given = tables[k];
    Table& table = tables_[k];
    for (const auto& [label, steps] : given.rules) table.rules.insert_or_assign(symbol(label), compile(steps));
    table.fallback = compile(given.fallback);
    for (const std::string& text : given.coordinators) table.coordinators.push_back(item(text));
    for (const std::string& text : given.vocabulary) symbols_[symbol(text)].known_by |= 1u << k;
    for (const std::string& text : given.punctuation) symbols_[symbol(text)].punctuation_of |= 1u << k;
  }
}

HeadFinder::Id HeadFinder::symbol(std::string_view text) {
  const Id id = texts_.id(text);
  if (id == symbols_.size()) symbols_.push_back({0, 0, first_character(text)});
  return id;
}

HeadFinder::Id HeadFinder::base(std::string_view label) {
  auto known = bases_.find(std::string(label));
  if (known == bases_.end()) {
    const std::string_view plain = label.starts_with("X@") ? label.substr(2) : label;
    known = bases_.emplace(label, symbol(penn::split_label(plain).first)).first;
  }
  return known->second;
}

HeadFinder::Item HeadFinder::item(const std::string& text) {
  const std::size_t colon = text.size() > 1 ? text.find(':') : std::string::npos;
  std::string_view label = std::string_view(text).substr(0, colon);
  Item item{kAny, false, false, 0};
  if (colon != std::string::npos) {
    item.has_function = true;
    item.function = symbol(":" + text.substr(colon + 1));
  }
  if (label.size() > 1 && label.ends_with('+')) {
    item.prefix = true;
    item.text = symbol(label);
  } else if (!label.empty()) {
    item.text = symbol(label);
  }
  return item;
}

HeadFinder::Steps HeadFinder::compile(const std::vector<HeadStep>& steps) {
  Steps compiled;
  for (const HeadStep& step : steps) {
    compiled.push_back({step.from_right, step.ranked, {}});
    for (const std::string& text : step.items) compiled.back().items.push_back(item(text));
  }
  return compiled;
}

bool HeadFinder::matches(const Child& child, const Item& item) const {
  if (item.has_function && child.function != item.function) return false;
  if (item.text == kAny || item.text == child.label) return true;
  if (!item.prefix) return false;
  const std::string& beginning = texts_.word(item.text);
  return texts_.word(child.label).starts_with(std::string_view(beginning).substr(0, beginning.size() - 1));
}

std::size_t HeadFinder::guess_table() const {
  std::vector<std::size_t> known(tables_.size());
  auto count = [&](const std::vector<Id>& ids) {
    for (const Id id : ids) {
      const std::uint32_t tables = symbols_[id].known_by;
      for (std::size_t k = 0; k < known.size(); ++k) known[k] += tables >> k & 1;
    }
  };
  count(labels_);
  count(tags_);
  count(functions_);
  count(word_functions_);
  return static_cast<std::size_t>(std::max_element(known.begin(), known.end()) - known.begin());
}

void HeadFinder::collect_children(std::span<const Phrase> phrases, std::size_t words) {
  // A word belongs to the innermost phrase around it; phrases that have ended are closed when a word asks.
  word_parents_.resize(words);
  child_starts_.assign(phrases.size() + 1, 0);
  open_.clear();
  std::size_t place = 0;
  auto assign_words = [&](std::size_t end) {
    for (; place < end; ++place) {
      while (static_cast<std::size_t>(phrases[open_.back()].end) <= place) open_.pop_back();
      word_parents_[place] = open_.back();
      ++child_starts_[open_.back() + 1];
    }
  };
  for (std::size_t n = 0; n < phrases.size(); ++n) {
    assign_words(static_cast<std::size_t>(phrases[n].begin));
    if (n > 0) ++child_starts_[static_cast<std::size_t>(phrases[n].parent) + 1];
    open_.push_back(static_cast<std::uint32_t>(n));
  }
  assign_words(words);
  for (std::size_t n = 0; n < phrases.size(); ++n) child_starts_[n + 1] += child_starts_[n];
  children_.resize(child_starts_.back());
  filled_.assign(child_starts_.begin(), child_starts_.end() - 1);
  // Both in surface order: words before position j, then the phrases that begin there.
  std::size_t word = 0;
  auto add_words = [&](std::size_t end) {
    for (; word < end; ++word) {
      const auto j = static_cast<std::uint32_t>(word);
      children_[filled_[word_parents_[word]]++] = {true, j, j, tags_[word], word_functions_[word]};
    }
  };
  for (std::size_t n = 1; n < phrases.size(); ++n) {
    add_words(static_cast<std::size_t>(phrases[n].begin));
    children_[filled_[static_cast<std::size_t>(phrases[n].parent)]++] = {false, static_cast<std::uint32_t>(n), 0,
                                                                         labels_[n], functions_[n]};
  }
  add_words(words);
}

void HeadFinder::clear_symbols() {
  labels_.clear();
  functions_.clear();
  tags_.clear();
  word_functions_.clear();
}

// With a colon, so that a function is never taken for a label.
HeadFinder::Id HeadFinder::function_symbol(std::string_view function) {
  return function.empty() ? symbol("") : symbol(std::string(":").append(function));
}

void HeadFinder::add_words(std::span<const std::string_view> tags, std::span<const std::string_view> functions) {
  for (std::size_t j = 0; j < tags.size(); ++j) {
    tags_.push_back(base(tags[j]));
    word_functions_.push_back(function_symbol(j < functions.size() ? functions[j] : std::string_view()));
  }
}

std::span<const std::uint16_t> HeadFinder::head_words(std::span<const Phrase> phrases,
                                                      std::span<const std::string_view> tags,
                                                      std::span<const std::string_view> word_functions) {
  heads_.clear();
  if (tables_.empty() || phrases.empty()) return heads_;
  clear_symbols();
  for (const Phrase& phrase : phrases) {
    labels_.push_back(base(phrase.label));
    functions_.push_back(function_symbol(phrase.function));
  }
  add_words(tags, word_functions);
  const std::size_t table = guess_table();
  collect_children(phrases, tags.size());
  heads_.resize(phrases.size());
  for (std::size_t n = phrases.size(); n-- > 0;) {
    const std::span<Child> children(children_.data() + child_starts_[n], children_.data() + child_starts_[n + 1]);
    for (Child& child : children) {
      if (!child.is_word) child.word = heads_[child.node];
    }
    const Child& head = children.size() > 1 ? head_child(children, labels_[n], table) : children[0];
    heads_[n] = static_cast<std::uint16_t>(head.word);
  }
  return heads_;
}

std::span<const std::int32_t> HeadFinder::head_children(const Children& tree, std::span<const std::string_view> tags,
                                                        std::span<const std::string_view> word_functions) {
  if (tables_.empty()) throw std::logic_error("no head tables");
  clear_symbols();
  for (std::string_view label : tree.labels) labels_.push_back(base(label));
  for (std::string_view function : tree.functions) functions_.push_back(function_symbol(function));
  add_words(tags, word_functions);
  const std::size_t table = guess_table();
  heads_.resize(tree.labels.size());
  head_children_.resize(tree.labels.size());
  for (std::size_t n = tree.labels.size(); n-- > 0;) {
    children_.clear();
    for (const std::int32_t child : tree.children.subspan(tree.starts[n], tree.starts[n + 1] - tree.starts[n])) {
      const auto number = static_cast<std::uint32_t>(child >= 0 ? child : ~child);
      children_.push_back(child >= 0 ? Child{false, number, heads_[number], labels_[number], functions_[number]}
                                     : Child{true, number, number, tags_[number], word_functions_[number]});
    }
    const Child& head = children_.size() > 1 ? head_child(children_, labels_[n], table) : children_[0];
    heads_[n] = static_cast<std::uint16_t>(head.word);
    head_children_[n] = head.is_word ? ~static_cast<std::int32_t>(head.node) : static_cast<std::int32_t>(head.node);
  }
  return head_children_;
}

const HeadFinder::Child& HeadFinder::head_child(std::span<const Child> children, Id label, std::size_t number) {
  const Table& table = tables_[number];
  candidates_.clear();
  for (const Child& child : children) {
    if (!is_punctuation(child, number)) candidates_.push_back(&child);
  }
  if (candidates_.empty()) {
    for (const Child& child : children) candidates_.push_back(&child);
  }
  const auto rule = table.rules.find(label);
  const Steps* steps = rule == table.rules.end() ? nullptr : &rule->second;
  return *first_conjunct(children, steps, table, number, search(steps, table));
}

// In a coordination, the head of the first conjunct; otherwise `head`. See treeglot.trees.heads.
const HeadFinder::Child* HeadFinder::first_conjunct(std::span<const Child> children, const Steps* rule,
                                                    const Table& table, std::size_t number, const Child* head) {
  const Child* coordinator = nullptr;
  for (const Child* child = children.data() + 1; child < head && coordinator == nullptr; ++child) {
    const auto fits = [&](const Item& item) { return matches(*child, item); };
    if (std::any_of(table.coordinators.begin(), table.coordinators.end(), fits)) coordinator = child;
  }
  if (coordinator == nullptr) return head;
  const std::uint32_t initial = symbols_[head->label].initial;
  candidates_.clear();
  for (const Child* child = children.data(); child <= coordinator; ++child) {
    if (child != coordinator && !is_punctuation(*child, number)) {
      candidates_.push_back(child);
    } else if (!candidates_.empty()) {
      const Child* first = search(rule, table);
      const auto alike = std::count_if(coordinator, head + 1,
                                       [&](const Child& other) { return symbols_[other.label].initial == initial; });
      const bool words_only = first->is_word && head->is_word;
      if (!words_only || (symbols_[first->label].initial == initial && alike == 1)) return first;
      candidates_.clear();
    }
  }
  return head;
}

// Among the candidates.
const HeadFinder::Child* HeadFinder::search(const Steps* rule, const Table& table) {
  const Child* head = rule != nullptr ? find(*rule) : nullptr;
  if (head == nullptr) head = find(table.fallback);
  return head != nullptr ? head : candidates_[0];
}

const HeadFinder::Child* HeadFinder::find(const Steps& steps) {
  const std::size_t size = candidates_.size();
  for (const Step& step : steps) {
    const auto candidate = [&](std::size_t k) { return candidates_[step.from_right ? size - 1 - k : k]; };
    if (step.items.empty()) return candidate(0);
    if (step.ranked) {
      for (const Item& item : step.items) {
        for (std::size_t k = 0; k < size; ++k) {
          if (matches(*candidate(k), item)) return candidate(k);
        }
      }
    } else {
      for (std::size_t k = 0; k < size; ++k) {
        for (const Item& item : step.items) {
          if (matches(*candidate(k), item)) return candidate(k);
        }
      }
    }
  }
  return nullptr;
}

}  // namespace treeglot
