#include "tuning/ter.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace treeglot::tuning {
namespace {

// Tercom's limits, and one of sacreBLEU's.
constexpr int kLongestShift = 10, kFarthestShift = 50, kBeam = 25, kMostShifts = 1000;
constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max() / 2;

using Words = std::vector<WordId>;

// Levenshtein's matrix near the diagonal, hypothesis by rows. Rows that a hypothesis has in common with the first one
// are not worked out again.
class Distance {
 public:
  Distance(const Words& reference, std::size_t rows)
      : reference_(reference),
        width_(reference.size() + 1),
        rows_(static_cast<int>(rows)),
        ratio_(rows ? static_cast<double>(reference.size()) / static_cast<double>(rows) : 1),
        beam_(kBeam < ratio_ / 2 ? static_cast<int>(std::ceil(ratio_ / 2 + kBeam)) : kBeam),
        cells_((rows + 1) * width_, kFar),
        other_(cells_) {
    for (std::size_t j = 0; j < width_; ++j) cells_[j] = other_[j] = static_cast<std::int32_t>(j);
  }

  std::int32_t of(const Words& hypothesis) { return fill(cells_, hypothesis, 0); }

  // Of a hypothesis with the same first words as the one that `of` was last called with.
  std::int32_t with_prefix(const Words& hypothesis, std::size_t same) {
    std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(same * width_), width_,
                other_.begin() + static_cast<std::ptrdiff_t>(same * width_));
    return fill(other_, hypothesis, static_cast<int>(same));
  }

  // How the words of the last hypothesis of `of` and of the reference go together, and which of them are wrong.
  void trace(const Words& hypothesis, std::vector<int>& place, std::vector<char>& wrong,
             std::vector<char>& missed) const {
    std::size_t i = hypothesis.size(), j = reference_.size();
    place.assign(j, -1);
    wrong.assign(i, 1);
    missed.assign(j, 1);
    while (i > 0 || j > 0) {
      const std::int32_t here = cells_[i * width_ + j];
      const bool same = i > 0 && j > 0 && hypothesis[i - 1] == reference_[j - 1];
      if (i > 0 && j > 0 && cells_[(i - 1) * width_ + j - 1] + !same == here) {
        --i, --j;
        place[j] = static_cast<int>(i);
        wrong[i] = missed[j] = !same;
      } else if (i > 0 && cells_[(i - 1) * width_ + j] + 1 == here) {
        --i;
      } else {
        --j;
        place[j] = static_cast<int>(i) - 1;
      }
    }
  }

 private:
  std::int32_t fill(std::vector<std::int32_t>& cells, const Words& hypothesis, int same) const {
    for (int i = same + 1; i <= rows_; ++i) {
      std::int32_t* row = cells.data() + static_cast<std::size_t>(i) * width_;
      const std::int32_t* above = row - width_;
      std::fill_n(row, width_, kFar);
      const int diagonal = static_cast<int>(std::floor(i * ratio_)), width = static_cast<int>(width_);
      const int begin = std::max(0, diagonal - beam_), end = i == rows_ ? width : std::min(width, diagonal + beam_);
      const WordId word = hypothesis[static_cast<std::size_t>(i) - 1];
      for (int j = begin; j < end; ++j) {
        row[j] = above[j] + 1;
        if (j == 0) continue;
        const std::int32_t across = above[j - 1] + (word != reference_[static_cast<std::size_t>(j) - 1]);
        row[j] = std::min({row[j], across, row[j - 1] + 1, kFar});
      }
    }
    return cells.back();
  }

  const Words& reference_;
  const std::size_t width_;
  const int rows_;
  const double ratio_;
  const int beam_;
  std::vector<std::int32_t> cells_, other_;
};

