#include "forest/cube_pruning.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "base/parallel.hh"
#include "forest/chart_state.hh"
#include "forest/cube_pruning_queue.hh"
#include "forest/kbest.hh"
#include "hypergraph/topological_order.hh"

namespace treeglot::forest {
namespace {

constexpr std::size_t kSlots = 1024;  // for states at first; a power of two
constexpr double kNever = -std::numeric_limits<double>::infinity();

// One dimension of an edge's cube with more than one choice: its options, or the states of a tail.
struct Dimension {
  float gap;           // between its best two choices
  std::uint32_t tail;  // kNone: the options
};

// An edge of the node being searched.
struct Cube {
  std::uint32_t edge;  // of the node
  std::uint32_t first_dimension = 0, dimensions = 0;
};

// A cell of a cube that was popped; its options and tails are in the hyperedge of the same number.
struct Cell {
  float estimate;
  std::uint32_t cube;
  std::int32_t last;  // of its dimensions (in the order of gaps) that are not at their first choice, or -1
};

// A new state of the node.
struct Fresh {
  std::uint64_t hash;
  Vertex vertex;
};

}  // namespace

void prepare_option(const lm::Model& model, const std::vector<double>& weights, RuleOption& option) {
  option.words = 0;
  option.log10 = 0;
  lm::State states[2];
  for (std::size_t i = 0; i < option.target.size(); ++i) {
    if (is_target_variable(option.target[i])) {
      option.lm_words[i] = option.target[i];
      states[1 - (i & 1)].length = 0;
      continue;
    }
    ++option.words;
    option.log10 += model.score(states[i & 1], option.lm_words[i], states[1 - (i & 1)]).log10;
  }
  weigh_option(weights, option);
}

void weigh_option(const std::vector<double>& weights, RuleOption& option) {
  double score = 0;
  for (const FeatureValue& feature : option.features) score += weights[feature.feature] * feature.value;
  score += weights[kWordFeature] * option.words;
  option.score = static_cast<float>(score);
  option.estimate = static_cast<float>(score + weights[kLanguageModelFeature] * std::numbers::ln10 * option.log10);
}

struct ForestSearch::State {
  State(const lm::Model& model_, const std::vector<double>& weights_, const SearchLimits& limits)
      : model(model_), weights(weights_), kbest(graph) {
    if (weights.size() <= kWordFeature) throw std::invalid_argument("no weights for language model and words");
    if (!std::all_of(weights.begin(), weights.end(), [](double weight) { return std::isfinite(weight); })) {
      throw std::invalid_argument("a weight is not finite");
    }
    lm_scale = weights[kLanguageModelFeature] * std::numbers::ln10;
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    stack_limit = limits.stack_limit > 0 ? static_cast<std::size_t>(limits.stack_limit) : all;
    pop_limit = limits.pop_limit > 0 ? static_cast<std::size_t>(limits.pop_limit) : stack_limit;
    threshold = limits.stack_threshold > 0 ? std::log(limits.stack_threshold) : kNever;
    if (threshold > 0) threshold = 0;
  }

  void sort_nodes();
  void search_node(NodeId node, bool goal);
  void open_cube(std::uint32_t cube, Hyperedge& corner);
  void push_successors(std::uint32_t cell);
  double make(const Hyperedge& hyperedge, const RuleOption& option, bool goal);
  void recombine(double score, std::uint32_t hyperedge);
  void keep(NodeId node);

  const RuleOption& option_of(const Hyperedge& hyperedge) const {
    return *(*(*forest)[hyperedge.node].edges[hyperedge.edge].options)[hyperedge.option];
  }
  void walk(std::uint32_t vertex, std::uint32_t rank);
  ForestDerivation derivation(std::uint32_t rank, bool with_steps) const;

  const lm::Model& model;
  const std::vector<double> weights;
  double lm_scale;
  std::size_t stack_limit, pop_limit;
  double threshold;
  bool keep_all = false;  // derivations that lost a recombination, for k-best lists

  const Forest* forest = nullptr;
  hypergraph::TopologicalOrder order;  // of nodes

