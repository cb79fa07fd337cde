#include "table/rule_table_writer.hh"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "table/rule_table.hh"

namespace treeglot {

using namespace rule_format;

namespace {

constexpr std::uint32_t kUnused = 0xFFFFFFFF;

// Numbers those that are used by their texts; returns the texts in order.
template <class Text>
std::vector<const std::string*> number_by_text(const std::vector<bool>& used, Text text,
                                               std::vector<std::uint32_t>& ids) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t id = 0; id < used.size(); ++id) {
    if (used[id]) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return text(a) < text(b); });
  ids.assign(used.size(), kUnused);
  std::vector<const std::string*> texts;
  for (std::uint32_t id : order) {
    ids[id] = static_cast<std::uint32_t>(texts.size());
    texts.push_back(&text(id));
  }
  return texts;
}

// Gives frequent symbols low ranks; ties by symbol, so that the order depends on texts alone.
struct Frequency {
  std::uint64_t count;
  std::uint32_t symbol;  // of the table
  std::uint32_t* rank;   // where it goes
};
void rank_by_frequency(std::vector<Frequency>& symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const Frequency& a, const Frequency& b) {
    return a.count != b.count ? a.count > b.count : a.symbol < b.symbol;
  });
  for (std::uint32_t rank = 0; rank < symbols.size(); ++rank) *symbols[rank].rank = rank;
}

}  // namespace

RuleTableWriter::RuleTableWriter(const std::string& path, const ParsedBitext& corpus,
                                 const CategoryInterner& categories, Options options)
    : file_(path, sizeof(Header)),
      options_(std::move(options)),
      corpus_(corpus),
      categories_(categories),
      items_(options_.folder, options_.memory, ItemLess{}) {
  if (options_.grammar.size() >= sizeof header_.grammar)
    throw std::runtime_error("the name of the grammar is too long");
}

std::uint64_t RuleTableWriter::put_strings(const std::vector<const std::string*>& texts) {
  const std::uint64_t offset = file_.align(8);
  std::uint64_t start = 0;
  for (std::size_t id = 0; id <= texts.size(); ++id) {
    if (start > 0xFFFFFFFF) throw std::runtime_error("a vocabulary of more than 4 GB");
    file_.plain(static_cast<std::uint32_t>(start));
    if (id < texts.size()) start += texts[id]->size();
  }
  for (const std::string* text : texts) file_.write(text->data(), text->size());
  return offset;
}

