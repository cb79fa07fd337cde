#include "table/phrase_table.hh"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "table/phrase_table_format.hh"

namespace treeglot {

using namespace table_format;

namespace {

// A score of a table that came with its own: no order of entries may depend on what is no number.
float read_score(ByteReader& reader) {
  const float score = reader.plain<float>();
  if (!(score >= 0 && score <= std::numeric_limits<float>::max())) ByteReader::fail();
  return score;
}

}  // namespace

PhraseTable::PhraseTable(const std::string& path, bool verify) : file_(path) {
  header_ = checked_header<TableHeader>(file_, kMagic, kVersion, probe(), "a treeglot phrase table");
  const TableHeader& h = header_;
  check_layout();
  source_words_ = MappedWords(file_, h.source_strings, h.target_strings, h.source_words);
  target_words_ = MappedWords(file_, h.target_strings, h.target_ranks, h.target_words);
  target_ranks_ = mapped_records<WordId>(file_, h.target_ranks, h.target_words, h.lexicon_rows);
  // A table with its own scores has no word table; its only row is empty.
  const bool lexicon = !(h.flags & kExplicitScores);
  lexicon_rows_ =
      mapped_records<std::uint64_t>(file_, h.lexicon_rows, lexicon ? h.source_words + 2 : 1, h.lexicon_items);
  lexicon_items_ = mapped_records<LexicalItem>(file_, h.lexicon_items, h.lexicon_size, h.block_data);
  block_data_ = mapped_records<char>(file_, h.block_data, 0, h.block_index);
  block_index_ = mapped_records<std::uint64_t>(file_, h.block_index, h.blocks + 1, h.file_size);
  verify_file(file_, header_, verify, [this] { check_structure(); });
}

// The parts stand one behind the other, as they were written, and all numbers agree with that.
void PhraseTable::check_layout() const {
  const TableHeader& h = header_;
  const bool lexicon = !(h.flags & kExplicitScores);
  const std::uint64_t size = file_.size();
  need_part(!(h.flags & ~kAllFlags) &&
            (lexicon ? (h.flags & ~kHundredths) == kHasReordering : h.lexicon_size == 0 && !(h.flags & kHundredths)) &&
            h.source_stop <= h.source_words && h.target_stop <= h.target_words && h.longest_source <= kMaxPhrase &&
            h.longest_target <= kMaxPhrase && h.source_words <= MappedWords::kMost &&
            h.target_words <= MappedWords::kMost && h.source_strings == sizeof(TableHeader));
  need_part(h.lexicon_rows == next_part(h.target_ranks, h.target_words, sizeof(WordId), size) &&
            h.lexicon_items ==
                next_part(h.lexicon_rows, lexicon ? h.source_words + 2 : 1, sizeof(std::uint64_t), size) &&
            h.block_data == next_part(h.lexicon_items, h.lexicon_size, sizeof(LexicalItem), size) &&
            h.block_data <= h.block_index && h.block_index <= size);
  const std::uint64_t data_size = h.block_index - h.block_data;
  need_part(h.sources <= data_size && h.entries <= data_size && h.blocks == (h.sources + kBlock - 1) / kBlock &&
            fits(h.block_index, h.blocks + 1, sizeof(std::uint64_t), size) &&
            h.block_index + (h.blocks + 1) * sizeof(std::uint64_t) == size);
}

// Reads everything once. What search and lookup rely on holds: words and sources are in order, the best translation
// comes first, and the header's numbers are those of the contents.
void PhraseTable::check_structure() const {
  const TableHeader& h = header_;
  auto need = [](bool right) {
    if (!right) ByteReader::fail();
  };
  source_words_.check();
  target_words_.check();
  auto stop_of = [](const MappedWords& words) {
    std::uint64_t stop = 0;
    while (stop < words.size() && words.word(static_cast<WordId>(stop)) < "|||") ++stop;
    return stop;
  };
  need(h.source_stop == stop_of(source_words_) && h.target_stop == stop_of(target_words_));
  std::vector<bool> ranked(h.target_words);
  for (std::uint64_t rank = 0; rank < h.target_words; ++rank) {
    need(target_ranks_[rank] < h.target_words && !ranked[target_ranks_[rank]]);
    ranked[target_ranks_[rank]] = true;
  }
  const std::uint64_t rows = h.flags & kExplicitScores ? 0 : h.source_words + 1;
  need(lexicon_rows_[0] == 0 && lexicon_rows_[rows] == h.lexicon_size);
  for (std::uint64_t row = 0; row < rows; ++row) {
    need(lexicon_rows_[row] <= lexicon_rows_[row + 1] && lexicon_rows_[row + 1] <= h.lexicon_size);
    for (std::uint64_t i = lexicon_rows_[row]; i < lexicon_rows_[row + 1]; ++i) {
      need(lexicon_items_[i].target <= h.target_words &&
           (i == lexicon_rows_[row] || lexicon_items_[i - 1].target < lexicon_items_[i].target));
    }
  }
  need(block_index_[0] == 0);
  std::uint64_t entries = 0, sources = 0;
  std::size_t longest_source = 0, longest_target = 0;
  WordId here[kMaxPhrase] = {};
  std::vector<WordId> before;
  std::vector<TableEntry> pairs;
  for (std::uint64_t number = 0; number < h.blocks; ++number) {
    ByteReader reader = block(number);
    need(ByteReader(reader).varint() == 0);  // the first source of a block shares nothing with the one before
    for (std::size_t n = sources_in(number); n > 0; --n) {
      const std::span<const WordId> source(here, read_source(reader, here));
      need(sources == 0 || compare(before, source) < 0);
      before.assign(source.begin(), source.end());
      const std::uint64_t bytes = reader.varint();
      const char* begin = reader.position();
      pairs.clear();
      read_entries(reader, source, pairs, kAll, false);
      need(!pairs.empty() && static_cast<std::uint64_t>(reader.position() - begin) == bytes);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        need(i == 0 || pairs[i - 1].scores[2] >= pairs[i].scores[2]);
        longest_target = std::max(longest_target, pairs[i].target.size());
      }
      longest_source = std::max(longest_source, source.size());
      entries += pairs.size();
      ++sources;
    }
    need(reader.left() == 0);
  }
  need(sources == h.sources && entries == h.entries && longest_source == h.longest_source &&
       longest_target == h.longest_target);
  const std::uint64_t end = block_index_[h.blocks];
  need(h.block_data + end <= h.block_index && h.block_index - h.block_data - end < 8);
}

