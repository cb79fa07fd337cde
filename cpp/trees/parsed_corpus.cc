#include "trees/parsed_corpus.hh"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace treeglot {

namespace {

template <class T>
std::span<const T> part(const std::vector<T>& all, const std::vector<std::uint64_t>& starts, std::size_t n) {
  return {all.data() + starts[n], all.data() + starts[n + 1]};
}

// One root, no cycle, every subtree without a gap.
void check_heads(std::span<const int> heads) {
  const int size = static_cast<int>(heads.size());
  int roots = 0;
  for (int head : heads) {
    if (head < -1 || head >= size) throw std::invalid_argument("a head is outside the sentence");
    roots += head < 0;
  }
  if (size > 0 && roots != 1) throw std::invalid_argument("a dependency tree needs exactly one root");
  std::vector<int> open(heads.size()), low(heads.size()), high(heads.size()), count(heads.size(), 1), queue;
  for (int i = 0; i < size; ++i) {
    low[i] = high[i] = i;
    if (heads[i] >= 0) ++open[heads[i]];
  }
  for (int i = 0; i < size; ++i) {
    if (open[i] == 0) queue.push_back(i);
  }
  for (std::size_t done = 0; done < queue.size(); ++done) {
    int node = queue[done], head = heads[node];
    if (high[node] - low[node] + 1 != count[node]) throw std::invalid_argument("the dependency tree is not projective");
    if (head < 0) continue;
    low[head] = std::min(low[head], low[node]);
    high[head] = std::max(high[head], high[node]);
    count[head] += count[node];
    if (--open[head] == 0) queue.push_back(head);
  }
  if (queue.size() != heads.size()) throw std::invalid_argument("the dependency tree has a cycle");
}

template <class Link>
void check_links(std::span<const Link> links, std::size_t source_size, std::size_t target_size, const char* what,
                 const char* of) {
  for (const Link& link : links) {
    if (link.source < source_size && link.target < target_size) continue;
    throw std::invalid_argument(std::string(what) + std::to_string(link.source) + "-" + std::to_string(link.target) +
                                " is outside the sentences of " + std::to_string(source_size) + " and " +
                                std::to_string(target_size) + of);
  }
}

template <class Link>
void add_links(std::span<const Link> links, std::vector<Link>& all, std::vector<std::uint64_t>& starts) {
  const auto first = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), links.begin(), links.end());
  std::sort(all.begin() + first, all.end());
  all.erase(std::unique(all.begin() + first, all.end()), all.end());
  starts.push_back(all.size());
}

}  // namespace

void ParsedCorpus::check(const Columns& sentence) {
  const auto& [forms, tags, heads, phrases] = sentence;
  if (forms.size() > kMaxSentence) throw std::invalid_argument("a sentence of more than 65,535 words");
  if (!tags.empty() && tags.size() != forms.size()) throw std::invalid_argument("not as many tags as words");
  if (!heads.empty() && heads.size() != forms.size()) throw std::invalid_argument("not as many heads as words");
  check_heads(heads);
  const int size = static_cast<int>(forms.size());
  for (std::size_t n = 0; n < phrases.size(); ++n) {
    const Phrase& phrase = phrases[n];
    if (phrase.begin < 0 || phrase.begin >= phrase.end || phrase.end > size) {
      throw std::invalid_argument("a constituent is empty or outside the sentence");
    }
    if (phrase.parent >= static_cast<int>(n) || (phrase.parent < 0) != (n == 0)) {
      throw std::invalid_argument("constituents are not in preorder under one root");
    }
    if (n > 0) {
      const Phrase& parent = phrases[phrase.parent];
      if (phrase.begin < parent.begin || phrase.end > parent.end || phrase.begin < phrases[n - 1].begin) {
        throw std::invalid_argument("constituents are not nested or not in preorder");
      }
    }
  }
}

void ParsedCorpus::add(const Columns& sentence) {
  check(sentence);
  for (std::string_view form : sentence.words) word_ids_.push_back(words.id(form));
  if (sentence.tags.empty() && !sentence.words.empty()) {
    tag_ids_.insert(tag_ids_.end(), sentence.words.size(), categories.id("_"));
  }
  for (std::string_view tag : sentence.tags) tag_ids_.push_back(categories.id(tag));
  heads_.insert(heads_.end(), sentence.heads.begin(), sentence.heads.end());
  for (const Phrase& phrase : sentence.phrases) {
    phrases_.push_back({categories.id(phrase.label), static_cast<std::uint16_t>(phrase.begin),
                        static_cast<std::uint16_t>(phrase.end), phrase.parent});
  }
  word_starts_.push_back(word_ids_.size());
  head_starts_.push_back(heads_.size());
  phrase_starts_.push_back(phrases_.size());
}

ParsedSentence ParsedCorpus::operator[](std::size_t n) const {
  return {part(word_ids_, word_starts_, n), part(tag_ids_, word_starts_, n), part(heads_, head_starts_, n),
          part(phrases_, phrase_starts_, n)};
}

std::size_t ParsedCorpus::bytes() const {
  return words.bytes() + categories.bytes() + (word_ids_.capacity() + tag_ids_.capacity()) * sizeof(WordId) +
         heads_.capacity() * sizeof(std::int32_t) + phrases_.capacity() * sizeof(Constituent) +
         3 * word_starts_.capacity() * sizeof(std::uint64_t);
}

void ParsedBitext::add(const ParsedCorpus::Columns& source, const ParsedCorpus::Columns& target,
                       std::span<const WordLink> links, std::span<const NodeLink> node_links) {
  ParsedCorpus::check(source);
  ParsedCorpus::check(target);
  check_links(links, source.words.size(), target.words.size(), "link ", " words");
  check_links(node_links, source.phrases.size() + source.words.size(), target.phrases.size() + target.words.size(),
              "node link ", " nodes");
  source_.add(source);
  target_.add(target);
  add_links(links, links_, link_starts_);
  add_links(node_links, node_links_, node_link_starts_);
}

ParsedPair ParsedBitext::operator[](std::size_t n) const {
  return {source_[n], target_[n], part(links_, link_starts_, n), part(node_links_, node_link_starts_, n)};
}

std::size_t ParsedBitext::bytes() const {
  return source_.bytes() + target_.bytes() + links_.capacity() * sizeof(WordLink) +
         node_links_.capacity() * sizeof(NodeLink) +
         (link_starts_.capacity() + node_link_starts_.capacity()) * sizeof(std::uint64_t);
}

}  // namespace treeglot
