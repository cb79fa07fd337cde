#include "table/rule_counts_block.hh"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace treeglot::counting {

std::vector<std::uint32_t> text_ranks(std::size_t size, const std::function<const std::string&(std::uint32_t)>& text) {
  std::vector<const std::string*> texts(size);
  for (std::uint32_t id = 0; id < size; ++id) texts[id] = &text(id);
  std::vector<std::uint32_t> order(size), ranks(size);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return *texts[a] < *texts[b]; });
  for (std::uint32_t rank = 0; rank < size; ++rank) ranks[order[rank]] = rank;
  return ranks;
}

namespace {

template <class Order, class T>
int compare_sides(const Order& order, std::span<const T> a, std::span<const T> b) {
  const std::size_t shared = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (a[i] != b[i]) return order.rank(a[i]) < order.rank(b[i]) ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

}  // namespace

SymbolOrder::SymbolOrder(const std::vector<std::uint32_t>& word_ranks, const CategoryInterner& categories)
    : words_(&word_ranks),
      categories_(
          text_ranks(categories.size(), [&](std::uint32_t id) -> const std::string& { return categories.text(id); })) {
  for (std::size_t kind = 0; kind < bases_.size(); ++kind) {
    bases_[kind] = limit_;
    const auto which = static_cast<SymbolKind>(kind);
    limit_ += which == SymbolKind::kPlace    ? kPlaces
              : id_is_word(symbol(which, 0)) ? words_->size()
                                             : categories_.size() + 1;
  }
}

int SymbolOrder::compare(std::span<const Symbol> a, std::span<const Symbol> b) const {
  return compare_sides(*this, a, b);
}

TargetOrder::TargetOrder(const SymbolTable& words) {
  struct Name {
    std::string_view text;
    TargetSymbol symbol;
  };
  std::vector<std::string> variables;
  for (std::uint32_t k = 0; k < kNamed; ++k) variables.push_back(std::string("x").append(std::to_string(k + 1)));
  std::vector<Name> names;
  for (std::uint32_t k = 0; k < kNamed; ++k) names.push_back({variables[k], target_variable(k)});
  for (WordId id = 0; id < words.size(); ++id) names.push_back({words.word(id), id});
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
    return a.text != b.text ? a.text < b.text : is_target_variable(a.symbol) && !is_target_variable(b.symbol);
  });
  words_.resize(words.size());
  variables_.resize(kNamed);
  for (std::uint32_t rank = 0; rank < names.size(); ++rank) {
    TargetSymbol symbol = names[rank].symbol;
    (is_target_variable(symbol) ? variables_[variable_number(symbol)] : words_[symbol]) = rank;
  }
}

void TargetOrder::rank_categories(const CategoryInterner& categories) {
  categories_ =
      text_ranks(categories.size(), [&](std::uint32_t id) -> const std::string& { return categories.text(id); });
}

int TargetOrder::compare(std::span<const TargetSymbol> a, std::span<const TargetSymbol> b) const {
  return compare_sides(*this, a, b);
}

void Group::add(std::span<const TargetSymbol> target, std::span<const StructureLabel> with, std::uint64_t count,
                float lexical_target, float lexical_source, std::uint8_t unlinked) {
  rules.push_back({static_cast<std::uint32_t>(symbols.size()), static_cast<std::uint32_t>(target.size()),
                   static_cast<std::uint32_t>(labels.size()), static_cast<std::uint32_t>(with.size()), count,
                   lexical_target, lexical_source, unlinked});
  symbols.insert(symbols.end(), target.begin(), target.end());
  labels.insert(labels.end(), with.begin(), with.end());
}

void Group::unite(const TargetOrder& order) {
  std::sort(rules.begin(), rules.end(),
            [&](const Rule& a, const Rule& b) { return order.compare(target(a), target(b)) < 0; });
  std::size_t kept = 0;
  for (std::size_t next = 1; next < rules.size(); ++next) {
    Rule& into = rules[kept];
    const Rule& rule = rules[next];
    if (!std::ranges::equal(target(into), target(rule))) {
      rules[++kept] = rule;
      continue;
    }
    into.count += rule.count;
    into.lexical_target = std::max(into.lexical_target, rule.lexical_target);
    into.lexical_source = std::max(into.lexical_source, rule.lexical_source);
    into.unlinked = std::min(into.unlinked, rule.unlinked);
    if (!std::ranges::equal(labels_of(into), labels_of(rule))) {
      std::vector<StructureLabel> both;
      std::ranges::set_union(labels_of(into), labels_of(rule), std::back_inserter(both));
      into.label = static_cast<std::uint32_t>(labels.size());
      into.label_count = static_cast<std::uint32_t>(both.size());
      labels.insert(labels.end(), both.begin(), both.end());
    }
  }
  if (!rules.empty()) rules.resize(kept + 1);
}

