#include "align/model.hh"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "align/gibbs.hh"
#include "align/sampler.hh"
#include "align/symmetrize.hh"
#include "base/hash.hh"
#include "base/mapped_header.hh"
#include "base/parallel.hh"
#include "base/words.hh"

namespace treeglot::align {
namespace {

constexpr char kMagic[8] = {'T', 'G', 'W', 'A', 'L', 'I', 'G', 'N'};

struct Header {
  char magic[8];
  std::uint32_t version, jumps;
  std::uint64_t size, checksum;  // of the whole file
  std::uint64_t sources, targets, source_bytes, target_bytes, pairs;
  std::uint64_t known, links;
};
static_assert(sizeof(Header) == 88);

// Of the header and of all that follows it.
std::uint64_t checksum(Header header, const char* rest) {
  const std::uint64_t size = header.size;
  header.checksum = 0;
  Checksum sum;
  sum.add(&header, sizeof header);
  sum.add(rest, size - sizeof header);
  return sum.value();
}

// Sections begin at multiples of eight bytes.
class Writer {
 public:
  template <class T>
  void put(const T* data, std::size_t count) {
    bytes_.append(reinterpret_cast<const char*>(data), count * sizeof(T));
    bytes_.resize((bytes_.size() + 7) / 8 * 8, '\0');
  }
  std::string bytes_;
};

void put_words(Writer& writer, const SymbolTable& table, const std::vector<WordId>& order, std::uint64_t& total) {
  std::vector<std::uint64_t> starts{0};
  std::string text;
  for (WordId id : order) {
    text += table.word(id);
    starts.push_back(text.size());
  }
  total = text.size();
  writer.put(starts.data(), starts.size());
  writer.put(text.data(), text.size());
}

std::vector<WordId> by_bytes(const SymbolTable& table) {
  std::vector<WordId> order(table.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](WordId a, WordId b) { return table.word(a) < table.word(b); });
  return order;
}

// Values above `most` become it.
std::vector<float> reordered(const std::vector<float>& values, const std::vector<WordId>& order, float most) {
  std::vector<float> result;
  for (WordId id : order) result.push_back(std::min(most, values[id]));
  result.push_back(std::min(most, values.back()));  // for unknown words
  return result;
}

// The chance of a pair that never met is at most this, also for words that had no partner at all, of which the prior
// alone says nothing.
constexpr float kMostUnseen = 0.5f;

}  // namespace

void write_model(const Corpus& corpus, const Learnt& learnt, const std::string& path) {
  const WordPairs& pairs = learnt.pairs;
  const std::vector<WordId> sources = by_bytes(corpus.source_words), targets = by_bytes(corpus.target_words);
  std::vector<WordId> fresh(targets.size());
  for (WordId id = 0; id < targets.size(); ++id) fresh[targets[id]] = id;
  Header header{};
  Writer writer;
  writer.put(&pairs.same_ratio, 1);
  writer.put(&learnt.bonus, 1);
  writer.put(learnt.forward.weight.data(), learnt.forward.weight.size());
  writer.put(&learnt.forward.null, 1);
  writer.put(learnt.reverse.weight.data(), learnt.reverse.weight.size());
  writer.put(&learnt.reverse.null, 1);
  put_words(writer, corpus.source_words, sources, header.source_bytes);
  put_words(writer, corpus.target_words, targets, header.target_bytes);
  for (const auto& [values, order] :
       {std::pair{&pairs.source_unseen, &sources}, std::pair{&pairs.source_given_null, &sources},
        std::pair{&pairs.target_unseen, &targets}, std::pair{&pairs.target_given_null, &targets}}) {
    const bool unseen = values == &pairs.source_unseen || values == &pairs.target_unseen;
    const std::vector<float> sorted = reordered(*values, *order, unseen ? kMostUnseen : 1e6f);
    writer.put(sorted.data(), sorted.size());
  }
  std::vector<std::uint64_t> rows{0};
  std::vector<std::uint32_t> columns;
  std::vector<WordPairs::Chance> chances;
  std::vector<std::pair<std::uint32_t, WordPairs::Chance>> row;
  for (WordId id : sources) {
    row.clear();
    for (auto k = pairs.starts[id]; k < pairs.starts[id + 1]; ++k) {
      const WordId target = pairs.targets[k];
      if (pairs.chances[k].target_given_source > 2 * pairs.source_unseen[id] ||
          pairs.chances[k].source_given_target > 2 * pairs.target_unseen[target]) {
        row.emplace_back(fresh[target], pairs.chances[k]);
      }
    }
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [target, chance] : row) {
      columns.push_back(target);
      chances.push_back(chance);
    }
    rows.push_back(columns.size());
  }
  writer.put(rows.data(), rows.size());
  writer.put(columns.data(), columns.size());
  writer.put(chances.data(), chances.size());
  if (learnt.bonus > 0) {
    const Sampled& sampled = learnt.sampled;
    for (const auto& [values, order] :
         {std::pair{&sampled.source_fertility, &sources}, std::pair{&sampled.target_fertility, &targets}}) {
      std::vector<float> sorted;
      for (WordId id : *order) {
        const float* row = values->data() + static_cast<std::size_t>(id) * kFertilities;
        sorted.insert(sorted.end(), row, row + kFertilities);
      }
      sorted.insert(sorted.end(), values->end() - kFertilities, values->end());
      writer.put(sorted.data(), sorted.size());
    }
    writer.put(sampled.keys.data(), sampled.keys.size());
    writer.put(sampled.starts.data(), sampled.starts.size());
    writer.put(sampled.links.data(), sampled.links.size());
    header.known = sampled.keys.size();
    header.links = sampled.links.size();
  }
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kModelVersion;
  header.jumps = JumpTable::kSize;
  header.size = sizeof header + writer.bytes_.size();
  header.sources = sources.size();
  header.targets = targets.size();
  header.pairs = columns.size();
  header.checksum = checksum(header, writer.bytes_.data());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(writer.bytes_.data(), static_cast<std::streamsize>(writer.bytes_.size()));
  out.close();
  if (!out) throw std::runtime_error("the model could not be written; is the disk full?");
}