void RuleTableWriter::begin(const SymbolUse& use) {
  std::memcpy(header_.magic, kMagic, sizeof kMagic);
  header_.version = kVersion;
  header_.probe = probe();
  header_.flags =
      (options_.labels ? kHasLabels : 0) | (options_.discounted ? kDiscounted : 0) | (options_.shares ? kHasShares : 0);
  std::memcpy(header_.grammar, options_.grammar.data(), options_.grammar.size());

  std::vector<bool> words(corpus_.source().words.size()), categories(categories_.size()), targets(use.target.size());
  for (std::size_t kind = 0; kind < use.source.size(); ++kind) {
    const bool word = id_is_word(symbol(static_cast<SymbolKind>(kind), 0));
    if (!has_id(static_cast<SymbolKind>(kind))) continue;
    for (std::size_t id = 0; id < use.source[kind].size(); ++id) {
      if (use.source[kind][id]) (word ? words : categories)[id] = true;
    }
  }
  if (options_.shares) {
    find_shares();
    for (std::size_t id = 0; id < words.size(); ++id) {
      if (shares_[id] > 0) words[id] = true;
    }
  }
  for (std::size_t id = 0; id < use.target.size(); ++id) targets[id] = use.target[id] > 0;
  for (std::size_t kind = 0; kind < use.nodes.size(); ++kind) {
    if (static_cast<TargetNode>(kind) == TargetNode::kClose) continue;
    for (std::size_t id = 0; id < categories.size(); ++id) {
      if (use.nodes[kind][id]) categories[id] = true;
    }
  }
  auto source_text = [&](std::uint32_t id) -> const std::string& { return corpus_.source().words.word(id); };
  auto category_text = [&](std::uint32_t id) -> const std::string& { return categories_.text(id); };
  auto target_text = [&](std::uint32_t id) -> const std::string& { return corpus_.target().words.word(id); };
  const auto source_texts = number_by_text(words, source_text, word_ids_);
  const auto category_texts = number_by_text(categories, category_text, category_ids_);
  const auto target_texts = number_by_text(targets, target_text, target_ids_);
  header_.source_words = source_texts.size();
  header_.categories = category_texts.size();
  header_.target_words = target_texts.size();
  header_.source_strings = put_strings(source_texts);
  header_.category_strings = put_strings(category_texts);
  header_.target_strings = put_strings(target_texts);

  std::vector<Frequency> symbols;
  for (std::size_t kind = 0; kind < use.source.size(); ++kind) {
    source_ranks_[kind].assign(use.source[kind].size(), kUnused);
    const auto which = static_cast<SymbolKind>(kind);
    const bool word = id_is_word(symbol(which, 0));
    for (std::uint32_t id = 0; id < use.source[kind].size(); ++id) {
      if (!use.source[kind][id]) continue;
      const std::uint32_t own = !has_id(which) ? id : (word ? word_ids_ : category_ids_)[id];
      symbols.push_back({use.source[kind][id], symbol(which, own), &source_ranks_[kind][id]});
    }
  }
  rank_by_frequency(symbols);
  header_.source_symbols = symbols.size();
  header_.source_ranks = file_.align(8);
  for (const Frequency& frequency : symbols) file_.plain(frequency.symbol);
  symbols.clear();
  target_ranks_.assign(use.target.size(), kUnused);
  variable_ranks_.assign(use.variables.size(), kUnused);
  for (std::uint32_t id = 0; id < use.target.size(); ++id) {
    if (use.target[id]) symbols.push_back({use.target[id], target_ids_[id], &target_ranks_[id]});
  }
  for (std::size_t kind = 0; kind < use.nodes.size(); ++kind) {
    const auto which = static_cast<TargetNode>(kind);
    node_ranks_[kind].assign(use.nodes[kind].size(), kUnused);
    for (std::uint32_t id = 0; id < use.nodes[kind].size(); ++id) {
      if (!use.nodes[kind][id]) continue;
      const std::uint32_t own = which == TargetNode::kClose ? 0 : category_ids_[id];
      symbols.push_back({use.nodes[kind][id], target_node(which, own), &node_ranks_[kind][id]});
    }
  }
  for (std::uint32_t k = 0; k < use.variables.size(); ++k) {
    if (use.variables[k]) symbols.push_back({use.variables[k], target_variable(k), &variable_ranks_[k]});
  }
  rank_by_frequency(symbols);
  header_.target_symbols = symbols.size();
  header_.target_ranks = file_.align(8);
  for (const Frequency& frequency : symbols) file_.plain(frequency.symbol);
  header_.data = file_.align(8);
}

void RuleTableWriter::find_shares() {
  std::vector<std::uint64_t> occurrences(corpus_.source().words.size()), unlinked(occurrences.size());
  std::vector<bool> linked;
  for (std::size_t n = 0; n < corpus_.size(); ++n) {
    const ParsedPair pair = corpus_[n];
    linked.assign(pair.source.size(), false);
    for (const WordLink& link : pair.links) linked[link.source] = true;
    for (std::size_t j = 0; j < linked.size(); ++j) {
      ++occurrences[pair.source.words[j]];
      unlinked[pair.source.words[j]] += !linked[j];
    }
  }
  shares_.assign(occurrences.size(), 0.0f);
  for (std::size_t id = 0; id < shares_.size(); ++id) {
    if (occurrences[id] > 0) {
      shares_[id] = static_cast<float>(static_cast<double>(unlinked[id]) / static_cast<double>(occurrences[id]));
    }
  }
}

