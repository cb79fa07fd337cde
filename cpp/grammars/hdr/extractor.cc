#include "grammars/hdr/extractor.hh"

#include <algorithm>
#include <stdexcept>

#include "base/hash.hh"

namespace treeglot {

namespace {

constexpr std::uint8_t kHeadBit = 1, kInternalBit = 2, kLeafBit = 4;

}  // namespace

void HdrExtractor::Span::join(const Span& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
  } else {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
}

std::size_t HdrExtractor::SequenceHash::operator()(std::span<const std::uint32_t> key) const {
  return hash_bytes(reinterpret_cast<const char*>(key.data()), key.size_bytes());
}

bool HdrExtractor::SequenceEqual::operator()(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

HdrExtractor::HdrExtractor(const HdrOptions& options, const ParsedCorpus& corpus, CategoryInterner& interner)
    : options_(options), corpus_(corpus), interner_(interner) {
  if (options.decompose.any() && options.span_mode == SpanMode::kXie) {
    throw std::invalid_argument("decompose goes with span_mode ghkm only");
  }
}

void HdrExtractor::extract(const ParsedPair& pair, const RuleSink& sink) {
  if (!pair.source.has_dependency()) return;
  annotate(pair);
  if (options_.phrasal) {
    phrasal_nodes_ += view_.phrasal_nodes().size();
    crossing_ += view_.crossing();
  }
  for (std::uint16_t n : view_.bottom_up()) {
    if (view_.is_leaf(n)) continue;
    cut_ = false;
    if (options_.span_mode == SpanMode::kXie) {
      extract_xie(n, sink);
    } else {
      extract_hdr(n, sink);
    }
    cut_hdrs_ += cut_;
  }
}

// Spans of words and subtrees, and link counts with which consistency is one comparison.
void HdrExtractor::annotate(const ParsedPair& pair) {
  pair_ = pair;
  view_.reset(pair.source);
  const std::size_t source_size = pair.source.size(), target_size = pair.target.size();
  source_links_.assign(source_size + 1, 0);
  target_links_.assign(target_size + 1, 0);
  words_.assign(source_size, {});
  for (const WordLink& link : pair.links) {
    ++source_links_[link.source + 1];
    ++target_links_[link.target + 1];
    words_[link.source].join({link.target, link.target});
  }
  for (std::size_t i = 0; i < source_size; ++i) source_links_[i + 1] += source_links_[i];
  for (std::size_t i = 0; i < target_size; ++i) target_links_[i + 1] += target_links_[i];
  subtrees_.assign(source_size, {});
  const bool xie = options_.span_mode == SpanMode::kXie;
  for (std::uint16_t n : view_.bottom_up()) {
    Span span;
    for (const HdrMember& member : view_.members(n)) {
      if (member.type != MemberType::kHead) {
        span.join(subtrees_[member.place]);
      } else if (!xie || consistent(n, n + 1, words_[n])) {
        span.join(words_[n]);
      }
    }
    subtrees_[n] = span;
  }
}

// Whether the words [begin, end) and the closure of their links are consistent: all their links lead into the closure,
// so no other word's does if both have as many.
bool HdrExtractor::consistent(int begin, int end, const Span& span) const {
  return !span.empty() &&
         source_links_[end] - source_links_[begin] == target_links_[span.high + 1] - target_links_[span.low];
}

HdrExtractor::Span HdrExtractor::member_span(const HdrMember& member) const {
  return member.type == MemberType::kHead ? words_[member.place] : subtrees_[member.place];
}

// An unaligned head or leaf is acceptable, an unaligned internal dependent is not.
bool HdrExtractor::acceptable(const HdrMember& member) const {
  Span span = member_span(member);
  if (span.empty()) return member.type != MemberType::kInternal;
  return consistent(member.begin, member.end, span);
}

void HdrExtractor::extract_hdr(int n, const RuleSink& sink) {
  std::span<const HdrMember> members = view_.members(n);
  const bool whole = consistent(view_.subtree_begin(n), view_.subtree_end(n), subtrees_[n]);
  if (!whole && !options_.decompose.any()) return;
  bad_.resize(members.size() + 1);
  bad_[0] = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    bad_[i + 1] = static_cast<std::uint16_t>(bad_[i] + !acceptable(members[i]));
  }
  chosen_.clear();
  if (whole && bad_.back() == 0) fragment(members, sink);
  if (whole && options_.phrasal) extract_phrasal(n, sink);
  if (!options_.decompose.any()) return;
  std::size_t head = 0;
  while (members[head].type != MemberType::kHead) ++head;
  chosen_.clear();
  if (options_.decompose.runs) extract_runs(members, head, sink);
  if (options_.decompose.attachments) extract_attachments(members, head, sink);
}

// The rules of the runs that are not the whole HDR.
void HdrExtractor::extract_runs(std::span<const HdrMember> members, std::size_t head, const RuleSink& sink) {
  run_ = true;
  for (std::size_t begin = 0; begin <= head; ++begin) {
    Span span;
    for (std::size_t end = begin + 1; end <= std::min(begin + kMaxRunMembers, members.size()); ++end) {
      span.join(member_span(members[end - 1]));
      if (bad_[end] != bad_[begin]) break;
      if (end <= head || end - begin < 2 || end - begin == members.size()) continue;
      if (consistent(members[begin].begin, members[end - 1].end, span)) {
        fragment(members.subspan(begin, end - begin), sink);
      }
    }
  }
  run_ = false;
}

// The rules of every member beside the runs that it may be attached to. Each run has the same share of the member.
void HdrExtractor::extract_attachments(std::span<const HdrMember> members, std::size_t head, const RuleSink& sink) {
  if (members.size() > kMaxDecomposed) {
    cut_ = true;
    return;
  }
  const std::size_t ends = members.size() - head;  // of the runs with one beginning
  run_spans_.assign((head + 1) * ends, {});
  auto run_span = [&](std::size_t begin, std::size_t end) -> Span& {
    return run_spans_[begin * ends + end - head - 1];
  };
  for (std::size_t begin = head + 1; begin-- > 0;) {
    for (std::size_t end = head + 1; end <= members.size(); ++end) {
      Span& span = run_span(begin, end);
      if (end > head + 1) {
        span = run_span(begin, end - 1);
        span.join(member_span(members[end - 1]));
      } else {
        if (begin < head) span = run_span(begin + 1, end);
        span.join(member_span(members[begin]));
      }
    }
  }
  auto fits = [&](std::size_t d, std::size_t begin, std::size_t end) {  // member d beside the run [begin, end)
    const Span inner = run_span(begin, end);
    if (!consistent(members[begin].begin, members[end - 1].end, inner)) return false;
    Span both = member_span(members[d]);
    if (both.empty()) return true;
    both.join(inner);
    return consistent(members[std::min(d, begin)].begin, members[std::max(d, end - 1)].end, both);
  };
  labels_.clear();
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t d = 0; d < members.size(); ++d) {
    if (d == head || !acceptable(members[d])) continue;
    runs.clear();
    if (d < head) {
      for (std::size_t end = head + 1; end <= members.size(); ++end) {
        if (fits(d, d + 1, end)) runs.emplace_back(d + 1, end);
      }
    } else {
      for (std::size_t begin = 0; begin <= head; ++begin) {
        if (fits(d, begin, d)) runs.emplace_back(begin, d);
      }
    }
    share_ = 1.0 / static_cast<double>(std::max<std::size_t>(runs.size(), 1));
    for (const auto& [begin, end] : runs) {
      units_.clear();
      if (d < head) add_unit(members[d]);
      units_.push_back({symbol(SymbolKind::kRunWord, members[head].word),
                        symbol(SymbolKind::kRunTag, category(members[head])), run_span(begin, end), members[head].place,
                        kHeadBit, 0});
      if (d > head) add_unit(members[d]);
      if (sort_units()) induce(sink);
    }
  }
  share_ = 1;
}

