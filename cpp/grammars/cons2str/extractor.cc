#include "grammars/cons2str/extractor.hh"

#include <algorithm>
#include <stdexcept>

namespace treeglot {

namespace {

constexpr int kMany = 1 << 20;  // more leaves, levels or fragments than any limit

int bounded(long long value) { return static_cast<int>(std::min<long long>(value, kMany)); }

}  // namespace

void GhkmOptions::check() const {
  if (max_height < 1 || max_height > 10) throw std::invalid_argument("max_height must be from 1 to 10");
  if (max_leaves < 1 || max_leaves > 20) throw std::invalid_argument("max_leaves must be from 1 to 20");
  if (max_variants < 1 || max_variants > 1024) throw std::invalid_argument("max_variants must be from 1 to 1024");
  if (max_fragments < 0 || max_fragments >= kMany) {
    throw std::invalid_argument("max_fragments must be from 0 to 1048575");
  }
}

GhkmExtractor::GhkmExtractor(const GhkmOptions& options) : options_(options) { options.check(); }

void GhkmExtractor::build_tree() {
  const ParsedSentence& sentence = pair_->source;
  tree_.reset(sentence);
  nodes_.assign(tree_.size(), TreeNode{});
  for (std::uint32_t n = 0; n < tree_.size(); ++n) {
    TreeNode& node = nodes_[n];
    std::uint32_t label;
    if (tree_.is_preterminal(n)) {
      const std::uint32_t j = tree_.word(n);
      label = sentence.tags[j];
      node.word = sentence.words[j];
      node.source_begin = j;
      node.source_end = j + 1;
    } else {
      label = sentence.phrases[n].label;
      node.source_begin = sentence.phrases[n].begin;
      node.source_end = sentence.phrases[n].end;
    }
    node.open = symbol(SymbolKind::kOpen, label);
    node.site = symbol(SymbolKind::kSite, label);
  }
}

void GhkmExtractor::find_spans() {
  const std::size_t source_size = pair_->source.size(), target_size = pair_->target.size();
  first_link_.assign(source_size + 1, 0);
  links_before_.assign(target_size + 1, 0);
  for (const WordLink& link : pair_->links) {
    ++first_link_[link.source + 1];
    ++links_before_[link.target + 1];
  }
  for (std::size_t j = 0; j < source_size; ++j) first_link_[j + 1] += first_link_[j];
  for (std::size_t i = 0; i < target_size; ++i) links_before_[i + 1] += links_before_[i];

  for (std::uint32_t n = tree_.size(); n-- > 0;) {  // children come after their parents
    TreeNode& node = nodes_[n];
    if (tree_.is_preterminal(n)) {
      const std::uint32_t first = first_link_[node.source_begin], last = first_link_[node.source_begin + 1];
      if (first < last) {
        node.begin = pair_->links[first].target;
        node.end = pair_->links[last - 1].target + 1u;
      }
      node.least_leaves = node.least_height = 1;
    } else {
      long long leaves = 0;
      for (std::uint32_t number : tree_.children(n)) {
        const TreeNode& child = nodes_[number];
        leaves += leaves_needed(child);
        node.least_height = std::max(node.least_height, height_needed(child));
        if (child.begin == child.end) continue;
        node.begin = node.begin == node.end ? child.begin : std::min(node.begin, child.begin);
        node.end = std::max(node.end, child.end);
      }
      node.least_leaves = bounded(leaves);
      node.least_height = bounded(node.least_height + 1LL);
    }
    // All links of the node's words lead into the span; if there are no others it is a frontier node.
    node.frontier = node.begin < node.end && links_before_[node.end] - links_before_[node.begin] ==
                                                 first_link_[node.source_end] - first_link_[node.source_begin];
  }
}

// How many fragments of each height there may be, leaving the limit of leaves aside.
void GhkmExtractor::bound_fragments() {
  const int heights = options_.max_height + 1;
  bounds_.assign(nodes_.size() * heights, 0);
  for (std::uint32_t n = tree_.size(); n-- > 0;) {
    const TreeNode& node = nodes_[n];
    if (node.least_leaves > options_.max_leaves) continue;
    for (int height = 1; height < heights; ++height) {
      long long ways = 1;
      for (std::uint32_t child : tree_.children(n)) {
        ways = bounded(ways * (nodes_[child].frontier + static_cast<long long>(bounds_[child * heights + height - 1])));
      }
      bounds_[n * heights + height] = static_cast<std::uint32_t>(ways);
    }
  }
}

void GhkmExtractor::extract(const ParsedPair& pair, const RuleSink& sink) {
  if (!pair.source.has_constituency() && pair.source.size() != 1) return;
  if (pair.links.empty()) return;
  pair_ = &pair;
  sink_ = &sink;
  build_tree();
  find_spans();
  bound_fragments();
  target_place_.resize(pair.target.size());
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].frontier) extract_at(n);
  }
}

