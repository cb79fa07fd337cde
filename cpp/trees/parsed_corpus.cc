#include "trees/parsed_corpus.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "trees/link_columns.hh"

namespace treeglot {

void TreeChecker::check_heads(std::span<const std::int32_t> heads) {
  const int size = static_cast<int>(heads.size());
  int roots = 0;
  for (int head : heads) {
    if (head < -1 || head >= size) throw std::invalid_argument("a head is outside the sentence");
    roots += head < 0;
  }
  if (size > 0 && roots != 1) throw std::invalid_argument("a dependency tree needs exactly one root");
  open_.assign(heads.size(), 0);
  low_.resize(heads.size());
  high_.resize(heads.size());
  count_.assign(heads.size(), 1);
  queue_.clear();
  for (int i = 0; i < size; ++i) {
    low_[i] = high_[i] = i;
    if (heads[i] >= 0) ++open_[heads[i]];
  }
  for (int i = 0; i < size; ++i) {
    if (open_[i] == 0) queue_.push_back(i);
  }
  for (std::size_t done = 0; done < queue_.size(); ++done) {
    const int node = queue_[done], head = heads[node];
    if (high_[node] - low_[node] + 1 != count_[node]) {
      throw std::invalid_argument("the dependency tree is not projective");
    }
    if (head < 0) continue;
    low_[head] = std::min(low_[head], low_[node]);
    high_[head] = std::max(high_[head], high_[node]);
    count_[head] += count_[node];
    if (--open_[head] == 0) queue_.push_back(head);
  }
  if (queue_.size() != heads.size()) throw std::invalid_argument("the dependency tree has a cycle");
}

namespace {

TreeChecker& checker() {
  thread_local TreeChecker shared;
  return shared;
}

template <class Link>
void append_links(std::span<const Link> links, Column<Link>& column, Starts& starts) {
  append_sorted(links, column.own());
  starts.own().push_back(column.size());
}

template <class T>
void append(Column<T>& column, std::span<const T> values) {
  column.own().insert(column.own().end(), values.begin(), values.end());
}

}  // namespace

void ParsedCorpus::check(const Columns& sentence) {
  const auto& [forms, tags, heads, phrases, head_words, relations] = sentence;
  if (forms.size() > kMaxSentence) throw std::invalid_argument("a sentence of more than 65,535 words");
  if (!tags.empty() && tags.size() != forms.size()) throw std::invalid_argument("not as many tags as words");
  if (!heads.empty() && heads.size() != forms.size()) throw std::invalid_argument("not as many heads as words");
  if (!relations.empty() && relations.size() != heads.size()) {
    throw std::invalid_argument("not as many relations as heads");
  }
  checker().check_heads(heads);
  TreeChecker::check_phrases(phrases, static_cast<int>(forms.size()));
  if (!head_words.empty() && head_words.size() != phrases.size()) {
    throw std::invalid_argument("not as many head words as constituents");
  }
  for (std::size_t n = 0; n < head_words.size(); ++n) {
    if (head_words[n] != kNoHeadWord && (head_words[n] < phrases[n].begin || head_words[n] >= phrases[n].end)) {
      throw std::invalid_argument("the head word of a constituent is outside of it");
    }
  }
}

void ParsedCorpus::check(const ParsedCorpus& other, std::size_t n, std::span<const std::string_view> words) {
  if (n >= other.size()) throw std::invalid_argument("no such sentence");
  if (words.size() != other[n].size()) throw std::invalid_argument("not as many words as in the sentence");
}

void ParsedCorpus::add(const Columns& sentence) {
  check(sentence);
  append_checked(sentence);
}

void ParsedCorpus::append_checked(const Columns& sentence) {
  for (std::string_view form : sentence.words) word_ids_.own().push_back(words.id(form));
  std::vector<WordId>& tag_ids = tag_ids_.own();
  if (sentence.tags.empty() && !sentence.words.empty()) {
    tag_ids.insert(tag_ids.end(), sentence.words.size(), categories.id("_"));
  }
  for (std::string_view tag : sentence.tags) tag_ids.push_back(categories.id(tag));
  append(heads_, std::span<const std::int32_t>(sentence.heads));
  std::vector<WordId>& relation_ids = relation_ids_.own();
  if (sentence.relations.empty() && !sentence.heads.empty()) {
    relation_ids.insert(relation_ids.end(), sentence.heads.size(), relations.id("_"));
  }
  for (std::string_view relation : sentence.relations) relation_ids.push_back(relations.id(relation));
  for (const Phrase& phrase : sentence.phrases) {
    phrases_.own().push_back({categories.id(phrase.label), static_cast<std::uint16_t>(phrase.begin),
                              static_cast<std::uint16_t>(phrase.end), phrase.parent});
  }
  if (sentence.head_words.empty()) {
    head_words_.own().resize(phrases_.size(), kNoHeadWord);
  } else {
    append(head_words_, sentence.head_words);
  }
  end_sentence();
}

void ParsedCorpus::end_sentence() {
  word_starts_.own().push_back(word_ids_.size());
  head_starts_.own().push_back(heads_.size());
  phrase_starts_.own().push_back(phrases_.size());
  more_head_starts_.own().push_back(more_heads_.size());
  weight_starts_.own().push_back(weights_.size());
}

void ParsedCorpus::add(const ParsedCorpus& other, std::size_t n, std::span<const std::string_view> forms) {
  check(other, n, forms);
  const ParsedSentence sentence = other[n];
  for (std::string_view form : forms) word_ids_.own().push_back(words.id(form));
  for (WordId tag : sentence.tags) tag_ids_.own().push_back(categories.id(other.categories.word(tag)));
  append(heads_, sentence.heads);
  for (WordId relation : sentence.relations) {
    relation_ids_.own().push_back(relations.id(other.relations.word(relation)));
  }
  for (Constituent phrase : sentence.phrases) {
    phrase.label = categories.id(other.categories.word(phrase.label));
    phrases_.own().push_back(phrase);
  }
  append(head_words_, other.head_words(n));
  append(more_heads_, sentence.more_heads);
  append(weights_, sentence.weights);
  end_sentence();
}

void ParsedCorpus::add_parses(const ParsedCorpus& other, std::size_t from, double weight) {
  if (!(weight > 0) || !std::isfinite(weight)) throw std::invalid_argument("the weight of a tree is not above 0");
  auto refuse = [&](std::size_t n, const std::string& what) {
    throw std::invalid_argument("sentence " + std::to_string(from + n + 1) + ": " + what);
  };
  if (from > other.size() || other.size() - from < size()) {
    throw std::invalid_argument("ends after " + std::to_string(other.size()) + " sentences, but there are more");
  }
  Column<std::int32_t> heads;
  Column<double> weights;
  Starts head_starts{{0}}, weight_starts{{0}};
  for (std::size_t n = 0; n < size(); ++n) {
    const ParsedSentence sentence = (*this)[n], further = other[from + n];
    if (further.size() != sentence.size()) {
      refuse(n,
             std::to_string(further.size()) + " words, and " + std::to_string(sentence.size()) + " in the first tree");
    }
    for (std::size_t j = 0; j < sentence.size(); ++j) {
      const std::string &one = words.word(sentence.words[j]), &two = other.words.word(further.words[j]);
      if (one != two) {
        refuse(n, "word " + std::to_string(j + 1) + " is \"" + two + "\", and \"" + one + "\" in the first tree");
      }
    }
    append(heads, sentence.more_heads);
    append(weights, sentence.weights);
    if (sentence.has_dependency() && further.has_dependency()) {
      if (sentence.weights.empty()) weights.own().push_back(1);
      append(heads, further.heads);
      weights.own().push_back(weight);
    }
    head_starts.own().push_back(heads.size());
    weight_starts.own().push_back(weights.size());
  }
  more_heads_ = std::move(heads);
  weights_ = std::move(weights);
  more_head_starts_ = std::move(head_starts);
  weight_starts_ = std::move(weight_starts);
}

ParsedSentence ParsedCorpus::operator[](std::size_t n) const {
  return {part_of(word_ids_, word_starts_, n),        part_of(tag_ids_, word_starts_, n),
          part_of(heads_, head_starts_, n),           part_of(phrases_, phrase_starts_, n),
          part_of(more_heads_, more_head_starts_, n), part_of(weights_, weight_starts_, n),
          part_of(relation_ids_, head_starts_, n)};
}

std::vector<std::uint32_t> ParsedCorpus::binarize(Binarization direction) {
  std::vector<std::uint32_t> numbers(phrases_.size());
  Binarizer binarizer;
  std::vector<Constituent> fresh;
  std::vector<std::uint16_t> fresh_heads;
  std::vector<std::uint64_t> starts{0};
  std::vector<std::uint32_t> virtuals(categories.size(), 0);  // the virtual label of each label, 0: not known yet
  fresh.reserve(phrases_.size() + phrases_.size() / 4);
  auto refuse = [](std::size_t n, const std::string& what) {
    throw std::invalid_argument("sentence " + std::to_string(n + 1) + ": " + what);
  };
  for (std::size_t n = 0; n < size(); ++n) {
    const std::span<const Constituent> given = part_of(phrases_, phrase_starts_, n);
    const std::span<const std::uint16_t> heads = head_words(n);
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (categories.word(given[k].label).starts_with(kVirtual)) {
        refuse(n, "the tree has labels that begin with X@, as if it were binarised already");
      }
      if (direction == Binarization::kHead && heads[k] == kNoHeadWord) {
        refuse(n, "the head words of its constituents are not known");
      }
    }
    for (const Binarizer::Phrase& phrase :
         binarizer.run(given, heads, word_starts_[n + 1] - word_starts_[n], direction)) {
      std::uint32_t label = given[phrase.origin].label;
      if (phrase.is_virtual) {
        if (virtuals[label] == 0) {
          const std::string text = std::string(kVirtual) + categories.word(label);
          virtuals[label] = categories.id(text);
        }
        label = virtuals[label];
      } else {
        numbers[phrase_starts_[n] + phrase.origin] = static_cast<std::uint32_t>(fresh.size() - starts.back());
      }
      fresh.push_back({label, phrase.begin, phrase.end, phrase.parent});
      fresh_heads.push_back(phrase.is_virtual ? kNoHeadWord : heads[phrase.origin]);
    }
    starts.push_back(fresh.size());
  }
  phrases_ = std::move(fresh);
  head_words_ = std::move(fresh_heads);
  phrase_starts_ = std::move(starts);
  return numbers;
}

