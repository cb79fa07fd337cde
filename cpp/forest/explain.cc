#include "forest/explain.hh"

#include <algorithm>
#include <utility>

namespace treeglot::forest {

using search::RuleUse;
using search::TargetItem;

std::string_view kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::kWord:
      return "word";
    case NodeKind::kSubtree:
      return "subtree";
    case NodeKind::kGroup:
      return "group";
    case NodeKind::kConstituent:
      return "constituent";
    case NodeKind::kSpan:
      return "span";
    case NodeKind::kGlue:
      return "glue";
    case NodeKind::kTyped:
      return "typed";
    case NodeKind::kGoal:
      return "goal";
  }
  return "";
}

std::vector<double> language_model_scores(const lm::Model& model, std::span<const DerivationStep> steps) {
  std::vector<double> result(steps.size(), 0.0);
  if (steps.empty()) return result;
  lm::State states[2] = {model.begin_state(), {}};
  int now = 0;
  auto score = [&](lm::WordId word) {
    const double log10 = model.score(states[now], word, states[1 - now]).log10;
    now = 1 - now;
    return log10;
  };
  std::size_t last = 0;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, 0}};  // step, place in its target
  while (!open.empty()) {
    auto& [n, place] = open.back();
    const RuleOption& option = *steps[n].option;
    if (place == option.target.size()) {
      open.pop_back();
    } else if (const TargetSymbol symbol = option.target[place++]; is_target_variable(symbol)) {
      open.emplace_back(steps[n].below[variable_number(symbol)], 0);
    } else {
      result[n] += score(option.lm_words[place - 1]);
      last = n;
    }
  }
  result[last] += score(lm::kEnd);
  return result;
}

namespace {

std::vector<std::uint32_t> covered_by(const RuleUse& use) {
  if (!use.parts.empty()) return use.parts;
  std::vector<std::uint32_t> words;
  for (std::uint32_t j = use.begin; j < use.end; ++j) words.push_back(j);
  return words;
}

// The words of a step, x1, x2, ... for those that the steps below it cover.
std::string covered_words(const RuleUse& use, const std::vector<RawStep>& steps,
                          const std::function<std::string_view(std::uint32_t)>& source_word) {
  constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  std::vector<std::size_t> owner(use.end - use.begin, kNobody);  // which step below has a word
  std::vector<bool> shown(use.below.size(), false);
  for (std::size_t k = 0; k < use.below.size(); ++k) {
    for (std::uint32_t j : covered_by(steps[use.below[k]].use)) {
      if (j >= use.begin && j < use.end) owner[j - use.begin] = k;
    }
  }
  std::string text;
  for (std::uint32_t j : covered_by(use)) {
    const std::size_t k = owner[j - use.begin];
    if (k != kNobody && shown[k]) continue;
    if (!text.empty()) text += ' ';
    if (k == kNobody) {
      text += source_word(j);
    } else {
      text += 'x' + std::to_string(k + 1);
      shown[k] = true;
    }
  }
  return text;
}

// Takes the parts of plain helpers below a helper into itself; steps below are readable already.
void flatten(RuleUse& use, std::vector<RawStep>& steps) {
  std::vector<TargetItem> target;
  std::vector<std::uint32_t> parts;  // steps, in the order of the target
  auto take = [&](const RuleUse& from, const TargetItem& item) {
    if (const std::uint32_t* variable = std::get_if<std::uint32_t>(&item)) {
      target.emplace_back(static_cast<std::uint32_t>(parts.size()));
      parts.push_back(from.below[*variable]);
    } else {
      target.push_back(item);
    }
  };
  for (const TargetItem& item : use.target) {
    const std::uint32_t* variable = std::get_if<std::uint32_t>(&item);
    const RawStep* below = variable ? &steps[use.below[*variable]] : nullptr;
    if (below && below->helper && below->use.features.empty()) {
      for (const TargetItem& inner : below->use.target) take(below->use, inner);
    } else {
      take(use, item);
    }
  }
  // Variables are numbered in the order of the source.
  std::vector<std::uint32_t> sorted = parts;
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    const RuleUse &x = steps[a].use, &y = steps[b].use;
    return std::pair(x.begin, x.end) < std::pair(y.begin, y.end);
  });
  for (TargetItem& item : target) {
    if (std::uint32_t* variable = std::get_if<std::uint32_t>(&item)) {
      *variable =
          static_cast<std::uint32_t>(std::find(sorted.begin(), sorted.end(), parts[*variable]) - sorted.begin());
    }
  }
  use.target = std::move(target);
  use.below = std::move(sorted);
}

}  // namespace

std::vector<RuleUse> readable(std::vector<RawStep> steps,
                              const std::function<std::string_view(std::uint32_t)>& source_word) {
  std::vector<RuleUse> result;
  if (steps.empty()) return result;
  std::vector<std::uint32_t> shown(steps.size());                               // what stands in the place of each step
  for (std::uint32_t n = static_cast<std::uint32_t>(steps.size()); n-- > 0;) {  // in preorder parts follow their whole
    RuleUse& use = steps[n].use;
    shown[n] = n;
    for (std::uint32_t& child : use.below) child = shown[child];
    if (steps[n].helper) {
      flatten(use, steps);
      if (use.target.size() == 1 && use.below.size() == 1 && use.features.empty()) {
        shown[n] = use.below[0];
        continue;
      }
    }
    if (use.source.empty()) use.source = covered_words(use, steps, source_word);
  }
  // In preorder again.
  std::vector<std::uint32_t> order, open{shown[0]}, number(steps.size());
  while (!open.empty()) {
    const std::uint32_t n = open.back();
    open.pop_back();
    number[n] = static_cast<std::uint32_t>(order.size());
    order.push_back(n);
    const std::vector<std::uint32_t>& below = steps[n].use.below;
    open.insert(open.end(), below.rbegin(), below.rend());
  }
  for (std::uint32_t n : order) {
    for (std::uint32_t& child : steps[n].use.below) child = number[child];
    result.push_back(std::move(steps[n].use));
  }
  return result;
}

}  // namespace treeglot::forest
