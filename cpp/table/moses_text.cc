#include "table/moses_text.hh"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/numbers.hh"
#include "table/moses_words.hh"

namespace treeglot {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 18;
constexpr std::string_view kStop = kBars;

void put_phrase(std::string& out, const MappedWords& words, std::span<const WordId> phrase) {
  for (WordId word : phrase) {
    put_moses_word(out, words.word(word));
    out += ' ';
  }
  out += "||| ";
}

void put_whole(std::string& out, std::uint32_t number) {
  if (number < 10) {
    out += static_cast<char>('0' + number);
    return;
  }
  char text[10];
  auto result = std::to_chars(text, text + sizeof text, number);
  out.append(text, result.ptr);
}

// What follows the whole part of a number of hundredths.
void put_hundredths(std::string& out, std::uint32_t rest) {
  out += '.';
  out += static_cast<char>('0' + rest / 10);
  if (rest % 10) out += static_cast<char>('0' + rest % 10);
}

// Quotients of small whole numbers as text: few pairs were seen often, so few values make up nearly the whole table.
// `Value` gives the number for a part and a whole.
template <class Value>
class QuotientText {
 public:
  explicit QuotientText(Value value = {}) : value_(value) {
    for (std::uint32_t whole = 1; whole < kMany; ++whole) {
      for (std::uint32_t part = 0; part <= whole; ++part) put_number(texts_[whole][part], value_(part, whole));
    }
  }
  void put(std::string& out, std::uint32_t part, std::uint32_t whole) const {
    if (part <= whole && whole < kMany) {
      out += texts_[whole][part];
    } else {
      put_number(out, value_(part, whole));
    }
  }

 private:
  static constexpr std::uint32_t kMany = 64;
  Value value_;
  std::string texts_[kMany][kMany];
};

// Moses prints phrase probabilities from floats, those of reordering from doubles.
struct PhraseProbability {
  float operator()(std::uint32_t count, std::uint32_t total) const {
    return static_cast<float>(static_cast<double>(count) / total);
  }
};
struct ReorderingProbability {
  std::uint32_t one = 1;
  double operator()(std::uint32_t seen, std::uint32_t count) const { return reordering_probability(seen, count, one); }
};

}  // namespace

void export_moses(const PhraseTable& table, const WriteText& phrases, const WriteText* reordering) {
  std::string pairs, orders, key;
  std::vector<std::uint32_t> order;
  std::vector<WordLink> links;
  const bool own_scores = table.has_own_scores();
  const QuotientText<PhraseProbability> probabilities;
  const QuotientText<ReorderingProbability> orientations(ReorderingProbability{table.one()});
  table.scan({}, [&](std::span<const WordId> source, const std::vector<TableEntry>& entries) {
    key.clear();
    put_phrase(key, table.source_words(), source);
    const std::size_t shared = key.size();
    table.text_order(entries, order);
    for (std::uint32_t n : order) {
      const TableEntry& entry = entries[n];
      key.resize(shared);
      put_phrase(key, table.target_words(), entry.target);
      pairs += key;
      for (std::size_t i = 0; i < entry.scores.size(); ++i) {
        if (own_scores || i % 2 == 1) {
          put_number(pairs, entry.scores[i]);
        } else {
          probabilities.put(pairs, entry.count, i == 0 ? entry.target_count : entry.source_count);
        }
        pairs += ' ';
      }
      pairs += "|||";
      links = entry.links;
      std::sort(links.begin(), links.end(), [](const WordLink& a, const WordLink& b) {
        return a.target != b.target ? a.target < b.target : a.source < b.source;
      });
      for (const WordLink& link : links) {
        pairs += ' ';
        put_whole(pairs, link.source);
        pairs += '-';
        put_whole(pairs, link.target);
      }
      pairs += " |||";
      if (table.has_counts()) {
        for (std::uint32_t count : {entry.target_count, entry.source_count, entry.count}) {
          pairs += ' ';
          put_whole(pairs, count / table.one());
          if (const std::uint32_t rest = count % table.one()) put_hundredths(pairs, rest);
        }
      }
      pairs += " ||| |||\n";
      if (reordering) {
        orders += key;
        for (std::size_t i = 0; i < entry.reordering.size(); ++i) {
          if (i > 0) orders += ' ';
          if (own_scores) {
            put_number(orders, entry.reordering[i]);
          } else {
            orientations.put(orders, entry.orientations[i], entry.count);
          }
        }
        orders += '\n';
      }
    }
    if (pairs.size() > kPart) {
      phrases(pairs);
      pairs.clear();
      if (reordering) (*reordering)(orders);
      orders.clear();
    }
    return true;
  });
  phrases(pairs);
  if (reordering) (*reordering)(orders);
}

