#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "table/phrase_table.hh"
#include "table/phrase_table_format.hh"

namespace treeglot {

using namespace table_format;

PhraseTableWriter::PhraseTableWriter(const std::string& path, const SymbolTable& source, const SymbolTable& target,
                                     const LexicalTable& lexicon, std::uint32_t one)
    : file_(path, sizeof(TableHeader)), source_words_(source), target_words_(target) {
  header_.flags = kHasReordering | (one == 1 ? 0 : kHundredths);
  std::vector<std::uint64_t> frequency(target.size());
  for (WordId id = 0; id < target.size(); ++id) frequency[id] = lexicon.target_total(id);
  start(frequency, &lexicon);
}

PhraseTableWriter::PhraseTableWriter(const std::string& path, const SymbolTable& source, const SymbolTable& target,
                                     const std::vector<std::uint64_t>& frequency, std::uint32_t flags)
    : file_(path, sizeof(TableHeader)), source_words_(source), target_words_(target) {
  header_.flags = kExplicitScores | flags;
  start(frequency, nullptr);
}

std::uint64_t PhraseTableWriter::put_words(const SymbolTable& words) {
  std::uint64_t offset = file_.align(), start = 0;
  for (WordId id = 0; id <= words.size(); ++id) {
    if (start > 0xFFFFFFFF) throw std::runtime_error("a vocabulary of more than 4 GB");
    file_.plain(static_cast<std::uint32_t>(start));
    if (id < words.size()) start += words.word(id).size();
  }
  for (WordId id = 0; id < words.size(); ++id) file_.write(words.word(id).data(), words.word(id).size());
  return offset;
}

// Row by row; the empty word is the number after the last word, so its row and its columns stand last.
void PhraseTableWriter::put_lexicon(const LexicalTable* lexicon) {
  std::vector<LexicalTable::Item> items;
  if (lexicon) items = lexicon->items();
  header_.lexicon_size = items.size();
  header_.lexicon_rows = file_.align();
  const WordId rows = static_cast<WordId>(source_words_.size()) + 1;
  std::uint64_t next = 0;
  for (WordId row = 0; row < rows && lexicon; ++row) {
    file_.plain(next);
    WordId source = row + 1 == rows ? LexicalTable::kNull : row;
    while (next < items.size() && items[next].source == source) ++next;
  }
  file_.plain(next);
  header_.lexicon_items = file_.align();
  for (const LexicalTable::Item& item : items) {
    file_.plain(item.target == LexicalTable::kNull ? static_cast<WordId>(target_words_.size()) : item.target);
    file_.plain(LexicalTable::units(item.count, lexicon->source_total(item.source)));
    file_.plain(LexicalTable::units(item.count, lexicon->target_total(item.target)));
  }
}

void PhraseTableWriter::start(const std::vector<std::uint64_t>& frequency, const LexicalTable* lexicon) {
  std::memcpy(header_.magic, kMagic, sizeof kMagic);
  header_.version = kVersion;
  header_.probe = probe();
  header_.source_words = source_words_.size();
  header_.target_words = target_words_.size();
  header_.source_stop = stop_rank(source_words_);
  header_.target_stop = stop_rank(target_words_);
  header_.source_strings = put_words(source_words_);
  header_.target_strings = put_words(target_words_);

  std::vector<WordId> by_rank(frequency.size());
  std::iota(by_rank.begin(), by_rank.end(), 0);
  std::stable_sort(by_rank.begin(), by_rank.end(), [&](WordId a, WordId b) { return frequency[a] > frequency[b]; });
  ranks_.resize(frequency.size());
  for (WordId rank = 0; rank < by_rank.size(); ++rank) ranks_[by_rank[rank]] = rank;
  header_.target_ranks = file_.align();
  for (WordId id : by_rank) file_.plain(id);
  put_lexicon(lexicon);
  header_.block_data = file_.align();
}

void PhraseTableWriter::start_source(std::span<const WordId> source, std::uint64_t count) {
  if (!pending_.empty() && std::equal(source.begin(), source.end(), source_.begin(), source_.end())) return;
  close_source();
  if (source.size() > kMaxPhrase) throw std::runtime_error("a phrase of more than 255 words");
  source_.assign(source.begin(), source.end());
  source_count_ = count;
}

void PhraseTableWriter::close_source() {
  if (pending_.empty()) return;
  std::size_t shared = 0;
  if (header_.sources % kBlock == 0) {
    block_index_.push_back(file_.position() - header_.block_data);
  } else {
    while (shared < source_.size() && shared < previous_.size() && source_[shared] == previous_[shared]) ++shared;
  }
  ByteWriter out, counts;
  out.varint(shared);
  out.varint(source_.size() - shared);
  for (std::size_t i = shared; i < source_.size(); ++i) out.varint(source_[i]);
  counts.varint(pending_.size());
  counts.varint(source_count_);
  out.varint(counts.bytes.size() + entries_.bytes.size());
  out.append(counts);
  file_.write(out.bytes.data(), out.bytes.size());
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const Pending& a, const Pending& b) { return a.weight > b.weight; });
  for (const Pending& pair : pending_) file_.write(entries_.bytes.data() + pair.start, pair.stop - pair.start);
  ++header_.sources;
  header_.longest_source = std::max<std::uint64_t>(header_.longest_source, source_.size());
  header_.entries += pending_.size();
  entries_.bytes.clear();
  pending_.clear();
  previous_ = source_;
}