void HdrExtractor::extract_xie(int n, const RuleSink& sink) {
  if (!words_[n].empty() && !consistent(n, n + 1, words_[n])) return;
  std::span<const HdrMember> members = view_.members(n);
  for (const HdrMember& member : members) {
    if (!subtrees_[member.place].empty() || member.type == MemberType::kHead) continue;
    if (member.type == MemberType::kInternal) return;
    if (options_.xie_linked_leaves && !words_[member.place].empty()) return;
  }
  chosen_.clear();
  fragment(members, sink);
}

void HdrExtractor::extract_phrasal(int n, const RuleSink& sink) {
  std::span<const HdrMember> members = view_.members(n);
  candidates_.clear();
  candidate_spans_.clear();
  for (const PhrasalNode& node : view_.phrasal_nodes(n)) {
    Span span;
    for (std::size_t i = node.first; i < node.last; ++i) span.join(member_span(members[i]));
    if (!consistent(node.begin, node.end, span)) continue;
    candidates_.push_back(node);
    candidate_spans_.push_back(span);
  }
  sets_ = fragment_symbols_ = 0;
  for (int size = 1; size <= options_.max_phrasal_nodes && !candidates_.empty(); ++size) {
    chosen_.clear();
    choose_phrasal(members, 0, size, sink);
  }
}

