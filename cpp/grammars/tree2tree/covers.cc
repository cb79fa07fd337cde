#include "grammars/tree2tree/covers.hh"

#include <algorithm>

namespace treeglot {

void TreeCovers::reset(const ParsedSentence& sentence) {
  tree_.reset(sentence);
  words_ = static_cast<std::uint32_t>(sentence.size());
  const std::uint32_t size = tree_.size();
  spans_.resize(size);
  depths_.resize(size);
  tops_.resize(size);
  if (from_.size() < words_) from_.resize(words_);
  for (std::uint32_t j = 0; j < words_; ++j) from_[j].clear();
  for (std::uint32_t n = 0; n < size; ++n) {  // parents come before their children
    if (tree_.is_preterminal(n)) {
      spans_[n] = {tree_.word(n), tree_.word(n) + 1};
    } else {
      spans_[n] = {sentence.phrases[n].begin, sentence.phrases[n].end};
    }
    const std::int32_t parent = tree_.parent(n);
    depths_[n] = parent < 0 ? 0 : depths_[parent] + 1;
    tops_[n] = parent >= 0 && spans_[parent] == spans_[n] ? tops_[parent] : n;
    if (tops_[n] == n) from_[spans_[n].begin].push_back(n);
  }
}

std::uint32_t TreeCovers::largest(std::uint32_t begin, std::uint32_t end) const {
  const std::vector<std::uint32_t>& nodes = from_[begin];
  // The last is a word or over one, so there is always such a node.
  return *std::partition_point(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return spans_[n].end > end; });
}

void TreeCovers::cover(WordSpan span, std::vector<std::uint32_t>& out) const {
  out.clear();
  for (std::uint32_t place = span.begin; place < span.end; place = spans_[out.back()].end) {
    out.push_back(largest(place, span.end));
  }
}

std::size_t TreeCovers::trees(WordSpan span) const {
  std::size_t count = 0;
  for (std::uint32_t place = span.begin; place < span.end; ++count) place = spans_[largest(place, span.end)].end;
  return count;
}

// A span that some `most` nodes make up side by side has a cover of at most as many.
void TreeCovers::spans(std::size_t most, std::vector<WordSpan>& out) const {
  out.clear();
  std::vector<std::uint32_t> ends, fresh;
  for (std::uint32_t begin = 0; begin < words_; ++begin) {
    ends.clear();
    std::vector<std::uint32_t> last{begin};
    for (std::size_t step = 0; step < most && !last.empty(); ++step) {
      fresh.clear();
      for (std::uint32_t place : last) {
        if (place == words_) continue;
        for (std::uint32_t node : from_[place]) fresh.push_back(spans_[node].end);
      }
      std::sort(fresh.begin(), fresh.end());
      fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
      ends.insert(ends.end(), fresh.begin(), fresh.end());
      last = fresh;
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (std::uint32_t end : ends) out.push_back({begin, end});
  }
}

}  // namespace treeglot
