#include "search/phrase_search.hh"

#include <algorithm>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_set>

#include "base/hash.hh"
#include "base/parallel.hh"

namespace treeglot::search {

namespace {

// Monotone, swap or discontinuous: [begin, end) after [previous_begin, previous_end), in source words.
int orientation(std::uint32_t previous_begin, std::uint32_t previous_end, std::uint32_t begin, std::uint32_t end) {
  return begin == previous_end ? 0 : end == previous_begin ? 1 : 2;
}

}  // namespace

double PhraseSearch::future(std::uint32_t coverage) const {
  const Coverage& c = coverages_[coverage];
  double total = 0;
  std::uint32_t size = static_cast<std::uint32_t>(options_.size());
  std::uint32_t last = std::min(size, c.first_gap + c.words * 64);
  std::uint32_t gap = c.first_gap;
  bool open = gap < size;
  for (std::uint32_t i = c.first_gap + 1; i < last; ++i) {
    bool covered = coverages_.covers(coverage, i);
    if (covered && open) total += options_.future(static_cast<int>(gap), static_cast<int>(i));
    if (!covered && !open) gap = i;
    open = !covered;
  }
  if (!open && last < size) {
    gap = last;
    open = true;
  }
  if (open) total += options_.future(static_cast<int>(gap), static_cast<int>(size));
  return total;
}

std::uint32_t PhraseSearch::vertex(std::uint32_t coverage, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t size = static_cast<std::uint32_t>(options_.size());
  bool complete = coverages_[coverage].covered == size;
  std::uint8_t next = 0;
  if (complete) {
    begin = end = 0;
  } else {
    next = 4;
    if (end < size && !coverages_.covers(coverage, end)) next |= 1;
    if (begin > 0 && begin != kNone && !coverages_.covers(coverage, begin - 1)) {
      next |= 2;
    } else {
      begin = kNone;
    }
  }
  std::uint64_t key = mix(mix((std::uint64_t{coverage} << 32 | begin) + 0x9E3779B97F4A7C15ull) ^ end);
  auto [entry, fresh] = vertex_ids_.emplace(key, static_cast<std::uint32_t>(vertices_.size()));
  while (!fresh) {
    const Vertex& v = vertices_[entry->second];
    if (v.coverage == coverage && v.begin == begin && v.end == end) return entry->second;
    std::tie(entry, fresh) = vertex_ids_.emplace(++key, static_cast<std::uint32_t>(vertices_.size()));
  }
  vertices_.push_back({coverage, begin, end, next, complete});
  return entry->second;
}

// Makes the hypothesis of one cell and puts it into the stack.
void PhraseSearch::extend(const Edge& edge, const Ranked& from, const PhraseOption& option) {
  check_stopped();
  // Only the words whose context reaches out of the phrase need queries; as
  // soon as the state lies inside the phrase the rest is known.
  Hypothesis fresh;
  const lm::State* state = &kept_[from.hypothesis].state;
  lm::State scratch[2];
  double lm = 0;
  int size = static_cast<int>(option.words.size());
  if (state->length == 0) {
    lm = option.lm_rest[0];
    fresh.state = option.state;
  } else {
    for (int i = 0;; ++i) {
      lm::State& out = scratch[i & 1];
      lm += model_.score(*state, option.words[i], out).log10;
      if (i + 1 == size) {
        fresh.state = out;
        break;
      }
      if (out.length <= i + 1) {
        lm += option.lm_rest[i + 1];
        fresh.state = option.state;
        break;
      }
      state = &out;
    }
  }
  const Vertex& target = vertices_[edge.vertex];
  if (target.complete) {
    lm += model_.score(fresh.state, lm::kEnd, scratch[0]).log10;
    fresh.state.length = 0;
  }
  double future = coverages_[target.coverage].future;
  double score =
      from.score + option.fixed + option.backward[edge.orientation] + (edge.added - future) + lm_weight_ * lm;
  fresh.total = score + future;
  if (fresh.total < stack_.threshold()) return;
  fresh.best = {score, from.hypothesis, edge.begin, edge.end, &option};
  fresh.vertex = edge.vertex;

  stack_.add(fresh, others_);
}

void PhraseSearch::fill_by_cube(const std::vector<Edge>& edges) {
  queue_.clear();
  auto estimate = [&](const Edge& edge, std::uint32_t row, std::uint32_t column) {
    const PhraseOption& option = *(*edge.options)[column];
    return ranked_[edge.first + row].score + option.estimate + option.backward[edge.orientation] + edge.added;
  };
  for (std::uint32_t i = 0; i < edges.size(); ++i) queue_.push_back({estimate(edges[i], 0, 0), i, 0, 0});
  std::make_heap(queue_.begin(), queue_.end());
  std::size_t pops = limits_.pop_limit > 0 ? static_cast<std::size_t>(limits_.pop_limit) : SIZE_MAX;
  while (!queue_.empty() && pops-- > 0) {
    std::pop_heap(queue_.begin(), queue_.end());
    Cell cell = queue_.back();
    queue_.pop_back();
    if (cell.estimate < stack_.threshold()) break;
    const Edge& edge = edges[cell.edge];
    extend(edge, ranked_[edge.first + cell.row], *(*edge.options)[cell.column]);
    // Each cell has one way to be reached: along its row, and down the first
    // column.
    if (cell.column + 1 < edge.options->size()) {
      queue_.push_back({estimate(edge, cell.row, cell.column + 1), cell.edge, cell.row, cell.column + 1});
      std::push_heap(queue_.begin(), queue_.end());
    }
    if (cell.column == 0 && cell.row + 1 < edge.count) {
      queue_.push_back({estimate(edge, cell.row + 1, 0), cell.edge, cell.row + 1, 0});
      std::push_heap(queue_.begin(), queue_.end());
    }
  }
}

void PhraseSearch::fill_by_all(const std::vector<Edge>& edges) {
  std::size_t limit = limits_.stack_size > 0 ? static_cast<std::size_t>(limits_.stack_size) : 0;
  for (const Edge& edge : edges) {
    for (std::uint32_t row = 0; row < edge.count; ++row) {
      for (const PhraseOption* option : *edge.options) extend(edge, ranked_[edge.first + row], *option);
      if (limit && stack_.hypotheses().size() > 2 * limit + 1000) stack_.prune(limit);
    }
  }
}

// Moves the stack to the finished ones, grouped by vertex, and prepares what
// can follow.
void PhraseSearch::settle() {
  const std::vector<Hypothesis>& stack = stack_.hypotheses();
  std::vector<std::uint32_t> order(stack.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Hypothesis &x = stack[a], &y = stack[b];
    if (x.vertex != y.vertex) {
      std::uint32_t cx = vertices_[x.vertex].coverage, cy = vertices_[y.vertex].coverage;
      return cx != cy ? cx < cy : x.vertex < y.vertex;
    }
    return x.best.score != y.best.score ? x.best.score > y.best.score : a < b;
  });
  std::vector<std::uint32_t> vertices;
  std::uint32_t begin = static_cast<std::uint32_t>(kept_.size());
  for (std::uint32_t i : order) kept_.push_back(stack[i]);
  std::uint32_t end = static_cast<std::uint32_t>(kept_.size());
  while (begin < end) {
    std::uint32_t stop = begin;
    while (stop < end && kept_[stop].vertex == kept_[begin].vertex) ++stop;
    rank(begin, stop);
    vertices.push_back(kept_[begin].vertex);
    begin = stop;
  }
  make_edges(vertices);
}