// Adds `left` more phrasal nodes, each to the right of those chosen. As deep as max_phrasal_nodes.
void HdrExtractor::choose_phrasal(std::span<const HdrMember> members, std::size_t next, int left,
                                  const RuleSink& sink) {
  if (left == 0) {
    std::size_t at = 0, symbols = members.size();
    for (std::uint32_t number : chosen_) {
      const PhrasalNode& node = candidates_[number];
      if (bad_[node.first] != bad_[at]) return;
      at = node.last;
      symbols -= node.last - node.first - 1u;
    }
    if (bad_.back() != bad_[at]) return;
    fragment_symbols_ += symbols;
    if (fragment_symbols_ <= kMaxFragmentSymbols) {
      fragment(members, sink);
    } else {
      cut_ = true;
    }
    return;
  }
  for (std::size_t i = next; i < candidates_.size(); ++i) {
    if (!chosen_.empty() && candidates_[i].first < candidates_[chosen_.back()].last) continue;
    if (++sets_ > kMaxSets || fragment_symbols_ > kMaxFragmentSymbols) {
      cut_ = true;
      return;
    }
    chosen_.push_back(static_cast<std::uint32_t>(i));
    choose_phrasal(members, i + 1, left - 1, sink);
    chosen_.pop_back();
  }
}

// The rules of the HDR in which the chosen phrasal nodes replace the members they cover.
void HdrExtractor::fragment(std::span<const HdrMember> members, const RuleSink& sink) {
  std::size_t symbols = members.size();
  for (std::uint32_t number : chosen_) symbols -= candidates_[number].last - candidates_[number].first - 1u;
  if (symbols > kMaxSymbols) {
    cut_ = true;
    return;
  }
  units_.clear();
  std::size_t at = 0;
  for (std::uint32_t number : chosen_) {
    const PhrasalNode& node = candidates_[number];
    while (at < node.first) add_unit(members[at++]);
    Symbol symbol = treeglot::symbol(node.covers_head ? SymbolKind::kHeadPhrasal : SymbolKind::kPhrasal,
                                     joint_category(node, members.subspan(node.first, node.last - node.first)));
    units_.push_back({symbol, symbol, candidate_spans_[number], 0, 0, 0});
    at = node.last;
  }
  while (at < members.size()) add_unit(members[at++]);
  if (!sort_units()) return;
  if (options_.closed && options_.span_mode == SpanMode::kXie && is_open(members)) return;
  if (options_.structures) find_labels(members);
  induce(sink);
}

// Orders the units by their spans; false if there are none or if they overlap.
bool HdrExtractor::sort_units() {
  order_.clear();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].span.empty()) order_.push_back(static_cast<std::uint16_t>(i));
  }
  if (order_.empty()) return false;
  std::sort(order_.begin(), order_.end(),
            [this](std::uint16_t a, std::uint16_t b) { return units_[a].span.low < units_[b].span.low; });
  for (std::size_t i = 1; i < order_.size(); ++i) {  // never so with consistent spans
    if (units_[order_[i]].span.low <= units_[order_[i - 1]].span.high) return false;
  }
  return true;
}

// Whether a target word between the parts is linked to a source word outside of the subtree.
bool HdrExtractor::is_open(std::span<const HdrMember> members) const {
  const int low = units_[order_.front()].span.low, high = units_[order_.back()].span.high;
  for (const WordLink& link : pair_.links) {
    if (link.source >= members.front().begin && link.source < members.back().end) continue;
    if (link.target < low || link.target > high) continue;
    const bool inside = std::any_of(order_.begin(), order_.end(), [&](std::uint16_t i) {
      return units_[i].span.low <= link.target && link.target <= units_[i].span.high;
    });
    if (!inside) return true;
  }
  return false;
}

