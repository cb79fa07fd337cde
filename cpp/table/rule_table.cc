#include "table/rule_table.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/bytes.hh"
#include "base/mapped_file.hh"
#include "base/mapped_words.hh"
#include "table/rule_table_format.hh"

namespace treeglot {

using namespace rule_format;

namespace {

// Logarithms of small whole numbers: nearly all counts are made of them.
class Logarithms {
 public:
  Logarithms() {
    for (std::size_t n = 1; n < kMany; ++n) table_[n] = std::log(static_cast<double>(n));
  }
  double operator()(std::uint64_t n) const { return n < kMany ? table_[n] : std::log(static_cast<double>(n)); }

 private:
  static constexpr std::size_t kMany = 4096;
  double table_[kMany] = {};
};

// ln of the count that an even code means.
double exact_log(std::uint64_t code) {
  static const Logarithms ln;
  const std::uint64_t n = code / 32;
  if (n == 0) ByteReader::fail();
  return ln(n) - ln(code / 2 % 16 + 1);
}

double exact_value(std::uint64_t code) {
  return static_cast<double>(code / 32) / static_cast<double>(code / 2 % 16 + 1);
}

double logarithm(std::uint64_t steps) {
  if (steps > 1'000'000) ByteReader::fail();
  return -kStep * static_cast<double>(steps);
}

// Printable ASCII, then zeros, at least one.
bool is_name(const char* text, std::size_t size) {
  const char* end = text + size;
  const char* stop = std::find(text, end, '\0');
  return stop != end && std::all_of(text, stop, [](char c) { return c > ' ' && c <= '~'; }) &&
         std::all_of(stop, end, [](char c) { return c == '\0'; });
}

}  // namespace

struct RuleTable::File {
  explicit File(const std::string& path) : file(path) {
    header = checked_header<Header>(file, kMagic, kVersion, probe(), "a treeglot rule table");
    check_layout();
    const Header& h = header;
    words = MappedWords(file, h.source_strings, h.category_strings, h.source_words);
    categories = MappedWords(file, h.category_strings, h.target_strings, h.categories);
    targets = MappedWords(file, h.target_strings, h.source_ranks, h.target_words);
    source_ranks = mapped_records<Symbol>(file, h.source_ranks, h.source_symbols, h.target_ranks);
    target_ranks = mapped_records<TargetSymbol>(file, h.target_ranks, h.target_symbols, h.data);
    data = mapped_records<char>(file, h.data, 0, h.data_end);
    data_size = h.data_end - h.data;
    slots = mapped_records<std::uint64_t>(file, h.index, h.buckets * kBucket, h.exceptions);
    exceptions = mapped_records<Exception>(file, h.exceptions, h.exception_count, h.description);
    if (h.flags & kHasShares) {
      shares = mapped_records<float>(file, h.file_size - h.source_words * sizeof(float), h.source_words, h.file_size);
    }
    key_mask = (std::uint64_t{1} << (63 - h.place_bits)) - 1;
  }

  // The parts stand one behind the other, as they were written, and all numbers agree with that.
  void check_layout() const {
    const Header& h = header;
    const std::uint64_t size = file.size();
    need_part(!(h.flags & ~(kHasLabels | kDiscounted | kHasShares)) && h.place_bits >= 1 && h.place_bits <= 62 &&
              h.longest_source <= kMaxSide && h.longest_target <= kMaxSide && is_name(h.grammar, sizeof h.grammar) &&
              h.source_words <= MappedWords::kMost && h.categories <= MappedWords::kMost &&
              h.target_words <= MappedWords::kMost && h.source_strings == sizeof(Header));
    need_part(h.target_ranks == next_part(h.source_ranks, h.source_symbols, sizeof(Symbol), size) &&
              h.data == next_part(h.target_ranks, h.target_symbols, sizeof(TargetSymbol), size) &&
              h.data <= h.data_end && h.data_end <= size);
    const std::uint64_t all = h.data_end - h.data;
    need_part(h.rules <= all && h.sources <= all && h.sources <= h.rules && h.prefixes <= size &&
              h.index == next_part(h.data_end, 0, 1, size, 64) && h.home_buckets == home_buckets(h.prefixes) &&
              h.buckets >= h.home_buckets && h.buckets <= size &&
              h.exceptions == next_part(h.index, h.buckets, kBucket * sizeof(std::uint64_t), size) &&
              h.description == next_part(h.exceptions, h.exception_count, sizeof(Exception), size));
    const bool shares_follow = h.flags & kHasShares;
    std::uint64_t end = next_part(h.description, h.description_size, 1, size, shares_follow ? 8 : 1);
    if (shares_follow) end = next_part(end, h.source_words, sizeof(float), size, 1);
    need_part(end == size);
  }

