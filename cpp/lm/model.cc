#include "lm/model.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/hash.hh"
#include "base/words.hh"
#include "lm/keys.hh"

namespace treeglot::lm {
namespace {

// Sums of logarithms that a compiled model can give are far below this; what is beyond, or no number, is damage.
constexpr float kHighest = 1e5f;

// A search goes on until a free slot; it never passes more slots than this. No table that was compiled comes near.
constexpr std::uint64_t kLongestRun = 1 << 20;

// Whether every key of a table is found, and `entries` of them are there: an entry must not have a free slot between
// its first slot and itself, nor another one with its key. `home(slot)` is an entry's first slot, `used(slot)` whether
// there is one.
template <class Used, class Home, class Same>
void check_slots(std::uint64_t slots, std::uint64_t entries, Used used, Home home, Same same) {
  std::uint64_t first_free = 0;
  while (first_free < slots && used(first_free)) ++first_free;
  if (first_free == slots) throw std::runtime_error("damaged: a table without a free slot");
  std::uint64_t count = 0, run = 0;
  for (std::uint64_t i = 1; i <= slots; ++i) {  // from one free slot around to the same
    const std::uint64_t at = first_free + i - (first_free + i >= slots ? slots : 0);
    if (!used(at)) {
      run = 0;
      continue;
    }
    ++count;
    if (++run > kLongestRun) throw std::runtime_error("damaged: a table with too few free slots");
    const std::uint64_t first = home(at), away = at >= first ? at - first : at + slots - first;
    if (away >= run) throw std::runtime_error("damaged: an entry that is not found");
    for (std::uint64_t k = 1; k <= away; ++k) {
      if (same(at, at >= k ? at - k : at + slots - k)) throw std::runtime_error("damaged: an entry stands twice");
    }
  }
  if (count != entries) throw std::runtime_error("damaged: not as many entries as the header says");
}

template <class Entry>
void check_table(const Entry* table, std::uint64_t slots, std::uint64_t entries) {
  check_slots(
      slots, entries, [&](std::uint64_t slot) { return table[slot].key != 0; },
      [&](std::uint64_t slot) { return first_slot(table[slot].key, slots); },
      [&](std::uint64_t one, std::uint64_t two) { return table[one].key == table[two].key; });
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    bool good = std::fabs(table[slot].probability) < kHighest;
    if constexpr (requires { table[slot].backoff; }) good = good && std::fabs(table[slot].backoff) < kHighest;
    if (!good) throw std::runtime_error("damaged: a probability or a back-off weight is no number");
  }
}

template <class Entry>
inline const Entry* find(const Entry* table, std::uint64_t slots, std::uint64_t key) {
  std::uint64_t slot = first_slot(key, slots);
  for (std::uint64_t passed = 0; table[slot].key && passed < kLongestRun; ++passed) {
    if (table[slot].key == key) return &table[slot];
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  return nullptr;
}

}  // namespace

void damaged(const char* what) {
  throw std::runtime_error(std::string("the language model is damaged: ") + what + "; compile it again");
}

Model::Model(const std::string& path, bool verify) : file_(path) {
  header_ = checked_header<ModelHeader>(file_, kMagic, kVersion, model_probe(), "a compiled treeglot language model");
  check_layout();
  const ModelHeader& h = header_;
  order_ = static_cast<int>(h.order);
  words_ = mapped_records<WordEntry>(file_, h.words_offset, h.slots[0], file_.size());
  unigrams_ = mapped_records<UnigramEntry>(file_, h.offsets[0], h.words, file_.size());
  for (int k = 2; k < order_; ++k) {
    middle_[k - 1] = mapped_records<MiddleEntry>(file_, h.offsets[k - 1], h.slots[k - 1], file_.size());
  }
  if (order_ > 1) {
    longest_ = mapped_records<LongestEntry>(file_, h.offsets[order_ - 1], h.slots[order_ - 1], file_.size());
  }
  verify_file(file_, header_, verify, [this] { check_structure(); });
}

// The parts stand one behind the other, as they were written, and all numbers agree with that.
void Model::check_layout() const {
  const ModelHeader& h = header_;
  need_part(h.order >= 1 && h.order <= kMaxOrder && h.words > kEnd && h.words <= 0xFFFFFFFF &&
            std::has_single_bit(h.slots[0]) && h.slots[0] / 2 >= h.words && h.entries[0] == h.words &&
            h.grams[0] <= h.words && h.words_offset == sizeof(ModelHeader));
  std::uint64_t end = next_part(h.words_offset, h.slots[0], sizeof(WordEntry), file_.size());
  need_part(h.offsets[0] == end);
  end = next_part(end, h.words, sizeof(UnigramEntry), file_.size());
  for (std::uint32_t k = 2; k <= kMaxOrder; ++k) {
    const std::uint64_t slots = h.slots[k - 1], entries = h.entries[k - 1];
    if (k > h.order) {
      need_part(slots == 0 && entries == 0 && h.grams[k - 1] == 0 && h.offsets[k - 1] == 0);
      continue;
    }
    need_part(h.offsets[k - 1] == end && entries < slots && h.grams[k - 1] <= entries);
    end = next_part(end, slots, k < h.order ? sizeof(MiddleEntry) : sizeof(LongestEntry), file_.size(),
                    k < h.order ? 8 : 1);
  }
  need_part(end == file_.size());
}

void Model::check_structure() const {
  const ModelHeader& h = header_;
  std::vector<bool> seen(h.words);
  for (std::uint64_t slot = 0; slot < h.slots[0]; ++slot) {
    const WordEntry& entry = words_[slot];
    if (entry.hash == 0) continue;
    if (!(entry.hash & 1) || entry.id >= h.words || seen[entry.id]) {
      throw std::runtime_error("damaged: the word table is none");
    }
    seen[entry.id] = true;
  }
  check_slots(
      h.slots[0], h.words, [&](std::uint64_t slot) { return words_[slot].hash != 0; },
      [&](std::uint64_t slot) { return words_[slot].hash & (h.slots[0] - 1); },
      [&](std::uint64_t one, std::uint64_t two) { return words_[one].hash == words_[two].hash; });
  for (std::uint64_t id = 0; id < h.words; ++id) {
    if (!(std::fabs(unigrams_[id].probability) < kHighest) || !(std::fabs(unigrams_[id].backoff) < kHighest)) {
      throw std::runtime_error("damaged: a probability or a back-off weight is no number");
    }
  }
  for (int k = 2; k < order_; ++k) check_table(middle_[k - 1], h.slots[k - 1], h.entries[k - 1]);
  if (order_ > 1) check_table(longest_, h.slots[order_ - 1], h.entries[order_ - 1]);
}

std::uint64_t Model::grams(int order) const {
  if (order < 1 || order > order_) {
    throw std::out_of_range("order " + std::to_string(order) + ": the model has orders from 1 to " +
                            std::to_string(order_));
  }
  return header_.grams[order - 1];
}

WordId Model::id(std::string_view word) const {
  std::uint64_t hash = hash_bytes(word) | 1;
  std::uint64_t mask = header_.slots[0] - 1;
  std::uint64_t i = hash & mask;
  for (std::uint64_t passed = 0; words_[i].hash && passed < kLongestRun; ++passed, i = (i + 1) & mask) {
    if (words_[i].hash != hash) continue;
    if (words_[i].id >= header_.words) damaged("the number of a word is beyond the vocabulary");
    return words_[i].id;
  }
  return kUnknown;
}

State Model::begin_state() const {
  State state;
  state.words[0] = kBegin;
  state.backoff[0] = unigrams_[kBegin].backoff;
  if (!(std::fabs(state.backoff[0]) < kHighest)) damaged("a back-off weight is no number");
  state.length = order_ > 1 ? 1 : 0;
  return state;
}

Score Model::score(const State& in, WordId word, State& out) const {
  const UnigramEntry& unigram = unigrams_[word];
  float probability = unigram.probability;
  const int most = std::min<int>(in.length, order_ - 1);  // words before this one that the model can use
  bool extends = std::signbit(probability) && order_ > 1;
  out.backoff[0] = unigram.backoff;
  int kept = order_ > 1 && !(unigram.backoff == 0 && std::signbit(unigram.backoff)) ? 1 : 0;
  int used = 1;
  std::uint64_t key = first_key(word);
  for (int i = 0; i < most && extends; ++i) {
    std::uint64_t longer = next_key(key, in.words[i]);
    int length = i + 2;
    std::uint64_t slots = header_.slots[length - 1];
    if (length == order_) {
      if (const LongestEntry* entry = find(longest_, slots, longer)) {
        probability = entry->probability;
        key = longer;
        extends = false;
        used = length;
      }
      break;
    }
    const MiddleEntry* entry = find(middle_[length - 1], slots, longer);
    if (!entry) break;
    key = longer;
    probability = entry->probability;
    extends = std::signbit(probability);
    float backoff = entry->backoff;
    out.backoff[length - 1] = backoff;
    if (!(backoff == 0 && std::signbit(backoff))) kept = length;
    used = length;
  }
  float total = -std::fabs(probability);
  for (int i = used - 1; i < in.length; ++i) total += in.backoff[i];
  // Back-off weights of `out` are looked at when they are charged.
  if (!(std::fabs(total) < kHighest)) damaged("a probability or a back-off weight is no number");
  out.length = static_cast<std::uint8_t>(kept);
  if (kept > 0) {
    out.words[0] = word;
    for (int i = 1; i < kept; ++i) out.words[i] = in.words[i - 1];
  }
  return {total, static_cast<std::uint8_t>(used), extends, key};
}

Extension Model::extend(std::uint64_t key, float probability, int length, const WordId* before, int words,
                        float* backoff) const {
  Extension result{probability, 0, 0, true, key};
  words = std::min(words, order_ - length);
  for (int i = 0; i < words && result.extends; ++i) {
    std::uint64_t longer = next_key(result.key, before[i]);
    int total = length + i + 1;
    std::uint64_t slots = header_.slots[total - 1];
    std::uint8_t context = static_cast<std::uint8_t>(i + 1);
    if (total == order_) {
      if (const LongestEntry* entry = find(longest_, slots, longer)) {
        result = {-std::fabs(entry->probability), context, result.kept, false, longer};
      }
      break;
    }
    const MiddleEntry* entry = find(middle_[total - 1], slots, longer);
    if (!entry) break;
    backoff[i] = entry->backoff;
    bool needed = !(entry->backoff == 0 && std::signbit(entry->backoff));
    result = {-std::fabs(entry->probability), context, needed ? context : result.kept, std::signbit(entry->probability),
              longer};
  }
  if (!(result.probability > -kHighest)) damaged("a probability is no number");
  return result;
}

Score Model::checked_score(const State& in, WordId word, State& out) const {
  if (word >= words()) {
    throw std::out_of_range("word " + std::to_string(word) + ": the model has words from 0 to " +
                            std::to_string(words() - 1));
  }
  return score(in, word, out);
}

LineScore Model::score_line(std::string_view line) const {
  State states[2];
  states[0] = begin_state();
  int now = 0;
  LineScore result;
  for_each_word(line, [&](std::string_view text) {
    const WordId word = id(text);
    result.unknown += word == kUnknown;
    ++result.tokens;
    result.log10 += score(states[now], word, states[1 - now]).log10;
    now = 1 - now;
  });
  result.log10 += score(states[now], kEnd, states[1 - now]).log10;
  return result;
}

std::vector<LineScore> Model::score_text(std::string_view text) const {
  std::vector<LineScore> result;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t stop = std::min(text.find('\n', position), text.size());
    result.push_back(score_line(text.substr(position, stop - position)));
    position = stop + 1;
  }
  return result;
}

}  // namespace treeglot::lm