void PhraseTableWriter::put_target(std::span<const WordId> target, bool two_alignments) {
  if (target.size() > kMaxPhrase) throw std::runtime_error("a phrase of more than 255 words");
  header_.longest_target = std::max<std::uint64_t>(header_.longest_target, target.size());
  entries_.varint(2 * target.size() + two_alignments);
  for (WordId word : target) entries_.varint(ranks_[word]);
}

void PhraseTableWriter::put_links(std::span<const WordLink> links, std::size_t source_length,
                                  std::size_t target_length) {
  if (source_length * target_length <= 64) {
    std::uint64_t bits = 0;
    for (const WordLink& link : links) bits |= std::uint64_t{1} << (link.source * target_length + link.target);
    entries_.append(reinterpret_cast<const char*>(&bits), (source_length * target_length + 7) / 8);
    return;
  }
  entries_.varint(links.size());
  for (const WordLink& link : links) {
    entries_.varint(link.source);
    entries_.varint(link.target);
  }
}

void PhraseTableWriter::add(const PhrasePair& pair) {
  start_source(pair.source, pair.source_count);
  std::size_t begin = entries_.bytes.size();
  bool differ = !std::equal(pair.links.begin(), pair.links.end(), pair.inverse_links.begin(), pair.inverse_links.end());
  put_target(pair.target, differ);
  put_links(pair.links, pair.source.size(), pair.target.size());
  if (differ) put_links(pair.inverse_links, pair.source.size(), pair.target.size());
  entries_.varint(pair.count);
  entries_.varint(pair.target_count - pair.count);
  if (pair.count == 1) {
    auto which = [](const std::array<std::uint32_t, 3>& seen) { return seen[0] ? 0 : seen[1] ? 1 : 2; };
    entries_.varint(static_cast<std::uint64_t>(which(pair.before) * 3 + which(pair.after)));
  } else {
    for (const auto* seen : {&pair.before, &pair.after}) {
      entries_.varint((*seen)[0]);
      entries_.varint((*seen)[1]);
    }
  }
  pending_.push_back({static_cast<double>(pair.count), begin, entries_.bytes.size()});
}

void PhraseTableWriter::add(std::span<const WordId> source, const TableEntry& entry) {
  start_source(source, 0);
  std::size_t begin = entries_.bytes.size();
  put_target(entry.target, false);
  put_links(entry.links, source.size(), entry.target.size());
  for (float score : entry.scores) entries_.plain(score);
  if (header_.flags & kHasReordering) {
    for (float score : entry.reordering) entries_.plain(score);
  }
  if (header_.flags & kHasCounts) {
    entries_.varint(entry.target_count);
    entries_.varint(entry.source_count);
    entries_.varint(entry.count);
  }
  pending_.push_back({entry.scores[2], begin, entries_.bytes.size()});
}

void PhraseTableWriter::finish() {
  close_source();
  header_.blocks = block_index_.size();
  block_index_.push_back(file_.position() - header_.block_data);
  header_.block_index = file_.align();
  for (std::uint64_t offset : block_index_) file_.plain(offset);
  file_.finish(header_);
}

}  // namespace treeglot