// A head or leaf without a span is the word that it is in every form: that one word was dropped is no reason to drop
// all words of its tag.
void HdrExtractor::add_unit(const HdrMember& member) {
  Span span = member_span(member);
  Symbol lexical;
  switch (member.type) {
    case MemberType::kHead:
      lexical = symbol(SymbolKind::kHeadWord, member.word);
      units_.push_back({lexical, span.empty() ? lexical : symbol(SymbolKind::kHeadVariable, category(member)), span,
                        member.place, kHeadBit, 0});
      break;
    case MemberType::kInternal:
      units_.push_back({symbol(SymbolKind::kInternalWord, member.word),
                        symbol(SymbolKind::kInternalTag, category(member)), span, member.place, kInternalBit, 0});
      break;
    case MemberType::kLeaf:
      lexical = symbol(SymbolKind::kWord, member.word);
      units_.push_back({lexical, span.empty() ? lexical : symbol(SymbolKind::kVariable, category(member)), span,
                        member.place, kLeafBit, 0});
      break;
  }
}

// What a member is generalised to: its tag, or its tag and its relation to its head.
std::uint32_t HdrExtractor::category(const HdrMember& member) {
  if (!options_.relations) return member.tag;
  const WordId relation = pair_.source.relations[member.place];
  const auto [entry, fresh] = related_.try_emplace(std::uint64_t{member.tag} << 32 | relation, 0);
  if (fresh) entry->second = interner_.id(interner_.text(member.tag) + '/' + corpus_.relations.word(relation));
  return entry->second;
}

std::uint32_t HdrExtractor::joint_category(const PhrasalNode& node, std::span<const HdrMember> members) {
  joint_key_.clear();
  joint_key_.push_back(node.label);
  for (const HdrMember& member : members) joint_key_.push_back(member.tag);
  auto entry = joint_.find(std::span<const std::uint32_t>(joint_key_));
  if (entry != joint_.end()) return entry->second;
  std::uint32_t id = interner_.joint(node.label, std::span<const std::uint32_t>(joint_key_).subspan(1));
  joint_.emplace(joint_key_, id);
  return id;
}

void HdrExtractor::find_labels(std::span<const HdrMember> members) {
  labels_.clear();
  for_each_structure(members, options_.max_structure_words, [&](std::size_t first, std::size_t last, bool) {
    const int begin = members[first].begin, end = members[last - 1].end;
    Span span;
    for (int word = begin; word < end; ++word) span.join(words_[word]);
    if (consistent(begin, end, span)) {
      labels_.push_back({static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last)});
    }
  });
}

void HdrExtractor::induce(const RuleSink& sink) {
  unsigned types = 0;
  for (const Unit& unit : units_) {  // types with something to generalise: other forms would be equal
    if (unit.lexical != unit.general) types |= unit.type;
  }
  // Variables that look alike as words and as tags ("$") make equal forms, which are one rule.
  unsigned same = types & (kInternalBit | kHeadBit);
  for (const Unit& unit : units_) {
    if (!(unit.type & same)) continue;
    if (!is_variable(unit.lexical) ||
        corpus_.words.word(symbol_id(unit.lexical)) != interner_.text(symbol_id(unit.general))) {
      same &= ~unsigned{unit.type};
    }
  }
  for (unsigned generalised = 0; generalised < 8; ++generalised) {
    if ((generalised & ~types) != 0) continue;
    if ((generalised & same) != same) continue;
    make_form(generalised, sink);
  }
}

int HdrExtractor::unaligned_before(int target) const {
  int count = 0;  // more of them than variants are not needed
  while (count <= options_.max_variants && count < target &&
         target_links_[target - count] == target_links_[target - count - 1]) {
    ++count;
  }
  return count;
}

int HdrExtractor::unaligned_after(int target) const {
  const int size = static_cast<int>(pair_.target.size());
  int count = 0;
  while (count <= options_.max_variants && target + count + 1 < size &&
         target_links_[target + count + 1] == target_links_[target + count + 2]) {
    ++count;
  }
  return count;
}