void GhkmExtractor::extract_at(std::uint32_t root) {
  const TreeNode& node = nodes_[root];
  if (node.least_leaves > options_.max_leaves || node.least_height > options_.max_height) return;
  fragments_ = 0;
  if (!options_.composed) {
    enumerate(root, 0, true);
    return;
  }
  const std::uint32_t bound = bounds_[root * (options_.max_height + 1) + options_.max_height];
  if (options_.max_fragments == 0 || bound <= static_cast<std::uint32_t>(options_.max_fragments)) {
    enumerate(root, kMany, false);
    return;
  }
  // Perhaps too many: those of one minimal rule, of two and so on. If there is one of n + 1 there is one of n.
  for (int expansions = 0;; ++expansions) {
    const std::size_t before = fragments_;
    if (!enumerate(root, expansions, true)) {
      ++cut_;
      return;
    }
    if (fragments_ == before) return;
  }
}

// All fragments with at most `most` frontier nodes expanded below the root, or with exactly as many. False if there are
// more than max_fragments.
bool GhkmExtractor::enumerate(std::uint32_t root, int most, bool exactly) {
  root_ = root;
  most_expansions_ = most;
  exactly_ = exactly;
  expansions_ = 0;
  pending_leaves_ = 0;
  pending_.clear();
  leaves_.clear();
  rule_.source.clear();
  return step_expanded({root, 0});
}

// Does the next pending thing in all ways. Every call leaves the state as it was. Calls nest as deep as the fragment
// has symbols, which the limits bound.
bool GhkmExtractor::step() {
  if (pending_.empty()) return finish_fragment();
  const Pending item = pending_.back();
  pending_.pop_back();
  bool more = true;
  if (item.depth < 0) {
    rule_.source.push_back(symbol(SymbolKind::kClose, 0));
    more = step();
    rule_.source.pop_back();
  } else {
    const TreeNode& node = nodes_[item.node];
    const int needed = leaves_needed(node);
    pending_leaves_ -= needed;
    if (node.frontier) {
      leaves_.push_back({item.node, static_cast<std::uint16_t>(rule_.source.size()), true});
      rule_.source.push_back(node.site);
      more = step();
      rule_.source.pop_back();
      leaves_.pop_back();
      if (more && expansions_ < most_expansions_) {
        ++expansions_;
        more = step_expanded(item);
        --expansions_;
      }
    } else {
      more = step_expanded(item);
    }
    pending_leaves_ += needed;
  }
  pending_.push_back(item);
  return more;
}

bool GhkmExtractor::step_expanded(const Pending& item) {
  const TreeNode& node = nodes_[item.node];
  if (item.depth + node.least_height > options_.max_height) return true;
  if (static_cast<int>(leaves_.size()) + pending_leaves_ + node.least_leaves > options_.max_leaves) return true;
  bool more;
  rule_.source.push_back(node.open);
  if (tree_.is_preterminal(item.node)) {
    leaves_.push_back({item.node, static_cast<std::uint16_t>(rule_.source.size()), false});
    rule_.source.push_back(symbol(SymbolKind::kWord, node.word));
    rule_.source.push_back(symbol(SymbolKind::kClose, 0));
    more = step();
    rule_.source.resize(rule_.source.size() - 2);
    leaves_.pop_back();
  } else {
    const std::size_t before = pending_.size();
    pending_.push_back({item.node, -1});
    const std::span<const std::uint32_t> children = tree_.children(item.node);
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      pending_.push_back({*child, item.depth + 1});
    pending_leaves_ += node.least_leaves;
    more = step();
    pending_leaves_ -= node.least_leaves;
    pending_.resize(before);
  }
  rule_.source.pop_back();
  return more;
}

bool GhkmExtractor::finish_fragment() {
  if (exactly_ && expansions_ < most_expansions_) return true;
  if (options_.max_fragments > 0 && fragments_ == static_cast<std::size_t>(options_.max_fragments)) return false;
  ++fragments_;
  find_pieces();
  write_variants();
  return true;
}