  Place place(std::uint64_t slot) const {
    return {true, slot & ((std::uint64_t{1} << header.place_bits) - 1), (slot >> header.place_bits & 1) != 0};
  }

  ByteReader reader(std::uint64_t position) const {
    if (position >= data_size) ByteReader::fail();
    return {data + position, data + data_size};
  }

  // Calls `take` with each symbol.
  template <class Take>
  void read_source(ByteReader& from, std::size_t length, Take take) const {
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t rank = from.varint();
      if (rank >= header.source_symbols) ByteReader::fail();
      take(source_ranks[rank]);
    }
  }

  void read_rules(ByteReader& from, std::uint32_t variables, std::size_t source_length, std::size_t limit,
                  double threshold, std::vector<RuleEntry>& out) const;

  MappedFile file;
  Header header;
  MappedWords words, categories, targets;
  const Symbol* source_ranks;
  const TargetSymbol* target_ranks;
  const char* data;
  std::uint64_t data_size;
  const std::uint64_t* slots;
  const Exception* exceptions;
  const float* shares = nullptr;
  std::uint64_t key_mask;
};

RuleTable::RuleTable(const std::string& path, bool verify) : file_(std::make_unique<File>(path)) {
  verify_file(file_->file, file_->header, verify, [this] { check_structure(); });
}
RuleTable::~RuleTable() = default;

std::uint32_t RuleTable::word_id(std::string_view word) const {
  const WordId id = file_->words.id(word);
  return id == file_->words.size() ? kNone : id;
}

std::uint32_t RuleTable::category_id(std::string_view category) const {
  const WordId id = file_->categories.id(category);
  return id == file_->categories.size() ? kNone : id;
}

WordId RuleTable::target_id(std::string_view word) const {
  const WordId id = file_->targets.id(word);
  return id == file_->targets.size() ? kNone : id;
}

std::size_t RuleTable::target_size() const { return file_->targets.size(); }
std::size_t RuleTable::source_words() const { return file_->words.size(); }
std::size_t RuleTable::categories() const { return file_->categories.size(); }

namespace {

std::string_view word_of(const MappedWords& words, std::uint32_t id) {
  if (id >= words.size()) throw std::out_of_range("no such word in the rule table");
  return words.word(id);
}

}  // namespace

std::string_view RuleTable::target_word(WordId id) const { return word_of(file_->targets, id); }
std::string_view RuleTable::source_word(std::uint32_t id) const { return word_of(file_->words, id); }
std::string_view RuleTable::category(std::uint32_t id) const { return word_of(file_->categories, id); }

RuleTable::Place RuleTable::find(WalkKey key) const {
  const File& file = *file_;
  const Header& header = file.header;
  if (header.exception_count > 0) {
    const Exception* end = file.exceptions + header.exception_count;
    const Exception* place = std::lower_bound(
        file.exceptions, end, key, [](const Exception& exception, WalkKey wanted) { return exception.key < wanted; });
    if (place != end && place->key == key) return file.place(place->slot);
  }
  const std::uint64_t wanted = key & file.key_mask;
  const int shift = static_cast<int>(header.place_bits) + 1;
  for (std::uint64_t bucket = home_bucket(key, header.home_buckets); bucket < header.buckets; ++bucket) {
    const std::uint64_t* slots = file.slots + bucket * kBucket;
    for (std::size_t i = 0; i < kBucket; ++i) {
      if (slots[i] >> shift == wanted && slots[i] != 0) return file.place(slots[i]);
    }
    if (slots[kBucket - 1] == 0) break;
  }
  return {};
}

