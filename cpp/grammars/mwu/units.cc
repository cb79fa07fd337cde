#include "grammars/mwu/units.hh"

#include <algorithm>
#include <array>
#include <tuple>

namespace treeglot::mwu {

void Tree::reset(std::span<const std::int32_t> heads) {
  const std::size_t size = heads.size();
  heads_.assign(heads.begin(), heads.end());
  starts_.assign(size + 1, 0);
  root_ = -1;
  for (std::size_t j = 0; j < size; ++j) {
    if (heads[j] < 0) {
      root_ = static_cast<int>(j);
    } else {
      ++starts_[static_cast<std::size_t>(heads[j]) + 1];
    }
  }
  for (std::size_t j = 0; j < size; ++j) starts_[j + 1] += starts_[j];
  children_.resize(size > 0 ? size - 1 : 0);
  next_.assign(size, -1);
  std::vector<std::uint32_t> fill(starts_.begin(), starts_.end());
  for (std::size_t j = 0; j < size; ++j) {
    if (heads[j] < 0) continue;
    std::uint32_t& place = fill[static_cast<std::size_t>(heads[j])];
    if (place > starts_[static_cast<std::size_t>(heads[j])]) next_[children_[place - 1]] = static_cast<std::int32_t>(j);
    children_[place++] = static_cast<Place>(j);
  }
  bottom_up_.clear();
  if (root_ >= 0) bottom_up_.push_back(static_cast<Place>(root_));
  for (std::size_t done = 0; done < bottom_up_.size(); ++done) {
    for (Place child : children(bottom_up_[done])) bottom_up_.push_back(child);
  }
  std::reverse(bottom_up_.begin(), bottom_up_.end());
  begins_.resize(size);
  ends_.resize(size);
  for (Place word : bottom_up_) {
    begins_[word] = word;
    ends_[word] = static_cast<Place>(word + 1);
    for (Place child : children(word)) {
      begins_[word] = std::min(begins_[word], begins_[child]);
      ends_[word] = std::max(ends_[word], ends_[child]);
    }
  }
}

namespace {

using Counts = std::array<std::uint32_t, kMostWords + 1>;  // by size

// The number of ways to choose one thing from each, by size; no more than `most`.
Counts product(const Counts& a, const Counts& b, int max_words, std::uint32_t most) {
  Counts result{};
  for (int i = 0; i <= max_words; ++i) {
    if (a[i] == 0) continue;
    for (int j = 0; i + j <= max_words; ++j) {
      const std::uint64_t more = result[i + j] + std::uint64_t{a[i]} * b[j];
      result[i + j] = static_cast<std::uint32_t>(std::min<std::uint64_t>(more, most));
    }
  }
  return result;
}

}  // namespace

void Units::reset(std::span<const std::int32_t> heads) {
  tree_.reset(heads);
  const std::size_t size = heads.size();
  stride_ = static_cast<std::size_t>(max_words_);
  words_.clear();
  sizes_.clear();
  tops_.clear();
  marked_.assign(size, 0);
  by_group_.clear();
  by_siblings_.assign(size * (stride_ + 1), {});
  known_.assign(size, 0);
  treelets_.assign(size * (stride_ + 1), 0);
  sequences_.assign(size * (stride_ + 1), 0);
  const std::uint32_t most = cap_ + 1;
  auto with_none = [](Counts counts) {
    counts[0] = 1;
    return counts;
  };
  auto counts_at = [&](const std::vector<std::uint32_t>& all, std::size_t word) {
    Counts counts{};
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(word * (stride_ + 1)), stride_ + 1, counts.begin());
    return counts;
  };
  for (Place word : tree_.bottom_up()) {
    Counts counts{};
    counts[1] = 1;
    const std::span<const Place> children = tree_.children(word);
    Counts behind{};
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      const Counts treelets = counts_at(treelets_, *child);
      counts = product(counts, with_none(treelets), max_words_, most);
      behind = product(treelets, with_none(behind), max_words_, most);
      std::copy_n(behind.begin(), stride_ + 1,
                  sequences_.begin() + static_cast<std::ptrdiff_t>(*child * (stride_ + 1)));
    }
    std::copy_n(counts.begin(), stride_ + 1, treelets_.begin() + static_cast<std::ptrdiff_t>(word * (stride_ + 1)));
  }
  if (tree_.root() >= 0) {
    const auto root = static_cast<std::size_t>(tree_.root()) * (stride_ + 1);
    std::copy_n(treelets_.begin() + static_cast<std::ptrdiff_t>(root), stride_ + 1,
                sequences_.begin() + static_cast<std::ptrdiff_t>(root));
  }
}

