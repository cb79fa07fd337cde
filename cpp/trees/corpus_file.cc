#include "trees/corpus_file.hh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/mapped_header.hh"
#include "base/text.hh"

namespace treeglot {

namespace {

constexpr char kMagic[8] = {'T', 'G', 'P', 'C', '\r', '\n', '\x1a', '\0'};

// What a column of the file is, for each side.
enum SideSection {
  kWordTexts,
  kWordTextStarts,
  kCategoryTexts,
  kCategoryTextStarts,
  kWordStarts,
  kWords,
  kTags,
  kHeadStarts,
  kHeads,
  kPhraseStarts,
  kPhrases,
  kHeadWords,
  kRelationTexts,
  kRelationTextStarts,
  kRelations,
  kSideSections
};
// And for the pairs; further trees are the source's.
enum PairSection {
  kLinkStarts = 2 * kSideSections,
  kLinks,
  kNodeLinkStarts,
  kNodeLinks,
  kOrigins,
  kMoreHeadStarts,
  kMoreHeads,
  kWeightStarts,
  kWeights,
  kSections
};

struct Section {
  std::uint64_t offset, count;
};

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t file_size, checksum, header_checksum;
  MachineProbe probe;
  Section sections[kSections];
};
MachineProbe probe() { return MachineProbe({sizeof(Constituent), sizeof(WordLink), sizeof(NodeLink), kSections}); }
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) % 8 == 0);
static_assert(sizeof(Constituent) == 12 && std::has_unique_object_representations_v<Constituent>);

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(std::fopen(path.c_str(), "wb"), &std::fclose) {
    if (!file_) throw std::runtime_error("cannot create the file");
    put(&header_, sizeof header_);
    buffer_.reserve(kWriteBuffer);
  }

  template <class T>
  void section(int number, std::span<const T> values) {
    static constexpr char zeros[8] = {};
    bytes(zeros, (8 - position_ % 8) % 8);
    header_.sections[number] = {position_, values.size()};
    bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }

  void texts(int number, const SymbolTable& table) {
    std::vector<char> all;
    std::vector<std::uint64_t> starts{0};
    for (WordId id = 0; id < table.size(); ++id) {
      all.insert(all.end(), table.word(id).begin(), table.word(id).end());
      starts.push_back(all.size());
    }
    section(number, std::span<const char>(all));
    section(number + 1, std::span<const std::uint64_t>(starts));
  }

  void finish() {
    flush();
    std::memcpy(header_.magic, kMagic, sizeof kMagic);
    header_.version = CorpusFile::kVersion;
    header_.file_size = position_;
    header_.checksum = checksum_.value();
    header_.probe = probe();
    header_.header_checksum = header_checksum(header_);
    if (std::fseek(file_.get(), 0, SEEK_SET) != 0) fail();
    put(&header_, sizeof header_);
    if (std::fflush(file_.get()) != 0 || std::fclose(file_.release()) != 0) fail();
  }

 private:
  [[noreturn]] static void fail() { throw std::runtime_error("cannot write the file (is the disk full?)"); }
  void put(const void* data, std::size_t size) {
    if (std::fwrite(data, 1, size, file_.get()) != size) fail();
  }
  void bytes(const char* data, std::size_t size) {
    position_ += size;
    while (size > 0) {
      const std::size_t part = std::min(size, kWriteBuffer - buffer_.size());
      buffer_.insert(buffer_.end(), data, data + part);
      data += part;
      size -= part;
      if (buffer_.size() == kWriteBuffer) flush();
    }
  }
  void flush() {
    if (buffer_.empty()) return;
    checksum_.add(buffer_.data(), buffer_.size());
    put(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<char> buffer_;
  std::uint64_t position_ = sizeof(Header);
  Checksum checksum_;
  Header header_{};
};

[[noreturn]] void refuse(const char* what) { throw std::runtime_error(std::string("damaged: ") + what); }

class Reader {
 public:
  Reader(const MappedFile& file, const Header& header) : file_(file), header_(header) {}

  // The columns stand one behind the other, as they were written.
  void check_layout() const {
    static constexpr std::uint64_t kSide[kSideSections] = {1,
                                                           sizeof(std::uint64_t),
                                                           1,
                                                           sizeof(std::uint64_t),
                                                           sizeof(std::uint64_t),
                                                           sizeof(WordId),
                                                           sizeof(WordId),
                                                           sizeof(std::uint64_t),
                                                           sizeof(std::int32_t),
                                                           sizeof(std::uint64_t),
                                                           sizeof(Constituent),
                                                           sizeof(std::uint16_t),
                                                           1,
                                                           sizeof(std::uint64_t),
                                                           sizeof(WordId)};
    static constexpr std::uint64_t kPair[kSections - 2 * kSideSections] = {
        sizeof(std::uint64_t), sizeof(WordLink),     sizeof(std::uint64_t), sizeof(NodeLink), sizeof(std::uint32_t),
        sizeof(std::uint64_t), sizeof(std::int32_t), sizeof(std::uint64_t), sizeof(double)};
    std::uint64_t end = sizeof(Header);
    for (int number = 0; number < kSections; ++number) {
      const auto [offset, count] = header_.sections[number];
      need_part(offset == end);
      const bool pair = number >= 2 * kSideSections, last = number + 1 == kSections;
      end = next_part(end, count, pair ? kPair[number - 2 * kSideSections] : kSide[number % kSideSections],
                      file_.size(), last ? 1 : 8);
    }
    need_part(end == file_.size());
  }

  // Never outside of the file, whatever the header says.
  template <class T>
  std::span<const T> section(int number) const {
    const auto [offset, count] = header_.sections[number];
    if (offset < sizeof(Header) || offset % 8 != 0) refuse("a column is outside of the file");
    return {mapped_records<T>(file_, offset, count, file_.size()), static_cast<std::size_t>(count)};
  }

  // Starts of `items` items among `values` values.
  std::span<const std::uint64_t> starts(int number, std::size_t items, std::size_t values) const {
    const auto all = section<std::uint64_t>(number);
    if (all.empty() || all.size() - 1 != items || all.front() != 0 || all.back() != values ||
        !std::is_sorted(all.begin(), all.end())) {
      refuse("places that do not fit");
    }
    return all;
  }

  void texts(int number, SymbolTable& table) const {
    const auto all = section<char>(number);
    const std::size_t count = section<std::uint64_t>(number + 1).size();
    if (count == 0 || count > 0xFFFFFFFF) refuse("places that do not fit");
    const auto places = starts(number + 1, count - 1, all.size());
    for (std::size_t id = 0; id + 1 < count; ++id) {
      const std::string_view text(all.data() + places[id], places[id + 1] - places[id]);
      if (find_bad_utf8(text) != text.size() || table.id(text) != id) refuse("a vocabulary that is none");
    }
  }

 private:
  const MappedFile& file_;
  const Header& header_;
};

template <class Link>
void check_sorted_links(std::span<const Link> links, std::size_t source_size, std::size_t target_size) {
  for (std::size_t k = 0; k < links.size(); ++k) {
    if (links[k].source >= source_size || links[k].target >= target_size || (k > 0 && !(links[k - 1] < links[k]))) {
      refuse("links that do not fit");
    }
  }
}

}  // namespace