void RuleTableWriter::put_rule(const CountedSource& source, std::uint64_t source_code, const CountedRule& rule) {
  if (rule.target.size() > kMaxSide) throw std::runtime_error("a rule with more than 65,535 symbols");
  header_.longest_target = std::max<std::uint64_t>(header_.longest_target, rule.target.size());
  out_.varint(2 * rule.target.size() + (rule.unlinked > 0));
  if (rule.unlinked > 0) out_.varint(rule.unlinked);
  for (TargetSymbol symbol : rule.target) {
    if (is_target_variable(symbol)) {
      out_.varint(variable_ranks_[variable_number(symbol)]);
    } else if (is_target_node(symbol)) {
      out_.varint(node_ranks_[static_cast<std::size_t>(target_node_kind(symbol))][target_category(symbol)]);
    } else {
      out_.varint(target_ranks_[symbol]);
    }
  }
  auto ratio = [](std::uint64_t whole, std::uint64_t part) {
    return steps(std::log(static_cast<double>(whole) / static_cast<double>(part)));
  };
  const std::uint64_t count_code = rule.count == source.total ? source_code : exact_code(rule.count);
  const bool exact = count_code != 0 && count_code % 2 == 0;
  out_.varint(exact ? count_code : 2 * ratio(source.total, rule.count) + 1);
  if (rule.target_total == rule.count) {
    out_.varint(0);
  } else {
    const std::uint64_t total_code = exact ? exact_code(rule.target_total) : 0;
    out_.varint(total_code ? total_code : 2 * ratio(rule.target_total, rule.count) + 1);
  }
  out_.varint(steps(-std::log(static_cast<double>(rule.lexical_target))));
  out_.varint(steps(-std::log(static_cast<double>(rule.lexical_source))));
  if (options_.discounted) {
    out_.varint(steps(-std::log(std::max(rule.target_given_source, 1e-37))));
    out_.varint(steps(-std::log(std::max(rule.source_given_target, 1e-37))));
  }
  if (options_.labels) {
    out_.varint(rule.labels.size());
    for (const StructureLabel& label : rule.labels) {
      out_.varint(label.begin);
      out_.varint(label.end);
    }
  }
}

void RuleTableWriter::take(const CountedSource& source) {
  if (source.source.size() > kMaxSide) throw std::runtime_error("a rule with more than 65,535 symbols");
  out_.bytes.clear();
  out_.varint(source.source.size());
  std::size_t shared = 0;
  bool same = true;
  for (std::size_t i = 0; i < source.source.size(); ++i) {
    const Symbol given = source.source[i];
    const auto kind = symbol_kind(given);
    out_.varint(source_ranks_[static_cast<std::size_t>(kind)][symbol_id(given)]);
    const std::uint32_t id = !has_id(kind)       ? symbol_id(given)
                             : id_is_word(given) ? word_ids_[symbol_id(given)]
                                                 : category_ids_[symbol_id(given)];
    const Symbol own = symbol(kind, id);
    same = same && i < previous_.size() && previous_[i] == own;
    if (same) {
      ++shared;
      continue;
    }
    previous_.resize(i);
    walk_.resize(i);
    previous_.push_back(own);
    walk_.push_back(walk_step(i == 0 ? walk_start() : walk_[i - 1], own));
  }
  previous_.resize(source.source.size());
  walk_.resize(source.source.size());
  // The last source begins this one if nothing of it had to go.
  if (header_.sources > 0) {
    pending_.value |= shared == pending_length_;
    items_.push(pending_);
    ++header_.prefixes;
  }
  for (std::size_t i = shared; i + 1 < walk_.size(); ++i) {
    items_.push({walk_[i], 1});
    ++header_.prefixes;
  }
  pending_ = {walk_.empty() ? walk_start() : walk_.back(), 2 * (file_.position() - header_.data + 1)};
  pending_length_ = walk_.size();

  std::uint64_t code = exact_code(source.total);
  if (code == 0) code = 2 * steps(std::log(count_value(source.total)) + kLeast) + 1;
  out_.varint(code);
  out_.varint(source.rules.size());
  for (const CountedRule& rule : source.rules) put_rule(source, code, rule);
  file_.write(out_.bytes.data(), out_.bytes.size());
  ++header_.sources;
  header_.rules += source.rules.size();
  header_.longest_source = std::max<std::uint64_t>(header_.longest_source, source.source.size());
}

