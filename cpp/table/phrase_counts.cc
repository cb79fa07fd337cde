#include "table/phrase_counts.hh"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "base/external_sort.hh"
#include "base/hash.hh"
#include "base/parallel.hh"

namespace treeglot {

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
  std::uint16_t weight;  // what it counts, in units
};
static_assert(AlignmentWeights::kUnit * AlignmentWeights::kMost <= 0xFFFF);

struct OccurrenceLess {
  bool operator()(const Occurrence& a, const Occurrence& b) const {
    return std::tie(a.source, a.target, a.alignment, a.place.sentence, a.place.source_begin, a.place.target_begin) <
           std::tie(b.source, b.target, b.alignment, b.place.sentence, b.place.source_begin, b.place.target_begin);
  }
};

struct Entry {
  std::uint64_t source, target;
  Place place;    // of one occurrence with the best alignment
  Place inverse;  // the same, seen from the target
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
    // Spans that were given need not be consistent with the links: those that lead out do not belong to the pair.
    if (link->target < place.target_begin || link->target >= place.target_begin + place.target_length) continue;
    out.push_back({static_cast<std::uint16_t>(link->source - place.source_begin),
                   static_cast<std::uint16_t>(link->target - place.target_begin)});
  }
}

// Which of two equally frequent alignments is kept: the greater one, comparing the sets of source words of each target
// word. Seen from the target it is the other way round, and the result may be another alignment.
bool greater_alignment(std::vector<WordLink> a, std::vector<WordLink> b, bool inverse) {
  for (std::vector<WordLink>* links : {&a, &b}) {
    if (inverse) {
      for (WordLink& link : *links) std::swap(link.source, link.target);
    }
    std::sort(links->begin(), links->end(), [](const WordLink& x, const WordLink& y) {
      return std::tie(x.target, x.source) < std::tie(y.target, y.source);
    });
  }
  // At the first difference, a word whose set ends there has the smaller set.
  auto [i, j] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (i == a.end()) return false;
  if (j == b.end()) return true;
  return i->target != j->target ? i->target < j->target : i->source > j->source;
}

// The order of text lines.
struct TextLess {
  const AlignedBitext* corpus;
  WordId source_stop, target_stop;

  bool operator()(const Entry& a, const Entry& b) const {
    if (a.source != b.source) {
      return compare_phrases(source_of(*corpus, a.place), source_of(*corpus, b.place), source_stop) < 0;
    }
    return a.target != b.target &&
           compare_phrases(target_of(*corpus, a.place), target_of(*corpus, b.place), target_stop) < 0;
  }
};

// A list that is read once, in order; beyond some length it goes to disk.
template <class Record>
class SpillingList {
 public:
  SpillingList(std::string folder, std::size_t memory)
      : folder_(std::move(folder)), limit_(std::max<std::size_t>(memory / sizeof(Record), 256)) {}
  bool empty() const { return list_.empty() && !file_; }
  Record& back() { return list_.back(); }
  void push(const Record& record) {
    if (list_.size() == limit_) {
      if (!file_) file_.emplace(folder_);
      file_->write(list_.data(), list_.size() * sizeof(Record));
      list_.clear();
    }
    list_.push_back(record);
  }
  template <class Take>
  void drain(Take take) {
    if (file_) {
      RecordReader<Record> reader(std::move(*file_));
      while (const Record* record = reader.next()) take(*record);
      file_.reset();
    }
    for (const Record& record : list_) take(record);
    list_.clear();
  }

 private:
  std::string folder_;
  std::size_t limit_;
  std::vector<Record> list_;
  std::optional<TemporaryFile> file_;
};

using OccurrenceSorter = ExternalSorter<Occurrence, OccurrenceLess>;

void extract_slice(const AlignedBitext& corpus, std::size_t first, std::size_t last, const PhraseOptions& options,
                   OccurrenceSorter& sorter, std::uint64_t& occurrences) {
  PhraseExtractor extractor(options.max_length);
  std::vector<WordLink> links;
  std::vector<PhraseSpan> spans;
  for (std::size_t n = first; n < last; ++n) {
    SentencePair pair = corpus[n];
    if (options.progress) {
      options.progress->check();
      // The first slice speaks for all.
      if (first == 0) options.progress->done = 0.4 * static_cast<double>(n) / static_cast<double>(last);
    }
    spans = extractor.extract(pair);
    if (!options.consistent) spans.clear();
    const std::size_t consistent = spans.size();
    auto is_consistent = [&](const PhraseSpan& span) {
      return std::binary_search(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(consistent), span);
    };
    // Given spans count once, with the first alignment.
    for (const SpanPairs& given : options.spans) {
      if (n >= corpus.sentences()) break;
      for (const PhraseSpan& span : given[n]) {
        if (span.source_end - span.source_begin <= options.max_length &&
            span.target_end - span.target_begin <= options.max_length && !(given.only_new() && is_consistent(span))) {
          spans.push_back(span);
        }
      }
    }
    occurrences += spans.size();
    std::uint64_t source_hash = 0;
    const PhraseSpan* previous = nullptr;
    std::size_t number = 0;
    for (const PhraseSpan& span : spans) {
      const std::uint32_t weight = number++ < consistent ? corpus.weight(n) : corpus.one();
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
                   place, extractor.before(span), extractor.after(span), static_cast<std::uint16_t>(weight)});
    }
  }
  sorter.finish();
}

