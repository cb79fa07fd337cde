#include "table/phrase_counts.hh"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <thread>
#include <tuple>

#include "util/external_sort.hh"
#include "util/hash.hh"

namespace treeglot {

void LexicalTable::count(const SentencePair& pair) {
  std::vector<char> source_linked(pair.source.size()), target_linked(pair.target.size());
  auto add = [&](WordId source, WordId target) {
    ++pairs_[key(source, target)];
    ++sources_[source];
    ++targets_[target];
  };
  for (const WordLink& link : pair.links) {
    source_linked[link.source] = target_linked[link.target] = 1;
    add(pair.source[link.source], pair.target[link.target]);
  }
  for (std::size_t i = 0; i < pair.source.size(); ++i) {
    if (!source_linked[i]) add(pair.source[i], kNull);
  }
  for (std::size_t i = 0; i < pair.target.size(); ++i) {
    if (!target_linked[i]) add(kNull, pair.target[i]);
  }
}

namespace {

// Moses reads these from text with seven decimals; its scores can only be met with the same rounding.
double rounded(std::uint64_t part, std::uint64_t whole) {
  return std::round(1e7 * static_cast<double>(part) / static_cast<double>(whole)) / 1e7;
}

}  // namespace

double LexicalTable::target_given_source(WordId target, WordId source) const {
  auto found = pairs_.find(key(source, target));
  return found == pairs_.end() ? 0 : rounded(found->second, sources_.at(source));
}

double LexicalTable::source_given_target(WordId source, WordId target) const {
  auto found = pairs_.find(key(source, target));
  return found == pairs_.end() ? 0 : rounded(found->second, targets_.at(target));
}

std::uint64_t LexicalTable::target_total(WordId target) const {
  auto found = targets_.find(target);
  return found == targets_.end() ? 0 : found->second;
}

std::vector<LexicalTable::Item> LexicalTable::items() const {
  std::vector<Item> all;
  all.reserve(pairs_.size());
  for (const auto& [both, count] : pairs_) {
    all.push_back({static_cast<WordId>(both >> 32), static_cast<WordId>(both), count});
  }
  std::sort(all.begin(), all.end(),
            [](const Item& a, const Item& b) { return std::tie(a.source, a.target) < std::tie(b.source, b.target); });
  return all;
}

namespace {

// Where a phrase pair stands in the corpus.
struct Place {
  std::uint32_t sentence;
  std::uint16_t source_begin, target_begin;
  std::uint16_t source_length, target_length;
};

struct Occurrence {
  std::uint64_t source, target, alignment;  // hashes
  Place place;
  std::uint8_t before, after;
};

struct OccurrenceLess {
  bool operator()(const Occurrence& a, const Occurrence& b) const {
    return std::tie(a.source, a.target, a.alignment, a.place.sentence, a.place.source_begin, a.place.target_begin) <
           std::tie(b.source, b.target, b.alignment, b.place.sentence, b.place.source_begin, b.place.target_begin);
  }
};

struct Entry {
  std::uint64_t source, target;
  Place place;  // of one occurrence with the best alignment
  std::uint32_t count, source_count, target_count;
  std::array<std::uint32_t, 3> before, after;
};

struct TargetLess {
  bool operator()(const Entry& a, const Entry& b) const {
    return std::tie(a.target, a.source) < std::tie(b.target, b.source);
  }
};

std::uint64_t hash_phrase(std::span<const WordId> words) {
  return hash_bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
}

std::span<const WordId> source_of(const AlignedBitext& corpus, const Place& place) {
  return corpus[place.sentence].source.subspan(place.source_begin, place.source_length);
}
std::span<const WordId> target_of(const AlignedBitext& corpus, const Place& place) {
  return corpus[place.sentence].target.subspan(place.target_begin, place.target_length);
}

// The links of a phrase pair, counted from its first words.
void links_of(const SentencePair& pair, const Place& place, std::vector<WordLink>& out) {
  out.clear();
  WordLink first{place.source_begin, 0};
  for (auto link = std::lower_bound(pair.links.begin(), pair.links.end(), first);
       link != pair.links.end() && link->source < place.source_begin + place.source_length; ++link) {
    out.push_back({static_cast<std::uint16_t>(link->source - place.source_begin),
                   static_cast<std::uint16_t>(link->target - place.target_begin)});
  }
}

// Which of two equally frequent alignments is kept: the greater one, comparing the sets of source words of each target
// word.
bool greater_alignment(std::vector<WordLink> a, std::vector<WordLink> b, std::uint16_t target_length) {
  auto by_target = [](const WordLink& x, const WordLink& y) {
    return std::tie(x.target, x.source) < std::tie(y.target, y.source);
  };
  std::sort(a.begin(), a.end(), by_target);
  std::sort(b.begin(), b.end(), by_target);
  std::size_t i = 0, j = 0;
  for (std::uint16_t target = 0; target < target_length; ++target) {
    std::vector<std::uint16_t> left, right;
    for (; i < a.size() && a[i].target == target; ++i) left.push_back(a[i].source);
    for (; j < b.size() && b[j].target == target; ++j) right.push_back(b[j].source);
    if (left != right) return left > right;
  }
  return false;
}

// The order of text lines: by words, and a phrase that ends here as if "|||" followed.
struct TextLess {
  const AlignedBitext* corpus;
  WordId source_stop, target_stop;  // where "|||" would stand in each vocabulary