// `length` words from `start` before the word that is at `target`; where that is inside or at the end of them they move
// on by target - start words. The words before the return value stay.
std::size_t shift(const Words& words, std::size_t start, std::size_t length, std::size_t target, Words& result) {
  result = words;
  auto at = [&](std::size_t place) {
    return result.begin() + static_cast<std::ptrdiff_t>(std::min(place, words.size()));
  };
  if (target < start) {
    std::rotate(at(target), at(start), at(start + length));
    return target;
  }
  std::rotate(at(start), at(start + length), at(target > start + length ? target : target + length));
  return start;
}

}  // namespace

std::int32_t translation_edits(const Words& hypothesis, const Words& reference) {
  if (reference.empty()) return static_cast<std::int32_t>(hypothesis.size());
  Distance distance(reference, hypothesis.size());
  Words words = hypothesis, shifted, best_words;
  std::vector<int> place;
  std::vector<char> wrong, missed;
  auto any = [](const std::vector<char>& marks, int begin, int length) {
    return std::any_of(marks.begin() + begin, marks.begin() + begin + length, [](char mark) { return mark != 0; });
  };
  const int rows = static_cast<int>(hypothesis.size()), columns = static_cast<int>(reference.size());
  int tried = 0;
  std::int32_t shifts = 0;
  while (true) {
    const std::int32_t before = distance.of(words);
    distance.trace(words, place, wrong, missed);
    // The highest gain; then the longest, the earliest, and the one that moves to the earliest place.
    std::tuple<std::int32_t, int, int, int> best{0, 0, 0, 0};
    bool any_shift = false;
    for (int h = 0; h < rows && tried < kMostShifts; ++h) {
      for (int r = std::max(0, h - kFarthestShift); r < std::min(columns, h + kFarthestShift + 1); ++r) {
        for (int length = 1;
             length <= kLongestShift && h + length <= rows && r + length <= columns &&
             words[static_cast<std::size_t>(h + length) - 1] == reference[static_cast<std::size_t>(r + length) - 1];
             ++length) {
          const int aligned = place[static_cast<std::size_t>(r)];
          if (any(wrong, h, length) && any(missed, r, length) && !(h <= aligned && aligned < h + length)) {
            int previous = -1;
            for (int offset = -1; offset < length && r + offset < columns; ++offset) {
              const int target = r + offset < 0 ? 0 : place[static_cast<std::size_t>(r + offset)] + 1;
              if (target == previous) continue;
              previous = target;
              const std::size_t same = shift(words, static_cast<std::size_t>(h), static_cast<std::size_t>(length),
                                             static_cast<std::size_t>(target), shifted);
              const std::int32_t gain = before - distance.with_prefix(shifted, same);
              ++tried;
              const std::tuple<std::int32_t, int, int, int> rank{gain, length, -h, -target};
              if (any_shift && !(rank > best)) continue;
              any_shift = true;
              best = rank;
              best_words = shifted;
            }
          }
          if (tried >= kMostShifts) break;
        }
        if (tried >= kMostShifts) break;
      }
    }
    if (tried >= kMostShifts || !any_shift || std::get<0>(best) <= 0) return shifts + before;
    ++shifts;
    words = best_words;
  }
}

TerReferences::TerReferences(const std::vector<std::vector<std::string>>& references) : sentences_(references.size()) {
  for (std::size_t i = 0; i < references.size(); ++i) {
    for (const std::string& text : references[i]) {
      Words& words = sentences_[i].emplace_back();
      for_each_word(text, [&](std::string_view word) { words.push_back(words_.id(word)); });
    }
  }
}

void TerReferences::statistics(std::size_t sentence, std::string_view text, std::int32_t* row) const {
  Words hypothesis;
  for_each_word(text, [&](std::string_view word) { hypothesis.push_back(words_.find(word)); });
  row[0] = std::numeric_limits<std::int32_t>::max();
  row[1] = 0;
  for (const Words& reference : sentences_.at(sentence)) {
    row[0] = std::min(row[0], translation_edits(hypothesis, reference));
    row[1] += static_cast<std::int32_t>(reference.size());
  }
}

}  // namespace treeglot::tuning