void RuleTable::File::read_rules(ByteReader& from, std::uint32_t variables, std::size_t source_length,
                                 std::size_t limit, double threshold, std::vector<RuleEntry>& out) const {
  const std::uint64_t total_code = from.varint();
  const double source_total = total_code % 2 == 0 ? exact_log(total_code) : -logarithm(total_code / 2) - kLeast;
  const double source_count = total_code % 2 == 0 ? exact_value(total_code) : std::exp(source_total);
  if (!std::isfinite(source_count)) ByteReader::fail();
  std::uint64_t count = from.varint();
  if (limit > 0) count = std::min<std::uint64_t>(count, limit);
  const bool labels = header.flags & kHasLabels, discounted = header.flags & kDiscounted;
  const double cut = threshold > 0 ? std::log(threshold) : -HUGE_VAL;
  double best = 0;
  for (std::uint64_t n = 0; n < count; ++n) {
    RuleEntry entry;
    entry.rule = static_cast<std::uint64_t>(from.position() - data);
    const std::uint64_t code = from.varint(), length = code / 2;
    if (length > kMaxSide || length > from.left()) ByteReader::fail();
    if (code % 2 != 0) {
      const std::uint64_t unlinked = from.varint();
      if (unlinked == 0 || unlinked > source_length) ByteReader::fail();
      entry.unlinked = static_cast<std::uint32_t>(unlinked);
    }
    entry.target.resize(length);
    std::uint32_t variables_here = 0;
    std::uint64_t first_ones = 0;  // which of the first 64 are there
    for (TargetSymbol& symbol : entry.target) {
      const std::uint64_t rank = from.varint();
      if (rank >= header.target_symbols) ByteReader::fail();
      symbol = target_ranks[rank];
      if (is_target_variable(symbol) ? variable_number(symbol) >= variables
          : is_target_node(symbol)   ? target_category(symbol) >= std::max<std::size_t>(categories.size(), 1)
                                     : symbol >= targets.size()) {
        ByteReader::fail();
      }
      if (is_target_variable(symbol)) {
        const std::uint64_t bit = variable_number(symbol) < 64 ? std::uint64_t{1} << variable_number(symbol) : 0;
        if (first_ones & bit) ByteReader::fail();
        first_ones |= bit;
        ++variables_here;
      }
    }
    if (variables_here != variables) ByteReader::fail();  // the search wants each exactly once
    const std::uint64_t count_code = from.varint();
    const bool exact = count_code % 2 == 0;
    double forward = exact ? std::min(0.0, exact_log(count_code) - source_total) : logarithm(count_code / 2);
    entry.count = static_cast<float>(exact ? exact_value(count_code) : source_count * std::exp(forward));
    entry.source_total = static_cast<float>(source_count);
    const std::uint64_t target_code = from.varint();
    double backward = 0;
    if (target_code == 0) {
      entry.target_total = entry.count;
    } else if (target_code % 2 == 0) {
      if (!exact) ByteReader::fail();
      backward = std::min(0.0, exact_log(count_code) - exact_log(target_code));
      entry.target_total = static_cast<float>(exact_value(target_code));
    } else {
      backward = logarithm(target_code / 2);
      entry.target_total = static_cast<float>(entry.count * std::exp(-backward));
    }
    if (!std::isfinite(entry.count) || !std::isfinite(entry.target_total)) ByteReader::fail();
    const double lexical_target = logarithm(from.varint()), lexical_source = logarithm(from.varint());
    if (discounted) {
      forward = logarithm(from.varint());
      backward = logarithm(from.varint());
    }
    if (labels) {
      const std::uint64_t number = from.varint();
      if (number > from.left()) ByteReader::fail();
      entry.labels.reserve(number);
      for (std::uint64_t i = 0; i < number; ++i) {
        const std::uint64_t begin = from.varint(), end = from.varint();
        if (begin >= end || end > source_length || end > 255) ByteReader::fail();
        entry.labels.push_back({static_cast<std::uint8_t>(begin), static_cast<std::uint8_t>(end)});
      }
    }
    if (n == 0) best = forward;
    if (forward < best + cut) return;
    entry.scores = {static_cast<float>(forward), static_cast<float>(backward), static_cast<float>(lexical_target),
                    static_cast<float>(lexical_source)};
    out.push_back(std::move(entry));
  }
}

void RuleTable::read(const Place& place, std::span<const Symbol> check, std::size_t limit, double threshold,
                     std::vector<RuleEntry>& out) const {
  if (place.rules == 0) return;
  ByteReader from = file_->reader(place.rules - 1);
  if (from.varint() != check.size()) return;
  bool same = true;
  std::size_t i = 0;
  std::uint32_t variables = 0;
  file_->read_source(from, check.size(), [&](Symbol symbol) {
    same = same && symbol == check[i++];
    variables += is_variable(symbol);
  });
  if (same) file_->read_rules(from, variables, check.size(), limit, threshold, out);
}

