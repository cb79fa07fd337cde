// Compiling ARPA text to the file that lm/model.hh maps.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/hash.hh"
#include "base/mapped_writer.hh"
#include "base/numbers.hh"
#include "lm/keys.hh"
#include "lm/model.hh"

namespace treeglot::lm {
namespace {

// A hash table under construction; grows as it fills.
class Builder {
 public:
  explicit Builder(std::uint64_t expected) { slots_.resize(size_for(expected)); }

  // The entry of a key; `fresh` tells whether it was made now.
  MiddleEntry& at(std::uint64_t key, bool& fresh) {
    if ((filled_ + 1) * 3 > slots_.size() * 2) grow();
    MiddleEntry& entry = slots_[place(slots_, key)];
    fresh = entry.key == 0;
    if (fresh) {
      entry.key = key;
      ++filled_;
    }
    return entry;
  }
  MiddleEntry* get(std::uint64_t key) {
    MiddleEntry& entry = slots_[place(slots_, key)];
    return entry.key ? &entry : nullptr;
  }
  std::vector<MiddleEntry>& slots() { return slots_; }
  std::uint64_t filled() const { return filled_; }

 private:
  static std::uint64_t size_for(std::uint64_t entries) { return entries + entries / 2 + 8; }
  static std::uint64_t place(const std::vector<MiddleEntry>& slots, std::uint64_t key) {
    std::uint64_t slot = first_slot(key, slots.size());
    while (slots[slot].key && slots[slot].key != key) slot = slot + 1 == slots.size() ? 0 : slot + 1;
    return slot;
  }
  void grow() {
    std::vector<MiddleEntry> larger(size_for(filled_ * 2));
    for (const MiddleEntry& entry : slots_) {
      if (entry.key) larger[place(larger, entry.key)] = entry;
    }
    slots_ = std::move(larger);
  }
  std::vector<MiddleEntry> slots_;
  std::uint64_t filled_ = 0;
};

// What is taken for the logarithm of nothing: -inf and all numbers below.
constexpr double kLogZero = -1000;

// Lines of a text that comes in blocks.
class LineReader {
 public:
  explicit LineReader(const std::function<std::string_view()>& next_block) : next_block_(next_block) {}

  // The next line without its end; false after the last one. A line is valid until the next call.
  bool next(std::string_view& line) {
    joined_.clear();
    while (true) {
      if (rest_.empty()) {
        rest_ = next_block_();
        if (rest_.empty()) {  // the last line may have no end
          line = joined_;
          return !joined_.empty();
        }
      }
      const std::size_t end = rest_.find('\n');
      const std::string_view part = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      if (end == std::string_view::npos || !joined_.empty()) joined_ += part;
      if (end == std::string_view::npos) continue;
      line = joined_.empty() ? part : std::string_view(joined_);
      return true;
    }
  }

 private:
  const std::function<std::string_view()>& next_block_;
  std::string_view rest_;
  std::string joined_;  // a line that began in an earlier block
};

struct Compiler {
  explicit Compiler(const std::function<std::string_view()>& next_block) : lines(next_block) {}

  LineReader lines;
  std::uint64_t line_number = 0;
  std::vector<std::uint64_t> expected;  // n-grams per order by the header
  Vocabulary vocabulary;
  std::vector<UnigramEntry> unigrams;
  std::vector<std::uint8_t> seen_unigram;
  std::vector<Builder> tables;  // [0] for bigrams

  [[noreturn]] void fail(const std::string& message) const { throw ArpaError{line_number, message}; }

  bool next(std::string_view& line) {
    if (!lines.next(line)) return false;
    ++line_number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    return true;
  }

  // A logarithm is at least kLogZero: sums and differences of infinities would be no numbers.
  float number(std::string_view text, const char* what) const {
    double value = 0;
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    if (!parse_number(text, value) || std::isnan(value)) {
      fail(std::string(what) + " '" + std::string(text) + "' is not a number");
    }
    if (value > -kLogZero) fail(std::string(what) + " '" + std::string(text) + "' is too large");
    return static_cast<float>(std::max(value, kLogZero));
  }