void RuleBlock::Sides::clear() {
  symbols_.clear();
  starts_.assign(1, 0);
  slots_.assign(1024, {});
}

void RuleBlock::Sides::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.id) continue;
    std::size_t place = slot.hash & mask;
    while (slots_[place].id) place = (place + 1) & mask;
    slots_[place] = slot;
  }
}

std::uint32_t RuleBlock::Sides::id(std::uint64_t hash, std::span<const std::uint32_t> side) {
  if (4 * (size() + 1) > 3 * slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t place = hash & mask;
  for (; slots_[place].id; place = (place + 1) & mask) {
    if (slots_[place].hash == hash) return slots_[place].id - 1;
  }
  if (symbols_.size() + side.size() > 0xFFFFFFFF) throw std::runtime_error("a block of rules is too large");
  const std::uint32_t fresh = static_cast<std::uint32_t>(size());
  symbols_.insert(symbols_.end(), side.begin(), side.end());
  starts_.push_back(static_cast<std::uint32_t>(symbols_.size()));
  slots_[place] = {hash, fresh + 1};
  return fresh;
}

RuleBlock::RuleBlock() { clear(); }

void RuleBlock::clear() {
  sources_.clear();
  targets_.clear();
  rules_.clear();
  pending_.clear();
  pending_symbols_.clear();
  pending_labels_.clear();
  slots_.assign(1024, {});
  first_.clear();
  order_.clear();
  label_ids_.clear();
  label_sets_.assign(1, nullptr);
}

std::size_t RuleBlock::bytes() const {
  return sources_.bytes() + targets_.bytes() + rules_.capacity() * sizeof(Rule) + slots_.capacity() * sizeof(Slot) +
         first_.capacity() * 4 + label_sets_.size() * 128;
}

void RuleBlock::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.rule) continue;
    std::size_t place = slot.tag & mask;
    while (slots_[place].rule) place = (place + 1) & mask;
    slots_[place] = slot;
  }
}

std::uint32_t RuleBlock::label_set(std::vector<StructureLabel> labels) {
  if (labels.empty()) return 0;
  auto [entry, fresh] = label_ids_.try_emplace(std::move(labels), static_cast<std::uint32_t>(label_sets_.size()));
  if (fresh) label_sets_.push_back(&entry->first);
  if (label_sets_.size() > 0xFFFFFF) throw std::runtime_error("a block of rules is too large");
  return entry->second;
}

void RuleBlock::add(const ExtractedRule& rule, std::uint64_t count, float lexical_target, float lexical_source,
                    std::uint8_t unlinked) {
  auto hash = [](const std::vector<std::uint32_t>& side) {
    return hash_bytes(reinterpret_cast<const char*>(side.data()), side.size() * sizeof(side[0]));
  };
  Pending next{hash(rule.source), hash(rule.target), count,    0, 0, 0, 0, 0,
               lexical_target,    lexical_source,    unlinked, 0, 0, 0};
  sources_.prefetch(next.source_hash);
  targets_.prefetch(next.target_hash);
  next.source_begin = static_cast<std::uint32_t>(pending_symbols_.size());
  pending_symbols_.insert(pending_symbols_.end(), rule.source.begin(), rule.source.end());
  next.target_begin = static_cast<std::uint32_t>(pending_symbols_.size());
  pending_symbols_.insert(pending_symbols_.end(), rule.target.begin(), rule.target.end());
  next.end = static_cast<std::uint32_t>(pending_symbols_.size());
  next.label_begin = static_cast<std::uint32_t>(pending_labels_.size());
  pending_labels_.insert(pending_labels_.end(), rule.labels.begin(), rule.labels.end());
  next.label_end = static_cast<std::uint32_t>(pending_labels_.size());
  pending_.push_back(next);
  if (pending_.size() == kBatch) settle();
}

