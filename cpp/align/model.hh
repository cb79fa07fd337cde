// A learnt alignment model in one memory-mapped file: it aligns any text, and the text it learnt from in the same way
// each time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "align/hmm.hh"
#include "align/trainer.hh"
#include "base/mapped_file.hh"

namespace treeglot::align {

inline constexpr std::uint32_t kModelVersion = 3;  // of the file; 3: XXH64

// Writes a model. Pairs of words that are no more likely than words that never met are left out.
void write_model(const Corpus& corpus, const Learnt& learnt, const std::string& path);

class Model {
 public:
  // Throws std::runtime_error that says what is wrong with the file. `verify` reads all of it and checks the checksum.
  explicit Model(const std::string& path, bool verify = true);

  // Aligns lines of text (the same number on both sides) and appends Pharaoh lines of each direction: in `forward`
  // every target word has at most one link, in `reverse` every source word. Sentences beyond `kMaxWork` steps are
  // aligned by word pairs and relative positions alone.
  // Returns the number of a pair with more than kMaxWords words on a side, or 0.
  std::size_t align(const std::vector<std::string_view>& source, const std::vector<std::string_view>& target,
                    int threads, std::string& forward, std::string& reverse) const;
  static constexpr double kMaxWork = 4e9;
  static constexpr std::size_t kMaxWords = 65535;

  // The same for the chances of links: for each pair a line of I-J:FORWARD:REVERSE, the links not below `least` in
  // either direction, by source and target word; chances have four decimals.
  std::size_t link_chances(const std::vector<std::string_view>& source, const std::vector<std::string_view>& target,
                           int threads, float least, std::string& out) const;

  // The chance of each link of one pair in the two directions, source by target, row by row.
  void posteriors(std::string_view source, std::string_view target, std::vector<float>& forward,
                  std::vector<float>& reverse) const;

  std::size_t source_size() const { return source_.count; }
  std::size_t target_size() const { return target_.count; }
  std::size_t pairs() const { return pair_count_; }
  std::string_view source_word(std::size_t id) const { return source_.word(id); }
  std::string_view target_word(std::size_t id) const { return target_.word(id); }

  // t(e|f) and t(f|e) of the k-th pair, by source word and target word in the order of bytes.
  struct Entry {
    std::uint32_t source, target;
    float target_given_source, source_given_target;
  };
  std::vector<Entry> entries(float threshold) const;
  float target_given_source(std::string_view target, std::string_view source) const;
  float source_given_target(std::string_view source, std::string_view target) const;
  // Chances of a partner that a word never met and of the word from nothing, and, if there was sampling, kFertilities
  // weights each; after those of all words, those of unknown ones.
  float source_unseen(std::size_t id) const { return source_.unseen[id]; }
  float target_unseen(std::size_t id) const { return target_.unseen[id]; }
  const float* source_null() const { return source_.null; }
  const float* target_null() const { return target_.null; }
  const float* source_fertility() const { return source_.fertility; }
  const float* target_fertility() const { return target_.fertility; }
  const JumpTable& forward_jumps() const { return forward_; }
  const JumpTable& reverse_jumps() const { return reverse_; }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  struct Words {
    std::size_t count = 0;
    const std::uint64_t* starts = nullptr;
    const char* text = nullptr;
    const float* unseen =
        nullptr;                  // the chance of a partner that this word never met; one more entry for unknown words
    const float* null = nullptr;  // the chance of this word from nothing; one more entry for unknown words
    const float* fertility = nullptr;  // kFertilities weights, one more row for unknown words; none without sampling
    std::unordered_map<std::string_view, std::uint32_t> ids;
    std::string_view word(std::size_t id) const { return {text + starts[id], starts[id + 1] - starts[id]}; }
    std::uint32_t id(std::string_view word) const {
      auto entry = ids.find(word);
      return entry == ids.end() ? kUnknown : entry->second;
    }
    std::size_t slot(std::uint32_t id) const { return id == kUnknown ? count : id; }
  };
  struct Sentence {
    std::vector<std::string_view> text;
    std::vector<std::uint32_t> ids;
  };
  struct Workspace;
  static void read(std::string_view line, const Words& words, Sentence& out);
  WordPairs::Chance chance(std::uint32_t source, std::uint32_t target, bool same) const;
  // The links of the pair in `work` with their chances, by source and target word.
  void links(Workspace& work, std::vector<LinkChance>& out) const;
  bool known(const Workspace& work, std::vector<LinkChance>& out) const;
  void fill(Workspace& work) const;
  void sample(Workspace& work, std::uint64_t key) const;
  void align_long(Workspace& work, std::vector<LinkChance>& out) const;
  // Calls write(links, piece) for every pair in blocks; returns what `align` returns.
  template <class Write>
  std::size_t for_each_pair(const std::vector<std::string_view>& source, const std::vector<std::string_view>& target,
                            int threads, std::size_t block, Write&& write) const;

  MappedFile file_;
  Words source_, target_;
  std::size_t pair_count_ = 0;
  const std::uint64_t* rows_ = nullptr;
  const std::uint32_t* columns_ = nullptr;
  const WordPairs::Chance* chances_ = nullptr;
  JumpTable forward_, reverse_;
  float same_ratio_ = 1, bonus_ = 0;
  std::size_t known_count_ = 0;
  const std::uint64_t *keys_ = nullptr, *link_starts_ = nullptr;
  const LinkChance* links_ = nullptr;
};

}  // namespace treeglot::align