  StateGraph graph;
  std::vector<std::uint32_t> first_vertex, vertex_count;  // by node
  std::vector<ChartState> states;                         // the last one is for the next hypothesis

  // Of the node being searched.
  std::vector<Cube> cubes;
  std::vector<Dimension> dimensions;
  std::vector<Cell> cells;
  std::uint32_t first_cell = 0;  // its hyperedge
  WaitingQueue queue;
  std::vector<Fresh> fresh;
  std::vector<std::uint32_t> index;  // of fresh, open addressing by hash

  // Of the derivation that was walked through last.
  struct Step {
    std::uint32_t vertex, rank, hyperedge;
    std::uint32_t first_below;  // in below
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> below;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // a stack: step, place in its target
  std::vector<TargetSymbol> words;
  std::vector<lm::WordId> lm_words;

  LazyKBest kbest;
};

// The nodes that the goal needs, tails before heads.
void ForestSearch::State::sort_nodes() {
  order.start(forest->size());
  try {
    order.add(
        forest->goal(), [&](NodeId node) { return (*forest)[node].edges.size(); },
        [&](NodeId node, std::uint32_t edge) { return forest->tails((*forest)[node].edges[edge]); });
  } catch (const hypergraph::CycleError& error) {
    const Node& node = (*forest)[error.vertex()];
    throw std::invalid_argument("the forest has a cycle: node " + std::to_string(error.vertex()) + " over words " +
                                std::to_string(node.begin) + " to " + std::to_string(node.end) + " is below itself");
  }
}

// The score of a hypothesis; its language model state goes to states.back().
double ForestSearch::State::make(const Hyperedge& hyperedge, const RuleOption& option, bool goal) {
  const std::uint32_t* tails = graph.tails.data() + hyperedge.first_tail;
  double score = option.score;
  ChartScorer scorer(model, states.back());
  if (goal) scorer.begin_sentence();
  for (TargetSymbol symbol : option.lm_words) {
    if (is_target_variable(symbol)) {
      const Vertex& vertex = graph.vertices[tails[variable_number(symbol)]];
      score += vertex.score;
      scorer.part(states[vertex.state]);
    } else {
      scorer.word(symbol);
    }
  }
  if (goal) {
    scorer.word(lm::kEnd);
    states.back().right.length = 0;
  }
  if (!std::isfinite(scorer.log10())) lm::damaged("a probability or a back-off weight is no number");
  return score + lm_scale * scorer.log10();
}

// Options are larger than a line of the cache and mostly used one after the other: fetches what the next ones need.
inline void prefetch(const OptionList& options, std::size_t next) {
  if (next < options.size()) __builtin_prefetch(options[next]);
}

// Sorts the dimensions of a cube by their gaps. A corner's hyperedge is already made.
void ForestSearch::State::open_cube(std::uint32_t number, Hyperedge& corner) {
  Cube& cube = cubes[number];
  const Edge& edge = (*forest)[corner.node].edges[cube.edge];
  const OptionList& options = *edge.options;
  cube.first_dimension = static_cast<std::uint32_t>(dimensions.size());
  if (options.size() > 1) dimensions.push_back({options[0]->estimate - options[1]->estimate, kNone});
  for (std::size_t i = 1; i < 4 && i < options.size(); ++i) __builtin_prefetch(options[i]);
  std::span<const NodeId> tails = forest->tails(edge);
  for (std::uint32_t t = 0; t < tails.size(); ++t) {
    std::uint32_t first = first_vertex[tails[t]];
    if (vertex_count[tails[t]] < 2) continue;
    double gap = graph.vertices[first].score - graph.vertices[first + 1].score;
    dimensions.push_back({static_cast<float>(gap), t});
  }
  cube.dimensions = static_cast<std::uint32_t>(dimensions.size()) - cube.first_dimension;
  std::stable_sort(dimensions.begin() + cube.first_dimension, dimensions.end(),
                   [](const Dimension& a, const Dimension& b) { return a.gap < b.gap; });
}

// Every cell is reached in exactly one way, and never from one that looks worse, though each has at most three
// successors: let d be its last dimension that is not at its first choice, in the order of gaps. One successor has the
// next choice there (kSame); one has the second choice in dimension d + 1 (kNext); one, if d is at its second choice,
// has that in d + 1 instead of in d (kShift). So edges with hundreds of tails cost no more than others.
void ForestSearch::State::push_successors(std::uint32_t number) {
  const Cell cell = cells[number];
  const Cube& cube = cubes[cell.cube];
  const Hyperedge& hyperedge = graph.hyperedges[first_cell + number];
  const Edge& edge = (*forest)[hyperedge.node].edges[hyperedge.edge];
  const Dimension* sorted = dimensions.data() + cube.first_dimension;
  auto push = [&](float estimate, Move move) { queue.push({estimate, number, move}); };
  bool second = false;
  if (cell.last >= 0) {
    std::uint32_t tail = sorted[cell.last].tail;
    if (tail == kNone) {
      const OptionList& options = *edge.options;
      std::uint32_t now = hyperedge.option;
      second = now == 1;
      if (now + 1 < options.size()) {
        push(cell.estimate - options[now]->estimate + options[now + 1]->estimate, Move::kSame);
        prefetch(options, now + 2);
      }
    } else {
      NodeId node = forest->tails(edge)[tail];
      std::uint32_t now = graph.tails[hyperedge.first_tail + tail];
      second = now == first_vertex[node] + 1;
      if (now + 1 < first_vertex[node] + vertex_count[node]) {
        const Vertex& next = graph.vertices[now + 1];
        push(cell.estimate + static_cast<float>(next.score - graph.vertices[now].score), Move::kSame);
        __builtin_prefetch(&states[next.state]);
      }
    }
  }
  std::uint32_t next = static_cast<std::uint32_t>(cell.last + 1);
  if (next < cube.dimensions) {
    push(cell.estimate - sorted[next].gap, Move::kNext);
    if (second) push(cell.estimate + sorted[cell.last].gap - sorted[next].gap, Move::kShift);
  }
}

void ForestSearch::State::recombine(double score, std::uint32_t hyperedge) {
  std::uint64_t hash = states.back().hash();
  std::size_t mask = index.size() - 1;
  std::size_t slot = hash & mask;
  for (; index[slot] != kNone; slot = (slot + 1) & mask) {
    Fresh& old = fresh[index[slot]];
    if (old.hash != hash) continue;
    std::uint32_t& best = old.vertex.hyperedge;
    if (score > old.vertex.score) {
      if (keep_all) graph.hyperedges[hyperedge].next = best;
      best = hyperedge;
      old.vertex.score = score;
    } else if (keep_all) {
      graph.hyperedges[hyperedge].next = graph.hyperedges[best].next;
      graph.hyperedges[best].next = hyperedge;
    }
    return;
  }
  index[slot] = static_cast<std::uint32_t>(fresh.size());
  fresh.push_back({hash, {score, hyperedge, static_cast<std::uint32_t>(states.size() - 1)}});
  states.emplace_back();
  if (2 * fresh.size() > index.size()) {
    index.assign(2 * index.size(), kNone);
    mask = index.size() - 1;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      slot = fresh[i].hash & mask;
      while (index[slot] != kNone) slot = (slot + 1) & mask;
      index[slot] = static_cast<std::uint32_t>(i);
    }
  }
}

// Prunes the new states and makes them vertices, best first.
void ForestSearch::State::keep(NodeId node) {
  auto better = [](const Fresh& a, const Fresh& b) {
    return a.vertex.score != b.vertex.score ? a.vertex.score > b.vertex.score : a.vertex.hyperedge < b.vertex.hyperedge;
  };
  if (fresh.size() > stack_limit) {
    std::nth_element(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(stack_limit), fresh.end(), better);
    fresh.resize(stack_limit);
  }
  std::sort(fresh.begin(), fresh.end(), better);
  first_vertex[node] = static_cast<std::uint32_t>(graph.vertices.size());
  for (const Fresh& candidate : fresh) {
    if (candidate.vertex.score < fresh[0].vertex.score + threshold) break;
    graph.vertices.push_back(candidate.vertex);
  }
  vertex_count[node] = static_cast<std::uint32_t>(graph.vertices.size()) - first_vertex[node];
}

void ForestSearch::State::search_node(NodeId node, bool goal) {
  const std::vector<Edge>& edges = (*forest)[node].edges;
  cubes.clear();
  dimensions.clear();
  cells.clear();
  queue.clear();
  fresh.clear();
  index.assign(kSlots, kNone);
  first_cell = static_cast<std::uint32_t>(graph.hyperedges.size());
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    if (edges[e].options->empty()) continue;
    double estimate = edges[e].options->front()->estimate;
    bool usable = true;
    for (NodeId tail : forest->tails(edges[e])) {
      usable = usable && vertex_count[tail] > 0;
      if (!usable) break;
      estimate += graph.vertices[first_vertex[tail]].score;
    }
    if (!usable) continue;
    queue.push({static_cast<float>(estimate), static_cast<std::uint32_t>(cubes.size()), Move::kCorner});
    cubes.push_back({e});
  }
  double best = kNever, gain = kNever;  // the best score; how much a score was above its estimate at most
  for (std::size_t pops = 0; pops < pop_limit && !queue.empty(); ++pops) {
    check_stopped();
    const Waiting top = queue.best();
    // What is left will hardly come up to the threshold.
    if (top.estimate() + gain < best + threshold && !(goal && keep_all)) break;
    queue.take_best();
    const std::uint32_t number = static_cast<std::uint32_t>(cells.size());
    Hyperedge hyperedge{0, node, 0, 0, static_cast<std::uint32_t>(graph.tails.size()), 0, kNone};
    if (top.move() == Move::kCorner) {
      hyperedge.edge = cubes[top.parent()].edge;
      std::span<const NodeId> tails = forest->tails(edges[hyperedge.edge]);
      hyperedge.tails = static_cast<std::uint32_t>(tails.size());
      for (NodeId tail : tails) graph.tails.push_back(first_vertex[tail]);
      cells.push_back({top.estimate(), top.parent(), -1});
      open_cube(top.parent(), hyperedge);
    } else {
      const Hyperedge& parent = graph.hyperedges[first_cell + top.parent()];
      const Cell& from = cells[top.parent()];
      hyperedge.edge = parent.edge;
      hyperedge.option = parent.option;
      hyperedge.tails = parent.tails;
      graph.tails.resize(graph.tails.size() + parent.tails);
      std::uint32_t* tails = graph.tails.data() + hyperedge.first_tail;
      std::copy_n(graph.tails.data() + parent.first_tail, parent.tails, tails);
      const Dimension* sorted = dimensions.data() + cubes[from.cube].first_dimension;
      auto move = [&](std::int32_t place, std::uint32_t by) {
        std::uint32_t tail = sorted[place].tail;
        (tail == kNone ? hyperedge.option : tails[tail]) += by;
      };
      std::int32_t last = from.last + (top.move() != Move::kSame);
      move(last, 1);
      if (top.move() == Move::kShift) move(from.last, static_cast<std::uint32_t>(-1));
      cells.push_back({top.estimate(), from.cube, last});
    }
    const RuleOption& option = *(*edges[hyperedge.edge].options)[hyperedge.option];
    hyperedge.score = make(hyperedge, option, goal);
    best = std::max(best, hyperedge.score);
    gain = std::max(gain, hyperedge.score - top.estimate());
    const std::uint32_t added = static_cast<std::uint32_t>(graph.hyperedges.size());
    graph.hyperedges.push_back(hyperedge);
    recombine(hyperedge.score, added);
    push_successors(number);
  }
  keep(node);
}