void export_lexicon(const PhraseTable& table, const WriteText& source_given_target,
                    const WriteText& target_given_source) {
  std::string backward, forward;
  auto put = [](std::string& out, std::string_view first, std::string_view second, double value) {
    put_moses_word(out, first);
    out += ' ';
    put_moses_word(out, second);
    const std::string units = std::to_string(round_decimal(value, 1e7));
    out += units.size() > 7 ? " 1." : " 0.";
    out.append(units.size() < 7 ? 7 - units.size() : 0, '0');
    out.append(units, units.size() - std::min<std::size_t>(units.size(), 7));
    out += '\n';
  };
  table.lexicon([&](WordId source, WordId target, double forward_value, double backward_value) {
    std::string_view f = source == LexicalTable::kNull ? "NULL" : table.source_words().word(source);
    std::string_view e = target == LexicalTable::kNull ? "NULL" : table.target_words().word(target);
    put(backward, f, e, backward_value);
    put(forward, e, f, forward_value);
    if (backward.size() > kPart) {
      source_given_target(backward);
      target_given_source(forward);
      backward.clear();
      forward.clear();
    }
  });
  source_given_target(backward);
  target_given_source(forward);
}

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void split(std::string_view text, std::vector<std::string_view>& out) {
  out.clear();
  std::size_t i = 0;
  while (true) {
    while (i < text.size() && blank(text[i])) ++i;
    if (i == text.size()) return;
    std::size_t start = i;
    while (i < text.size() && !blank(text[i])) ++i;
    out.push_back(text.substr(start, i - start));
  }
}

// The columns between words "|||".
void split_columns(std::string_view line, std::vector<std::string_view>& out) {
  out.clear();
  std::size_t start = 0;
  for (std::size_t at = line.find(kStop); at != line.npos; at = line.find(kStop, at + 1)) {
    bool opens = at == 0 || blank(line[at - 1]), closes = at + 3 == line.size() || blank(line[at + 3]);
    if (!opens || !closes) continue;
    out.push_back(line.substr(start, at - start));
    start = at + 3;
    at += 2;
  }
  out.push_back(line.substr(start));
}

bool read_number(std::string_view text, double& value) {
  return parse_number(text, value) && std::fabs(value) <= std::numeric_limits<float>::max();
}

}  // namespace

MosesImporter::MosesImporter(std::string folder, std::size_t memory) : folder_(std::move(folder)), memory_(memory) {
  std::string name = folder_ + "/.treeglot-import-XXXXXX";
  int handle = ::mkstemp(name.data());
  if (handle < 0) throw std::runtime_error("cannot create a temporary file in " + folder_);
  ::unlink(name.c_str());
  spill_ = ::fdopen(handle, "w+b");
}

MosesImporter::~MosesImporter() {
  if (mapped_) ::munmap(const_cast<char*>(mapped_), spilled_);
  std::fclose(spill_);
}

void MosesImporter::fail(bool reordering, const std::string& message) const {
  throw MosesError{reordering, lines_[reordering], message};
}

