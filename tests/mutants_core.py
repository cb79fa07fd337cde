"""Mistakes in the C++ core, chosen by hand, for ``mutants.py --core``: signs, bounds, off by one, dropped terms.

``old`` stands once in its file (tests/test_mutants.py sees to it, so the list follows the code). ``TESTS`` are the files of tests that should
notice, after the core's own.
"""

from __future__ import annotations

from typing import NamedTuple

TESTS = {
    "extraction": ("test_phrases", "test_hierarchical_rules", "test_ghkm_rules", "test_rules_extract"),
    "matching": ("test_tree_decoder", "test_hierarchical_rules", "test_union_oracle", "test_mwu_decoder"),
    "cube pruning": ("test_phrase_decoder", "test_tree_decoder", "test_union_oracle"),
    "language model": ("test_lm", "test_phrase_decoder"),
    "counting": ("test_tables", "test_rule_table", "test_phrase_sets"),
}


class CoreMutant(NamedTuple):
    """One mistake: ``new`` instead of ``old``."""

    room: str
    file: str
    old: str
    new: str

    @property
    def tests(self) -> tuple[str, ...]:
        """The files of tests in Python."""
        return TESTS[self.room]

    def apply(self, source: str) -> str:
        """The file with the mistake."""
        if source.count(self.old) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {source.count(self.old)} times")
        return source.replace(self.old, self.new)