// Lists the steps of a derivation in preorder, and its words.
void ForestSearch::State::walk(std::uint32_t goal, std::uint32_t goal_rank) {
  steps.clear();
  below.clear();
  words.clear();
  lm_words.clear();
  places.clear();
  auto open = [&](std::uint32_t vertex, std::uint32_t rank) {
    const Hyperedge& hyperedge = kbest.hyperedge(vertex, rank);
    places.emplace_back(static_cast<std::uint32_t>(steps.size()), 0);
    steps.push_back({vertex, rank, static_cast<std::uint32_t>(&hyperedge - graph.hyperedges.data()),
                     static_cast<std::uint32_t>(below.size())});
    below.resize(below.size() + hyperedge.tails, kNone);
  };
  open(goal, goal_rank);
  while (!places.empty()) {
    auto& [number, place] = places.back();
    const Step step = steps[number];
    const Hyperedge& hyperedge = graph.hyperedges[step.hyperedge];
    const RuleOption& option = option_of(hyperedge);
    bool deeper = false;
    while (!deeper && place < option.target.size()) {  // deeper: `place` may have moved
      TargetSymbol symbol = option.target[place];
      lm::WordId lm_word = option.lm_words[place++];
      if (!is_target_variable(symbol)) {
        words.push_back(symbol);
        lm_words.push_back(lm_word);
        continue;
      }
      std::uint32_t tail = variable_number(symbol);
      below[step.first_below + tail] = static_cast<std::uint32_t>(steps.size());
      open(graph.tails[hyperedge.first_tail + tail], kbest.tail_rank(step.vertex, step.rank, tail));
      deeper = true;
    }
    if (!deeper) places.pop_back();
  }
}