void ParsedCorpus::replace_words(std::span<const std::string> fresh) {
  if (fresh.size() != words.size()) throw std::invalid_argument("not as many words as there are");
  SymbolTable table;
  std::vector<WordId> numbers;
  numbers.reserve(fresh.size());
  for (const std::string& word : fresh) numbers.push_back(table.id(word));
  for (WordId& id : word_ids_.own()) id = numbers[id];
  words = std::move(table);
}

std::size_t ParsedCorpus::bytes() const {
  return words.bytes() + categories.bytes() + relations.bytes() + word_ids_.bytes() + tag_ids_.bytes() +
         relation_ids_.bytes() + heads_.bytes() + phrases_.bytes() + head_words_.bytes() + word_starts_.bytes() +
         head_starts_.bytes() + phrase_starts_.bytes() + more_heads_.bytes() + weights_.bytes() +
         more_head_starts_.bytes() + weight_starts_.bytes();
}

void ParsedBitext::add(const ParsedCorpus::Columns& source, const ParsedCorpus::Columns& target,
                       std::span<const WordLink> links, std::span<const NodeLink> node_links) {
  if (size() != sentences()) throw std::invalid_argument("no more pairs after the links of further alignments");
  ParsedCorpus::check(source);
  ParsedCorpus::check(target);
  add_checked(source, target, links, node_links);
}

