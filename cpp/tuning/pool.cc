#include "tuning/pool.hh"

#include <algorithm>
#include <bit>
#include <utility>

namespace treeglot::tuning {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 32);
}

}  // namespace

Pool::Pool(std::size_t sentences, std::size_t features, Metric metric)
    : metric_(std::move(metric)), features_(features), lists_(sentences), offsets_(sentences + 1, 0) {}

std::uint64_t Pool::hash(const List& list, std::size_t hypothesis) const {
  std::uint64_t result = 0;
  for (std::size_t f = 0; f < features_; ++f) {
    result = mix(result, std::bit_cast<std::uint64_t>(list.values[f * list.capacity + hypothesis]));
  }
  const std::int32_t* counts = list.counts.data() + hypothesis * metric_.counts();
  for (std::size_t i = 0; i < metric_.counts(); ++i) result = mix(result, static_cast<std::uint64_t>(counts[i]));
  return result;
}

void Pool::grow(List& list) {
  std::size_t capacity = std::max<std::size_t>(16, list.capacity * 3 / 2);
  std::vector<double> values(capacity * features_);
  for (std::size_t f = 0; f < features_; ++f) {
    std::copy_n(list.values.data() + f * list.capacity, list.size, values.data() + f * capacity);
  }
  list.values = std::move(values);
  list.capacity = capacity;
  list.slots.assign(std::bit_ceil(capacity * 2), 0);
  std::size_t mask = list.slots.size() - 1;
  for (std::size_t h = 0; h < list.size; ++h) {
    std::size_t slot = hash(list, h) & mask;
    while (list.slots[slot]) slot = (slot + 1) & mask;
    list.slots[slot] = static_cast<std::uint32_t>(h + 1);
  }
}

bool Pool::add(std::size_t sentence, const double* values, const std::int32_t* row) {
  List& list = lists_.at(sentence);
  const std::size_t fresh = list.size, width = metric_.counts();
  if (fresh == list.capacity) grow(list);
  for (std::size_t f = 0; f < features_; ++f) list.values[f * list.capacity + fresh] = values[f] + 0.0;  // no -0
  list.counts.resize((fresh + 1) * width);
  metric_.expand(row, list.counts.data() + fresh * width);
  std::size_t mask = list.slots.size() - 1, slot = hash(list, fresh) & mask;
  for (; list.slots[slot]; slot = (slot + 1) & mask) {
    std::size_t other = list.slots[slot] - 1;
    bool same = std::equal(counts(sentence, other), counts(sentence, other) + width, counts(sentence, fresh));
    for (std::size_t f = 0; same && f < features_; ++f) {
      same = list.values[f * list.capacity + other] == list.values[f * list.capacity + fresh];
    }
    if (same) {
      list.counts.resize(fresh * width);
      return false;
    }
  }
  list.slots[slot] = static_cast<std::uint32_t>(fresh + 1);
  ++list.size;
  return true;
}

void Pool::close() {
  for (std::size_t s = 0; s < lists_.size(); ++s) offsets_[s + 1] = offsets_[s] + size(s);
  size_ = offsets_.back();
}

void Pool::score(std::size_t sentence, const double* weights, double* out) const {
  std::size_t count = size(sentence);
  std::fill_n(out, count, 0.0);
  for (std::size_t f = 0; f < features_; ++f) {
    double weight = weights[f];
    if (weight == 0) continue;
    const double* values = column(sentence, f);
    for (std::size_t h = 0; h < count; ++h) out[h] += weight * values[h];
  }
}

Totals Pool::best(const double* weights) const {
  Totals totals(metric_.counts(), 0.0);
  std::vector<double> scores;
  for (std::size_t s = 0; s < lists_.size(); ++s) {
    if (size(s) == 0) continue;
    scores.resize(size(s));
    score(s, weights, scores.data());
    const auto highest = std::max_element(scores.begin(), scores.end()) - scores.begin();
    tuning::add(totals, counts(s, static_cast<std::size_t>(highest)));
  }
  return totals;
}

bool Pool::varies(std::size_t feature) const {
  for (std::size_t s = 0; s < lists_.size(); ++s) {
    const double* values = column(s, feature);
    for (std::size_t h = 1; h < size(s); ++h) {
      if (values[h] != values[0]) return true;
    }
  }
  return false;
}

}  // namespace treeglot::tuning