Model::Model(const std::string& path, bool verify) : file_(path) {
  Header header;
  if (file_.size() < sizeof header || std::memcmp(file_.data(), kMagic, sizeof kMagic) != 0) {
    throw std::runtime_error("not an alignment model");
  }
  std::memcpy(&header, file_.data(), sizeof header);
  if (header.version != kModelVersion || header.jumps != JumpTable::kSize) {
    throw std::runtime_error("a model of another version (format " + std::to_string(header.version) +
                             ", this one reads format " + std::to_string(kModelVersion) + ")");
  }
  if (header.size != file_.size()) throw std::runtime_error("the model is truncated");
  std::size_t position = sizeof header;
  auto check = [](bool good) {
    if (!good) throw std::runtime_error("the model is damaged");
  };
  auto take = [&]<class T>(const T*& pointer, std::uint64_t count) {
    check(fits(position, count, sizeof(T), header.size));
    pointer = reinterpret_cast<const T*>(file_.data() + position);
    position = (position + count * sizeof(T) + 7) / 8 * 8;
    check(position <= header.size);
  };
  check(header.sources < header.size && header.targets < header.size && header.sources < kUnknown &&
        header.targets < kUnknown);
  if ((verify || !contents_are_known(file_, header.checksum))) {
    if (checksum(header, file_.data() + position) != header.checksum) {
      throw std::runtime_error("the model is damaged: its checksum is wrong");
    }
    check_mapped_files();
    contents_are_good(file_, header.checksum);
  }
  auto are_chances = [](const float* begin, std::uint64_t count, float most = 1e6f) {
    return std::all_of(begin, begin + count, [&](float value) { return value >= 0 && value <= most; });
  };
  const float* values = nullptr;
  take(values, 1);
  same_ratio_ = *values;
  take(values, 1);
  bonus_ = *values;
  check(are_chances(&same_ratio_, 1, 1e30f) && are_chances(&bonus_, 1, 1e30f));
  for (JumpTable* table : {&forward_, &reverse_}) {
    take(values, JumpTable::kSize);
    check(are_chances(values, JumpTable::kSize, 1e30f));
    table->weight.assign(values, values + JumpTable::kSize);
    take(values, 1);
    check(are_chances(values, 1));
    table->null = *values;
  }
  source_.count = header.sources;
  target_.count = header.targets;
  take(source_.starts, header.sources + 1);
  take(source_.text, header.source_bytes);
  take(target_.starts, header.targets + 1);
  take(target_.text, header.target_bytes);
  take(source_.unseen, header.sources + 1);
  take(source_.null, header.sources + 1);
  take(target_.unseen, header.targets + 1);
  take(target_.null, header.targets + 1);
  pair_count_ = header.pairs;
  take(rows_, header.sources + 1);
  take(columns_, header.pairs);
  take(chances_, header.pairs);
  if (bonus_ > 0) {
    known_count_ = header.known;
    take(source_.fertility, (header.sources + 1) * kFertilities);
    take(target_.fertility, (header.targets + 1) * kFertilities);
    check(header.known < header.size);
    take(keys_, header.known);
    take(link_starts_, header.known + 1);
    take(links_, header.links);
    check(are_chances(source_.fertility, (header.sources + 1) * kFertilities, 1e30f) &&
          are_chances(target_.fertility, (header.targets + 1) * kFertilities, 1e30f) &&
          std::is_sorted(keys_, keys_ + header.known));
  } else {
    check(header.known == 0 && header.links == 0);
  }
  check(position == header.size);
  auto check_starts = [&](const std::uint64_t* starts, std::uint64_t count, std::uint64_t end) {
    check(starts[0] == 0 && starts[count] == end && std::is_sorted(starts, starts + count + 1));
  };
  check_starts(source_.starts, header.sources, header.source_bytes);
  check_starts(target_.starts, header.targets, header.target_bytes);
  check_starts(rows_, header.sources, header.pairs);
  if (bonus_ > 0) check_starts(link_starts_, header.known, header.links);
  for (std::uint64_t source = 0; source < header.sources; ++source) {
    for (std::uint64_t k = rows_[source]; k < rows_[source + 1]; ++k) {
      check(columns_[k] < header.targets && (k == rows_[source] || columns_[k - 1] < columns_[k]));
    }
  }
  static_assert(sizeof(WordPairs::Chance) == 2 * sizeof(float));
  check(are_chances(&chances_->target_given_source, 2 * header.pairs) &&
        are_chances(source_.unseen, header.sources + 1) && are_chances(source_.null, header.sources + 1) &&
        are_chances(target_.unseen, header.targets + 1) && are_chances(target_.null, header.targets + 1));
  for (Words* words : {&source_, &target_}) {
    words->ids.reserve(words->count);
    for (std::size_t id = 0; id < words->count; ++id) {
      check(id == 0 || words->word(id - 1) < words->word(id));
      words->ids.emplace(words->word(id), static_cast<std::uint32_t>(id));
    }
  }
}