void RuleBlock::settle() {
  while (3 * (rules_.size() + pending_.size()) > 2 * slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  const std::uint32_t* symbols = pending_symbols_.data();
  for (Pending& rule : pending_) {
    rule.source = sources_.id(rule.source_hash, {symbols + rule.source_begin, symbols + rule.target_begin});
    rule.target = targets_.id(rule.target_hash, {symbols + rule.target_begin, symbols + rule.end});
    if (rule.source == first_.size()) first_.push_back(kEnd);
    rule.tag = static_cast<std::uint32_t>(mix((std::uint64_t{rule.source} << 32) | rule.target) >> 32);
    __builtin_prefetch(&slots_[rule.tag & mask]);
  }
  for (const Pending& rule : pending_) {
    const Slot& slot = slots_[rule.tag & mask];
    if (slot.tag == rule.tag && slot.rule) __builtin_prefetch(&rules_[slot.rule - 1]);
  }
  for (const Pending& rule : pending_) put(rule);
  pending_.clear();
  pending_symbols_.clear();
  pending_labels_.clear();
}

void RuleBlock::put(const Pending& rule) {
  const std::size_t mask = slots_.size() - 1;
  const std::vector<StructureLabel> labels(pending_labels_.begin() + rule.label_begin,
                                           pending_labels_.begin() + rule.label_end);
  std::size_t place = rule.tag & mask;
  for (; slots_[place].rule; place = (place + 1) & mask) {
    if (slots_[place].tag != rule.tag) continue;
    Rule& known = rules_[slots_[place].rule - 1];
    if (known.source != rule.source || known.target != rule.target) continue;
    known.count += rule.count;
    known.lexical_target = std::max(known.lexical_target, rule.lexical_target);
    known.lexical_source = std::max(known.lexical_source, rule.lexical_source);
    known.unlinked = std::min<std::uint8_t>(known.unlinked, rule.unlinked);
    if (labels.empty()) return;
    if (!known.labels) {
      known.labels = label_set(labels);
    } else if (*label_sets_[known.labels] != labels) {
      std::vector<StructureLabel> both;
      std::ranges::set_union(*label_sets_[known.labels], labels, std::back_inserter(both));
      known.labels = label_set(std::move(both));
    }
    return;
  }
  if (rules_.size() >= kEnd - 1) throw std::runtime_error("a block of rules is too large");
  const std::uint32_t fresh = static_cast<std::uint32_t>(rules_.size());
  rules_.push_back({rule.source, rule.target, rule.count, rule.lexical_target, rule.lexical_source, first_[rule.source],
                    label_set(labels), rule.unlinked});
  first_[rule.source] = fresh;
  slots_[place] = {rule.tag, fresh + 1};
}

void RuleBlock::sort(const SymbolOrder& order) {
  settle();
  sources_.forget_index();
  targets_.forget_index();
  std::vector<Slot>().swap(slots_);
  // As many first symbols as fit into 128 bits decide nearly all comparisons.
  struct Key {
    std::uint64_t high, low;
    std::uint32_t source;
  };
  const int bits = std::bit_width(order.limit());
  const std::size_t packed = static_cast<std::size_t>(64 / bits);  // in each half
  std::vector<Key> keys(sources_.size());
  for (std::uint32_t id = 0; id < keys.size(); ++id) {
    std::span<const Symbol> source = sources_[id];
    std::uint64_t halves[2] = {};
    for (std::size_t i = 0; i < 2 * packed; ++i) {
      std::uint64_t& half = halves[i / packed];
      half = (half << bits) | (i < source.size() ? order.rank(source[i]) : 0);
    }
    keys[id] = {halves[0], halves[1], id};
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.high != b.high) return a.high < b.high;
    if (a.low != b.low) return a.low < b.low;
    return order.compare(sources_[a.source], sources_[b.source]) < 0;
  });
  order_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order_[i] = keys[i].source;
}

class BlockCursor : public Cursor {
 public:
  explicit BlockCursor(const RuleBlock& block) : block_(block) {}
  bool done() const override { return next_ == block_.order_.size(); }
  std::span<const Symbol> source() const override { return block_.sources_[block_.order_[next_]]; }
  void take(Group& group) override {
    prefetch();
    for (std::uint32_t n = block_.first_[block_.order_[next_]]; n != RuleBlock::kEnd; n = block_.rules_[n].next) {
      const RuleBlock::Rule& rule = block_.rules_[n];
      std::span<const StructureLabel> labels;
      if (rule.labels) labels = *block_.label_sets_[rule.labels];
      group.add(block_.targets_[rule.target], labels, rule.count, rule.lexical_target, rule.lexical_source,
                static_cast<std::uint8_t>(rule.unlinked));
    }
    ++next_;
  }

 private:
  // Sources are visited in the order of text, their rules stand in the order of extraction: what the next ones need is
  // asked for now, each link of the chain a few sources ahead of the one that follows it.
  void prefetch() const {
    auto first = [&](std::size_t ahead) { return block_.first_[block_.order_[next_ + ahead]]; };
    if (next_ + 32 >= block_.order_.size()) return;
    __builtin_prefetch(&block_.first_[block_.order_[next_ + 32]]);
    __builtin_prefetch(&block_.rules_[first(24)]);
    const std::uint32_t target = block_.rules_[first(16)].target;
    block_.targets_.prefetch_start(target);
    block_.sources_.prefetch_start(block_.order_[next_ + 16]);
    block_.targets_.prefetch_side(block_.rules_[first(8)].target);
    block_.sources_.prefetch_side(block_.order_[next_ + 8]);
  }

