#include "lm/model.hh"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/hash.hh"
#include "base/mapped_header.hh"
#include "lm/keys.hh"

namespace treeglot::lm {
namespace {

template <class Entry>
inline const Entry* find(const Entry* table, std::uint64_t slots, std::uint64_t key) {
  for (std::uint64_t slot = first_slot(key, slots); table[slot].key; slot = slot + 1 == slots ? 0 : slot + 1) {
    if (table[slot].key == key) return &table[slot];
  }
  return nullptr;
}

}  // namespace

Model::Model(const std::string& path, bool verify) : file_(path) {
  header_ = checked_header<ModelHeader>(file_, kMagic, kVersion, "not a compiled treeglot language model",
                                        "compiled by another version of treeglot");
  if (verify &&
      hash_bytes(file_.data() + sizeof(ModelHeader), file_.size() - sizeof(ModelHeader)) != header_->checksum) {
    throw std::runtime_error("damaged: the checksum does not fit");
  }
  unigrams_ = reinterpret_cast<const UnigramEntry*>(file_.data() + header_->offsets[0]);
  words_ = reinterpret_cast<const WordEntry*>(file_.data() + header_->words_offset);
  for (int k = 2; k < order(); ++k) {
    middle_[k - 1] = reinterpret_cast<const MiddleEntry*>(file_.data() + header_->offsets[k - 1]);
  }
  if (order() > 1) longest_ = reinterpret_cast<const LongestEntry*>(file_.data() + header_->offsets[order() - 1]);
}

WordId Model::id(std::string_view word) const {
  std::uint64_t hash = hash_bytes(word) | 1;
  std::uint64_t mask = header_->slots[0] - 1;
  for (std::uint64_t i = hash & mask; words_[i].hash; i = (i + 1) & mask) {
    if (words_[i].hash == hash) return words_[i].id;
  }
  return kUnknown;
}

State Model::begin_state() const {
  State state;
  state.words[0] = kBegin;
  state.backoff[0] = unigrams_[kBegin].backoff;
  state.length = order() > 1 ? 1 : 0;
  return state;
}

Score Model::score(const State& in, WordId word, State& out) const {
  const UnigramEntry& unigram = unigrams_[word];
  float probability = unigram.probability;
  bool extends = std::signbit(probability);
  out.backoff[0] = unigram.backoff;
  int kept = order() > 1 && !(unigram.backoff == 0 && std::signbit(unigram.backoff)) ? 1 : 0;
  int used = 1;
  std::uint64_t key = first_key(word);
  for (int i = 0; i < in.length && extends; ++i) {
    std::uint64_t longer = next_key(key, in.words[i]);
    int length = i + 2;
    std::uint64_t slots = header_->slots[length - 1];
    if (length == order()) {
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
  for (int i = 0; i < words && result.extends; ++i) {
    std::uint64_t longer = next_key(result.key, before[i]);
    int total = length + i + 1;
    std::uint64_t slots = header_->slots[total - 1];
    std::uint8_t found = static_cast<std::uint8_t>(i + 1);
    if (total == order()) {
      if (const LongestEntry* entry = find(longest_, slots, longer)) {
        result = {-std::fabs(entry->probability), found, result.kept, false, longer};
      }
      break;
    }
    const MiddleEntry* entry = find(middle_[total - 1], slots, longer);
    if (!entry) break;
    backoff[i] = entry->backoff;
    bool needed = !(entry->backoff == 0 && std::signbit(entry->backoff));
    result = {-std::fabs(entry->probability), found, needed ? found : result.kept, std::signbit(entry->probability),
              longer};
  }
  return result;
}

double Model::score_line(std::string_view line, std::uint64_t& tokens, std::uint64_t& unknown) const {
  State states[2];
  states[0] = begin_state();
  int now = 0;
  double total = 0;
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r')) ++i;
    if (i >= line.size()) break;
    std::size_t start = i;
    while (i < line.size() && line[i] != ' ' && line[i] != '\t' && line[i] != '\r') ++i;
    WordId word = id(line.substr(start, i - start));
    unknown += word == kUnknown;
    ++tokens;
    total += score(states[now], word, states[1 - now]).log10;
    now = 1 - now;
  }
  return total + score(states[now], kEnd, states[1 - now]).log10;
}

}  // namespace treeglot::lm
