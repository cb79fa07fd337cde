// Multi-word units (paper "mwu-forest"; spec: mwu-forest, section 1): sets of at most `max_words` words of a dependency
// tree. σ of a unit are its words whose head is outside, τ the words outside whose head is in it. A unit is a treelet
// (one word in σ) or a sequence of treelets under a common head (σ are neighbours among its children).
//
// Units are found when they are asked for, group of σ after group. A word may be the first of σ of very many units: the
// `cap` smallest are kept, so that their number is linear in the length of the sentence.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace treeglot::mwu {

// A word of a sentence; a set of words is sorted.
using Place = std::uint16_t;
using UnitId = std::uint32_t;
inline constexpr UnitId kNoUnit = 0xFFFFFFFF;
inline constexpr int kMostWords = 12;  // of a unit

// A projective dependency tree with lists of children.
class Tree {
 public:
  void reset(std::span<const std::int32_t> heads);

  std::size_t size() const { return heads_.size(); }
  int root() const { return root_; }
  int head(Place word) const { return heads_[word]; }
  std::span<const Place> children(Place word) const {
    return {children_.data() + starts_[word], children_.data() + starts_[word + 1]};
  }
  int next_sibling(Place word) const { return next_[word]; }  // -1: none
  Place begin(Place word) const { return begins_[word]; }     // of its subtree
  Place end(Place word) const { return ends_[word]; }
  // Every word after its children.
  std::span<const Place> bottom_up() const { return bottom_up_; }

 private:
  std::vector<std::int32_t> heads_;
  int root_ = -1;
  std::vector<std::uint32_t> starts_;
  std::vector<Place> children_, begins_, ends_, bottom_up_;
  std::vector<std::int32_t> next_;
};

class Units {
 public:
  Units(int max_words, int cap) : max_words_(max_words), cap_(static_cast<std::uint32_t>(cap)) {}

  void reset(std::span<const std::int32_t> heads);
  const Tree& tree() const { return tree_; }
  int max_words() const { return max_words_; }

  // Units [first, last): the largest first, then by their words.
  struct Range {
    UnitId first = 0, last = 0;
    std::size_t size() const { return last - first; }
  };
  // The units with these σ, which are neighbours among the children of one word. The cap counts all units with the same
  // first word of σ.
  Range of_siblings(std::span<const Place> sigma);
  // The units with any σ; here the cap counts those with these σ.
  Range of_group(std::span<const Place> sigma);

  // Whichever of both they are.
  Range of(std::span<const Place> sigma);

  std::span<const Place> words(UnitId unit) const {
    return {words_.data() + std::size_t{unit} * stride_, words_.data() + std::size_t{unit} * stride_ + sizes_[unit]};
  }
  std::uint32_t size(UnitId unit) const { return sizes_[unit]; }
  bool contains(UnitId unit, Place word) const;
  void sigma(UnitId unit, std::vector<Place>& out) const;
  void tau(UnitId unit, std::vector<Place>& out) const;  // in surface order
  // By their lists of words.
  bool before(UnitId a, UnitId b) const;

  std::size_t count() const { return sizes_.size(); }
  std::uint64_t cuts() const { return cuts_; }  // how often the cap cut, since this object was made

 private:
  struct Shape {
    std::uint8_t roots;
    std::uint32_t unit;  // in fresh_
  };
  std::uint32_t level(std::span<const std::uint32_t> counts);
  void enumerate(std::span<const Place> start, bool siblings, std::uint32_t limit);
  void grow(std::size_t from, bool siblings, std::uint32_t limit, std::uint8_t roots);
  void put_fresh(std::uint8_t roots);
  void keep_smallest();
  Range store(std::size_t begin, std::size_t end, int first);
  std::span<const Place> fresh_words(const Shape& shape) const {
    return {fresh_.data() + std::size_t{shape.unit} * stride_, fresh_sizes_[shape.unit]};
  }

  const int max_words_;
  const std::uint32_t cap_;
  Tree tree_;
  std::size_t stride_ = 1;
  std::vector<Place> words_;  // of all units, `stride_` places each
  std::vector<std::uint8_t> sizes_;
  // The first word of σ and how many words σ has; 0 where they are no siblings.
  struct Top {
    Place first;
    std::uint8_t words;
  };
  std::vector<Top> tops_;
  mutable std::vector<std::uint8_t> marked_;  // by word, while τ is found
  std::vector<Range> by_siblings_;            // by first word and number of words in σ
  std::vector<std::uint8_t> known_;           // by first word: its units were found
  std::map<std::vector<Place>, Range> by_group_;
  // How many treelets of each size a word is the root of, and how many units have it as the first word of σ; no more
  // than cap + 1.
  std::vector<std::uint32_t> treelets_, sequences_;
  std::uint64_t cuts_ = 0;

  // While units are found.
  std::vector<Place> chosen_, open_;
  std::vector<Place> fresh_;
  std::vector<std::uint8_t> fresh_sizes_;
  std::vector<Shape> shapes_;
};

}  // namespace treeglot::mwu