void MosesImporter::add_lines(std::string_view text, bool reordering) {
  any_reordering_ = any_reordering_ || reordering;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    ++lines_[reordering];
    add_line(text.substr(0, end), reordering);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void MosesImporter::add_line(std::string_view line, bool reordering) {
  split_columns(line, columns_);
  if (columns_.size() < 3) fail(reordering, "not of the form source ||| target ||| scores");
  LineHead head{};
  head.line = lines_[reordering];
  head.reordering = reordering;
  std::vector<char> record(sizeof head);
  auto put = [&record](const auto& value) {
    const char* data = reinterpret_cast<const char*>(&value);
    record.insert(record.end(), data, data + sizeof value);
  };
  for (bool target : {false, true}) {
    split(columns_[target], tokens_);
    if (tokens_.empty()) fail(reordering, target ? "no target phrase" : "no source phrase");
    if (tokens_.size() > kMaxPhrase) fail(reordering, "a phrase of more than 255 words");
    (target ? head.target_length : head.source_length) = static_cast<std::uint8_t>(tokens_.size());
    for (std::string_view token : tokens_) {
      WordId id = (target ? target_words_ : source_words_).id(read_moses_word(token, word_));
      if (target) {
        if (id >= target_frequency_.size()) target_frequency_.resize(id + 1);
        ++target_frequency_[id];
      }
      put(id);
    }
  }
  split(columns_[2], tokens_);
  std::size_t wanted = reordering ? 6 : 4;
  double value = 0;
  // Old tables have a constant phrase penalty, e, after the four scores.
  if (!reordering && tokens_.size() == 5 && read_number(tokens_[4], value) && std::abs(value - 2.718) < 0.001) {
    tokens_.pop_back();
  }
  if (tokens_.size() != wanted) {
    fail(reordering, std::to_string(tokens_.size()) + " scores where " + std::to_string(wanted) + " are needed" +
                         (reordering ? " (msd-bidirectional-fe)" : ""));
  }
  for (std::string_view token : tokens_) {
    if (!read_number(token, value) || value < 0) {
      fail(reordering, std::string(token.substr(0, 60)).append(" is not a probability"));
    }
    put(static_cast<float>(value));
  }
  if (!reordering) {
    std::uint32_t counts[3] = {0, 0, 0};
    bool counted = false;
    if (columns_.size() > 4) {
      split(columns_[4], tokens_);
      counted = tokens_.size() == 3;
      for (std::size_t i = 0; counted && i < 3; ++i) {
        counted = read_number(tokens_[i], value) && value >= 0 && value < 4e9;
        counts[i] = static_cast<std::uint32_t>(std::lround(counted ? value : 0));
      }
    }
    all_counted_ = all_counted_ && counted;
    put(counts);
    if (columns_.size() > 3) {
      split(columns_[3], tokens_);
      for (std::string_view token : tokens_) {
        unsigned s = 0, t = 0;
        const char* end = token.data() + token.size();
        auto first = std::from_chars(token.data(), end, s);
        bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
        if (good) {
          auto second = std::from_chars(first.ptr + 1, end, t);
          good = second.ec == std::errc() && second.ptr == end && s < head.source_length && t < head.target_length;
        }
        if (!good) fail(reordering, std::string(token.substr(0, 60)).append(" is not a link between these phrases"));
        put(WordLink{static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)});
      }
    }
  }
  head.bytes = static_cast<std::uint32_t>(record.size());
  std::memcpy(record.data(), &head, sizeof head);
  if (std::fwrite(record.data(), 1, record.size(), spill_) != record.size()) {
    throw std::runtime_error("cannot write a temporary file (is the disk full?)");
  }
  spilled_ += record.size();
}

MosesImporter::LineHead MosesImporter::head(std::uint64_t place) const {
  LineHead head;
  std::memcpy(&head, mapped_ + place, sizeof head);
  return head;
}

void MosesImporter::words(std::uint64_t place, bool target, std::vector<WordId>& out) const {
  LineHead here = head(place);
  const char* data = mapped_ + place + sizeof here + (target ? here.source_length * sizeof(WordId) : 0);
  out.resize(target ? here.target_length : here.source_length);
  std::memcpy(out.data(), data, out.size() * sizeof(WordId));
  const std::vector<WordId>& renumbered = target ? target_renumbered_ : source_renumbered_;
  for (WordId& word : out) word = renumbered[word];
}