// The derivation that was walked through last.
ForestDerivation ForestSearch::State::derivation(std::uint32_t rank, bool with_steps) const {
  ForestDerivation result;
  result.score = kbest.score(steps[0].vertex, rank);
  result.words = words;
  result.features.assign(weights.size(), 0.0);
  for (const Step& step : steps) {
    const Hyperedge& hyperedge = graph.hyperedges[step.hyperedge];
    const RuleOption& option = option_of(hyperedge);
    for (const FeatureValue& feature : option.features) result.features[feature.feature] += feature.value;
    if (!with_steps) continue;
    const std::uint32_t* first = below.data() + step.first_below;
    result.steps.push_back({hyperedge.node, hyperedge.edge, &option, {first, first + hyperedge.tails}});
  }
  lm::State states_of[2] = {model.begin_state(), {}};
  double log10 = 0;
  int now = 0;
  for (lm::WordId word : lm_words) {
    log10 += model.score(states_of[now], word, states_of[1 - now]).log10;
    now = 1 - now;
  }
  log10 += model.score(states_of[now], lm::kEnd, states_of[1 - now]).log10;
  result.features[kLanguageModelFeature] = log10 * std::numbers::ln10;
  result.features[kWordFeature] = static_cast<double>(words.size());
  return result;
}