// Counts of a phrase are kept as 32 bits.
void check_sum(std::uint64_t sum, const AlignedBitext& corpus) {
  if (sum <= 0xFFFFFFFF) return;
  throw std::runtime_error("a phrase that was seen more than " + std::to_string(0xFFFFFFFF / corpus.one()) +
                           " times cannot be counted");
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

PhraseStatistics count_phrases(const AlignedBitext& corpus, const PhraseOptions& options,
                               const std::function<void(const PhrasePair&)>& take) {
  PhraseStatistics statistics;
  const std::size_t threads = thread_count(options.threads, corpus.size() / 100);
  // A large part of the work that is done, once in a while.
  std::uint64_t steps = 0;
  auto tick = [&](double from, double to, std::uint64_t total) {
    if (options.progress && (++steps & 0xFFF) == 0) {
      options.progress->check();
      double part = static_cast<double>(steps) / static_cast<double>(std::max<std::uint64_t>(total, 1));
      options.progress->done = from + (to - from) * std::min(part, 1.0);
    }
  };

  // Extract and sort: each thread a slice of the corpus.
  std::vector<std::unique_ptr<OccurrenceSorter>> sorters;
  std::vector<std::uint64_t> occurrences(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    sorters.push_back(
        std::make_unique<OccurrenceSorter>(options.folder, options.memory / 2 / threads, OccurrenceLess{}));
  }
  for_each_piece(threads, static_cast<int>(threads), [&] {
    return [&](std::size_t t) {
      extract_slice(corpus, corpus.size() * t / threads, corpus.size() * (t + 1) / threads, options, *sorters[t],
                    occurrences[t]);
    };
  });
  for (std::uint64_t count : occurrences) statistics.occurrences += count;

  // Count: equal pairs are neighbours; the best alignment is the most frequent one. Then the sum of each source.
  const int sorting = static_cast<int>(threads);
  ExternalSorter<Entry, TargetLess> by_target(options.folder, options.memory / 4, TargetLess{}, sorting);
  {
    Merger merger(sorters);
    SpillingList<Entry> group(options.folder, options.memory / 16);  // the pairs of one source
    std::uint64_t alignment = 0;
    std::uint32_t alignment_count = 0, best_count = 0;
    std::uint64_t sum = 0;
    Place alignment_place{};
    std::vector<WordLink> links, best_links;
    auto close_alignment = [&] {
      if (group.empty() || alignment_count < best_count) return;
      Entry& entry = group.back();
      if (alignment_count > best_count) {
        entry.place = entry.inverse = alignment_place;
        best_count = alignment_count;
        return;
      }
      links_of(corpus[alignment_place.sentence], alignment_place, links);
      for (bool inverse : {false, true}) {
        Place& best = inverse ? entry.inverse : entry.place;
        links_of(corpus[best.sentence], best, best_links);
        if (greater_alignment(links, best_links, inverse)) best = alignment_place;
      }
    };
    auto close_source = [&] {
      if (group.empty()) return;
      close_alignment();
      check_sum(sum, corpus);
      group.drain([&](Entry entry) {
        entry.source_count = static_cast<std::uint32_t>(sum);
        by_target.push(entry);
        ++statistics.pairs;
      });
      ++statistics.sources;
      sum = 0;
    };
    while (const Occurrence* next = merger.next()) {
      tick(0.4, 0.6, statistics.occurrences);
      bool new_source = group.empty() || group.back().source != next->source;
      if (new_source) close_source();
      bool new_pair = new_source || group.back().target != next->target;
      if (new_pair || alignment != next->alignment) {
        if (!new_source) close_alignment();
        if (new_pair) {
          group.push({next->source, next->target, next->place, next->place, 0, 0, 0, {}, {}});
          best_count = 0;
        }
        alignment = next->alignment;
        alignment_count = 0;
        alignment_place = next->place;
      }
      alignment_count += next->weight;
      sum += next->weight;
      Entry& entry = group.back();
      entry.count += next->weight;
      entry.before[next->before] += next->weight;
      entry.after[next->after] += next->weight;
    }
    close_source();
    for (const auto& sorter : sorters) statistics.runs += sorter->runs();
    sorters.clear();
  }

  // The sum of each target, then the final order.
  by_target.finish();
  statistics.runs += by_target.runs();
  TextLess text_less{&corpus, stop_rank(corpus.source_words), stop_rank(corpus.target_words)};
  ExternalSorter<Entry, TextLess> by_text(options.folder, options.memory / 4, text_less, sorting);
  {
    steps = 0;
    SpillingList<Entry> group(options.folder, options.memory / 16);
    std::uint64_t sum = 0;
    auto close = [&] {
      check_sum(sum, corpus);
      group.drain([&](Entry entry) {
        entry.target_count = static_cast<std::uint32_t>(sum);
        by_text.push(entry);
      });
      sum = 0;
    };
    while (const Entry* next = by_target.next()) {
      tick(0.6, 0.8, statistics.pairs);
      if (!group.empty() && group.back().target != next->target) close();
      sum += next->count;
      group.push(*next);
    }
    close();
  }
  by_text.finish();
  statistics.runs += by_text.runs();

  steps = 0;
  std::vector<WordLink> links, inverse;
  while (const Entry* entry = by_text.next()) {
    tick(0.8, 1.0, statistics.pairs);
    links_of(corpus[entry->place.sentence], entry->place, links);
    links_of(corpus[entry->inverse.sentence], entry->inverse, inverse);
    take({source_of(corpus, entry->place), target_of(corpus, entry->place), links, inverse, entry->count,
          entry->source_count, entry->target_count, entry->before, entry->after});
  }
  return statistics;
}

}  // namespace treeglot
