#include "table/moses_rules.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/external_sort.hh"
#include "base/numbers.hh"
#include "table/moses_words.hh"

namespace treeglot {

namespace {

constexpr std::size_t kPart = std::size_t{1} << 18;
constexpr std::string_view kGap = "[X][X]", kEnd = "[X]";

// A word as Moses must not misread it: columns end at |||, wherever it stands, and what is in square brackets is a
// category. The escapes are those of Moses' tokenizer.
void put_word(std::string& out, std::string_view word) {
  if (word.starts_with('[') && word.ends_with(']')) {
    out += "&#91;";
    put_word(out, word.substr(1, word.size() - 2));
    out += "&#93;";
    return;
  }
  put_moses_word(out, word);
}

// The words of one side as text, and where they, a gap and the end of the side stand in the order of text.
class Tokens {
 public:
  template <class TextOf>
  Tokens(std::size_t words, TextOf&& text_of) {
    texts_.reserve(words + 2);
    for (std::uint32_t id = 0; id < words; ++id) put_word(texts_.emplace_back(), text_of(id));
    texts_.emplace_back(kGap);
    texts_.emplace_back(kEnd);
    std::vector<std::uint32_t> order(texts_.size());
    for (std::uint32_t n = 0; n < order.size(); ++n) order[n] = n;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return texts_[a] < texts_[b]; });
    ranks_.resize(texts_.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;
  }
  const std::string& text(std::uint32_t word) const { return texts_[word]; }
  std::uint32_t rank(std::uint32_t word) const { return ranks_[word]; }
  std::uint32_t gap() const { return ranks_[ranks_.size() - 2]; }
  std::uint32_t end() const { return ranks_.back(); }

 private:
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> ranks_;
};

class Exporter {
 public:
  explicit Exporter(const RuleTable& table)
      : table_(table),
        source_(table.source_words(), [&](std::uint32_t id) { return table.source_word(id); }),
        target_(table.target_size(), [&](std::uint32_t id) { return table.target_word(id); }) {}

  void run(const WriteText& write, const std::string& folder, std::size_t memory) {
    ExternalSorter<Record, Less> sorter(folder, memory, Less{this});
    std::vector<Symbol> source;
    std::vector<RuleEntry> rules;
    for (std::uint64_t position = 0;;) {
      Record record{position, {}};
      if (!table_.scan(position, source, rules)) break;
      for (std::size_t i = 0; i < kRanks; ++i) record.ranks[i] = i <= source.size() ? source_rank(source, i) : 0;
      sorter.push(record);
    }
    sorter.finish();
    std::string text;
    while (const Record* next = sorter.next()) {
      std::uint64_t position = next->position;
      table_.scan(position, source, rules);
      put_rules(source, rules, text);
      if (text.size() > kPart) {
        write(text);
        text.clear();
      }
    }
    write(text);
  }

 private:
  static constexpr std::size_t kRanks = 6;  // more symbols than rules have by default; longer sides are looked up
  struct Record {
    std::uint64_t position;
    std::array<std::uint32_t, kRanks> ranks;
  };
  struct Less {
    const Exporter* exporter;
    bool operator()(const Record& a, const Record& b) const {
      if (a.ranks != b.ranks) return a.ranks < b.ranks;
      return a.position != b.position && exporter->longer_less(a.position, b.position);
    }
  };
  struct Line {
    const RuleEntry* rule;
    std::string links;  // of the gaps
  };