struct Model::Workspace {
  Sentence source, target;
  HmmWorkspace hmm;
  SentenceSampler sampler[2];  // forward and reverse
  JumpRows jumps[2];
  std::vector<float> sums[2];
  std::vector<float> emission, emission_reverse, forward, reverse, null_forward, null_reverse, null_emission;
  std::vector<WordPairs::Chance> chances;  // source by target

  std::uint64_t key() const {
    PairKey key;
    for (std::string_view word : source.text) key.source(word);
    for (std::string_view word : target.text) key.target(word);
    return key.value();
  }
};

void Model::read(std::string_view line, const Words& words, Sentence& out) {
  out.text.clear();
  out.ids.clear();
  for_each_word(line, [&](std::string_view word) {
    out.text.push_back(word);
    out.ids.push_back(words.id(word));
  });
}

// Words that the model has not seen together have the chance that the prior gives them.
WordPairs::Chance Model::chance(std::uint32_t source, std::uint32_t target, bool same) const {
  if (source != kUnknown && target != kUnknown) {
    const std::uint32_t *begin = columns_ + rows_[source], *end = columns_ + rows_[source + 1];
    const std::uint32_t* column = std::lower_bound(begin, end, target);
    if (column != end && *column == target) return chances_[column - columns_];
  }
  const float factor = same ? same_ratio_ : 1.0f;
  return {std::min(kMostUnseen, source_.unseen[source_.slot(source)] * factor),
          std::min(kMostUnseen, target_.unseen[target_.slot(target)] * factor)};
}