  const RuleBlock& block_;
  std::size_t next_ = 0;
};

std::unique_ptr<Cursor> RuleBlock::cursor() const { return std::make_unique<BlockCursor>(*this); }

namespace {

struct RunRule {
  std::uint64_t count;
  float lexical_target, lexical_source;
  std::uint32_t length, labels, unlinked, unused;
};

template <class T>
void put(std::vector<char>& out, const T* data, std::size_t size) {
  const char* bytes = reinterpret_cast<const char*>(data);
  out.insert(out.end(), bytes, bytes + size * sizeof(T));
}

}  // namespace

void Run::write(const Group& group) {
  const std::uint64_t sizes[2] = {group.source.size(), group.rules.size()};
  put(buffer_, sizes, 2);
  put(buffer_, group.source.data(), group.source.size());
  for (const Group::Rule& rule : group.rules) {
    const RunRule head{
        rule.count, rule.lexical_target, rule.lexical_source, rule.length, rule.label_count, rule.unlinked, 0};
    put(buffer_, &head, 1);
    put(buffer_, group.target(rule).data(), rule.length);
    put(buffer_, group.labels_of(rule).data(), rule.label_count);
    if (buffer_.size() > (1 << 18)) finish();
  }
}

void Run::finish() {
  file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

class RunCursor : public Cursor {
 public:
  explicit RunCursor(Run& run) : run_(run) {
    run_.file_.rewind();
    advance();
  }
  bool done() const override { return done_; }
  std::span<const Symbol> source() const override { return source_; }
  void take(Group& group) override {
    for (; left_ > 0; --left_) {
      RunRule head;
      read(&head, 1);
      target_.resize(head.length);
      labels_.resize(head.labels);
      read(target_.data(), target_.size());
      read(labels_.data(), labels_.size());
      group.add(target_, labels_, head.count, head.lexical_target, head.lexical_source,
                static_cast<std::uint8_t>(head.unlinked));
    }
    advance();
  }

 private:
  void advance() {
    std::uint64_t sizes[2];
    if (filled_ == position_) fill();
    done_ = filled_ == position_;
    if (done_) return;
    read(sizes, 2);
    source_.resize(sizes[0]);
    read(source_.data(), source_.size());
    left_ = sizes[1];
  }
  void fill() {
    filled_ = run_.file_.read(buffer_, sizeof buffer_);
    position_ = 0;
  }
  template <class T>
  void read(T* data, std::size_t size) {
    char* out = reinterpret_cast<char*>(data);
    for (std::size_t bytes = size * sizeof(T); bytes > 0;) {
      if (position_ == filled_) {
        fill();
        if (filled_ == 0) throw std::runtime_error("cannot read a temporary file");
      }
      const std::size_t part = std::min(bytes, filled_ - position_);
      std::memcpy(out, buffer_ + position_, part);
      position_ += part;
      out += part;
      bytes -= part;
    }
  }

  Run& run_;
  char buffer_[1 << 15];
  std::size_t position_ = 0, filled_ = 0;
  bool done_ = false;
  std::vector<Symbol> source_;
  std::vector<TargetSymbol> target_;
  std::vector<StructureLabel> labels_;
  std::uint64_t left_ = 0;
};

std::unique_ptr<Cursor> Run::cursor() { return std::make_unique<RunCursor>(*this); }

Merger::Merger(std::vector<std::unique_ptr<Cursor>> cursors, const SymbolOrder& order, const TargetOrder& targets)
    : cursors_(std::move(cursors)), order_(order), targets_(targets) {
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    if (!cursors_[i]->done()) heap_.push_back(i);
  }
  std::make_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) { return less(b, a); });
}

bool Merger::less(std::size_t a, std::size_t b) const {
  const int order = order_.compare(cursors_[a]->source(), cursors_[b]->source());
  return order != 0 ? order < 0 : a < b;
}

bool Merger::next(Group& group) {
  group.clear();
  if (heap_.empty()) return false;
  auto after = [this](std::size_t a, std::size_t b) { return less(b, a); };
  const std::span<const Symbol> source = cursors_[heap_.front()]->source();
  group.source.assign(source.begin(), source.end());
  int from = 0;
  do {
    std::pop_heap(heap_.begin(), heap_.end(), after);
    Cursor& cursor = *cursors_[heap_.back()];
    cursor.take(group);
    ++from;
    if (cursor.done()) {
      heap_.pop_back();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), after);
    }
  } while (!heap_.empty() && std::ranges::equal(cursors_[heap_.front()]->source(), group.source));
  if (from > 1) group.unite(targets_);
  return true;
}

}  // namespace treeglot::counting