void ParsedBitext::add_checked(const ParsedCorpus::Columns& source, const ParsedCorpus::Columns& target,
                               std::span<const WordLink> links, std::span<const NodeLink> node_links) {
  check_links(links, source.words.size(), target.words.size());
  check_links(node_links, source.phrases.size() + source.words.size(), target.phrases.size() + target.words.size(), 0,
              "node link ", " nodes");
  source_.append_checked(source);
  target_.append_checked(target);
  append_links(links, links_, link_starts_);
  append_links(node_links, node_links_, node_link_starts_);
  origins_.own().push_back(0);
}

void ParsedBitext::take(const Side& source, const Side& target, std::uint32_t origin) {
  if (size() != sentences()) throw std::invalid_argument("no more pairs after the links of further alignments");
  auto check = [](const Side& side) {
    if (side.corpus != nullptr) {
      ParsedCorpus::check(*side.corpus, side.number, side.words);
    } else {
      ParsedCorpus::check({side.words});
    }
  };
  auto put = [](ParsedCorpus& corpus, const Side& side) {
    if (side.corpus != nullptr) {
      corpus.add(*side.corpus, side.number, side.words);
    } else {
      corpus.add({side.words});
    }
  };
  check(source);
  check(target);
  put(source_, source);
  put(target_, target);
  append_links(std::span<const WordLink>(), links_, link_starts_);
  append_links(std::span<const NodeLink>(), node_links_, node_link_starts_);
  origins_.own().push_back(origin);
}