  [[noreturn]] void refuse() const {
    throw std::invalid_argument("the rules of " + table_.grammar() + " are more than words and gaps");
  }
  std::uint32_t source_rank(std::span<const Symbol> side, std::size_t place) const {
    if (place == side.size()) return source_.end();
    switch (symbol_kind(side[place])) {
      case SymbolKind::kWord:
        return source_.rank(symbol_id(side[place]));
      case SymbolKind::kGap:
        return source_.gap();
      default:
        refuse();
    }
  }
  std::uint32_t target_rank(std::span<const TargetSymbol> side, std::size_t place) const {
    if (place == side.size()) return target_.end();
    if (is_target_node(side[place])) refuse();
    return is_target_variable(side[place]) ? target_.gap() : target_.rank(side[place]);
  }
  template <class Rank>
  static int compare(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, Rank rank) {
    for (std::size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
      const std::uint32_t left = rank(a, i), right = rank(b, i);
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }
  // Sides that begin alike.
  bool longer_less(std::uint64_t a, std::uint64_t b) const {
    std::vector<Symbol> left, right;
    std::vector<RuleEntry> rules;
    table_.scan(a, left, rules);
    table_.scan(b, right, rules);
    return compare(left, right, [this](auto side, std::size_t i) { return source_rank(side, i); }) < 0;
  }

  void put_rules(const std::vector<Symbol>& source, const std::vector<RuleEntry>& rules, std::string& out) {
    side_.clear();
    gaps_.clear();
    for (std::size_t i = 0; i < source.size(); ++i) {
      const bool gap = symbol_kind(source[i]) == SymbolKind::kGap;
      if (gap) gaps_.push_back(i);
      side_.append(gap ? kGap : std::string_view(source_.text(symbol_id(source[i])))).append(" ");
    }
    side_.append(kEnd).append(" ||| ");
    lines_.clear();
    for (const RuleEntry& rule : rules) lines_.push_back({&rule, links(rule)});
    std::sort(lines_.begin(), lines_.end(), [&](const Line& a, const Line& b) {
      const int order =
          compare(a.rule->target, b.rule->target, [this](auto side, std::size_t i) { return target_rank(side, i); });
      return order != 0 ? order < 0 : a.links < b.links;
    });
    for (const Line& line : lines_) put_rule(line, out);
  }

  // Which gap of the source is which of the target, by their places among the symbols: "0-1 2-0".
  std::string links(const RuleEntry& rule) {
    points_.clear();
    for (std::size_t t = 0; t < rule.target.size(); ++t) {
      if (!is_target_variable(rule.target[t])) continue;
      const std::uint32_t number = variable_number(rule.target[t]);
      if (number >= gaps_.size()) throw std::runtime_error("damaged: a rule has a variable too many");
      points_.push_back(std::to_string(gaps_[number]).append("-").append(std::to_string(t)));
    }
    std::sort(points_.begin(), points_.end());  // as text, as Moses does
    std::string all;
    for (const std::string& point : points_) all.append(all.empty() ? "" : " ").append(point);
    return all;
  }

  void put_rule(const Line& line, std::string& out) const {
    const RuleEntry& rule = *line.rule;
    out += side_;
    for (TargetSymbol symbol : rule.target) {
      if (is_target_node(symbol)) refuse();
      out.append(is_target_variable(symbol) ? kGap : std::string_view(target_.text(symbol))).append(" ");
    }
    out.append(kEnd).append(" |||");
    for (int which : {1, 3, 0, 2}) {  // P(s|t), Plex(s|t), P(t|s), Plex(t|s)
      out += ' ';
      put_number(out, std::exp(static_cast<double>(rule.scores[which])));
    }
    out += " |||";
    if (!line.links.empty()) out.append(" ").append(line.links);
    out += " |||";
    for (float count : {rule.target_total, rule.source_total, rule.count}) {
      out += ' ';
      put_number(out, count);
    }
    out += " ||| |||\n";
  }

  const RuleTable& table_;
  const Tokens source_, target_;
  std::string side_;
  std::vector<std::size_t> gaps_;
  std::vector<Line> lines_;
  std::vector<std::string> points_;
};

}  // namespace

void export_moses_rules(const RuleTable& table, const WriteText& write, const std::string& folder, std::size_t memory) {
  Exporter(table).run(write, folder, memory);
}

}  // namespace treeglot