void PhraseSearch::rank(std::uint32_t first, std::uint32_t last) {
  Vertex& v = vertices_[kept_[first].vertex];
  v.count = last - first;
  std::uint32_t shared = kNone;  // without reordering scores one order serves all
  for (int o = 0; o < 3; ++o) {
    if (!(v.next >> o & 1)) continue;
    if (!forward_ && shared != kNone) {
      v.first[o] = shared;
      continue;
    }
    v.first[o] = shared = static_cast<std::uint32_t>(ranked_.size());
    for (std::uint32_t i = first; i < last; ++i) {
      const PhraseOption* option = kept_[i].best.option;
      ranked_.push_back({kept_[i].best.score + (option ? option->forward[o] : 0), i});
    }
    if (forward_) {
      std::stable_sort(ranked_.begin() + v.first[o], ranked_.end(),
                       [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
    }
  }
}

// The extensions of a finished stack. `vertices` has those with the same
// coverage side by side.
void PhraseSearch::make_edges(const std::vector<std::uint32_t>& vertices) {
  const std::uint32_t size = static_cast<std::uint32_t>(options_.size());
  const std::uint32_t longest = static_cast<std::uint32_t>(options_.longest());
  const std::uint32_t reach = limits_.distortion < 0 ? size : static_cast<std::uint32_t>(limits_.distortion);
  for (std::size_t i = 0; i < vertices.size();) {
    const std::uint32_t coverage = vertices_[vertices[i]].coverage;
    std::size_t stop = i;
    while (stop < vertices.size() && vertices_[vertices[stop]].coverage == coverage) ++stop;
    const std::uint32_t gap = coverages_[coverage].first_gap;
    check_stopped();
    for (std::uint32_t begin = gap; begin < std::min(size, gap + std::max(reach, 1u)); ++begin) {
      for (std::uint32_t end = begin + 1; end <= std::min(size, begin + longest); ++end) {
        if (coverages_.covers(coverage, end - 1)) break;
        // A jump over the first gap must leave the way back open.
        if (begin != gap && end - gap > reach) break;
        const PhraseOptionList* list = options_.at(static_cast<int>(begin), static_cast<int>(end));
        if (!list) continue;
        std::uint32_t target = kNone;
        for (std::size_t k = i; k < stop; ++k) {
          const std::uint32_t previous_end = vertices_[vertices[k]].end;
          const std::uint32_t jump = begin > previous_end ? begin - previous_end : previous_end - begin;
          if (jump > reach) continue;
          if (target == kNone) {
            std::uint32_t after = coverages_.add(coverage, begin, end, [&](std::uint32_t id) { return future(id); });
            target = vertex(after, begin, end);
          }
          const Vertex& from = vertices_[vertices[k]];
          int o = orientation(from.begin, from.end, begin, end);
          const Coverage& after = coverages_[vertices_[target].coverage];
          edges_[after.covered].push_back({from.first[o], from.count, &list->order[o],
                                           -weights_[kDistortion] * jump + after.future, target, begin, end, o});
        }
      }
    }
    i = stop;
  }
}

void PhraseSearch::start(bool keep_others) {
  coverages_.reset();
  vertices_.clear();
  vertex_ids_.clear();
  kept_.clear();
  others_.clear();
  ranked_.clear();
  edges_.resize(std::max<std::size_t>(edges_.size(), words_->size() + 1));
  for (std::vector<Edge>& edges : edges_) edges.clear();
  keep_others_ = keep_others;
  // The start looks like a phrase that ends before the first word.
  vertices_.push_back({0, kNone, 0, 5, false});
  Hypothesis root;
  root.best = {};
  root.total = 0;
  root.vertex = 0;
  root.state = model_.begin_state();
  kept_.push_back(root);
  rank(0, 1);
  make_edges({0});
}

void PhraseSearch::fill(int covered) {
  stack_.reset(limits_.cube_pruning ? static_cast<std::size_t>(limits_.pop_limit) : 0, keep_others_);
  std::vector<Edge>& edges = edges_[covered];
  if (limits_.cube_pruning) {
    fill_by_cube(edges);
  } else {
    fill_by_all(edges);
  }
  stack_.prune(limits_.stack_size > 0 ? static_cast<std::size_t>(limits_.stack_size) : SIZE_MAX);
  edges.clear();
  settle();
}

std::vector<Arrival> PhraseSearch::arrivals(std::uint32_t node) const {
  std::vector<Arrival> result{kept_[node].best};
  for (std::uint32_t i = kept_[node].others; i != kNone; i = others_[i].next) result.push_back(others_[i].arrival);
  // The list runs from the latest to the first; equal scores keep the order of
  // discovery.
  std::reverse(result.begin() + 1, result.end());
  std::stable_sort(result.begin(), result.end(), [](const Arrival& a, const Arrival& b) { return a.score > b.score; });
  return result;
}

std::string PhraseSearch::text(const Path& path) const {
  std::string result;
  for (const Arrival& arrival : path) {
    auto add = [&](std::string_view word) {
      if (!result.empty()) result += ' ';
      result += word;
    };
    const PhraseOption& option = *arrival.option;
    if (option.copied()) {
      add((*words_)[arrival.begin]);
    } else {
      for (WordId word : (*option.matches)[option.match].target) add(builder_.table().target_word(word));
    }
  }
  return result;
}

// What phrase n of a path adds to each feature.
void PhraseSearch::add_features(const Path& path, std::size_t n, float lm, FeatureVector& out) const {
  const Arrival& arrival = path[n];
  const PhraseOption& option = *arrival.option;
  out[kLanguageModel] += lm;
  out[kWords] += static_cast<double>(option.words.size());
  out[kPhrases] += 1;
  // Before the first phrase stands an empty one at the sentence's start, which has no reordering scores of its own.
  const Arrival* before = n > 0 ? &path[n - 1] : nullptr;
  const std::uint32_t previous_end = before ? before->end : 0;
  out[kDistortion] -= std::abs(static_cast<double>(arrival.begin) - static_cast<double>(previous_end));
  const int o = before               ? orientation(before->begin, before->end, arrival.begin, arrival.end)
                : arrival.begin == 0 ? 0
                                     : 2;
  if (option.copied()) {
    out[kCopied] += 1;
  } else {
    const PhraseMatch match = (*option.matches)[option.match];
    for (int i = 0; i < 4; ++i) out[kTranslation + i] += match.scores[i];
    out[kReordering + o] += match.reordering[o];
  }
  if (before && !before->option->copied()) {
    out[kReordering + 3 + o] += (*before->option->matches)[before->option->match].reordering[3 + o];
  }
}

// The goal, and below it the phrases in the order of the source.
std::vector<RuleUse> PhraseSearch::steps(const Path& path, const std::vector<float>& lm) const {
  std::vector<std::uint32_t> by_source(path.size());
  std::iota(by_source.begin(), by_source.end(), 0u);
  std::sort(by_source.begin(), by_source.end(),
            [&](std::uint32_t a, std::uint32_t b) { return path[a].begin < path[b].begin; });
  std::vector<RuleUse> result(path.size() + 1);
  RuleUse& goal = result[0];
  goal.grammar = grammar_;
  goal.kind = "goal";
  goal.end = static_cast<std::uint32_t>(words_->size());
  goal.target.resize(path.size());
  if (path.empty()) goal.features.push_back({kLanguageModel, lm[0]});
  for (std::uint32_t place = 0; place < path.size(); ++place) {
    const std::uint32_t n = by_source[place];
    const PhraseOption& option = *path[n].option;
    if (place > 0) goal.source += ' ';
    goal.source += 'x' + std::to_string(place + 1);
    goal.target[n] = place;
    goal.below.push_back(place + 1);
    RuleUse& use = result[place + 1];
    use.grammar = option.copied() ? "copy" : grammar_;
    use.kind = "span";
    use.begin = path[n].begin;
    use.end = path[n].end;
    for (std::uint32_t j = use.begin; j < use.end; ++j) {
      if (j > use.begin) use.source += ' ';
      use.source += (*words_)[j];
    }
    if (option.copied()) {
      use.target.emplace_back(use.source);
      use.links = {{0, 0}};
    } else {
      const PhraseMatch match = (*option.matches)[option.match];
      for (WordId word : match.target) use.target.emplace_back(std::string(builder_.table().target_word(word)));
      use.links.assign(match.links.begin(), match.links.end());
    }
    FeatureVector values{};
    add_features(path, n, lm[n], values);
    for (int i = 0; i < kFeatures; ++i) {
      if (values[i] != 0) use.features.push_back({static_cast<std::uint16_t>(i), static_cast<float>(values[i])});
    }
  }
  return result;
}

Derivation PhraseSearch::derivation(const Path& path, double score, std::string text, bool with_steps) const {
  // ln p of the words of each phrase; the last one's includes the sentence's end.
  std::vector<float> lm;
  lm::State states[2];
  states[0] = model_.begin_state();
  int now = 0;
  for (std::size_t n = 0; n < path.size(); ++n) {
    double log10 = 0;
    for (lm::WordId word : path[n].option->words) {
      log10 += model_.score(states[now], word, states[1 - now]).log10;
      now = 1 - now;
    }
    if (n + 1 == path.size()) log10 += model_.score(states[now], lm::kEnd, states[1 - now]).log10;
    lm.push_back(static_cast<float>(log10 * std::numbers::ln10));
  }
  Derivation result;
  result.score = score;
  FeatureVector features{};
  for (std::size_t n = 0; n < path.size(); ++n) add_features(path, n, lm[n], features);
  if (path.empty()) {
    features[kLanguageModel] = std::numbers::ln10 * model_.score(states[now], lm::kEnd, states[1 - now]).log10;
    result.score = dot(weights_, features);
    lm.push_back(static_cast<float>(features[kLanguageModel]));
  }
  result.features.assign(features.begin(), features.end());
  result.text = std::move(text);
  if (with_steps) result.steps = steps(path, lm);
  return result;
}

Translation PhraseSearch::run(const std::vector<std::string_view>& words, const NBestRequest& request,
                              bool with_steps) {
  words_ = &words;
  Translation result;
  if (words.empty()) {
    result.derivations.push_back(derivation({}, 0, "", with_steps));
    return result;
  }
  options_.prepare(words, builder_, cache_, limits_.phrase_length, limits_.distortion);
  start(request.size > 1);
  for (std::size_t covered = 1; covered <= words.size(); ++covered) fill(static_cast<int>(covered));
  // A complete hypothesis has nothing left that could tell it from another: there is one.
  std::uint32_t goal = static_cast<std::uint32_t>(kept_.size() - 1);
  std::unordered_map<std::uint32_t, std::vector<Arrival>> sorted;
  auto ways = [&](std::uint32_t node) -> const std::vector<Arrival>& {
    auto place = sorted.find(node);
    if (place == sorted.end()) place = sorted.emplace(node, arrivals(node)).first;
    return place->second;
  };
  std::unordered_set<std::string> seen;
  // Many paths can give the same words; a bound on their number keeps a hard sentence from taking forever.
  std::size_t patience = static_cast<std::size_t>(request.size) * 200;
  best_paths(goal, ways, [&](const Path& path, double score) {
    check_stopped();
    std::string words_of_path = text(path);
    if (request.distinct && request.size > 1 && !seen.insert(words_of_path).second) return --patience > 0;
    result.derivations.push_back(derivation(path, score, std::move(words_of_path), with_steps));
    return result.derivations.size() < static_cast<std::size_t>(request.size);
  });
  return result;
}

}  // namespace treeglot::search