void Model::fill(Workspace& work) const {
  const std::size_t I = work.source.ids.size(), J = work.target.ids.size();
  work.emission.resize(I * J);
  work.emission_reverse.resize(I * J);
  for (std::size_t i = 0; i < I; ++i) {
    for (std::size_t j = 0; j < J; ++j) {
      const WordPairs::Chance c =
          chance(work.source.ids[i], work.target.ids[j], work.source.text[i] == work.target.text[j]);
      work.emission[j * I + i] = c.target_given_source;
      work.emission_reverse[i * J + j] = c.source_given_target;
    }
  }
  work.forward.resize(I * J);
  work.reverse.resize(I * J);
  work.null_forward.resize(J);
  work.null_reverse.resize(I);
  work.null_emission.clear();
  for (std::uint32_t id : work.target.ids) work.null_emission.push_back(target_.null[target_.slot(id)]);
  work.hmm.posteriors(work.emission.data(), work.null_emission.data(), static_cast<int>(J), static_cast<int>(I),
                      forward_, work.forward.data(), work.null_forward.data(), nullptr);
  work.null_emission.clear();
  for (std::uint32_t id : work.source.ids) work.null_emission.push_back(source_.null[source_.slot(id)]);
  work.hmm.posteriors(work.emission_reverse.data(), work.null_emission.data(), static_cast<int>(I), static_cast<int>(J),
                      reverse_, work.reverse.data(), work.null_reverse.data(), nullptr);
  if (bonus_ > 0) sample(work, work.key());
}

// Draws links with the weights of the model, starting from the hidden Markov model's; the chances of the draws take the
// place of its posteriors.
void Model::sample(Workspace& work, std::uint64_t key) const {
  constexpr int kSweeps = 12, kKept = 10;
  const std::size_t I = work.source.ids.size(), J = work.target.ids.size();
  const Sentence* sides[2] = {&work.source, &work.target};
  const Words* words[2] = {&source_, &target_};
  std::vector<float>* posteriors[2] = {&work.forward, &work.reverse};
  const std::vector<float>* nothing[2] = {&work.null_forward, &work.null_reverse};
  const std::vector<float>* emissions[2] = {&work.emission, &work.emission_reverse};
  for (int d = 0; d < 2; ++d) {
    const Sentence &states = *sides[d], &observed = *sides[1 - d];
    const std::size_t n = states.ids.size(), m = observed.ids.size();
    SentenceSampler& sampler = work.sampler[d];
    sampler.resize(static_cast<int>(n), static_cast<int>(m));
    for (std::size_t j = 0; j < m; ++j) {
      std::copy_n(emissions[d]->data() + j * n, n, sampler.lexical(static_cast<int>(j)));
      sampler.null[j] = words[1 - d]->null[words[1 - d]->slot(observed.ids[j])];
      const float* row = posteriors[d]->data() + j * n;
      const auto best = static_cast<std::size_t>(std::max_element(row, row + n) - row);
      if (row[best] > (*nothing[d])[j]) sampler.links[j] = static_cast<std::uint16_t>(best + 1);
    }
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(words[d]->fertility + words[d]->slot(states.ids[i]) * kFertilities, kFertilities,
                  sampler.fertility(static_cast<int>(i)));
    }
    if (work.jumps[d].states() < static_cast<int>(n))
      work.jumps[d].fill(d == 0 ? forward_ : reverse_, static_cast<int>(n));
    sampler.begin(work.jumps[d], (d == 0 ? forward_ : reverse_).null, bonus_);
    work.sums[d].assign((n + 1) * m, 0.0f);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int d = 0; d < 2; ++d) {
      work.sampler[d].other_links = work.sampler[1 - d].links;
      work.sampler[d].sweep(random_bits(key, static_cast<std::uint64_t>(2 * sweep + d)),
                            sweep >= kSweeps - kKept ? work.sums[d].data() : nullptr);
    }
  }
  auto keep = [&](const std::vector<float>& sums, std::size_t n, std::size_t m, std::vector<float>& posterior,
                  std::vector<float>& null) {
    for (std::size_t j = 0; j < m; ++j) {
      null[j] = sums[j * (n + 1)] / kKept;
      for (std::size_t i = 0; i < n; ++i) posterior[j * n + i] = std::min(1.0f, sums[j * (n + 1) + i + 1] / kKept);
    }
  };
  keep(work.sums[0], I, J, work.forward, work.null_forward);
  keep(work.sums[1], J, I, work.reverse, work.null_reverse);
}

// Pairs that were learnt from have the links that they had then.
bool Model::known(const Workspace& work, std::vector<LinkChance>& out) const {
  if (known_count_ == 0) return false;
  const std::uint64_t key = work.key();
  const std::uint64_t* entry = std::lower_bound(keys_, keys_ + known_count_, key);
  if (entry == keys_ + known_count_ || *entry != key) return false;
  const LinkChance *begin = links_ + link_starts_[entry - keys_], *end = links_ + link_starts_[entry - keys_ + 1];
  for (const LinkChance* link = begin; link < end; ++link)
    if (link->source >= work.source.ids.size() || link->target >= work.target.ids.size()) return false;
  out.assign(begin, end);
  return true;
}