// The largest size that is needed: with it there are as many units as the cap allows, or more.
std::uint32_t Units::level(std::span<const std::uint32_t> counts) {
  std::uint32_t sum = 0, limit = static_cast<std::uint32_t>(max_words_);
  for (std::uint32_t size = 0; size < counts.size(); ++size) {
    if (sum < cap_ && sum + counts[size] >= cap_) limit = size;
    sum += counts[size];
  }
  cuts_ += sum > cap_;
  return limit;
}

Units::Range Units::of_siblings(std::span<const Place> sigma) {
  if (sigma.size() > stride_) return {};
  const Place first = sigma[0];
  if (!known_[first]) {
    known_[first] = 1;
    const std::uint32_t limit = level({sequences_.data() + first * (stride_ + 1), stride_ + 1});
    enumerate({&first, 1}, true, limit);
    keep_smallest();
    std::sort(shapes_.begin(), shapes_.end(), [&](const Shape& a, const Shape& b) {
      if (a.roots != b.roots) return a.roots < b.roots;
      const std::span<const Place> left = fresh_words(a), right = fresh_words(b);
      if (left.size() != right.size()) return left.size() > right.size();
      return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
    });
    for (std::size_t begin = 0, end = 0; begin < shapes_.size(); begin = end) {
      while (end < shapes_.size() && shapes_[end].roots == shapes_[begin].roots) ++end;
      by_siblings_[first * (stride_ + 1) + shapes_[begin].roots] = store(begin, end, first);
    }
  }
  return by_siblings_[first * (stride_ + 1) + sigma.size()];
}

Units::Range Units::of_group(std::span<const Place> sigma) {
  if (sigma.size() > stride_) return {};
  auto [place, fresh] = by_group_.try_emplace({sigma.begin(), sigma.end()});
  if (!fresh) return place->second;
  Counts counts{};
  counts[0] = 1;
  for (Place word : sigma) {
    Counts treelets{};
    std::copy_n(treelets_.begin() + static_cast<std::ptrdiff_t>(word * (stride_ + 1)), stride_ + 1, treelets.begin());
    counts = product(counts, treelets, max_words_, cap_ + 1);
  }
  const std::uint32_t limit = level({counts.data(), stride_ + 1});
  enumerate(sigma, false, limit);
  keep_smallest();
  std::sort(shapes_.begin(), shapes_.end(), [&](const Shape& a, const Shape& b) {
    const std::span<const Place> left = fresh_words(a), right = fresh_words(b);
    if (left.size() != right.size()) return left.size() > right.size();
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  });
  return place->second = store(0, shapes_.size(), -1);
}

Units::Range Units::of(std::span<const Place> sigma) {
  for (std::size_t i = 1; i < sigma.size(); ++i) {
    if (tree_.next_sibling(sigma[i - 1]) != sigma[i]) return of_group(sigma);
  }
  return of_siblings(sigma);
}

// All units of at most `limit` words with these words in σ and, with `siblings`, those that follow the first one.
void Units::enumerate(std::span<const Place> start, bool siblings, std::uint32_t limit) {
  chosen_.assign(start.begin(), start.end());
  open_.clear();
  fresh_.clear();
  fresh_sizes_.clear();
  shapes_.clear();
  if (start.size() > limit) return;
  for (Place word : start) {
    const std::span<const Place> children = tree_.children(word);
    open_.insert(open_.end(), children.begin(), children.end());
  }
  if (siblings && tree_.next_sibling(start[0]) >= 0) open_.push_back(static_cast<Place>(tree_.next_sibling(start[0])));
  grow(0, siblings, limit, static_cast<std::uint8_t>(start.size()));
}