// The different strings of one block; false if there are more than max_variants.
bool HdrExtractor::make_choices(const Block& block) {
  const Span& first = units_[order_[block.first]].span;
  const Span& last = units_[order_[block.last - 1]].span;
  int left = block.first == 0 ? unaligned_before(first.low) : first.low - units_[order_[block.first - 1]].span.high - 1;
  int right =
      block.last == order_.size() ? unaligned_after(last.high) : units_[order_[block.last]].span.low - last.high - 1;
  if (left + right >= options_.max_variants) return false;  // as many lengths
  const WordId* target = pair_.target.words.data();
  for (int a = 0; a <= left; ++a) {
    for (int b = 0; b <= right; ++b) {
      bool known = false;
      for (std::size_t i = block.begin; i < choices_.size() && !known; ++i) {
        const Choice& other = choices_[i];
        known = other.left + other.right == a + b &&
                std::equal(target + first.low - a, target + last.high + b + 1, target + first.low - other.left);
      }
      if (known) continue;
      choices_.push_back({static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)});
      if (choices_.size() - block.begin > static_cast<std::size_t>(options_.max_variants)) return false;
    }
  }
  return true;
}

// The different strings of one block in which every unit takes any number of the unaligned words next to it, and what
// no unit takes is left out; false if there are more than max_variants. A longer beginning of the block has as many
// strings or more.
bool HdrExtractor::extend_block(const Block& block) {
  const std::size_t most = static_cast<std::size_t>(options_.max_variants);
  const WordId* target = pair_.target.words.data();
  std::vector<Extended> strings{{}}, longer;
  auto add = [&](const Extended& start, int low, int left, int high, bool unit) {
    Extended next = start;
    if (unit) next.positions.push_back(static_cast<std::uint16_t>(next.words.size() + left));
    next.words.insert(next.words.end(), target + low - left, target + high + 1);
    for (const Extended& other : longer) {
      if (other.words == next.words) return;
    }
    longer.push_back(std::move(next));
  };
  for (std::uint32_t k = block.first; k < block.last; ++k) {
    const Span& span = units_[order_[k]].span;
    // Before the unit: what the one before it takes of the words between them, and what it takes itself.
    const int room = k == 0 ? unaligned_before(span.low) : span.low - units_[order_[k - 1]].span.high - 1;
    const int left = std::min(room, unaligned_before(span.low));
    const Span* before = k > block.first ? &units_[order_[k - 1]].span : nullptr;
    const int right = before ? std::min(room, unaligned_after(before->high)) : 0;
    longer.clear();
    for (const Extended& start : strings) {
      for (int taken = 0; taken <= right; ++taken) {
        Extended with = start;
        if (taken > 0)
          with.words.insert(with.words.end(), target + before->high + 1, target + before->high + taken + 1);
        for (int own = 0; own <= left && taken + own <= room; ++own) {
          add(with, span.low, own, span.high, true);
          if (longer.size() > most) return false;
        }
      }
    }
    strings.swap(longer);
  }
  const Span& last = units_[order_[block.last - 1]].span;
  int right = unaligned_after(last.high);
  if (block.last < order_.size()) right = std::min(right, units_[order_[block.last]].span.low - last.high - 1);
  longer.clear();
  for (const Extended& start : strings) {
    for (int taken = 0; taken <= right; ++taken) {
      add(start, last.high + 1, 0, last.high + taken, false);
      if (longer.size() > most) return false;
    }
  }
  for (Extended& string : longer) extended_.push_back(std::move(string));
  return true;
}