bool RuleTable::scan(std::uint64_t& position, std::vector<Symbol>& source, std::vector<RuleEntry>& rules) const {
  if (position == file_->data_size) return false;
  ByteReader from = file_->reader(position);
  const std::uint64_t length = from.varint();
  if (length > kMaxSide || length > from.left()) ByteReader::fail();
  source.clear();
  std::uint32_t variables = 0;
  file_->read_source(from, length, [&](Symbol symbol) {
    source.push_back(symbol);
    variables += is_variable(symbol);
  });
  rules.clear();
  file_->read_rules(from, variables, length, 0, 0, rules);
  position = static_cast<std::uint64_t>(from.position() - file_->data);
  return true;
}

// Reads everything once: every source is found from its first symbol on, and the header's numbers are those of the
// contents.
void RuleTable::check_structure() const {
  const Header& h = file_->header;
  auto need = [](bool right) {
    if (!right) ByteReader::fail();
  };
  file_->words.check();
  file_->categories.check();
  file_->targets.check();
  for (std::uint64_t rank = 0; rank < h.source_symbols; ++rank) {
    const Symbol symbol = file_->source_ranks[rank];
    if (has_id(symbol_kind(symbol))) need(symbol_id(symbol) < (id_is_word(symbol) ? h.source_words : h.categories));
  }
  std::uint64_t filled = 0;
  for (std::uint64_t slot = 0; slot < h.buckets * kBucket; ++slot) filled += file_->slots[slot] != 0;
  need(filled <= h.prefixes);
  for (std::uint64_t i = 1; i < h.exception_count; ++i) {
    need(file_->exceptions[i - 1].key < file_->exceptions[i].key);
  }
  std::uint64_t rules = 0, sources = 0, position = 0, begin = 0;
  std::size_t longest_source = 0, longest_target = 0;
  std::vector<Symbol> source, before;
  std::vector<WalkKey> keys;  // of the prefixes of `before`
  std::vector<RuleEntry> entries;
  for (; scan(position, source, entries); begin = position) {
    std::size_t shared = 0;
    while (shared < source.size() && shared < before.size() && source[shared] == before[shared]) ++shared;
    keys.resize(source.size());
    for (std::size_t i = shared; i < source.size(); ++i) {
      keys[i] = walk_step(i == 0 ? walk_start() : keys[i - 1], source[i]);
      const Place place = find(keys[i]);
      need(place.prefix && (i + 1 == source.size() || place.longer));
    }
    need(find(source.empty() ? walk_start() : keys.back()).rules == begin + 1 && !entries.empty());
    for (const RuleEntry& entry : entries) longest_target = std::max(longest_target, entry.target.size());
    longest_source = std::max(longest_source, source.size());
    rules += entries.size();
    ++sources;
    before.swap(source);
  }
  need(rules == h.rules && sources == h.sources && longest_source == h.longest_source &&
       longest_target == h.longest_target);
  for (std::uint64_t word = 0; file_->shares && word < h.source_words; ++word) {
    need(file_->shares[word] >= 0 && file_->shares[word] <= 1);
  }
}

std::size_t RuleTable::rules() const { return file_->header.rules; }
std::size_t RuleTable::sources() const { return file_->header.sources; }
std::size_t RuleTable::prefixes() const { return file_->header.prefixes; }
std::size_t RuleTable::bytes() const { return file_->header.file_size; }
std::size_t RuleTable::sentences() const { return file_->header.sentences; }
std::size_t RuleTable::occurrences() const { return file_->header.occurrences; }
bool RuleTable::discounted() const { return file_->header.flags & kDiscounted; }
bool RuleTable::has_labels() const { return file_->header.flags & kHasLabels; }
bool RuleTable::has_shares() const { return file_->shares != nullptr; }
float RuleTable::unlinked_share(std::uint32_t word) const {
  return file_->shares && word < file_->words.size() ? std::clamp(file_->shares[word], 0.0f, 1.0f) : 0.0f;
}
std::size_t RuleTable::longest_source() const { return file_->header.longest_source; }
std::size_t RuleTable::longest_target() const { return file_->header.longest_target; }
std::string RuleTable::grammar() const {
  const char* name = file_->header.grammar;
  return {name, std::find(name, name + sizeof file_->header.grammar, '\0')};
}
std::string RuleTable::description() const {
  return {file_->file.data() + file_->header.description, file_->header.description_size};
}

}  // namespace treeglot