int MosesImporter::compare(std::uint64_t a, std::uint64_t b) const {
  thread_local std::vector<WordId> left, right;
  for (bool target : {false, true}) {
    words(a, target, left);
    words(b, target, right);
    int order = compare_phrases(left, right, target ? target_stop_ : source_stop_);
    if (order != 0) return order;
  }
  LineHead first = head(a), second = head(b);
  if (first.reordering != second.reordering) return first.reordering < second.reordering ? -1 : 1;
  return first.line < second.line ? -1 : first.line > second.line;
}

MosesImporter::Result MosesImporter::finish(const std::string& path) {
  Result result;
  source_renumbered_ = source_words_.sort();
  target_renumbered_ = target_words_.sort();
  source_stop_ = stop_rank(source_words_);
  target_stop_ = stop_rank(target_words_);
  std::vector<std::uint64_t> frequency(target_words_.size());
  for (WordId old = 0; old < frequency.size(); ++old) frequency[target_renumbered_[old]] = target_frequency_[old];
  if (std::fflush(spill_) != 0) throw std::runtime_error("cannot write a temporary file (is the disk full?)");
  if (spilled_ > 0) {
    void* memory = ::mmap(nullptr, spilled_, PROT_READ, MAP_SHARED, ::fileno(spill_), 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map a temporary file into memory");
    mapped_ = static_cast<const char*>(memory);
  }
  ExternalSorter<std::uint64_t, Less> sorter(folder_, memory_, Less{this});
  for (std::uint64_t place = 0; place < spilled_; place += head(place).bytes) sorter.push(place);
  sorter.finish();

  std::uint32_t flags = (any_reordering_ ? kHasReordering : 0) | (all_counted_ ? kHasCounts : 0);
  PhraseTableWriter writer(path, source_words_, target_words_, frequency, flags);
  std::vector<WordId> source, target, last_source;
  TableEntry entry;
  bool open = false, ordered = false;
  auto close = [&] {
    if (!open) return;
    result.without_reordering += any_reordering_ && !ordered;
    writer.add(source, entry);
    ++result.pairs;
    result.sources += source != last_source;
    last_source = source;
    open = false;
  };
  std::vector<WordId> next_source, next_target;
  while (const std::uint64_t* place = sorter.next()) {
    LineHead here = head(*place);
    words(*place, false, next_source);
    words(*place, true, next_target);
    const char* values = mapped_ + *place + sizeof here + (here.source_length + here.target_length) * sizeof(WordId);
    bool same = open && next_source == source && next_target == entry.target;
    if (here.reordering) {
      if (!same) {
        ++result.unused_reordering;
        continue;
      }
      if (ordered) throw MosesError{true, here.line, "the pair is given twice"};
      std::memcpy(entry.reordering.data(), values, sizeof entry.reordering);
      ordered = true;
      continue;
    }
    if (same) throw MosesError{false, here.line, "the pair is given twice"};
    close();
    source.swap(next_source);
    entry.target = next_target;
    std::memcpy(entry.scores.data(), values, sizeof entry.scores);
    values += sizeof entry.scores;
    std::uint32_t counts[3];
    std::memcpy(counts, values, sizeof counts);
    values += sizeof counts;
    entry.target_count = counts[0];
    entry.source_count = counts[1];
    entry.count = counts[2];
    entry.links.resize(static_cast<std::size_t>(mapped_ + *place + here.bytes - values) / sizeof(WordLink));
    if (!entry.links.empty()) std::memcpy(entry.links.data(), values, entry.links.size() * sizeof(WordLink));
    std::sort(entry.links.begin(), entry.links.end());
    entry.reordering.fill(1.0f);
    open = true;
    ordered = false;
  }
  close();
  writer.finish();
  return result;
}

}  // namespace treeglot
