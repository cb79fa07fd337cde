#include "table/phrase_table.hh"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "util/hash.hh"

namespace treeglot {
namespace {

constexpr char kMagic[8] = {'T', 'G', 'P', 'T', '\r', '\n', '\x1a', '\0'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kBlock = 32;

// The order of text lines (see phrase_counts.cc): an ended phrase ranks as if "|||" followed.
int compare_phrases(std::span<const WordId> a, std::span<const WordId> b, std::uint64_t stop) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() && i == b.size()) return 0;
  std::uint64_t left = i < a.size() ? 2 * std::uint64_t{a[i]} + 1 : 2 * stop;
  std::uint64_t right = i < b.size() ? 2 * std::uint64_t{b[i]} + 1 : 2 * stop;
  return left < right ? -1 : 1;
}

std::uint64_t stop_rank(const SymbolTable& words) {
  std::uint64_t rank = 0;
  while (rank < words.size() && words.word(static_cast<WordId>(rank)) < "|||") ++rank;
  return rank;
}

}  // namespace

WordId MappedWords::id(std::string_view wanted) const {
  std::uint64_t low = 0, high = size_;
  while (low < high) {
    std::uint64_t middle = (low + high) / 2;
    if (word(static_cast<WordId>(middle)) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<WordId>(low < size_ && word(static_cast<WordId>(low)) == wanted ? low : size_);
}

PhraseTable::PhraseTable(const std::string& path, bool verify) : file_(path) {
  if (file_.size() < sizeof(TableHeader) || std::memcmp(file_.data(), kMagic, sizeof kMagic) != 0) {
    throw std::runtime_error("not a treeglot phrase table");
  }
  header_ = reinterpret_cast<const TableHeader*>(file_.data());
  if (header_->version != kVersion) throw std::runtime_error("written by another version of treeglot");
  TableHeader copy = *header_;
  copy.header_checksum = 0;
  if (hash_bytes(reinterpret_cast<const char*>(&copy), sizeof copy) != header_->header_checksum) {
    throw std::runtime_error("damaged header");
  }
  if (file_.size() != header_->file_size) {
    throw std::runtime_error("truncated: " + std::to_string(file_.size()) + " bytes instead of " +
                             std::to_string(header_->file_size));
  }
  if (verify &&
      hash_bytes(file_.data() + sizeof(TableHeader), file_.size() - sizeof(TableHeader)) != header_->checksum) {
    throw std::runtime_error("damaged: the checksum does not fit");
  }
  const char* base = file_.data();
  source_words_ = MappedWords(base + header_->source_strings, header_->source_words);
  target_words_ = MappedWords(base + header_->target_strings, header_->target_words);
  target_ranks_ = reinterpret_cast<const WordId*>(base + header_->target_ranks);
  block_index_ = reinterpret_cast<const std::uint64_t*>(base + header_->block_index);
  block_data_ = base + header_->block_data;
  lexicon_rows_ = reinterpret_cast<const std::uint64_t*>(base + header_->lexicon_rows);
  lexicon_items_ = reinterpret_cast<const LexicalItem*>(base + header_->lexicon_items);
}

int PhraseTable::compare(std::span<const WordId> a, std::span<const WordId> b) const {
  return compare_phrases(a, b, header_->source_stop);
}

// The last block whose first source is not above `source` (0 if there is none).
std::uint64_t PhraseTable::block_of(std::span<const WordId> source) const {
  std::uint64_t low = 0, high = header_->blocks;
  WordId first[256];
  while (high - low > 1) {
    std::uint64_t middle = (low + high) / 2;
    ByteReader reader(block_data_ + block_index_[middle]);
    reader.varint();  // nothing is shared with the source before
    std::size_t length = std::min<std::uint64_t>(reader.varint(), 256);
    for (std::size_t i = 0; i < length; ++i) first[i] = static_cast<WordId>(reader.varint());
    if (compare({first, length}, source) <= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t PhraseTable::find(std::span<const WordId> source, std::vector<TableEntry>& out) const {
  if (header_->blocks == 0) return 0;
  std::uint64_t block = block_of(source);
  ByteReader reader(block_data_ + block_index_[block]);
  std::size_t in_block = std::min<std::uint64_t>(kBlock, header_->sources - block * kBlock);
  WordId here[256];
  for (std::size_t n = 0; n < in_block; ++n) {
    std::size_t shared = reader.varint(), fresh = reader.varint();
    for (std::size_t i = 0; i < fresh; ++i) here[shared + i] = static_cast<WordId>(reader.varint());
    std::size_t bytes = reader.varint();
    int order = compare({here, shared + fresh}, source);
    if (order > 0) return 0;
    if (order == 0) {
      std::size_t before = out.size();
      read_entries(reader, source, out);
      return out.size() - before;
    }
    reader.skip(bytes);
  }
  return 0;
}

void PhraseTable::scan(std::span<const WordId> from,
                       const std::function<bool(std::span<const WordId>, const std::vector<TableEntry>&)>& take) const {
  std::vector<WordId> here;
  std::vector<TableEntry> entries;
  for (std::uint64_t block = from.empty() || header_->blocks == 0 ? 0 : block_of(from); block < header_->blocks;
       ++block) {
    ByteReader reader(block_data_ + block_index_[block]);
    std::size_t in_block = std::min<std::uint64_t>(kBlock, header_->sources - block * kBlock);
    for (std::size_t n = 0; n < in_block; ++n) {
      std::size_t shared = reader.varint(), fresh = reader.varint();
      here.resize(shared);
      for (std::size_t i = 0; i < fresh; ++i) here.push_back(static_cast<WordId>(reader.varint()));
      std::size_t bytes = reader.varint();
      if (!from.empty() && compare(here, from) < 0) {
        reader.skip(bytes);
        continue;
      }
      entries.clear();
      read_entries(reader, here, entries);
      if (!take(here, entries)) return;
    }
  }
}

const PhraseTable::LexicalItem* PhraseTable::lexical(WordId source, WordId target) const {
  const LexicalItem* low = lexicon_items_ + lexicon_rows_[source];
  const LexicalItem* high = lexicon_items_ + lexicon_rows_[source + 1];
  const LexicalItem* found =
      std::lower_bound(low, high, target, [](const LexicalItem& item, WordId wanted) { return item.target < wanted; });
  return found != high && found->target == target ? found : nullptr;
}

// Row source_words() is the empty word; its column is target_words().
void PhraseTable::lexical_weights(std::span<const WordId> source, TableEntry& entry) const {
  const WordId no_source = static_cast<WordId>(source_words_.size()),
               no_target = static_cast<WordId>(target_words_.size());
  double forward = 1, backward = 1;
  for (std::size_t t = 0; t < entry.target.size(); ++t) {
    double sum = 0;
    int degree = 0;
    for (const WordLink& link : entry.links) {
      if (link.target != t) continue;
      if (const LexicalItem* item = lexical(source[link.source], entry.target[t])) sum += item->forward;
      ++degree;
    }
    if (degree == 0) {
      const LexicalItem* item = lexical(no_source, entry.target[t]);
      forward *= item ? item->forward : 0;
    } else {
      forward *= sum / degree;
    }
  }
  for (std::size_t s = 0; s < source.size(); ++s) {
    double sum = 0;
    int degree = 0;
    for (const WordLink& link : entry.links) {
      if (link.source != s) continue;
      if (const LexicalItem* item = lexical(source[s], entry.target[link.target])) sum += item->backward;
      ++degree;
    }
    if (degree == 0) {
      const LexicalItem* item = lexical(source[s], no_target);
      backward *= item ? item->backward : 0;
    } else {
      backward *= sum / degree;
    }
  }
  entry.scores[1] = static_cast<float>(backward);
  entry.scores[3] = static_cast<float>(forward);
}

void PhraseTable::read_entries(ByteReader& reader, std::span<const WordId> source, std::vector<TableEntry>& out) const {
  const bool explicit_scores = header_->flags & kExplicitScores;
  std::size_t count = reader.varint();
  std::uint32_t source_count = static_cast<std::uint32_t>(reader.varint());
  out.reserve(out.size() + count);
  for (std::size_t n = 0; n < count; ++n) {
    TableEntry& entry = out.emplace_back();
    std::size_t length = reader.varint();
    entry.target.resize(length);
    for (WordId& word : entry.target) word = target_ranks_[reader.varint()];
    if (source.size() * length <= 64) {
      std::uint64_t bits = 0;
      std::size_t bytes = (source.size() * length + 7) / 8;
      std::memcpy(&bits, reader.position(), bytes);
      reader.skip(bytes);
      for (std::size_t s = 0; s < source.size(); ++s) {
        for (std::size_t t = 0; t < length; ++t) {
          if (bits >> (s * length + t) & 1) {
            entry.links.push_back({static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)});
          }
        }
      }
    } else {
      std::size_t links = reader.varint();
      for (std::size_t i = 0; i < links; ++i) {
        std::uint16_t s = static_cast<std::uint16_t>(reader.varint());
        entry.links.push_back({s, static_cast<std::uint16_t>(reader.varint())});
      }
    }
    if (explicit_scores) {
      for (float& score : entry.scores) score = reader.plain<float>();
      entry.reordering.fill(1.0f);
      if (has_reordering()) {
        for (float& score : entry.reordering) score = reader.plain<float>();
      }
      continue;
    }
    entry.count = static_cast<std::uint32_t>(reader.varint());
    entry.source_count = source_count;
    entry.target_count = entry.count + static_cast<std::uint32_t>(reader.varint());
    entry.scores[0] = static_cast<float>(entry.count) / static_cast<float>(entry.target_count);
    entry.scores[2] = static_cast<float>(entry.count) / static_cast<float>(entry.source_count);
    lexical_weights(source, entry);
    std::array<std::uint32_t, 6> seen{};
    if (entry.count == 1) {
      std::uint64_t code = reader.varint();
      seen[code / 3] = seen[3 + code % 3] = 1;
    } else {
      for (int side : {0, 3}) {
        seen[side] = static_cast<std::uint32_t>(reader.varint());
        seen[side + 1] = static_cast<std::uint32_t>(reader.varint());
        seen[side + 2] = entry.count - seen[side] - seen[side + 1];
      }
    }
    for (int i = 0; i < 6; ++i) {
      entry.reordering[i] = (static_cast<float>(seen[i]) + 0.5f) / (static_cast<float>(entry.count) + 1.5f);
    }
  }
}

PhraseTableWriter::PhraseTableWriter(const SymbolTable& source, const SymbolTable& target, const LexicalTable& lexicon)
    : source_words_(source), target_words_(target), lexicon_(&lexicon), flags_(kHasReordering) {
  std::vector<std::uint64_t> frequency(target.size());
  for (WordId id = 0; id < target.size(); ++id) frequency[id] = lexicon.target_total(id);
  rank_targets(frequency);
}

PhraseTableWriter::PhraseTableWriter(const SymbolTable& source, const SymbolTable& target, bool reordering)
    : source_words_(source),
      target_words_(target),
      lexicon_(nullptr),
      flags_(kExplicitScores | (reordering ? kHasReordering : 0)) {
  rank_targets(std::vector<std::uint64_t>(target.size()));
}

void PhraseTableWriter::rank_targets(const std::vector<std::uint64_t>& frequency) {
  by_rank_.resize(frequency.size());
  ranks_.resize(frequency.size());
  for (WordId id = 0; id < frequency.size(); ++id) by_rank_[id] = id;
  std::stable_sort(by_rank_.begin(), by_rank_.end(), [&](WordId a, WordId b) { return frequency[a] > frequency[b]; });
  for (WordId rank = 0; rank < by_rank_.size(); ++rank) ranks_[by_rank_[rank]] = rank;
}

void PhraseTableWriter::start_source(std::span<const WordId> source, std::uint64_t count) {
  if (in_source_ > 0 && std::equal(source.begin(), source.end(), source_.begin(), source_.end())) return;
  close_source();
  if (source.size() > 255) throw std::runtime_error("a source phrase of more than 255 words");
  source_.assign(source.begin(), source.end());
  source_count_ = count;
}

void PhraseTableWriter::close_source() {
  if (in_source_ == 0) return;
  std::size_t shared = 0;
  if (sources_ % kBlock == 0) {
    block_index_.push_back(blocks_.bytes.size());
  } else {
    while (shared < source_.size() && shared < previous_.size() && source_[shared] == previous_[shared]) ++shared;
  }
  blocks_.varint(shared);
  blocks_.varint(source_.size() - shared);
  for (std::size_t i = shared; i < source_.size(); ++i) blocks_.varint(source_[i]);
  ByteWriter counts;
  counts.varint(in_source_);
  counts.varint(source_count_);
  blocks_.varint(counts.bytes.size() + entries_.bytes.size());
  blocks_.append(counts);
  blocks_.append(entries_);
  entries_.bytes.clear();
  ++sources_;
  total_ += in_source_;
  in_source_ = 0;
  previous_ = source_;
}

void PhraseTableWriter::put_target(std::span<const WordId> target) {
  entries_.varint(target.size());
  for (WordId word : target) entries_.varint(ranks_[word]);
}

void PhraseTableWriter::put_links(std::span<const WordLink> links, std::size_t source_length,
                                  std::size_t target_length) {
  if (source_length * target_length <= 64) {
    std::uint64_t bits = 0;
    for (const WordLink& link : links) bits |= std::uint64_t{1} << (link.source * target_length + link.target);
    const char* data = reinterpret_cast<const char*>(&bits);
    entries_.bytes.insert(entries_.bytes.end(), data, data + (source_length * target_length + 7) / 8);
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
  put_target(pair.target);
  put_links(pair.links, pair.source.size(), pair.target.size());
  entries_.varint(pair.count);
  entries_.varint(pair.target_count - pair.count);
  if (pair.count == 1) {
    auto which = [](const std::array<std::uint32_t, 3>& seen) { return seen[0] ? 0 : seen[1] ? 1 : 2; };
    entries_.varint(which(pair.before) * 3 + which(pair.after));
  } else {
    for (const auto* seen : {&pair.before, &pair.after}) {
      entries_.varint((*seen)[0]);
      entries_.varint((*seen)[1]);
    }
  }
  ++in_source_;
}

void PhraseTableWriter::add(std::span<const WordId> source, const TableEntry& entry) {
  start_source(source, 0);
  put_target(entry.target);
  put_links(entry.links, source.size(), entry.target.size());
  for (float score : entry.scores) entries_.plain(score);
  if (flags_ & kHasReordering) {
    for (float score : entry.reordering) entries_.plain(score);
  }
  ++in_source_;
}

void PhraseTableWriter::finish(const std::string& path) {
  close_source();
  TableHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.flags = flags_;
  header.entries = total_;
  header.sources = sources_;
  header.blocks = block_index_.size();
  header.source_words = source_words_.size();
  header.target_words = target_words_.size();
  header.source_stop = stop_rank(source_words_);
  header.target_stop = stop_rank(target_words_);

  ByteWriter body;
  auto here = [&] {
    body.align(8);
    return sizeof header + body.bytes.size();
  };
  auto put_words = [&](const SymbolTable& words) {
    std::uint64_t offset = here();
    std::uint32_t start = 0;
    for (WordId id = 0; id < words.size(); ++id) {
      body.plain(start);
      start += static_cast<std::uint32_t>(words.word(id).size());
    }
    body.plain(start);
    for (WordId id = 0; id < words.size(); ++id) {
      const std::string& word = words.word(id);
      body.bytes.insert(body.bytes.end(), word.begin(), word.end());
    }
    return offset;
  };
  header.source_strings = put_words(source_words_);
  header.target_strings = put_words(target_words_);
  header.target_ranks = here();
  for (WordId id : by_rank_) body.plain(id);
  header.lexicon_rows = here();
  ByteWriter items;
  if (lexicon_) {
    // kNull becomes the number after the last word, so its row and its columns stand last.
    const WordId rows = static_cast<WordId>(source_words_.size()) + 1;
    std::vector<LexicalTable::Item> all = lexicon_->items();
    std::size_t next = 0;
    std::uint64_t written = 0;
    for (WordId row = 0; row < rows; ++row) {
      body.plain(written);
      WordId source = row + 1 == rows ? LexicalTable::kNull : row;
      for (; next < all.size() && all[next].source == source; ++next) {
        WordId target = all[next].target;
        items.plain(target == LexicalTable::kNull ? static_cast<WordId>(target_words_.size()) : target);
        items.plain(static_cast<float>(lexicon_->target_given_source(target, source)));
        items.plain(static_cast<float>(lexicon_->source_given_target(source, target)));
        ++written;
      }
    }
    body.plain(written);
  }
  header.lexicon_items = here();
  body.append(items);
  header.block_index = here();
  for (std::uint64_t offset : block_index_) body.plain(offset);
  header.block_data = here();
  body.append(blocks_);
  header.file_size = sizeof header + body.bytes.size();
  header.checksum = hash_bytes(body.bytes.data(), body.bytes.size());
  header.header_checksum = hash_bytes(reinterpret_cast<const char*>(&header), sizeof header);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file || std::fwrite(&header, sizeof header, 1, file.get()) != 1 ||
      std::fwrite(body.bytes.data(), 1, body.bytes.size(), file.get()) != body.bytes.size() ||
      std::fflush(file.get()) != 0) {
    throw std::runtime_error("cannot write the file (is the disk full?)");
  }
}

}  // namespace treeglot