ForestSearch::ForestSearch(const lm::Model& model, const std::vector<double>& weights, const SearchLimits& limits)
    : state_(std::make_unique<State>(model, weights, limits)) {}

ForestSearch::~ForestSearch() = default;

SearchCounts ForestSearch::counts() const {
  return {state_->order.order().size(), state_->graph.hyperedges.size(), state_->graph.vertices.size()};
}

std::vector<ForestDerivation> ForestSearch::run(const Forest& forest, const NBestRequest& request, bool with_steps) {
  State& s = *state_;
  s.forest = &forest;
  s.keep_all = request.size > 1;
  s.graph.clear();
  s.order.start(0);
  s.states.resize(1);
  std::vector<ForestDerivation> result;
  if (forest.goal() >= forest.size() || request.size < 1) return result;
  s.sort_nodes();
  s.first_vertex.assign(forest.size(), 0);
  s.vertex_count.assign(forest.size(), 0);
  for (NodeId node : s.order.order()) s.search_node(node, node == forest.goal());
  if (s.vertex_count[forest.goal()] == 0) return result;
  const std::uint32_t goal = s.first_vertex[forest.goal()];  // the only one: all have the same state
  s.kbest.reset(forest, request.distinct && request.size > 1);
  for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(request.size) && s.kbest.has(goal, rank); ++rank) {
    check_stopped();
    s.walk(goal, rank);
    result.push_back(s.derivation(rank, with_steps));
  }
  return result;
}

}  // namespace treeglot::forest
