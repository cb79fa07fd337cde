#include "trees/phrase_tree.hh"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/text.hh"

namespace treeglot {

bool PhraseTree::is_continuous() const {
  for (std::size_t n = 0; n < size(); ++n) {
    if (ends[n] - begins[n] != sizes[n]) return false;
  }
  return true;
}

void PhraseTree::clear() {
  labels.clear();
  functions.clear();
  children.clear();
  starts.assign(1, 0);
  parents.clear();
  begins.clear();
  ends.clear();
  sizes.clear();
  origins.clear();
}

// Everything but cycles apart from the root.
void PhraseTreeBuilder::check(const Given& given, std::size_t words) {
  const auto& [labels, functions, children] = given;
  const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
  if (words == 0) refuse("a tree without words");
  if (labels.size() != children.size() || (!functions.empty() && functions.size() != labels.size())) {
    refuse("labels, children, functions and ids differ in number");
  }
  if (labels.empty()) {
    if (words != 1) refuse(std::to_string(words) + " words but no phrase");
    return;
  }
  parent_counts_.assign(labels.size(), 0);
  word_counts_.assign(words, 0);
  for (std::size_t n = 0; n < labels.size(); ++n) {
    if (children[n].empty()) refuse("phrase " + quoted(labels[n]) + " has no child");
    for (const std::int32_t child : children[n]) {
      const auto number = static_cast<std::size_t>(child >= 0 ? child : ~child);
      if (number >= (child >= 0 ? labels.size() : words)) {
        refuse("a child of " + quoted(labels[n]) + " does not exist");
      }
      ++(child >= 0 ? parent_counts_ : word_counts_)[number];
    }
  }
  for (std::size_t n = 0; n < labels.size(); ++n) {
    if (parent_counts_[n] > 1) {
      refuse("phrase " + quoted(labels[n]) + " has " + std::to_string(parent_counts_[n]) + " parents");
    }
  }
  for (std::size_t j = 0; j < words; ++j) {
    if (word_counts_[j] != 1) {
      refuse("word " + std::to_string(j + 1) + " has " + std::to_string(word_counts_[j]) + " parents");
    }
  }
  const auto roots = std::count(parent_counts_.begin(), parent_counts_.end(), 0u);
  if (roots == 0) refuse("no root: the phrases form a cycle");
  if (roots > 1) refuse(std::to_string(roots) + " roots");
}

void PhraseTreeBuilder::build(const Given& given, std::size_t words, PhraseTree& tree) {
  tree.clear();
  check(given, words);
  const std::size_t size = given.labels.size();
  if (size == 0) return;
  const auto root =
      static_cast<std::uint32_t>(std::find(parent_counts_.begin(), parent_counts_.end(), 0u) - parent_counts_.begin());
  // Any preorder first, to find cycles and first words.
  order_.clear();
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const std::uint32_t n = stack_.back();
    stack_.pop_back();
    order_.push_back(n);
    for (const std::int32_t child : given.children[n]) {
      if (child >= 0) stack_.push_back(static_cast<std::uint32_t>(child));
    }
  }
  if (order_.size() != size) throw std::invalid_argument("some phrases form a cycle apart from the root");
  first_.assign(size, 0);
  if (sorted_.size() < size) sorted_.resize(size);
  const auto first_word = [&](std::int32_t child) {
    return child >= 0 ? first_[static_cast<std::size_t>(child)] : ~child;
  };
  for (std::size_t k = size; k-- > 0;) {
    const std::uint32_t n = order_[k];
    sorted_[n].assign(given.children[n].begin(), given.children[n].end());
    std::sort(sorted_[n].begin(), sorted_[n].end(),
              [&](std::int32_t one, std::int32_t other) { return first_word(one) < first_word(other); });
    first_[n] = first_word(sorted_[n].front());
  }
  numbers_.assign(size, 0);
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const std::uint32_t n = stack_.back();
    stack_.pop_back();
    numbers_[n] = static_cast<std::uint32_t>(tree.origins.size());
    tree.origins.push_back(n);
    for (std::size_t k = sorted_[n].size(); k-- > 0;) {
      if (sorted_[n][k] >= 0) stack_.push_back(static_cast<std::uint32_t>(sorted_[n][k]));
    }
  }
  tree.parents.assign(size, -1);
  for (std::size_t n = 0; n < size; ++n) {
    const std::uint32_t old = tree.origins[n];
    tree.labels.push_back(given.labels[old]);
    tree.functions.push_back(given.functions.empty() ? std::string_view() : given.functions[old]);
    for (const std::int32_t child : sorted_[old]) {
      const std::int32_t number =
          child >= 0 ? static_cast<std::int32_t>(numbers_[static_cast<std::size_t>(child)]) : child;
      tree.children.push_back(number);
      if (number >= 0) tree.parents[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(n);
    }
    tree.starts.push_back(static_cast<std::uint32_t>(tree.children.size()));
  }
  tree.begins.assign(size, 0);
  tree.ends.assign(size, 0);
  tree.sizes.assign(size, 0);
  for (std::size_t n = size; n-- > 0;) {
    tree.begins[n] = first_[tree.origins[n]];
    for (const std::int32_t child : tree.children_of(n)) {
      const auto below = static_cast<std::size_t>(child);
      tree.ends[n] = std::max(tree.ends[n], child >= 0 ? tree.ends[below] : ~child + 1);
      tree.sizes[n] += child >= 0 ? tree.sizes[below] : 1;
    }
  }
}

void PhraseTreeBuilder::close_gaps(const PhraseTree& tree, std::span<const std::int32_t> heads, std::size_t words,
                                   PhraseTree& closed) {
  const std::size_t size = tree.size();
  moved_.resize(size);
  for (std::size_t n = 0; n < size; ++n) {
    const auto below = tree.children_of(n);
    moved_[n].assign(below.begin(), below.end());
  }
  std::vector<std::int32_t> begins(size), ends(size);
  const auto begin = [&](std::int32_t child) { return child >= 0 ? begins[static_cast<std::size_t>(child)] : ~child; };
  const auto end = [&](std::int32_t child) { return child >= 0 ? ends[static_cast<std::size_t>(child)] : ~child + 1; };
  // Children before parents, so all children are without gaps by now.
  for (std::size_t n = size; n-- > 0;) {
    std::vector<std::int32_t>& below = moved_[n];
    std::sort(below.begin(), below.end(),
              [&](std::int32_t one, std::int32_t other) { return begin(one) < begin(other); });
    const auto head = std::find(below.begin(), below.end(), heads[n]);
    auto first = head, last = head + 1;
    while (first != below.begin() && end(*(first - 1)) == begin(*first)) --first;
    while (last != below.end() && begin(*last) == end(*(last - 1))) ++last;
    if (tree.parents[n] >= 0) {
      std::vector<std::int32_t>& above = moved_[static_cast<std::size_t>(tree.parents[n])];
      above.insert(above.end(), below.begin(), first);
      above.insert(above.end(), last, below.end());
      below.erase(last, below.end());
      below.erase(below.begin(), first);
    }
    begins[n] = begin(below.front());
    ends[n] = end(below.back());
  }
  build({tree.labels, tree.functions, moved_}, words, closed);
}

}  // namespace treeglot