  void read_header() {
    std::string_view line;
    do {
      if (!next(line)) fail("no \\data\\ section");
    } while (line != "\\data\\");
    while (next(line) && line.substr(0, 6) == "ngram ") {
      std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) fail("no = in an ngram line");
      int order = static_cast<int>(number(line.substr(6, equals - 6), "the order"));
      std::uint64_t count = 0;
      auto text = line.substr(equals + 1);
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
      if (error != std::errc() || end != text.data() + text.size()) fail("the number of n-grams is not a number");
      if (order != static_cast<int>(expected.size()) + 1) fail("the orders are not 1, 2, 3, ...");
      if (order > kMaxOrder) fail("orders above " + std::to_string(kMaxOrder) + " are not supported");
      expected.push_back(count);
    }
    if (expected.empty()) fail("the \\data\\ section names no order");
    for (std::size_t k = 1; k < expected.size(); ++k)
      tables.emplace_back(std::min<std::uint64_t>(expected[k], 1 << 26));
  }

  // The chain of keys of the last 2, 3, ... words of words[0..length).
  static std::uint64_t key_of(const WordId* words, int length) {
    std::uint64_t key = first_key(words[length - 1]);
    for (int i = length - 2; i >= 0; --i) key = next_key(key, words[i]);
    return key;
  }

  float* probability(const WordId* words, int length) {
    if (length == 1) return &unigrams[words[0]].probability;
    MiddleEntry* entry = tables[length - 2].get(key_of(words, length));
    return entry ? &entry->probability : nullptr;
  }
  float* backoff(const WordId* words, int length) {
    if (length == 1) return &unigrams[words[0]].backoff;
    MiddleEntry* entry = tables[length - 2].get(key_of(words, length));
    return entry ? &entry->backoff : nullptr;
  }

  // log10 of words[length-1] after the others, by backing off.
  float back_off(const WordId* words, int length) {
    if (float* known = probability(words, length)) return -std::fabs(*known);
    float* weight = backoff(words, length - 1);
    return (weight ? *weight : 0) + back_off(words + 1, length - 1);
  }

  // Makes sure that an n-gram is in its table: pruned models leave out suffixes and contexts of what they keep.
  void ensure(const WordId* words, int length) {
    if (length < 2 || probability(words, length)) return;
    float value = back_off(words, length);
    connect(words, length);
    bool fresh;
    MiddleEntry& entry = tables[length - 2].at(key_of(words, length), fresh);
    entry.probability = std::fabs(value);
    entry.backoff = -0.0f;
  }

  // Makes sure of an n-gram's suffix and context, and marks that something longer ends in the one and begins with the
  // other.
  void connect(const WordId* words, int length) {
    ensure(words + 1, length - 1);
    ensure(words, length - 1);
    float* below = probability(words + 1, length - 1);
    *below = -std::fabs(*below);
    float* context = backoff(words, length - 1);
    if (*context == 0) *context = 0.0f;
  }

  void read_order(int order, std::string_view& line) {
    while (line.empty()) {
      if (!next(line)) fail("the file ends before \\" + std::to_string(order) + "-grams:");
    }
    if (line != "\\" + std::to_string(order) + "-grams:") fail("\\" + std::to_string(order) + "-grams: expected here");
    std::uint64_t count = 0;
    bool highest = order == static_cast<int>(expected.size());
    while (true) {
      if (!next(line)) fail("the file ends in the middle of the " + std::to_string(order) + "-grams (truncated?)");
      if (line.empty() || line.front() == '\\') break;
      read_gram(order, highest, line);
      ++count;
    }
    if (count != expected[order - 1]) {
      fail(std::to_string(count) + " " + std::to_string(order) + "-grams, but the header says " +
           std::to_string(expected[order - 1]));
    }
  }

