#include "trees/corpus_reader.hh"

#include <algorithm>
#include <stdexcept>

#include "trees/node_link_reader.hh"

namespace treeglot {

namespace {

constexpr int kOfSide = 4;  // streams of one side: CoNLL-U, Penn, text, JSON lines

bool is_tree_stream(int stream) {
  return stream < CorpusReader::kLinks && stream % kOfSide != CorpusReader::kSourceText;
}

}  // namespace

CorpusReader::CorpusReader(Options options) : options_(std::move(options)), heads_(options_.head_tables) {
  for (int side = 0; side < 2; ++side) {
    const int first = side * kOfSide;
    const bool json = has(first + kSourceJson);
    const bool trees = has(first + kSourceConllu) || has(first + kSourcePenn);
    if ((trees || json) && has(first + kSourceText)) throw std::invalid_argument("trees and text of one side");
    if (trees && json) throw std::invalid_argument("JSON lines and other trees of one side");
    sides_[side].given = trees || json || has(first + kSourceText);
  }
  sides_[0].json = treejson::Scanner(sides_[1].given ? treejson::Take::kSource : options_.take);
  sides_[1].json = treejson::Scanner(treejson::Take::kTarget);
  if (!sides_[0].given) throw std::invalid_argument("a corpus without a source");
  if (!sides_[1].given && (has(kLinks) || has(kNodes))) throw std::invalid_argument("links without a target");
}

void CorpusReader::feed(int stream, std::string_view bytes) {
  Side& side = sides_[stream >= kOfSide ? 1 : 0];
  switch (stream) {
    case kSourceConllu:
    case kTargetConllu:
      return side.conllu.feed(bytes);
    case kSourcePenn:
    case kTargetPenn:
      return side.penn.feed(bytes);
    case kSourceText:
    case kTargetText:
      return side.text.feed(bytes);
    case kSourceJson:
    case kTargetJson:
      return side.json.feed(bytes);
    case kLinks:
      return links_.feed(bytes);
    case kNodes:
      return nodes_.feed(bytes);
    default:
      throw std::invalid_argument("no such stream");
  }
}

void CorpusReader::finish(int stream) {
  Side& side = sides_[stream >= kOfSide ? 1 : 0];
  switch (stream) {
    case kSourceConllu:
    case kTargetConllu:
      side.conllu.finish();
      break;
    case kSourcePenn:
    case kTargetPenn:
      side.penn.finish();
      break;
    case kSourceText:
    case kTargetText:
      side.text.finish();
      break;
    case kSourceJson:
    case kTargetJson:
      side.json.finish();
      break;
    case kLinks:
      links_.finish();
      break;
    case kNodes:
      nodes_.finish();
      break;
    default:
      throw std::invalid_argument("no such stream");
  }
  finished_[static_cast<std::size_t>(stream)] = true;
}

// Whether the next item of a stream is there.
bool CorpusReader::fetch(int stream) {
  Side& side = sides_[stream >= kOfSide ? 1 : 0];
  try {
    switch (stream) {
      case kSourceConllu:
      case kTargetConllu:
        side.sentence = side.conllu.next();
        return side.sentence != nullptr;
      case kSourcePenn:
      case kTargetPenn:
        side.tree = side.penn.next();
        return side.tree != nullptr;
      case kSourceText:
      case kTargetText:
        return side.text.next(side.line);
      case kSourceJson:
      case kTargetJson:
        side.record = side.json.next();
        return side.record != nullptr;
      case kLinks:
        if (!links_.next(links_line_)) return false;
        read_word_links(links_line_, links_.number(), word_links_);
        return true;
      default:
        if (!nodes_.next(nodes_line_)) return false;
        read_node_links(nodes_line_, nodes_.number(), node_ends_, options_.node_threshold);
        return true;
    }
  } catch (const InputError& error) {
    throw ReadError(stream, error.line, error.column, error.what(), error.remedy);
  }
}

int CorpusReader::advance() {
  for (;;) {
    bool all = true, any = false;
    for (int stream = 0; stream < kStreams; ++stream) {
      if (!has(stream)) continue;
      const auto n = static_cast<std::size_t>(stream);
      if (!ready_[n]) {
        ready_[n] = fetch(stream);
        if (!ready_[n] && !finished_[n]) return stream;
      }
      all = all && ready_[n];
      any = any || ready_[n];
    }
    if (!any) return -1;
    if (!all) refuse_lengths();
    add_pair();
    ready_.fill(false);
  }
}

// Some streams have ended before others.
void CorpusReader::refuse_lengths() {
  int ended = -1, going = -1;
  auto look = [&](int from, int to) {
    for (int stream = to; stream-- > from;) {
      if (has(stream)) (ready_[static_cast<std::size_t>(stream)] ? going : ended) = stream;
    }
  };
  // Two files of one side first: then the others need not be named.
  for (int side = 0; side < 2 && (ended < 0 || going < 0); ++side) {
    ended = going = -1;
    look(side * kOfSide, side * kOfSide + 2);
  }
  const bool one_side = ended >= 0 && going >= 0;
  if (!one_side) look(0, kStreams);
  const std::size_t line = is_tree_stream(ended) ? 0 : number_ + 1;
  throw ReadError(
      ended, line, 0, "ends after " + std::to_string(number_) + " sentences, but " + name(going) + " has more",
      one_side ? "give trees of the same sentences" : "give trees, target text and links of the same sentences");
}

void CorpusReader::fill_conllu(Side& side) {
  const conllu::Sentence& sentence = *side.sentence;
  for (const conllu::Word& word : sentence.words) {
    side.words.push_back(sentence.text(word.row[conllu::kForm]));
    const std::string_view xpos = sentence.text(word.row[conllu::kXpos]);
    side.tags.push_back(xpos != "_" ? xpos : sentence.text(word.row[conllu::kUpos]));
    if (!sentence.has_heads) continue;
    side.heads.push_back(word.head);
    side.relations.push_back(sentence.text(word.row[conllu::kDeprel]));
  }
}

// The tree of brackets; `merge`: a dependency tree of the same words has been filled in, with tags that go before.
void CorpusReader::fill_penn(Side& side, bool merge) {
  const penn::Tree& tree = *side.tree;
  for (std::size_t j = 0; j < tree.words.size(); ++j) {
    const penn::Tree::Word& word = tree.words[j];
    side.word_functions.push_back(tree.text(word.function));
    const std::string_view tag = tree.text(word.tag);
    if (!merge) {
      side.words.push_back(tree.text(word.form));
      side.tags.push_back(tag);
      continue;
    }
    // XPOS, else the tag of the brackets, else UPOS.
    const conllu::Sentence& sentence = *side.sentence;
    if (tag != "_" && sentence.text(sentence.words[j].row[conllu::kXpos]) == "_") side.tags[j] = tag;
  }
  for (const penn::Tree::Phrase& phrase : tree.phrases) {
    const std::string_view label = tree.text(phrase.label);
    side.phrases.push_back({label, phrase.begin, phrase.end, phrase.parent});
    side.head_phrases.push_back({label, tree.text(phrase.function), phrase.begin, phrase.end, phrase.parent});
  }
}

void CorpusReader::check_same_words(const Side& side, int first_stream) const {
  const conllu::Sentence& sentence = *side.sentence;
  const penn::Tree& tree = *side.tree;
  const std::size_t ours = sentence.words.size(), theirs = tree.words.size();
  std::string what;
  for (std::size_t j = 0; j < std::min(ours, theirs) && what.empty(); ++j) {
    const std::string_view one = sentence.text(sentence.words[j].row[conllu::kForm]),
                           two = tree.text(tree.words[j].form);
    if (one != two) {
      what = "word " + std::to_string(j + 1) + " is " + quoted(one) + " in the first tree and " + quoted(two) +
             " in the second";
    }
  }
  if (what.empty() && ours != theirs) {
    const std::string_view extra =
        ours > theirs ? sentence.text(sentence.words[theirs].row[conllu::kForm]) : tree.text(tree.words[ours].form);
    what = std::to_string(ours) + " words and " + std::to_string(theirs) + " words; the first extra word is " +
           quoted(extra);
  }
  if (what.empty()) return;
  const std::string id = sentence.id.size > 0 ? std::string(sentence.text(sentence.id)) : std::to_string(number_ + 1);
  throw ReadError(first_stream + kSourcePenn, tree.line, 0,
                  "sentence " + std::to_string(number_ + 1) + " differs from that of " +
                      name(first_stream + kSourceConllu) + ": sentence " + id +
                      ": the trees have different tokens: " + what,
                  "give trees over the same words");
}

// Both trees of a JSON line, constituents without gaps.
void CorpusReader::fill_json(Side& side) {
  const treejson::Sentence& record = *side.record;
  side.words = record.forms;
  side.tags = record.tags;
  side.heads.assign(record.heads.begin(), record.heads.end());
  side.relations = record.relations;
  const PhraseTree* tree = &record.phrases;
  if (!tree->is_continuous()) {
    if (options_.head_tables.empty()) throw std::invalid_argument("a constituent has a gap");
    const auto heads = heads_.head_children({tree->labels, tree->functions, tree->children, tree->starts},
                                            record.phrase_tags, record.word_functions);
    builder_.close_gaps(*tree, heads, record.forms.size(), continuous_);
    tree = &continuous_;
    side.new_numbers.resize(tree->size());
    for (std::size_t n = 0; n < tree->size(); ++n) {
      side.new_numbers[tree->origins[n]] = static_cast<std::uint32_t>(n);
    }
  }
  for (std::size_t n = 0; n < tree->size(); ++n) {
    const auto begin = tree->begins[n], end = tree->ends[n], parent = tree->parents[n];
    side.phrases.push_back({tree->labels[n], begin, end, parent});
    side.head_phrases.push_back({tree->labels[n], tree->functions[n], begin, end, parent});
  }
}

// Makes the tree projective; JSON lines may say that it was done before, and what the heads were.
std::uint32_t CorpusReader::count_lifted(Side& side) {
  const auto moved = static_cast<std::uint32_t>(projectivizer_.lift(side.heads));
  if (side.record == nullptr || side.record->true_heads.empty()) return moved;
  std::uint32_t lifted = 0;
  for (std::size_t j = 0; j < side.heads.size(); ++j) lifted += side.heads[j] != side.record->true_heads[j];
  return lifted;
}

// The columns of the next sentence of a side.
void CorpusReader::fill(int number) {
  Side& side = sides_[number];
  const int first = number * kOfSide;
  side.words.clear();
  side.tags.clear();
  side.heads.clear();
  side.relations.clear();
  side.phrases.clear();
  side.head_phrases.clear();
  side.word_functions.clear();
  side.new_numbers.clear();
  if (has(first + kSourceText)) {
    for_each_word(side.line, [&](std::string_view word) { side.words.push_back(word); });
    side.columns = {side.words};
    side.facts.push_back({});
    return;
  }
  const bool conllu = has(first + kSourceConllu), penn = has(first + kSourcePenn);
  // Of a CoNLL-U sentence without a tree beside brackets nothing is taken.
  const bool dependency = conllu && (!penn || side.sentence->has_heads);
  if (conllu && penn) check_same_words(side, first);
  if (dependency) fill_conllu(side);
  if (penn) fill_penn(side, dependency);
  if (side.record != nullptr) fill_json(side);
  Facts facts;
  facts.lifted = count_lifted(side);
  side.head_words.clear();
  if (options_.head_words) {
    const auto head_words =
        side.record != nullptr
            ? heads_.head_words(side.head_phrases, side.record->phrase_tags, side.record->word_functions)
            : heads_.head_words(side.head_phrases, side.tags, side.word_functions);
    side.head_words.assign(head_words.begin(), head_words.end());
  }
  side.columns = {side.words, side.tags, side.heads, side.phrases, side.head_words, side.relations};
  const auto look_at = [&](std::string_view comment) {
    facts.new_phrases = facts.new_phrases || comment.starts_with("# constituency = converted ");
    facts.new_arcs = facts.new_arcs || comment.starts_with("# dependency = converted ");
  };
  if (conllu) {
    for (const conllu::Field comment : side.sentence->comments) look_at(side.sentence->text(comment));
  }
  if (side.record != nullptr) {
    for (std::string_view comment : side.record->comments) look_at(comment);
    for (const auto& [kind, note] : side.record->notes) {
      facts.new_phrases = facts.new_phrases || (kind == "constituency" && note.starts_with("converted "));
      facts.new_arcs = facts.new_arcs || (kind == "dependency" && note.starts_with("converted "));
    }
  }
  side.facts.push_back(facts);
  if (options_.surfaces && number == 0) note(side);
}

// Keeps what the sentence looks like in the text, ranges of words as the file writes them.
void CorpusReader::note(Side& side) {
  std::string surface;
  // The words, or the ranges (start, end, form) that begin at them, in order; what no file can mean is left out.
  const auto write = [&](std::size_t ranges, auto range_at) {
    std::size_t next = 0;
    for (std::size_t j = 0; j < side.words.size();) {
      std::string_view form = side.words[j];
      std::size_t end = j + 1;
      for (; next < ranges; ++next) {
        const auto [start, stop, written] = range_at(next);
        if (start > static_cast<std::int64_t>(j)) break;
        if (start < static_cast<std::int64_t>(j) || stop <= start || written.empty() ||
            stop > static_cast<std::int64_t>(side.words.size())) {
          continue;
        }
        form = written;
        end = static_cast<std::size_t>(stop);
        ++next;
        break;
      }
      surface.append(form).append(" ");
      j = end;
    }
  };
  if (side.record != nullptr) {
    write(side.record->ranges.size(), [&](std::size_t n) { return side.record->ranges[n]; });
  } else if (side.sentence != nullptr) {
    write(side.sentence->ranges.size(), [&](std::size_t n) {
      const conllu::Range& range = side.sentence->ranges[n];
      return treejson::Sentence::Range{range.start, range.end, side.sentence->text(range.row[conllu::kForm])};
    });
  } else {
    write(0, [](std::size_t) { return treejson::Sentence::Range{}; });
  }
  if (!surface.empty()) surface.pop_back();
  side.surfaces.push_back(std::move(surface));
}

// The number of a node in the tree as it is kept.
std::uint32_t CorpusReader::node_of(NodeEnd end, int number) const {
  const Side& side = sides_[number];
  const std::uint32_t node =
      node_number(end, side.columns.phrases.size(), side.columns.words.size(), number == 1, nodes_.number());
  return end.is_word || side.new_numbers.empty() ? node : side.new_numbers[node];
}

void CorpusReader::fill_node_links() {
  node_links_.clear();
  try {
    for (const NodeLinkEnds& ends : node_ends_) {
      node_links_.push_back({node_of(ends.source, 0), node_of(ends.target, 1)});
    }
  } catch (const InputError& error) {
    throw ReadError(kNodes, error.line, error.column, error.what(), error.remedy);
  }
}

void CorpusReader::add_pair() {
  int blamed = -1;
  try {
    for (int side = 0; side < (has_target() ? 2 : 1); ++side) {
      const int first = side * kOfSide;
      for (const int stream : {kSourcePenn, kSourceConllu, kSourceText, kSourceJson}) {
        if (has(first + stream)) blamed = first + stream;
      }
      fill(side);
      ParsedCorpus::check(sides_[side].columns);
    }
  } catch (const std::invalid_argument& error) {
    const Side& side = sides_[blamed >= kOfSide ? 1 : 0];
    const bool trees = is_tree_stream(blamed);
    const std::size_t line = side.record != nullptr            ? side.record->line
                             : !trees                          ? side.text.number()
                             : blamed % kOfSide == kSourcePenn ? side.tree->line
                                                               : side.sentence->words.front().line;
    throw ReadError(blamed, line, 0, error.what(), trees ? "correct the tree" : "split the line");
  }
  if (!has_target()) {
    source_.add(sides_[0].columns);
    ++number_;
    return;
  }
  if (!has(kLinks)) word_links_.clear();
  if (has(kNodes)) fill_node_links();
  try {
    bitext_.add_checked(sides_[0].columns, sides_[1].columns, word_links_, node_links_);
  } catch (const std::invalid_argument& error) {
    throw ReadError(kLinks, number_ + 1, 0, error.what(), "give the links of these trees and this target text");
  }
  ++number_;
}

}  // namespace treeglot