ByteReader PhraseTable::block(std::uint64_t number) const {
  std::uint64_t start = block_index_[number], stop = block_index_[number + 1];
  if (start > stop || stop > header_.block_index - header_.block_data) ByteReader::fail();
  return {block_data_ + start, block_data_ + stop};
}

std::size_t PhraseTable::sources_in(std::uint64_t block) const {
  return std::min<std::uint64_t>(kBlock, header_.sources - block * kBlock);
}

std::size_t PhraseTable::read_source(ByteReader& reader, WordId* words) const {
  std::size_t shared = reader.varint(), fresh = reader.varint();
  if (shared > kMaxPhrase || fresh > kMaxPhrase - shared) ByteReader::fail();
  for (std::size_t i = shared; i < shared + fresh; ++i) {
    words[i] = static_cast<WordId>(reader.varint());
    if (words[i] >= source_words_.size()) ByteReader::fail();
  }
  return shared + fresh;
}

// The last block whose first source is not above `source` (0 if there is none).
std::uint64_t PhraseTable::block_of(std::span<const WordId> source) const {
  std::uint64_t low = 0, high = header_.blocks;
  WordId first[kMaxPhrase] = {};
  while (high - low > 1) {
    std::uint64_t middle = (low + high) / 2;
    ByteReader reader = block(middle);
    std::size_t length = read_source(reader, first);
    if (compare({first, length}, source) <= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t PhraseTable::find(std::span<const WordId> source, std::vector<TableEntry>& out, std::size_t limit) const {
  if (header_.blocks == 0) return 0;
  std::uint64_t number = block_of(source);
  ByteReader reader = block(number);
  std::size_t in_block = sources_in(number);
  WordId here[kMaxPhrase] = {};
  for (std::size_t n = 0; n < in_block; ++n) {
    std::size_t length = read_source(reader, here);
    std::size_t bytes = reader.varint();
    int order = compare({here, length}, source);
    if (order > 0) return 0;
    if (order == 0) {
      std::size_t before = out.size();
      read_entries(reader, source, out, limit);
      return out.size() - before;
    }
    reader.skip(bytes);
  }
  return 0;
}

// Calls `visit` with each source and a reader of its entries, until it returns false.
template <class Visit>
void PhraseTable::each_source(std::uint64_t first_block, Visit visit) const {
  WordId here[kMaxPhrase] = {};
  for (std::uint64_t number = first_block; number < header_.blocks; ++number) {
    ByteReader reader = block(number);
    std::size_t in_block = sources_in(number);
    for (std::size_t n = 0; n < in_block; ++n) {
      std::size_t length = read_source(reader, here);
      std::size_t bytes = reader.varint();
      ByteReader entries = reader;
      reader.skip(bytes);
      if (!visit(std::span<const WordId>(here, length), entries)) return;
    }
  }
}

void PhraseTable::scan(std::span<const WordId> from, const Take& take) const {
  std::vector<TableEntry> entries;
  std::uint64_t first = from.empty() || header_.blocks == 0 ? 0 : block_of(from);
  each_source(first, [&](std::span<const WordId> source, ByteReader& reader) {
    if (!from.empty() && compare(source, from) < 0) return true;
    entries.clear();
    read_entries(reader, source, entries, kAll);
    return take(source, entries);
  });
}

void PhraseTable::scan_block(std::uint64_t number, const Take& take) const {
  std::vector<TableEntry> entries;
  std::size_t left = number < header_.blocks ? sources_in(number) : 0;
  if (left == 0) return;
  each_source(number, [&](std::span<const WordId> source, ByteReader& reader) {
    entries.clear();
    read_entries(reader, source, entries, kAll);
    return take(source, entries) && --left > 0;
  });
}

void PhraseTable::search(std::span<const std::vector<bool>> pattern, bool in_target, bool whole,
                         const TakeOne& take) const {
  auto matches = [&](std::span<const WordId> phrase) {
    if (phrase.size() < pattern.size() || (whole && phrase.size() != pattern.size())) return false;
    for (std::size_t start = 0; start + pattern.size() <= phrase.size(); ++start) {
      std::size_t i = 0;
      while (i < pattern.size() && pattern[i][phrase[start + i]]) ++i;
      if (i == pattern.size()) return true;
    }
    return false;
  };
  std::vector<TableEntry> entries;
  each_source(0, [&](std::span<const WordId> source, ByteReader& reader) {
    if (!in_target && !matches(source)) return true;
    entries.clear();
    read_entries(reader, source, entries, kAll);
    for (const TableEntry& entry : entries) {
      if ((!in_target || matches(entry.target)) && !take(source, entry)) return false;
    }
    return true;
  });
}

PhraseTableShape PhraseTable::shape() const {
  PhraseTableShape shape;
  auto count = [](std::vector<std::uint64_t>& histogram, std::size_t value, std::uint64_t times) {
    if (value >= histogram.size()) histogram.resize(value + 1);
    histogram[value] += times;
  };
  std::vector<TableEntry> entries;
  each_source(0, [&](std::span<const WordId> source, ByteReader& reader) {
    entries.clear();
    read_entries(reader, source, entries, kAll, false);
    count(shape.source_lengths, source.size(), entries.size());
    count(shape.ambiguity, std::bit_width(entries.size()), 1);
    for (const TableEntry& entry : entries) {
      count(shape.target_lengths, entry.target.size(), 1);
      shape.singletons += entry.count <= one();
    }
    if (entries.size() > shape.most) {
      shape.most = entries.size();
      shape.most_ambiguous.assign(source.begin(), source.end());
    }
    return true;
  });
  return shape;
}

void PhraseTable::lexicon(const std::function<void(WordId, WordId, double, double)>& take) const {
  const WordId no_source = static_cast<WordId>(source_words_.size()),
               no_target = static_cast<WordId>(target_words_.size());
  if (header_.lexicon_size == 0) return;
  for (WordId row = 0; row <= no_source; ++row) {
    std::uint64_t stop = lexicon_rows_[row + 1];
    if (stop > header_.lexicon_size) ByteReader::fail();
    for (std::uint64_t i = lexicon_rows_[row]; i < stop; ++i) {
      const LexicalItem& item = lexicon_items_[i];
      if (item.target > no_target) ByteReader::fail();
      take(row == no_source ? LexicalTable::kNull : row, item.target == no_target ? LexicalTable::kNull : item.target,
           LexicalTable::value(item.forward), LexicalTable::value(item.backward));
    }
  }
}

void PhraseTable::text_order(const std::vector<TableEntry>& entries, std::vector<std::uint32_t>& order) const {
  order.resize(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return compare_phrases(entries[a].target, entries[b].target, header_.target_stop) < 0;
  });
}

const LexicalItem* PhraseTable::lexical(WordId source, WordId target) const {
  std::uint64_t first = lexicon_rows_[source], last = lexicon_rows_[source + 1];
  if (first > last || last > header_.lexicon_size) ByteReader::fail();
  const LexicalItem* high = lexicon_items_ + last;
  const LexicalItem* place =
      std::lower_bound(lexicon_items_ + first, high, target,
                       [](const LexicalItem& item, WordId wanted) { return item.target < wanted; });
  return place != high && place->target == target ? place : nullptr;
}

// Row source_words() is the empty word; its column is target_words(). Sums and products go in Moses' order, so that
// they are the same to the last bit.
void PhraseTable::lexical_weights(std::span<const WordId> source, TableEntry& entry,
                                  const std::vector<WordLink>& inverse_links) const {
  const WordId no_source = static_cast<WordId>(source_words_.size()),
               no_target = static_cast<WordId>(target_words_.size());
  struct Mean {
    double sum = 0;
    unsigned degree = 0;
    double value() const { return sum / degree; }
  };
  thread_local std::vector<Mean> of_source, of_target;
  of_source.assign(source.size(), {});
  of_target.assign(entry.target.size(), {});
  const bool same = &inverse_links == &entry.links;
  for (const WordLink& link : entry.links) {
    const LexicalItem* item = lexical(source[link.source], entry.target[link.target]);
    of_target[link.target].sum += item ? LexicalTable::value(item->forward) : 0;
    ++of_target[link.target].degree;
    if (same) {
      of_source[link.source].sum += item ? LexicalTable::value(item->backward) : 0;
      ++of_source[link.source].degree;
    }
  }
  if (!same) {
    for (const WordLink& link : inverse_links) {
      const LexicalItem* item = lexical(source[link.source], entry.target[link.target]);
      of_source[link.source].sum += item ? LexicalTable::value(item->backward) : 0;
      ++of_source[link.source].degree;
    }
  }
  // Of given spans, words that are linked to others wherever they stand may have no link inside: that is one unit of
  // the word table, as in rules.
  double forward = 1, backward = 1;
  for (std::size_t t = 0; t < entry.target.size(); ++t) {
    if (of_target[t].degree) {
      forward *= of_target[t].value();
    } else {
      const LexicalItem* item = lexical(no_source, entry.target[t]);
      forward *= item ? LexicalTable::value(item->forward) : LexicalTable::kUnit;
    }
  }
  for (std::size_t s = 0; s < source.size(); ++s) {
    if (of_source[s].degree) {
      backward *= of_source[s].value();
    } else {
      const LexicalItem* item = lexical(source[s], no_target);
      backward *= item ? LexicalTable::value(item->backward) : LexicalTable::kUnit;
    }
  }
  entry.scores[1] = static_cast<float>(backward);
  entry.scores[3] = static_cast<float>(forward);
}

void PhraseTable::read_links(ByteReader& reader, std::size_t source_length, std::size_t target_length,
                             std::vector<WordLink>& links) const {
  links.clear();
  if (source_length * target_length <= 64) {
    std::uint64_t bits = reader.bits((source_length * target_length + 7) / 8);
    links.reserve(static_cast<std::size_t>(std::popcount(bits)));
    for (; bits; bits &= bits - 1) {
      std::size_t cell = static_cast<std::size_t>(std::countr_zero(bits));
      if (cell >= source_length * target_length) ByteReader::fail();
      links.push_back(
          {static_cast<std::uint16_t>(cell / target_length), static_cast<std::uint16_t>(cell % target_length)});
    }
    return;
  }
  for (std::size_t left = reader.varint(); left > 0; --left) {
    std::uint64_t s = reader.varint(), t = reader.varint();
    if (s >= source_length || t >= target_length) ByteReader::fail();
    links.push_back({static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)});
  }
}

void PhraseTable::read_entries(ByteReader& reader, std::span<const WordId> source, std::vector<TableEntry>& out,
                               std::size_t limit, bool lexical) const {
  const bool explicit_scores = header_.flags & kExplicitScores;
  std::size_t count = std::min<std::size_t>(reader.varint(), limit);
  std::uint32_t source_count = static_cast<std::uint32_t>(reader.varint());
  std::vector<WordLink> inverse_links;
  for (std::size_t n = 0; n < count; ++n) {
    TableEntry& entry = out.emplace_back();
    std::uint64_t shape = reader.varint();  // twice the length, and whether there is a second alignment
    if (shape / 2 > kMaxPhrase) ByteReader::fail();
    std::size_t length = shape / 2;
    entry.target.resize(length);
    for (WordId& word : entry.target) {
      std::uint64_t rank = reader.varint();
      if (rank >= target_words_.size()) ByteReader::fail();
      word = target_ranks_[rank];
      if (word >= target_words_.size()) ByteReader::fail();
    }
    read_links(reader, source.size(), length, entry.links);
    if (shape & 1) read_links(reader, source.size(), length, inverse_links);
    if (explicit_scores) {
      for (float& score : entry.scores) score = read_score(reader);
      entry.reordering.fill(1.0f);
      if (has_reordering()) {
        for (float& score : entry.reordering) score = read_score(reader);
      }
      if (header_.flags & kHasCounts) {
        entry.target_count = static_cast<std::uint32_t>(reader.varint());
        entry.source_count = static_cast<std::uint32_t>(reader.varint());
        entry.count = static_cast<std::uint32_t>(reader.varint());
      }
      continue;
    }
    entry.count = static_cast<std::uint32_t>(reader.varint());
    entry.source_count = source_count;
    entry.target_count = entry.count + static_cast<std::uint32_t>(reader.varint());
    if (entry.count == 0 || entry.target_count < entry.count || entry.source_count < entry.count) ByteReader::fail();
    entry.scores[0] = static_cast<float>(static_cast<double>(entry.count) / entry.target_count);
    entry.scores[2] = static_cast<float>(static_cast<double>(entry.count) / entry.source_count);
    if (lexical) {
      lexical_weights(source, entry, shape & 1 ? inverse_links : entry.links);
    } else {
      entry.scores[1] = entry.scores[3] = 0;
    }
    std::array<std::uint32_t, 6> seen{};
    if (entry.count == 1) {
      std::uint64_t code = reader.varint();
      if (code > 8) ByteReader::fail();
      seen[code / 3] = seen[3 + code % 3] = 1;
    } else {
      for (int side : {0, 3}) {
        seen[side] = static_cast<std::uint32_t>(reader.varint());
        seen[side + 1] = static_cast<std::uint32_t>(reader.varint());
        if (seen[side] > entry.count || seen[side + 1] > entry.count - seen[side]) ByteReader::fail();
        seen[side + 2] = entry.count - seen[side] - seen[side + 1];
      }
    }
    for (int i = 0; i < 6; ++i) {
      entry.reordering[i] = static_cast<float>(reordering_probability(seen[i], entry.count, one()));
    }
    entry.orientations = seen;
  }
}

}  // namespace treeglot