  void read_gram(int order, bool highest, std::string_view line) {
    std::array<std::string_view, kMaxOrder + 2> parts;
    int count = 0;
    std::size_t i = 0;
    while (i < line.size()) {
      while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
      std::size_t start = i;
      while (i < line.size() && line[i] != ' ' && line[i] != '\t') ++i;
      if (i == start) break;
      if (count > order + 1) fail("too many columns");
      parts[count++] = line.substr(start, i - start);
    }
    if (count != order + 1 && (highest || count != order + 2)) fail("a wrong number of columns");
    float log_probability = number(parts[0], "the probability");
    if (log_probability > 0) {
      if (log_probability > 1e-4) fail("a probability above one");
      log_probability = 0;
    }
    float weight = count == order + 2 ? number(parts[order + 1], "the back-off weight") : 0.0f;
    if (weight == 0) weight = -0.0f;  // until an n-gram that begins with this one says otherwise
    WordId words[kMaxOrder];
    for (int w = 0; w < order; ++w) {
      std::size_t before = vocabulary.size();
      words[w] = vocabulary.id(parts[w + 1]);
      if (order > 1 && (vocabulary.size() > before || !seen_unigram[words[w]])) {
        fail("the word '" + std::string(parts[w + 1]) + "' is not among the unigrams");
      }
    }
    if (order == 1) {
      if (unigrams.size() < vocabulary.size()) {
        unigrams.resize(vocabulary.size(), {100.0f, -0.0f});
        seen_unigram.resize(vocabulary.size());
      }
      if (seen_unigram[words[0]]) fail("the word '" + std::string(parts[1]) + "' stands twice");
      seen_unigram[words[0]] = 1;
      unigrams[words[0]] = {std::fabs(log_probability), weight};
      return;
    }
    bool fresh;
    connect(words, order);
    MiddleEntry& entry = tables[order - 2].at(key_of(words, order), fresh);
    if (!fresh) fail("the n-gram stands twice");
    entry.probability = std::fabs(log_probability);
    entry.backoff = weight;
  }

  void run() {
    read_header();
    std::string_view line;
    unigrams.resize(3, {100.0f, -0.0f});
    seen_unigram.resize(3);
    for (int order = 1; order <= static_cast<int>(expected.size()); ++order) read_order(order, line);
    while (line.empty()) {
      if (!next(line)) fail("no \\end\\ (truncated?)");
    }
    if (line != "\\end\\") fail("\\end\\ expected here");
    if (!seen_unigram[kBegin] || !seen_unigram[kEnd]) fail("<s> or </s> is not among the unigrams");
  }
};

}  // namespace

void compile_arpa(const std::function<std::string_view()>& next_block, const std::string& path) {
  Compiler compiler(next_block);
  compiler.run();
  const int order = static_cast<int>(compiler.expected.size());

  std::vector<WordEntry> words;
  std::uint64_t word_slots = 16;
  while (word_slots < 2 * compiler.vocabulary.size()) word_slots *= 2;
  words.resize(word_slots);
  for (WordId id = 0; id < compiler.vocabulary.size(); ++id) {
    std::uint64_t hash = hash_bytes(compiler.vocabulary.word(id)) | 1;
    std::uint64_t slot = hash & (word_slots - 1);
    while (words[slot].hash) slot = (slot + 1) & (word_slots - 1);
    words[slot] = {hash, id, 0};
  }

  ModelHeader header{};
  write_magic(header);
  header.order = static_cast<std::uint32_t>(order);
  header.words = compiler.unigrams.size();
  MappedWriter file(path, sizeof header);
  auto put = [&](const auto& records) {
    const std::uint64_t offset = file.align();
    file.write(records.data(), records.size() * sizeof(records[0]));
    return offset;
  };
  header.slots[0] = words.size();
  header.words_offset = put(words);
  header.grams[0] = compiler.expected[0];
  header.entries[0] = compiler.unigrams.size();
  header.offsets[0] = put(compiler.unigrams);
  for (int k = 2; k <= order; ++k) {
    const auto& slots = compiler.tables[k - 2].slots();
    header.grams[k - 1] = compiler.expected[k - 1];
    header.entries[k - 1] = compiler.tables[k - 2].filled();
    header.slots[k - 1] = slots.size();
    if (k < order) {
      header.offsets[k - 1] = put(slots);
      continue;
    }
    header.offsets[k - 1] = file.align();
    for (const MiddleEntry& entry : slots) file.plain(LongestEntry{entry.key, entry.probability});
  }
  file.finish(header);
}

}  // namespace treeglot::lm