void Model::links(Workspace& work, std::vector<LinkChance>& out) const {
  out.clear();
  const std::size_t I = work.source.ids.size(), J = work.target.ids.size();
  if (I == 0 || J == 0 || known(work, out)) return;
  if (static_cast<double>(I) * static_cast<double>(J) * static_cast<double>(std::max(I, J)) > kMaxWork) {
    align_long(work, out);
    return;
  }
  fill(work);
  std::vector<std::size_t> forward(J, I), reverse(I, J);
  for (std::size_t j = 0; j < J; ++j) {
    const float* row = work.forward.data() + j * I;
    const auto best = static_cast<std::size_t>(std::max_element(row, row + I) - row);
    if (row[best] > work.null_forward[j]) forward[j] = best;
  }
  for (std::size_t i = 0; i < I; ++i) {
    const float* row = work.reverse.data() + i * J;
    const auto best = static_cast<std::size_t>(std::max_element(row, row + J) - row);
    if (row[best] > work.null_reverse[i]) reverse[i] = best;
  }
  for (std::size_t i = 0; i < I; ++i) {
    for (std::size_t j = 0; j < J; ++j) {
      const float there = std::min(1.0f, work.forward[j * I + i]), back = std::min(1.0f, work.reverse[i * J + j]);
      const bool first = forward[j] == i, second = reverse[i] == j;
      if (there < kLeastChance && back < kLeastChance && !first && !second) continue;
      out.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j), LinkChance::pack(there, first),
                     LinkChance::pack(back, second)});
    }
  }
}

void Model::align_long(Workspace& work, std::vector<LinkChance>& out) const {
  const std::size_t I = work.source.ids.size(), J = work.target.ids.size();
  std::vector<float> best_score(J, 0.0f);
  std::vector<std::size_t> best(J, I);
  std::vector<WordLink> forward, reverse;
  for (std::size_t i = 0; i < I; ++i) {
    float row_score = reverse_.null * source_.null[source_.slot(work.source.ids[i])];
    std::size_t row_best = J;
    for (std::size_t j = 0; j < J; ++j) {
      const float away =
          std::abs(static_cast<float>(i) / static_cast<float>(I) - static_cast<float>(j) / static_cast<float>(J));
      const float near =
          1.0f / (1.0f + away * static_cast<float>(I) + away * away * static_cast<float>(I) * static_cast<float>(I));
      const WordPairs::Chance c =
          chance(work.source.ids[i], work.target.ids[j], work.source.text[i] == work.target.text[j]);
      if (c.target_given_source * near > best_score[j]) {
        best_score[j] = c.target_given_source * near;
        best[j] = i;
      }
      if (c.source_given_target * near > row_score) {
        row_score = c.source_given_target * near;
        row_best = j;
      }
    }
    if (row_best < J) reverse.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(row_best)});
  }
  for (std::size_t j = 0; j < J; ++j) {
    if (best[j] < I && best_score[j] > forward_.null * target_.null[target_.slot(work.target.ids[j])]) {
      forward.push_back({static_cast<std::uint16_t>(best[j]), static_cast<std::uint16_t>(j)});
    }
  }
  // Without chances: a link is sure where it is chosen.
  auto add = [&](const WordLink& link, bool there, bool back) {
    out.push_back({link.source, link.target, LinkChance::pack(there ? 1.0f : 0.0f, there),
                   LinkChance::pack(back ? 1.0f : 0.0f, back)});
  };
  for (const WordLink& link : forward) add(link, true, false);
  for (const WordLink& link : reverse) add(link, false, true);
  auto before = [](const LinkChance& a, const LinkChance& b) {
    return std::pair{a.source, a.target} < std::pair{b.source, b.target};
  };
  std::sort(out.begin(), out.end(), before);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (kept > 0 && !before(out[kept - 1], out[k])) {
      out[kept - 1].forward |= out[k].forward;
      out[kept - 1].reverse |= out[k].reverse;
    } else {
      out[kept++] = out[k];
    }
  }
  out.resize(kept);
}