# fmt: off
MUTANTS = [
    CoreMutant(*row)
    for row in (
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "if (first < last) {", "if (first <= last) {"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "leaves += leaves_needed(child);", "leaves -= leaves_needed(child);"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "node.begin = node.begin == node.end ? child.begin : std::min(node.begin, child.begin);", "node.begin = node.begin != node.end ? child.begin : std::min(node.begin, child.begin);"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "if (node.least_leaves > options_.max_leaves) continue;", "if (node.least_leaves >= options_.max_leaves) continue;"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "if (node.least_leaves > options_.max_leaves || node.least_height > options_.max_height) return;", "if (node.least_leaves > options_.max_leaves && node.least_height > options_.max_height) return;"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "if (pieces_.back().kind == Piece::kWord) {", "if (pieces_.back().kind != Piece::kWord) {"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "if (leaf.site) continue;", "if (leaf.site) ;"),
        ("extraction", "cpp/grammars/cons2str/extractor.cc", "if (piece.kind == Piece::kSite) {", "if (piece.kind != Piece::kSite) {"),
        ("extraction", "cpp/grammars/hierarchical/extractor.cc", "if (length < options_.min_gap || length > options_.max_span) return {0, 0};", "if (length <= options_.min_gap || length > options_.max_span) return {0, 0};"),
        ("extraction", "cpp/grammars/hierarchical/extractor.cc", "if (options_.max_gaps < 2) return;", "if (options_.max_gaps <= 2) return;"),
        ("extraction", "cpp/grammars/hierarchical/extractor.cc", "if (first2 == last2 || links - aligned(low, high) - aligned(low2, high2) == 0) continue;", "if (first2 == last2 && links - aligned(low, high) - aligned(low2, high2) == 0) continue;"),
        ("extraction", "cpp/grammars/hierarchical/extractor.cc", "if (i == first.target_begin) {", "if (i != first.target_begin) {"),
        ("extraction", "cpp/grammars/hierarchical/extractor.cc", "rule_.count = options_.fractional ? 1.0 / static_cast<double>(found_.size()) : 1.0;", "rule_.count = options_.fractional ? 1.0 * static_cast<double>(found_.size()) : 1.0;"),
        ("extraction", "cpp/grammars/phrase_pairs.cc", "low = std::min(low, low_target_[end]);", "low = std::max(low, low_target_[end]);"),
        ("extraction", "cpp/grammars/phrase_pairs.cc", "if (high - low >= max_length_) break;  // a longer source span only widens it", "if (high - low > max_length_) break;  // a longer source span only widens it"),
        ("extraction", "cpp/grammars/phrase_pairs.cc", "if (!consistent) continue;", "if (!consistent) ;"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (size_ == 0) return;", "if (size_ != 0) return;"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (length == 0) {", "if (length != 0) {"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (items_[n].rules != 0) complete(forest, start, end, items_[n]);", "if (items_[n].rules == 0) complete(forest, start, end, items_[n]);"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (end >= start + width) continue;", "if (end > start + width) continue;"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (!item.longer) continue;", "if (!item.longer) ;"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (!place.prefix) continue;", "if (!place.prefix) ;"),
        ("matching", "cpp/forest/matcher.cc", "if (edge.source == 0) return {};", "if (edge.source != 0) return {};"),
        ("matching", "cpp/forest/matcher.cc", "if (parts.size() <= kFlatPseudo) {", "if (parts.size() < kFlatPseudo) {"),
        ("matching", "cpp/forest/matcher.cc", "const bool last = i + 1 == parts.size();", "const bool last = i + 1 != parts.size();"),
        ("matching", "cpp/forest/matcher.hh", "return place == scattered_.end() ? std::span<const std::uint32_t>() : place->second;", "return place != scattered_.end() ? std::span<const std::uint32_t>() : place->second;"),
        ("matching", "cpp/forest/matcher.hh", "return forest_.add_node(NodeKind::kGroup, begin, end, ++helpers_);", "return forest_.add_node(NodeKind::kGroup, begin, end, helpers_++);"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (items_.size() >= kMostItems) return;", "if (items_.size() > kMostItems) return;"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "derivable_[cell] = (span != SentenceForest::kNoNode && forest.has_edges(span)) || is_foreign(forest, start, end);", "derivable_[cell] = (span == SentenceForest::kNoNode && forest.has_edges(span)) || is_foreign(forest, start, end);"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (word != RuleTable::kNone) {", "if (word == RuleTable::kNone) {"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "static_cast<std::uint16_t>(item.gaps + 1), place.longer});", "static_cast<std::uint16_t>(item.gaps - 1), place.longer});"),
        ("matching", "cpp/grammars/hierarchical/matcher.cc", "if (!forest.options().dependency_nodes || !forest.sentence().has_dependency()) return false;", "if (!forest.options().dependency_nodes && !forest.sentence().has_dependency()) return false;"),
        ("cube pruning", "cpp/forest/cube_pruning.cc", "score += vertex.score;", "score -= vertex.score;"),
        ("cube pruning", "cpp/forest/cube_pruning.cc", "return a.vertex.score != b.vertex.score ? a.vertex.score > b.vertex.score : a.vertex.hyperedge < b.vertex.hyperedge;", "return a.vertex.score != b.vertex.score ? a.vertex.score > b.vertex.score : a.vertex.hyperedge <= b.vertex.hyperedge;"),
        ("cube pruning", "cpp/forest/cube_pruning.cc", "for (std::size_t pops = 0; pops < pop_limit && !queue.empty(); ++pops) {", "for (std::size_t pops = 0; pops <= pop_limit && !queue.empty(); ++pops) {"),
        ("cube pruning", "cpp/search/hypothesis_stack.cc", "if ((next >> o & 1) && a.best.option->forward[o] != b.best.option->forward[o]) return false;", "if ((next >> o & 1) && a.best.option->forward[o] == b.best.option->forward[o]) return false;"),
        ("cube pruning", "cpp/search/hypothesis_stack.cc", "std::size_t erased = std::erase_if(hypotheses_, [&](const Hypothesis& h) { return h.total < threshold(); });", "std::size_t erased = std::erase_if(hypotheses_, [&](const Hypothesis& h) { return h.total <= threshold(); });"),
        ("cube pruning", "cpp/search/hypothesis_stack.cc", "if (hypotheses_.size() <= limit) {", "if (hypotheses_.size() < limit) {"),
        ("cube pruning", "cpp/search/hypothesis_stack.hh", "double threshold() const { return best_ + beam_; }", "double threshold() const { return best_ - beam_; }"),
        ("cube pruning", "cpp/search/lattice.cc", "return score != other.score ? score < other.score : number > other.number;", "return score != other.score ? score <= other.score : number > other.number;"),
        ("cube pruning", "cpp/search/lattice.cc", "if (arrival.from == 0) break;", "if (arrival.from != 0) break;"),
        ("cube pruning", "cpp/search/lattice.cc", "std::uint32_t next = back.ranks[i] + 1;", "std::uint32_t next = back.ranks[i] - 1;"),
        ("cube pruning", "cpp/search/lattice.cc", "queue.push({top.score - ways[next - 1].score + ways[next].score, number, i, next, discovered++});", "queue.push({top.score - ways[next - 1].score - ways[next].score, number, i, next, discovered++});"),
        ("cube pruning", "cpp/search/phrase_search.cc", "if (cell.estimate < stack_.threshold()) break;", "if (cell.estimate <= stack_.threshold()) break;"),
        ("cube pruning", "cpp/search/phrase_search.cc", "if (limit && stack_.hypotheses().size() > 2 * limit + 1000) stack_.prune(limit);", "if (limit && stack_.hypotheses().size() >= 2 * limit + 1000) stack_.prune(limit);"),
        ("cube pruning", "cpp/search/phrase_search.cc", "if (!(v.next >> o & 1)) continue;", "if (!(v.next >> o & 1)) ;"),
        ("cube pruning", "cpp/search/phrase_search.cc", "const std::uint32_t reach = limits_.distortion < 0 ? size : static_cast<std::uint32_t>(limits_.distortion);", "const std::uint32_t reach = limits_.distortion <= 0 ? size : static_cast<std::uint32_t>(limits_.distortion);"),
        ("cube pruning", "cpp/search/phrase_search.cc", "if (jump > reach) continue;", "if (jump >= reach) continue;"),
        ("cube pruning", "cpp/search/phrase_search.cc", "stack_.prune(limits_.stack_size > 0 ? static_cast<std::size_t>(limits_.stack_size) : SIZE_MAX);", "stack_.prune(limits_.stack_size >= 0 ? static_cast<std::size_t>(limits_.stack_size) : SIZE_MAX);"),
        ("language model", "cpp/lm/compile.cc", "if (end == std::string_view::npos) continue;", "if (end != std::string_view::npos) continue;"),
        ("language model", "cpp/lm/compile.cc", "bool highest = order == static_cast<int>(expected.size());", "bool highest = order != static_cast<int>(expected.size());"),
        ("language model", "cpp/lm/compile.cc", "if (order > 1 && (vocabulary.size() > before || !seen_unigram[words[w]])) {", "if (order > 1 || (vocabulary.size() > before || !seen_unigram[words[w]])) {"),
        ("language model", "cpp/lm/estimate.cc", "if (i >= stop) break;", "if (i > stop) break;"),
        ("language model", "cpp/lm/estimate.cc", "double gamma = held / sum;", "double gamma = held * sum;"),
        ("language model", "cpp/lm/estimate.cc", "if (!group.empty() && !same_words(group.front(), 0, *next, 0, k - 1)) close();", "if (!group.empty() && !same_words(group.front(), 0, *next, 0, k + 1)) close();"),
        ("language model", "cpp/lm/model.cc", "if (length == order_) {", "if (length != order_) {"),
        ("language model", "cpp/lm/model.cc", "for (int i = used - 1; i < in.length; ++i) total += in.backoff[i];", "for (int i = used - 1; i <= in.length; ++i) total += in.backoff[i];"),
        ("language model", "cpp/lm/model.cc", "words = std::min(words, order_ - length);", "words = std::min(words, order_ + length);"),
        ("language model", "cpp/lm/model.cc", "if (total == order_) {", "if (total != order_) {"),
        ("language model", "cpp/lm/model.cc", "result.unknown += word == kUnknown;", "result.unknown += word != kUnknown;"),
        ("language model", "cpp/lm/model.cc", "result.log10 += score(states[now], kEnd, states[1 - now]).log10;", "result.log10 += score(states[now], kEnd, states[1 + now]).log10;"),
        ("counting", "cpp/table/phrase_counts.cc", "return i->target != j->target ? i->target < j->target : i->source > j->source;", "return i->target != j->target ? i->target <= j->target : i->source > j->source;"),
        ("counting", "cpp/table/phrase_counts.cc", "compare_phrases(target_of(*corpus, a.place), target_of(*corpus, b.place), target_stop) < 0;", "compare_phrases(target_of(*corpus, a.place), target_of(*corpus, b.place), target_stop) <= 0;"),
        ("counting", "cpp/table/phrase_counts.cc", "if (list_.size() == limit_) {", "if (list_.size() != limit_) {"),
        ("counting", "cpp/table/phrase_counts.cc", "if (span.source_end - span.source_begin <= options.max_length &&", "if (span.source_end - span.source_begin < options.max_length &&"),
        ("counting", "cpp/table/phrase_counts.cc", "if (alignment_count > best_count) {", "if (alignment_count >= best_count) {"),
        ("counting", "cpp/table/phrase_counts.cc", "if (!group.empty() && group.back().target != next->target) close();", "if (!group.empty() && group.back().target == next->target) close();"),
        ("counting", "cpp/table/phrase_counts.cc", "sum += next->count;", "sum -= next->count;"),
        ("counting", "cpp/table/rule_counts.cc", "if (count >= 3) return values_[3];", "if (count > 3) return values_[3];"),
        ("counting", "cpp/table/rule_counts.cc", "statistics_.targets += !same.empty();", "statistics_.targets -= !same.empty();"),
        ("counting", "cpp/table/rule_counts.cc", "const double less = forward - discounts_.taken(rule.count);", "const double less = forward + discounts_.taken(rule.count);"),
        ("counting", "cpp/table/rule_counts.cc", "if (options_.discounting == Discounting::kKneserNey) {", "if (options_.discounting != Discounting::kKneserNey) {"),
        ("counting", "cpp/table/rule_counts.cc", "if (rules.empty()) continue;", "if (rules.empty()) ;"),
        ("counting", "cpp/table/rule_counts_block.cc", "return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;", "return a.size() == b.size() ? 0 : a.size() <= b.size() ? -1 : 1;"),
        ("counting", "cpp/table/rule_counts_block.cc", "known.unlinked = std::min<std::uint8_t>(known.unlinked, rule.unlinked);", "known.unlinked = std::max<std::uint8_t>(known.unlinked, rule.unlinked);"),
        ("counting", "cpp/table/rule_counts_lexicon.hh", "} else if (item.target == LexicalTable::kNull) {", "} else if (item.target != LexicalTable::kNull) {"),
        ("counting", "cpp/table/rule_counts_lexicon.hh", "scratch.target[link.target].sum += cell.key ? cell.target : floor;", "scratch.target[link.target].sum -= cell.key ? cell.target : floor;"),
        ("counting", "cpp/table/rule_counts_lexicon.hh", "if (mean.degree == 0 && unlinked < 255) ++unlinked;", "if (mean.degree == 0 && unlinked <= 255) ++unlinked;"),
    )
]
# fmt: on