ParsedBitext ParsedBitext::select(std::span<const std::size_t> numbers) const {
  ParsedBitext part;
  std::vector<std::string_view> source, target;
  auto words = [](const ParsedCorpus& corpus, std::size_t n, std::vector<std::string_view>& out) {
    out.clear();
    for (WordId word : corpus[n].words) out.push_back(corpus.words.word(word));
  };
  for (std::size_t n : numbers) {
    const std::size_t place = n % sentences();
    words(source_, place, source);
    words(target_, place, target);
    part.source_.add(source_, place, source);
    part.target_.add(target_, place, target);
    const ParsedPair pair = (*this)[n];
    append_links(pair.links, part.links_, part.link_starts_);
    append_links(pair.node_links, part.node_links_, part.node_link_starts_);
    part.origins_.own().push_back(origin(place));
  }
  return part;
}

void ParsedBitext::add_links(std::span<const WordLink> links, std::span<const std::uint64_t> starts, bool first) {
  check_link_starts(links.size(), starts, sentences());
  Column<WordLink> sorted;
  Starts sorted_starts{{0}};
  sorted.own().reserve(links.size());
  for (std::size_t n = 0; n < sentences(); ++n) {
    const auto part = links.subspan(starts[n], starts[n + 1] - starts[n]);
    check_links(part, source_[n].size(), target_[n].size(), n);
    append_links(part, sorted, sorted_starts);
  }
  if (first) {
    links_ = std::move(sorted);
    link_starts_ = std::move(sorted_starts);
    weights_.clear();
    return;
  }
  const std::uint64_t before = links_.size();
  append(links_, sorted.all());
  for (std::uint64_t start : sorted_starts.all().subspan(1)) link_starts_.own().push_back(before + start);
}

void ParsedBitext::set_node_links(std::span<const NodeLink> links, std::span<const std::uint64_t> starts) {
  check_link_starts(links.size(), starts, sentences());
  Column<NodeLink> sorted;
  Starts sorted_starts{{0}};
  for (std::size_t n = 0; n < sentences(); ++n) {
    const auto part = links.subspan(starts[n], starts[n + 1] - starts[n]);
    const ParsedSentence source = source_[n], target = target_[n];
    check_links(part, source.phrases.size() + source.size(), target.phrases.size() + target.size(), n, "node link ",
                " nodes");
    append_links(part, sorted, sorted_starts);
  }
  node_links_ = std::move(sorted);
  node_link_starts_ = std::move(sorted_starts);
}

ParsedPair ParsedBitext::operator[](std::size_t n) const {
  const std::size_t sentence = n % sentences();
  return {source_[sentence], target_[sentence], part_of(links_, link_starts_, n),
          part_of(node_links_, node_link_starts_, sentence)};
}

void ParsedBitext::binarize(Binarization source, Binarization target) {
  std::vector<NodeLink> links(node_links_.all().begin(), node_links_.all().end());
  auto renumber = [&](ParsedCorpus& corpus, Binarization direction, std::uint32_t NodeLink::* side) {
    if (direction == Binarization::kNone) return;
    std::vector<std::size_t> before(links.empty() ? 0 : sentences());
    for (std::size_t n = 0; n < before.size(); ++n) before[n] = corpus[n].phrases.size();
    const std::vector<std::uint32_t> numbers = corpus.binarize(direction);
    std::size_t first = 0;
    for (std::size_t n = 0; n < before.size(); first += before[n], ++n) {
      const auto more = static_cast<std::uint32_t>(corpus[n].phrases.size() - before[n]);
      for (std::size_t k = node_link_starts_[n]; k < node_link_starts_[n + 1]; ++k) {
        std::uint32_t& node = links[k].*side;
        node = node < before[n] ? numbers[first + node] : node + more;
      }
    }
  };
  renumber(source_, source, &NodeLink::source);
  renumber(target_, target, &NodeLink::target);
  for (std::size_t n = 0; n + 1 < node_link_starts_.size(); ++n) {
    std::sort(links.begin() + static_cast<std::ptrdiff_t>(node_link_starts_[n]),
              links.begin() + static_cast<std::ptrdiff_t>(node_link_starts_[n + 1]));
  }
  node_links_ = std::move(links);
}

void ParsedBitext::replace_words(std::span<const std::string> source, std::span<const std::string> target) {
  if (source.size() != source_.words.size() || target.size() != target_.words.size()) {
    throw std::invalid_argument("not as many words as there are");
  }
  source_.replace_words(source);
  target_.replace_words(target);
}

std::size_t ParsedBitext::bytes() const {
  return source_.bytes() + target_.bytes() + links_.bytes() + node_links_.bytes() + origins_.bytes() +
         link_starts_.bytes() + node_link_starts_.bytes();
}

}  // namespace treeglot
