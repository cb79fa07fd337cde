// A word-aligned parallel corpus in memory, by columns: word ids, sentence starts and links. With several alignments
// every pair is there once for each: first all pairs with the links of the first, then all with those of the second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hh"
#include "trees/link_columns.hh"

namespace treeglot {

class ParsedBitext;  // trees/parsed_corpus.hh

struct SentencePair {
  std::span<const WordId> source, target;
  std::span<const WordLink> links;
};

class AlignedBitext {
 public:
  static constexpr std::size_t kMaxSentence = 65535;

  // What is wrong with a pair, and in which of its three lines: 0 source, 1 target, 2 links.
  struct Problem {
    int side = 0;
    std::string message;
    explicit operator bool() const { return !message.empty(); }
  };

  // Adds a pair; `links` is Pharaoh text ("0-0 1-2"). After a problem the corpus is of no use.
  Problem add(std::string_view source, std::string_view target, std::string_view links);
  // The links of a further alignment of all sentence pairs: links[starts[n]..starts[n+1]) are those of pair n. After
  // the last add(). Throws LinkProblem, and std::invalid_argument if there are links of more or fewer pairs.
  void add_links(std::span<const WordLink> links, std::span<const std::uint64_t> starts);
  // How much each alignment counts; after the last add_links(). Throws std::invalid_argument.
  void set_weights(std::span<const double> weights) {
    weights_.set(weights, size() / std::max<std::size_t>(1, sentences()));
  }
  // Words, links and weights of a whole bitext with all its alignments, in place of the above and of finish().
  void take(const ParsedBitext& bitext);
  // After the last add(): sorts both vocabularies.
  void finish();

  std::size_t size() const { return link_starts_.size() - 1; }
  std::size_t sentences() const { return source_starts_.size() - 1; }  // however many alignments there are
  SentencePair operator[](std::size_t n) const {
    const std::size_t sentence = n < sentences() ? n : n % sentences();
    return {part(source_, source_starts_, sentence), part(target_, target_starts_, sentence),
            part(links_, link_starts_, n)};
  }

  // How much pair n counts, in units of which one() are 1.
  std::uint32_t weight(std::size_t n) const { return weights_.units(n / std::max<std::size_t>(1, sentences())); }
  std::uint32_t one() const { return weights_.one(); }

  // About how much memory it takes.
  std::size_t bytes() const;

  SymbolTable source_words, target_words;

 private:
  template <class T>
  static std::span<const T> part(const std::vector<T>& all, const std::vector<std::uint64_t>& starts, std::size_t n) {
    return {all.data() + starts[n], all.data() + starts[n + 1]};
  }
  std::vector<WordId> source_, target_;
  std::vector<WordLink> links_;
  AlignmentWeights weights_;
  std::vector<std::uint64_t> source_starts_{0}, target_starts_{0}, link_starts_{0};
};

}  // namespace treeglot
