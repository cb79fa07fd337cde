#include "table/rule_table_text.hh"

#include <bit>
#include <cmath>
#include <cstdio>

namespace treeglot {

RuleTableText::RuleTableText(const RuleTable& table)
    : table_(table),
      grammar_(find_grammar(table.grammar())),
      word_([&table](std::uint32_t id) { return table.source_word(id); }),
      category_([&table](std::uint32_t id) { return table.category(id); }),
      target_([&table](std::uint32_t id) { return table.target_word(id); }) {}

void RuleTableText::source(std::span<const Symbol> side, std::string& out) const {
  grammar_.text.write_source(side, word_, category_, out);
}

void RuleTableText::target(std::span<const TargetSymbol> side, std::string& out) const {
  grammar_.text.write_target(side, target_, category_, out);
}

std::vector<std::vector<Symbol>> RuleTableText::sources(std::string_view text) const {
  std::vector<std::vector<Symbol>> sides;
  for (bool prefer_tag : {true, false}) {
    auto is_tag = [&](std::string_view name) {
      const bool tag = table_.category_id(name) != RuleTable::kNone, word = table_.word_id(name) != RuleTable::kNone;
      return tag && word ? prefer_tag : tag;
    };
    std::vector<Symbol> side;
    bool known = true;
    for (const SourceText& part : grammar_.text.parse_source(text, is_tag)) {
      std::uint32_t id = 0;
      if (id_is_word(symbol(part.kind, 0))) {
        id = table_.word_id(part.text);
      } else if (has_id(part.kind)) {
        id = table_.category_id(part.text);
      } else if (part.kind == SymbolKind::kPlace) {
        id = static_cast<std::uint32_t>(std::stoul(part.text));
      }
      known = known && id != RuleTable::kNone;
      side.push_back(symbol(part.kind, id));
    }
    if (known && (sides.empty() || sides.front() != side)) sides.push_back(std::move(side));
  }
  return sides;
}

std::array<double, 4> moses_scores(const RuleEntry& entry) {
  auto p = [&](int which) { return std::exp(static_cast<double>(entry.scores[which])); };
  return {p(1), p(3), p(0), p(2)};
}

RuleTable::Place find_source(const RuleTable& table, std::span<const Symbol> source) {
  WalkKey key = walk_start();
  RuleTable::Place place;
  for (Symbol symbol : source) {
    key = walk_step(key, symbol);
    place = table.find(key);
    if (!place.prefix) return {};
  }
  return place;
}

void export_text(const RuleTable& table, const std::function<void(std::string_view)>& write) {
  const RuleTableText names(table);
  std::vector<Symbol> source;
  std::vector<RuleEntry> rules;
  std::string text, side;
  char number[64];
  for (std::uint64_t position = 0; table.scan(position, source, rules);) {
    side.clear();
    names.source(source, side);
    for (const RuleEntry& rule : rules) {
      text.append(side).append(" ||| ");
      names.target(rule.target, text);
      text += " |||";
      for (double score : moses_scores(rule)) text.append(number, std::snprintf(number, sizeof number, " %.6g", score));
      text += " |||";
      for (double count : {rule.target_total, rule.source_total, rule.count}) {
        text.append(number, std::snprintf(number, sizeof number, " %.6g", count));
      }
      if (!rule.labels.empty()) {
        text += " |||";
        for (const StructureLabel& label : rule.labels) {
          text.append(number, std::snprintf(number, sizeof number, " %u-%u", label.begin, label.end));
        }
      }
      text += '\n';
    }
    if (text.size() > (1 << 18)) {
      write(text);
      text.clear();
    }
  }
  if (!text.empty()) write(text);
}

RuleTableShape shape_of(const RuleTable& table) {
  RuleTableShape shape;
  auto count = [](std::vector<std::uint64_t>& at, std::size_t n, std::uint64_t more) {
    if (n >= at.size()) at.resize(n + 1);
    at[n] += more;
  };
  std::vector<Symbol> source, most;
  std::vector<RuleEntry> rules;
  for (std::uint64_t position = 0; table.scan(position, source, rules);) {
    std::size_t variables = 0, words = 0;
    for (Symbol symbol : source) {
      variables += is_variable(symbol);
      words += has_word(symbol);
    }
    count(shape.source_lengths, source.size(), rules.size());
    count(shape.variables, variables, rules.size());
    count(shape.ambiguity, static_cast<std::size_t>(std::bit_width(rules.size())), 1);
    shape.lexical += words > 0 ? rules.size() : 0;
    for (const RuleEntry& rule : rules) {
      count(shape.target_lengths, rule.target.size(), 1);
      shape.seen_once += rule.count <= 1.0001f;
      shape.labelled += !rule.labels.empty();
    }
    if (rules.size() > shape.most) {
      shape.most = rules.size();
      most = source;
    }
  }
  if (shape.most > 0) RuleTableText(table).source(most, shape.most_ambiguous);
  return shape;
}

}  // namespace treeglot