void RuleTableWriter::put_index() {
  if (header_.sources > 0) {
    items_.push(pending_);
    ++header_.prefixes;
  }
  items_.finish();
  const std::uint64_t data_size = header_.data_end - header_.data;
  header_.place_bits = std::max<std::uint64_t>(std::bit_width(data_size + 1), options_.place_bits);
  const int key_bits = 63 - static_cast<int>(header_.place_bits);
  const std::uint64_t key_mask = (std::uint64_t{1} << key_bits) - 1;
  header_.home_buckets = home_buckets(header_.prefixes);
  header_.index = file_.align(64);

  // Items come by key, so by bucket. A chain of full buckets ends with the first that is not full.
  std::vector<Exception> exceptions;
  std::vector<Item> chain;
  auto slot_of = [&](const Item& item) {  // without the bits of the key
    return (item.value & 1) << header_.place_bits | item.value >> 1;
  };
  auto close_chain = [&] {
    std::sort(chain.begin(), chain.end(), [&](const Item& a, const Item& b) {
      return (a.key & key_mask) != (b.key & key_mask) ? (a.key & key_mask) < (b.key & key_mask) : a.key < b.key;
    });
    for (std::size_t i = 0; i < chain.size(); ++i) {
      auto like = [&](std::size_t j) { return (chain[i].key & key_mask) == (chain[j].key & key_mask); };
      if ((i > 0 && like(i - 1)) || (i + 1 < chain.size() && like(i + 1))) {
        exceptions.push_back({chain[i].key, slot_of(chain[i])});
      }
    }
    chain.clear();
  };
  std::vector<Item> waiting;  // those that belong to this bucket or an earlier one
  std::size_t used = 0;
  const Item* next = items_.next();
  Item ahead = next ? *next : Item{};
  bool more = next != nullptr;
  std::uint64_t bucket = 0;
  for (; bucket < header_.home_buckets || used < waiting.size(); ++bucket) {
    while (more && home_bucket(ahead.key, header_.home_buckets) == bucket) {
      Item item = ahead;
      next = items_.next();
      more = next != nullptr;
      if (more) ahead = *next;
      while (more && ahead.key == item.key) {  // two prefixes with one key: the first with rules stands for both
        item.value |= ahead.value & 1;
        next = items_.next();
        more = next != nullptr;
        if (more) ahead = *next;
      }
      waiting.push_back(item);
    }
    std::size_t filled = 0;
    for (; filled < kBucket && used < waiting.size(); ++filled, ++used) {
      const Item& item = waiting[used];
      file_.plain((item.key & key_mask) << (header_.place_bits + 1) | slot_of(item));
      chain.push_back(item);
    }
    for (std::size_t empty = filled; empty < kBucket; ++empty) file_.plain(std::uint64_t{0});
    if (used == waiting.size()) {
      waiting.clear();
      used = 0;
    }
    if (filled < kBucket) close_chain();
  }
  close_chain();
  header_.buckets = bucket;
  std::sort(exceptions.begin(), exceptions.end(), [](const Exception& a, const Exception& b) { return a.key < b.key; });
  header_.exceptions = file_.align(8);
  header_.exception_count = exceptions.size();
  for (const Exception& exception : exceptions) file_.plain(exception);
}

std::uint64_t RuleTableWriter::finish(const RuleStatistics& statistics) {
  header_.sentences = statistics.sentences;
  header_.occurrences = statistics.occurrences;
  header_.data_end = file_.position();
  put_index();
  header_.description = file_.position();
  header_.description_size = options_.description.size();
  file_.write(options_.description.data(), options_.description.size());
  if (options_.shares) {
    std::vector<float> shares(header_.source_words, 0.0f);
    for (std::size_t id = 0; id < shares_.size(); ++id) {
      if (word_ids_[id] != kUnused) shares[word_ids_[id]] = shares_[id];
    }
    file_.align(8);
    for (float share : shares) file_.plain(share);
  }
  file_.finish(header_);
  return file_.position();
}

}  // namespace treeglot