// One form: the types of units in `generalised` shown by their categories, the others by their words.
void HdrExtractor::make_form(unsigned generalised, const RuleSink& sink) {
  rule_.source.clear();
  std::uint16_t variables = 0;
  fixed_symbols_.assign(1, 0);
  for (Unit& unit : units_) {
    Symbol symbol = (unit.type & generalised) ? unit.general : unit.lexical;
    rule_.source.push_back(symbol);
    const bool variable = is_variable(symbol);
    unit.position = variables;
    variables = static_cast<std::uint16_t>(variables + variable);
    const bool free = variable || (options_.label_unaligned && words_[unit.place].empty());
    fixed_symbols_.push_back(static_cast<std::uint16_t>(fixed_symbols_.back() + !free));
  }
  if (run_) rule_.source.push_back(symbol(SymbolKind::kClose, 0));
  rule_.labels.clear();
  if (options_.structures) {
    for (const StructureLabel& label : labels_) {
      if (fixed_symbols_[label.begin] == fixed_symbols_[label.end]) rule_.labels.push_back(label);
    }
  }
  blocks_.clear();
  choices_.clear();
  extended_.clear();
  const bool extend = options_.span_mode == SpanMode::kXie && options_.xie_unaligned == XieUnaligned::kExtend;
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    if (is_variable(rule_.source[order_[i]])) continue;
    if (!blocks_.empty() && blocks_.back().last == i) {
      ++blocks_.back().last;
    } else {
      blocks_.push_back({i, i + 1, 0, 0, 0});
    }
  }
  // Variables between blocks are all different, so strings differ if and only if some block does.
  std::size_t variants = 1;
  bool shortest = options_.span_mode == SpanMode::kXie && !extend;
  for (std::size_t i = 0; i < blocks_.size() && !shortest; ++i) {
    blocks_[i].begin = static_cast<std::uint32_t>(extend ? extended_.size() : choices_.size());
    shortest = !(extend ? extend_block(blocks_[i]) : make_choices(blocks_[i]));
    blocks_[i].end = static_cast<std::uint32_t>(extend ? extended_.size() : choices_.size());
    variants *= blocks_[i].end - blocks_[i].begin;
    shortest = shortest || variants > static_cast<std::size_t>(options_.max_variants);
  }
  rule_.count = share_ / (shortest ? 1.0 : static_cast<double>(variants));
  if (shortest) {
    emit(true, sink);
    return;
  }
  for (Block& block : blocks_) block.chosen = block.begin;
  while (true) {
    emit(false, sink);
    std::size_t i = 0;
    while (i < blocks_.size() && ++blocks_[i].chosen == blocks_[i].end) {
      blocks_[i].chosen = blocks_[i].begin;
      ++i;
    }
    if (i == blocks_.size()) return;
  }
}

// The target side with the chosen shares of unaligned words (or none of those at the edges of blocks), and its links.
void HdrExtractor::emit(bool shortest, const RuleSink& sink) {
  rule_.target.clear();
  const bool xie = options_.span_mode == SpanMode::kXie;
  auto show = [this](int low, int high) {
    for (int t = low; t <= high; ++t) rule_.target.push_back(pair_.target.words[t]);
  };
  std::size_t next_block = 0;
  for (std::uint32_t i = 0; i < order_.size();) {
    if (next_block == blocks_.size() || i < blocks_[next_block].first) {
      rule_.target.push_back(target_variable(units_[order_[i++]].position));
      continue;
    }
    const Block& block = blocks_[next_block++];
    if (xie && !shortest) {
      const Extended& chosen = extended_[block.chosen];
      for (std::uint32_t k = block.first; k < block.last; ++k) {
        units_[order_[k]].position =
            static_cast<std::uint16_t>(rule_.target.size() + chosen.positions[k - block.first]);
      }
      rule_.target.insert(rule_.target.end(), chosen.words.begin(), chosen.words.end());
      i = block.last;
      continue;
    }
    Choice choice{0, 0};
    if (!shortest) choice = choices_[block.chosen];
    int low = units_[order_[i]].span.low;
    show(low - choice.left, low - 1);
    for (; i < block.last; ++i) {
      Unit& unit = units_[order_[i]];
      if (!xie && i > block.first) show(units_[order_[i - 1]].span.high + 1, unit.span.low - 1);
      unit.position = static_cast<std::uint16_t>(rule_.target.size());
      show(unit.span.low, unit.span.high);
    }
    int high = units_[order_[i - 1]].span.high;
    show(high + 1, high + choice.right);
  }
  rule_.links.clear();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    if (unit.span.empty() || !has_word(rule_.source[i])) continue;
    for (std::uint32_t link = source_links_[unit.place]; link < source_links_[unit.place + 1]; ++link) {
      rule_.links.push_back({static_cast<std::uint16_t>(i),
                             static_cast<std::uint16_t>(unit.position + pair_.links[link].target - unit.span.low)});
    }
  }
  sink(rule_);
}

}  // namespace treeglot