// The target side from left to right. Target words in the root's span that are in no site are linked to words of the
// fragment or unaligned.
void GhkmExtractor::find_pieces() {
  site_nodes_.clear();
  for (const Leaf& leaf : leaves_) {
    if (leaf.site) site_nodes_.push_back(leaf.node);
  }
  sites_.resize(site_nodes_.size());
  for (std::uint32_t k = 0; k < sites_.size(); ++k) sites_[k] = k;
  std::sort(sites_.begin(), sites_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return nodes_[site_nodes_[a]].begin < nodes_[site_nodes_[b]].begin;
  });

  const std::uint32_t target_size = static_cast<std::uint32_t>(pair_->target.size());
  const bool whole = root_ == 0;  // of the tree, whether constituent or only word
  const std::uint32_t begin = whole ? 0 : nodes_[root_].begin, end = whole ? target_size : nodes_[root_].end;
  auto linked = [&](std::uint32_t i) { return links_before_[i + 1] > links_before_[i]; };

  pieces_.clear();
  optional_runs_ = 0;
  std::size_t next_site = 0;
  auto site_at = [&](std::uint32_t i) {
    return next_site < sites_.size() && nodes_[site_nodes_[sites_[next_site]]].begin == i;
  };
  auto optional = [&](std::uint32_t first, std::uint32_t last) {
    pieces_.push_back({Piece::kOptionalRun, static_cast<std::uint8_t>(optional_runs_++), first, last});
  };
  for (std::uint32_t i = begin; i < end;) {
    if (site_at(i)) {
      const std::uint32_t number = sites_[next_site++], after = nodes_[site_nodes_[number]].end;
      pieces_.push_back({Piece::kSite, static_cast<std::uint8_t>(number), i, after});
      i = after;
    } else if (linked(i)) {
      pieces_.push_back({Piece::kWord, 0, i, i + 1});
      ++i;
    } else {
      std::uint32_t after = i;
      while (after < end && !linked(after)) ++after;  // a site begins with a linked word
      const bool touches = (!pieces_.empty() && pieces_.back().kind == Piece::kSite) || (after < end && site_at(after));
      if (touches) {
        optional(i, after);
      } else {
        pieces_.push_back({Piece::kShownRun, 0, i, after});
      }
      i = after;
    }
  }
  if (whole) return;
  if (pieces_.back().kind == Piece::kWord) {
    std::uint32_t after = end;
    while (after < target_size && !linked(after)) ++after;
    if (after > end) optional(end, after);
  }
  if (pieces_.front().kind == Piece::kWord) {
    std::uint32_t first = begin;
    while (first > 0 && !linked(first - 1)) --first;
    if (first < begin) {
      optional(first, begin);
      std::rotate(pieces_.begin(), pieces_.end() - 1, pieces_.end());
    }
  }
}

void GhkmExtractor::write_variants() {
  const bool all = optional_runs_ < 20 && (1 << optional_runs_) <= options_.max_variants;
  const std::uint32_t placements = all ? 1u << optional_runs_ : 1;
  // Runs of equal words in different places may give the same target side.
  shown_.clear();
  if (targets_.size() < placements) targets_.resize(placements);
  for (std::uint32_t shown = 0; shown < placements; ++shown) {
    write_target(shown);
    bool known = false;
    for (std::size_t k = 0; k < shown_.size() && !known; ++k) known = targets_[k] == rule_.target;
    if (known) continue;
    targets_[shown_.size()] = rule_.target;
    shown_.push_back(shown);
  }
  rule_.count = 1.0 / static_cast<double>(shown_.size());
  for (std::uint32_t shown : shown_) {
    write_target(shown);
    rule_.links.clear();
    for (const Leaf& leaf : leaves_) {
      if (leaf.site) continue;
      const std::uint32_t j = nodes_[leaf.node].source_begin;
      for (std::uint32_t n = first_link_[j]; n < first_link_[j + 1]; ++n) {
        rule_.links.push_back({leaf.place, target_place_[pair_->links[n].target]});
      }
    }
    (*sink_)(rule_);
  }
}

// `shown`: a bit for each optional run.
void GhkmExtractor::write_target(std::uint32_t shown) {
  rule_.target.clear();
  for (const Piece& piece : pieces_) {
    if (piece.kind == Piece::kSite) {
      rule_.target.push_back(target_variable(piece.number));
    } else if (piece.kind != Piece::kOptionalRun || (shown >> piece.number & 1) != 0) {
      for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
        target_place_[i] = static_cast<std::uint16_t>(rule_.target.size());
        rule_.target.push_back(pair_->target.words[i]);
      }
    }
  }
}

}  // namespace treeglot