void CorpusFile::write(const ParsedBitext& bitext, const std::string& path) {
  Writer writer(path);
  for (int side = 0; side < 2; ++side) {
    const ParsedCorpus& corpus = side == 0 ? bitext.source_ : bitext.target_;
    const int first = side * kSideSections;
    writer.texts(first + kWordTexts, corpus.words);
    writer.texts(first + kCategoryTexts, corpus.categories);
    writer.section(first + kWordStarts, corpus.word_starts_.all());
    writer.section(first + kWords, corpus.word_ids_.all());
    writer.section(first + kTags, corpus.tag_ids_.all());
    writer.section(first + kHeadStarts, corpus.head_starts_.all());
    writer.section(first + kHeads, corpus.heads_.all());
    writer.section(first + kPhraseStarts, corpus.phrase_starts_.all());
    writer.section(first + kPhrases, corpus.phrases_.all());
    writer.section(first + kHeadWords, corpus.head_words_.all());
    writer.texts(first + kRelationTexts, corpus.relations);
    writer.section(first + kRelations, corpus.relation_ids_.all());
  }
  const std::size_t pairs = bitext.sentences();
  const auto starts = bitext.link_starts_.all().subspan(0, pairs + 1);
  writer.section(kLinkStarts, starts);
  writer.section(kLinks, bitext.links_.all().subspan(0, starts.back()));
  writer.section(kNodeLinkStarts, bitext.node_link_starts_.all());
  writer.section(kNodeLinks, bitext.node_links_.all());
  writer.section(kOrigins, bitext.origins_.all());
  writer.section(kMoreHeadStarts, bitext.source_.more_head_starts_.all());
  writer.section(kMoreHeads, bitext.source_.more_heads_.all());
  writer.section(kWeightStarts, bitext.source_.weight_starts_.all());
  writer.section(kWeights, bitext.source_.weights_.all());
  writer.finish();
}