// Every set is made once: of the words that could be added, those before `from` were decided on. Calls nest as deep as
// units have words.
void Units::grow(std::size_t from, bool siblings, std::uint32_t limit, std::uint8_t roots) {
  put_fresh(roots);
  if (chosen_.size() == limit) return;
  const std::size_t open = open_.size();
  const int head = tree_.head(chosen_[0]);
  for (std::size_t n = from; n < open; ++n) {
    const Place word = open_[n];
    const bool root = siblings && tree_.head(word) == head;
    chosen_.push_back(word);
    const std::span<const Place> children = tree_.children(word);
    open_.insert(open_.end(), children.begin(), children.end());
    if (root && tree_.next_sibling(word) >= 0) open_.push_back(static_cast<Place>(tree_.next_sibling(word)));
    grow(n + 1, siblings, limit, static_cast<std::uint8_t>(roots + root));
    open_.resize(open);
    chosen_.pop_back();
  }
}

void Units::put_fresh(std::uint8_t roots) {
  shapes_.push_back({roots, static_cast<std::uint32_t>(fresh_sizes_.size())});
  fresh_sizes_.push_back(static_cast<std::uint8_t>(chosen_.size()));
  const std::size_t begin = fresh_.size();
  fresh_.insert(fresh_.end(), chosen_.begin(), chosen_.end());
  std::sort(fresh_.begin() + static_cast<std::ptrdiff_t>(begin), fresh_.end());
  fresh_.resize(begin + stride_);
}

// The cap: of the largest ones those that reach least far, then by their words.
void Units::keep_smallest() {
  if (shapes_.size() <= cap_) return;
  auto key_less = [&](const Shape& a, const Shape& b) {
    const std::span<const Place> left = fresh_words(a), right = fresh_words(b);
    const int left_reach = left.back() - left.front(), right_reach = right.back() - right.front();
    if (left.size() != right.size()) return left.size() < right.size();
    if (left_reach != right_reach) return left_reach < right_reach;
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  };
  std::nth_element(shapes_.begin(), shapes_.begin() + cap_, shapes_.end(), key_less);
  shapes_.resize(cap_);
}

// `first`: the first word of σ, which are siblings; -1: they are not.
Units::Range Units::store(std::size_t begin, std::size_t end, int first) {
  Range range;
  range.first = static_cast<UnitId>(sizes_.size());
  for (std::size_t n = begin; n < end; ++n) {
    const std::uint32_t unit = shapes_[n].unit;
    words_.insert(words_.end(), fresh_.begin() + static_cast<std::ptrdiff_t>(unit * stride_),
                  fresh_.begin() + static_cast<std::ptrdiff_t>((unit + 1) * stride_));
    sizes_.push_back(fresh_sizes_[unit]);
    if (first >= 0) {
      tops_.push_back({static_cast<Place>(first), shapes_[n].roots});
    } else {
      tops_.push_back({0, 0});
    }
  }
  range.last = static_cast<UnitId>(sizes_.size());
  return range;
}

bool Units::contains(UnitId unit, Place word) const {
  const std::span<const Place> all = words(unit);
  return std::find(all.begin(), all.end(), word) != all.end();
}

void Units::sigma(UnitId unit, std::vector<Place>& out) const {
  out.clear();
  if (tops_[unit].words > 0) {
    Place word = tops_[unit].first;
    out.push_back(word);
    while (out.size() < tops_[unit].words) out.push_back(word = static_cast<Place>(tree_.next_sibling(word)));
    return;
  }
  for (Place word : words(unit)) {
    const int head = tree_.head(word);
    if (head < 0 || !contains(unit, static_cast<Place>(head))) out.push_back(word);
  }
}

void Units::tau(UnitId unit, std::vector<Place>& out) const {
  out.clear();
  const std::span<const Place> own = words(unit);
  for (Place word : own) marked_[word] = 1;
  for (Place word : own) {
    for (Place child : tree_.children(word)) {
      if (!marked_[child]) out.push_back(child);
    }
  }
  for (Place word : own) marked_[word] = 0;
  if (own.size() > 1) std::sort(out.begin(), out.end());
}

bool Units::before(UnitId a, UnitId b) const {
  const std::span<const Place> left = words(a), right = words(b);
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
}

}  // namespace treeglot::mwu