  static int compare(std::span<const WordId> a, std::span<const WordId> b, WordId stop) {
    std::size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
    if (i == a.size() && i == b.size()) return 0;
    // An ended phrase ranks just before the first word that is not below "|||".
    double left = i < a.size() ? a[i] : stop - 0.5, right = i < b.size() ? b[i] : stop - 0.5;
    return left < right ? -1 : 1;
  }
  bool operator()(const Entry& a, const Entry& b) const {
    if (a.source != b.source) {
      return compare(source_of(*corpus, a.place), source_of(*corpus, b.place), source_stop) < 0;
    }
    return a.target != b.target && compare(target_of(*corpus, a.place), target_of(*corpus, b.place), target_stop) < 0;
  }
};

WordId stop_rank(const SymbolTable& words) {
  WordId low = 0, high = static_cast<WordId>(words.size());
  while (low < high) {
    WordId middle = low + (high - low) / 2;
    if (words.word(middle) < "|||") {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

using OccurrenceSorter = ExternalSorter<Occurrence, OccurrenceLess>;

void extract_slice(const AlignedBitext& corpus, std::size_t first, std::size_t last, int max_length,
                   OccurrenceSorter& sorter, std::uint64_t& occurrences) {
  PhraseExtractor extractor(max_length);
  std::vector<WordLink> links;
  for (std::size_t n = first; n < last; ++n) {
    SentencePair pair = corpus[n];
    const auto& spans = extractor.extract(pair);
    occurrences += spans.size();
    std::uint64_t source_hash = 0;
    const PhraseSpan* previous = nullptr;
    for (const PhraseSpan& span : spans) {
      Place place{static_cast<std::uint32_t>(n), span.source_begin, span.target_begin,
                  static_cast<std::uint16_t>(span.source_end - span.source_begin),
                  static_cast<std::uint16_t>(span.target_end - span.target_begin)};
      if (!previous || previous->source_begin != span.source_begin || previous->source_end != span.source_end) {
        source_hash = hash_phrase(pair.source.subspan(place.source_begin, place.source_length));
      }
      previous = &span;
      links_of(pair, place, links);
      std::uint64_t alignment =
          hash_bytes(reinterpret_cast<const char*>(links.data()), links.size() * sizeof(WordLink));
      sorter.push({source_hash, hash_phrase(pair.target.subspan(place.target_begin, place.target_length)), alignment,
                   place, extractor.before(span), extractor.after(span)});
    }
  }
  sorter.finish();
}

// Reads several sorters as one.
class Merger {
 public:
  explicit Merger(std::vector<std::unique_ptr<OccurrenceSorter>>& sorters) : sorters_(sorters) {
    for (auto& sorter : sorters_) heads_.push_back(sorter->next());
  }
  const Occurrence* next() {
    if (taken_ >= 0) heads_[taken_] = sorters_[taken_]->next();
    taken_ = -1;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      if (heads_[i] && (taken_ < 0 || less_(*heads_[i], *heads_[taken_]))) taken_ = static_cast<int>(i);
    }
    return taken_ < 0 ? nullptr : heads_[taken_];
  }

 private:
  std::vector<std::unique_ptr<OccurrenceSorter>>& sorters_;
  std::vector<const Occurrence*> heads_;
  int taken_ = -1;
  OccurrenceLess less_;
};

}  // namespace

PhraseStatistics score_phrases(const AlignedBitext& corpus, const LexicalTable& lexicon, const PhraseOptions& options,
                               const std::function<void(const PhrasePair&)>& take) {
  PhraseStatistics statistics;
  std::size_t threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(corpus.size() / 100, 1));

  // Extract and sort: each thread a slice of the corpus.
  std::vector<std::unique_ptr<OccurrenceSorter>> sorters;
  std::vector<std::uint64_t> occurrences(threads);
  std::vector<std::exception_ptr> errors(threads);
  {
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t) {
      sorters.push_back(
          std::make_unique<OccurrenceSorter>(options.folder, options.memory / 2 / threads, OccurrenceLess{}));
    }
    for (std::size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        try {
          extract_slice(corpus, corpus.size() * t / threads, corpus.size() * (t + 1) / threads, options.max_length,
                        *sorters[t], occurrences[t]);
        } catch (...) {
          errors[t] = std::current_exception();
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  for (std::uint64_t count : occurrences) statistics.occurrences += count;

  // Count: equal pairs are neighbours; the best alignment is the most frequent one. Then the sum of each source.
  ExternalSorter<Entry, TargetLess> by_target(options.folder, options.memory / 4, TargetLess{});
  {
    Merger merger(sorters);
    std::vector<Entry> group;  // the pairs of one source
    std::uint64_t alignment = 0;
    std::uint32_t alignment_count = 0, best_count = 0;
    Place alignment_place{};
    std::vector<WordLink> links, best_links;
    auto close_alignment = [&] {
      if (group.empty()) return;
      if (alignment_count < best_count) return;
      if (alignment_count == best_count) {
        links_of(corpus[alignment_place.sentence], alignment_place, links);
        links_of(corpus[group.back().place.sentence], group.back().place, best_links);
        if (!greater_alignment(links, best_links, alignment_place.target_length)) return;
      }
      best_count = alignment_count;
      group.back().place = alignment_place;
    };
    auto close_source = [&] {
      close_alignment();
      std::uint32_t sum = 0;
      for (const Entry& entry : group) sum += entry.count;
      for (Entry& entry : group) {
        entry.source_count = sum;
        by_target.push(entry);
      }
      statistics.pairs += group.size();
      statistics.sources += !group.empty();
      group.clear();
    };
    while (const Occurrence* next = merger.next()) {
      bool new_source = group.empty() || group.back().source != next->source;
      if (new_source) close_source();
      bool new_pair = new_source || group.back().target != next->target;
      if (new_pair || alignment != next->alignment) {
        if (!new_source) close_alignment();
        if (new_pair) {
          group.push_back({next->source, next->target, next->place, 0, 0, 0, {}, {}});
          best_count = 0;
        }
        alignment = next->alignment;
        alignment_count = 0;
        alignment_place = next->place;
      }
      ++alignment_count;
      Entry& entry = group.back();
      ++entry.count;
      ++entry.before[next->before];
      ++entry.after[next->after];
    }
    close_source();
    sorters.clear();
  }

  // The sum of each target, then the final order.
  by_target.finish();
  TextLess text_less{&corpus, stop_rank(corpus.source_words), stop_rank(corpus.target_words)};
  ExternalSorter<Entry, TextLess> by_text(options.folder, options.memory / 4, text_less);
  {
    std::vector<Entry> group;
    auto close = [&] {
      std::uint32_t sum = 0;
      for (const Entry& entry : group) sum += entry.count;
      for (Entry& entry : group) {
        entry.target_count = sum;
        by_text.push(entry);
      }
      group.clear();
    };
    while (const Entry* next = by_target.next()) {
      if (!group.empty() && group.back().target != next->target) close();
      group.push_back(*next);
    }
    close();
  }
  by_text.finish();

  // Score.
  std::vector<WordLink> links;
  std::vector<double> sums;
  std::vector<int> degrees;
  while (const Entry* entry = by_text.next()) {
    SentencePair pair = corpus[entry->place.sentence];
    PhrasePair out{source_of(corpus, entry->place),
                   target_of(corpus, entry->place),
                   {},
                   entry->count,
                   entry->source_count,
                   entry->target_count,
                   1,
                   1,
                   entry->before,
                   entry->after};
    links_of(pair, entry->place, links);
    out.links = links;
    sums.assign(out.target.size(), 0);
    degrees.assign(out.target.size(), 0);
    for (const WordLink& link : links) {
      sums[link.target] += lexicon.target_given_source(out.target[link.target], out.source[link.source]);
      ++degrees[link.target];
    }
    for (std::size_t i = 0; i < out.target.size(); ++i) {
      out.lexical_target *=
          degrees[i] ? sums[i] / degrees[i] : lexicon.target_given_source(out.target[i], LexicalTable::kNull);
    }
    sums.assign(out.source.size(), 0);
    degrees.assign(out.source.size(), 0);
    for (const WordLink& link : links) {
      sums[link.source] += lexicon.source_given_target(out.source[link.source], out.target[link.target]);
      ++degrees[link.source];
    }
    for (std::size_t i = 0; i < out.source.size(); ++i) {
      out.lexical_source *=
          degrees[i] ? sums[i] / degrees[i] : lexicon.source_given_target(out.source[i], LexicalTable::kNull);
    }
    take(out);
  }
  return statistics;
}

}  // namespace treeglot
