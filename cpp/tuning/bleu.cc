#include "tuning/bleu.hh"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace treeglot::tuning {

namespace {

template <class Visit>
void split(std::string_view text, Visit visit) {
  for (std::size_t position = 0; position < text.size();) {
    std::size_t start = text.find_first_not_of(' ', position);
    if (start == std::string_view::npos) return;
    std::size_t stop = std::min(text.find(' ', start), text.size());
    visit(text.substr(start, stop - start));
    position = stop;
  }
}

std::uint64_t edge(std::uint32_t node, std::uint32_t word) { return static_cast<std::uint64_t>(node) << 32 | word; }

constexpr std::uint32_t kUnknown = 0xffffffffu;

}  // namespace

double bleu(const Totals& totals) {
  if (std::all_of(totals.correct.begin(), totals.correct.end(), [](std::int64_t count) { return count == 0; }))
    return 0;
  double product = 1, smoothing = 1;
  for (int n = 0; n < kOrder; ++n) {
    if (totals.total[n] <= 0) return 0;
    double total = static_cast<double>(totals.total[n]);
    product *= (totals.correct[n] > 0 ? static_cast<double>(totals.correct[n]) : 1 / (smoothing *= 2)) / total;
  }
  double score = 100 * std::sqrt(std::sqrt(product));  // kOrder is 4
  if (totals.length >= totals.reference) return score;
  return score * std::exp(1.0 - static_cast<double>(totals.reference) / static_cast<double>(totals.length));
}

double sentence_bleu(const Statistics& statistics) {
  if (statistics.length == 0) return 0;
  double product = 1;
  for (int n = 0; n < kOrder; ++n) product *= (statistics.correct[n] + 1.0) / (statistics.total(n) + 1.0);
  double shortfall = 1.0 - (statistics.reference + 1.0) / statistics.length;
  double score = std::sqrt(std::sqrt(product));
  return shortfall < 0 ? score * std::exp(shortfall) : score;
}

References::References(const std::vector<std::vector<std::string>>& references) : sentences_(references.size()) {
  std::vector<std::uint32_t> ids, nodes;
  std::vector<std::int32_t> counts;
  for (std::size_t i = 0; i < references.size(); ++i) {
    Sentence& sentence = sentences_[i];
    sentence.limit.push_back(0);
    for (const std::string& text : references[i]) {
      ids.clear();
      split(text, [&](std::string_view word) {
        ids.push_back(words_.try_emplace(std::string(word), static_cast<std::uint32_t>(words_.size())).first->second);
      });
      sentence.lengths.push_back(static_cast<std::int32_t>(ids.size()));
      counts.assign(sentence.limit.size(), 0);
      for (std::size_t begin = 0; begin < ids.size(); ++begin) {
        std::uint32_t node = 0;
        for (std::size_t j = begin; j < std::min(ids.size(), begin + kOrder); ++j) {
          auto next = static_cast<std::uint32_t>(counts.size());
          node = sentence.children.try_emplace(edge(node, ids[j]), next).first->second;
          if (node == next) counts.push_back(0);
          ++counts[node];
        }
      }
      sentence.limit.resize(counts.size(), 0);
      for (std::size_t node = 0; node < counts.size(); ++node) {
        sentence.limit[node] = std::max(sentence.limit[node], counts[node]);
      }
    }
  }
}

Statistics References::statistics(std::size_t index, std::string_view text) const {
  const Sentence& sentence = sentences_.at(index);
  std::vector<std::uint32_t> ids;
  std::string key;
  split(text, [&](std::string_view word) {
    key.assign(word);
    auto known = words_.find(key);
    ids.push_back(known == words_.end() ? kUnknown : known->second);
  });
  Statistics result;
  result.length = static_cast<std::int32_t>(ids.size());
  std::vector<std::int32_t> left = sentence.limit;
  for (std::size_t begin = 0; begin < ids.size(); ++begin) {
    std::uint32_t node = 0;
    for (std::size_t j = begin; j < std::min(ids.size(), begin + kOrder); ++j) {
      auto child = sentence.children.find(edge(node, ids[j]));
      if (child == sentence.children.end()) break;
      node = child->second;
      if (left[node] > 0) {
        --left[node];
        ++result.correct[j - begin];
      }
    }
  }
  std::int32_t best = -1;
  for (std::int32_t length : sentence.lengths) {
    std::int32_t distance = std::abs(length - result.length);
    if (best < 0 || distance < best || (distance == best && length < result.reference)) {
      best = distance;
      result.reference = length;
    }
  }
  return result;
}

}  // namespace treeglot::tuning