ParsedBitext CorpusFile::open(const std::string& path) {
  auto file = std::make_shared<MappedFile>(path);
  const Header header = checked_header<Header>(*file, kMagic, kVersion, probe(), "a parsed corpus of treeglot");
  // Its structure is looked at below, each time.
  verify_file(*file, header, false, [] {});
  const Reader reader(*file, header);
  reader.check_layout();
  ParsedBitext bitext;
  const std::size_t pairs = reader.section<std::uint32_t>(kOrigins).size();
  TreeChecker checker;
  for (int side = 0; side < 2; ++side) {
    ParsedCorpus& corpus = side == 0 ? bitext.source_ : bitext.target_;
    const int first = side * kSideSections;
    corpus.file_ = file;
    reader.texts(first + kWordTexts, corpus.words);
    reader.texts(first + kCategoryTexts, corpus.categories);
    reader.texts(first + kRelationTexts, corpus.relations);
    const auto words = reader.section<WordId>(first + kWords), tags = reader.section<WordId>(first + kTags);
    const auto heads = reader.section<std::int32_t>(first + kHeads);
    const auto relations = reader.section<WordId>(first + kRelations);
    const auto phrases = reader.section<Constituent>(first + kPhrases);
    const auto head_words = reader.section<std::uint16_t>(first + kHeadWords);
    if (tags.size() != words.size() || head_words.size() != phrases.size() || relations.size() != heads.size()) {
      refuse("columns of different length");
    }
    auto below = [](std::size_t size) { return [size](WordId id) { return id < size; }; };
    if (!std::all_of(words.begin(), words.end(), below(corpus.words.size())) ||
        !std::all_of(tags.begin(), tags.end(), below(corpus.categories.size())) ||
        !std::all_of(relations.begin(), relations.end(), below(corpus.relations.size()))) {
      refuse("a word that is not in the vocabulary");
    }
    corpus.word_starts_ = Starts(reader.starts(first + kWordStarts, pairs, words.size()));
    corpus.head_starts_ = Starts(reader.starts(first + kHeadStarts, pairs, heads.size()));
    corpus.phrase_starts_ = Starts(reader.starts(first + kPhraseStarts, pairs, phrases.size()));
    corpus.word_ids_ = Column<WordId>(words);
    corpus.tag_ids_ = Column<WordId>(tags);
    corpus.heads_ = Column<std::int32_t>(heads);
    corpus.relation_ids_ = Column<WordId>(relations);
    corpus.phrases_ = Column<Constituent>(phrases);
    corpus.head_words_ = Column<std::uint16_t>(head_words);
    corpus.more_head_starts_ = corpus.weight_starts_ = std::vector<std::uint64_t>(pairs + 1, 0);
    if (side == 0) {
      const auto more_heads = reader.section<std::int32_t>(kMoreHeads);
      const auto weights = reader.section<double>(kWeights);
      corpus.more_head_starts_ = Starts(reader.starts(kMoreHeadStarts, pairs, more_heads.size()));
      corpus.weight_starts_ = Starts(reader.starts(kWeightStarts, pairs, weights.size()));
      corpus.more_heads_ = Column<std::int32_t>(more_heads);
      corpus.weights_ = Column<double>(weights);
    }
    for (std::size_t n = 0; n < pairs; ++n) {
      const ParsedSentence sentence = corpus[n];
      if (sentence.size() > ParsedCorpus::kMaxSentence) refuse("a sentence of more than 65,535 words");
      if (!sentence.heads.empty() && sentence.heads.size() != sentence.size()) refuse("not as many heads as words");
      const std::size_t further = sentence.weights.empty() ? 0 : sentence.weights.size() - 1;
      if (sentence.more_heads.size() != further * sentence.size() || (further > 0 && !sentence.has_dependency()) ||
          sentence.weights.size() == 1) {
        refuse("further trees that do not fit");
      }
      for (double weight : sentence.weights) {
        if (!(weight > 0) || !std::isfinite(weight)) refuse("a tree without a weight");
      }
      try {
        for (std::size_t tree = 0; tree < sentence.trees(); ++tree) checker.check_heads(sentence.heads_of(tree));
        TreeChecker::check_phrases(sentence.phrases, static_cast<int>(sentence.size()));
      } catch (const std::invalid_argument& error) {
        refuse(error.what());
      }
      const auto of_phrases = corpus.head_words(n);
      for (std::size_t k = 0; k < of_phrases.size(); ++k) {
        const Constituent& phrase = sentence.phrases[k];
        const bool inside = of_phrases[k] >= phrase.begin && of_phrases[k] < phrase.end;
        if (phrase.label >= corpus.categories.size() || (!inside && of_phrases[k] != kNoHeadWord)) {
          refuse("a constituent that does not fit");
        }
      }
    }
  }
  const auto links = reader.section<WordLink>(kLinks);
  const auto node_links = reader.section<NodeLink>(kNodeLinks);
  bitext.links_ = Column<WordLink>(links);
  bitext.node_links_ = Column<NodeLink>(node_links);
  bitext.link_starts_ = Starts(reader.starts(kLinkStarts, pairs, links.size()));
  bitext.node_link_starts_ = Starts(reader.starts(kNodeLinkStarts, pairs, node_links.size()));
  bitext.origins_ = Column<std::uint32_t>(reader.section<std::uint32_t>(kOrigins));
  for (std::size_t n = 0; n < pairs; ++n) {
    const ParsedPair pair = bitext[n];
    check_sorted_links(pair.links, pair.source.size(), pair.target.size());
    check_sorted_links(pair.node_links, pair.source.phrases.size() + pair.source.size(),
                       pair.target.phrases.size() + pair.target.size());
  }
  return bitext;
}

}  // namespace treeglot