template <class Write>
std::size_t Model::for_each_pair(const std::vector<std::string_view>& source,
                                 const std::vector<std::string_view>& target, int threads, std::size_t block,
                                 Write&& write) const {
  std::atomic<std::size_t> too_long{source.size()};
  for_each_piece((source.size() + block - 1) / block, threads, [&] {
    return [&, work = Workspace(), chances = std::vector<LinkChance>()](std::size_t b) mutable {
      for (std::size_t n = b * block; n < std::min(source.size(), (b + 1) * block); ++n) {
        read(source[n], source_, work.source);
        read(target[n], target_, work.target);
        if (std::max(work.source.ids.size(), work.target.ids.size()) > kMaxWords) {
          for (std::size_t seen = too_long; n < seen && !too_long.compare_exchange_weak(seen, n);) {
          }
          continue;
        }
        links(work, chances);
        write(chances, b);
      }
    };
  });
  return too_long < source.size() ? too_long + 1 : 0;
}

std::size_t Model::align(const std::vector<std::string_view>& source, const std::vector<std::string_view>& target,
                         int threads, std::string& forward, std::string& reverse) const {
  constexpr std::size_t kBlock = 64;
  const std::size_t blocks = (source.size() + kBlock - 1) / kBlock;
  std::vector<std::string> forward_parts(blocks), reverse_parts(blocks);
  const std::size_t bad =
      for_each_pair(source, target, threads, kBlock, [&](const std::vector<LinkChance>& chances, std::size_t b) {
        std::vector<WordLink> there, back;
        for (const LinkChance& link : chances) {
          if (LinkChance::chosen(link.forward)) there.push_back({link.source, link.target});
          if (LinkChance::chosen(link.reverse)) back.push_back({link.source, link.target});
        }
        append_links(there, forward_parts[b]);
        append_links(back, reverse_parts[b]);
        forward_parts[b].push_back('\n');
        reverse_parts[b].push_back('\n');
      });
  for (const std::string& part : forward_parts) forward += part;
  for (const std::string& part : reverse_parts) reverse += part;
  return bad;
}

std::size_t Model::link_chances(const std::vector<std::string_view>& source,
                                const std::vector<std::string_view>& target, int threads, float least,
                                std::string& out) const {
  constexpr std::size_t kBlock = 64;
  std::vector<std::string> parts((source.size() + kBlock - 1) / kBlock);
  const std::size_t bad =
      for_each_pair(source, target, threads, kBlock, [&](const std::vector<LinkChance>& chances, std::size_t b) {
        const char* blank = "";
        for (const LinkChance& link : chances) {
          const float there = LinkChance::chance(link.forward), back = LinkChance::chance(link.reverse);
          if (there < least && back < least) continue;
          char text[64];
          std::snprintf(text, sizeof text, "%s%u-%u:%.4f:%.4f", blank, static_cast<unsigned>(link.source),
                        static_cast<unsigned>(link.target), static_cast<double>(there), static_cast<double>(back));
          parts[b] += text;
          blank = " ";
        }
        parts[b].push_back('\n');
      });
  for (const std::string& part : parts) out += part;
  return bad;
}

void Model::posteriors(std::string_view source, std::string_view target, std::vector<float>& forward,
                       std::vector<float>& reverse) const {
  Workspace work;
  read(source, source_, work.source);
  read(target, target_, work.target);
  const std::size_t I = work.source.ids.size(), J = work.target.ids.size();
  forward.assign(I * J, 0.0f);
  reverse.assign(I * J, 0.0f);
  std::vector<LinkChance> chances;
  links(work, chances);
  for (const LinkChance& link : chances) {
    forward[link.source * J + link.target] = LinkChance::chance(link.forward);
    reverse[link.source * J + link.target] = LinkChance::chance(link.reverse);
  }
}

std::vector<Model::Entry> Model::entries(float threshold) const {
  std::vector<Entry> result;
  for (std::uint32_t source = 0; source < source_.count; ++source) {
    for (auto k = rows_[source]; k < rows_[source + 1]; ++k) {
      if (chances_[k].target_given_source >= threshold || chances_[k].source_given_target >= threshold) {
        result.push_back({source, columns_[k], chances_[k].target_given_source, chances_[k].source_given_target});
      }
    }
  }
  return result;
}

float Model::target_given_source(std::string_view target, std::string_view source) const {
  return chance(source_.id(source), target_.id(target), source == target).target_given_source;
}

float Model::source_given_target(std::string_view source, std::string_view target) const {
  return chance(source_.id(source), target_.id(target), source == target).source_given_target;
}

}  // namespace treeglot::align
