#include "trees/corpus_reader.hh"

#include <algorithm>
#include <stdexcept>

#include "trees/node_link_reader.hh"

namespace treeglot {

namespace {

constexpr int kOfSide = 3;  // streams of one side: CoNLL-U, Penn, text

bool is_tree_stream(int stream) {
  return stream < CorpusReader::kLinks && stream % kOfSide != CorpusReader::kSourceText;
}

}  // namespace

CorpusReader::CorpusReader(Options options) : options_(std::move(options)), heads_(options_.head_tables) {
  for (int side = 0; side < 2; ++side) {
    const int first = side * kOfSide;
    const bool trees = has(first + kSourceConllu) || has(first + kSourcePenn);
    if (trees && has(first + kSourceText)) throw std::invalid_argument("trees and text of one side");
    sides_[side].given = trees || has(first + kSourceText);
  }
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
    if (sentence.has_heads) side.heads.push_back(word.head);
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

// The columns of the next sentence of a side.
void CorpusReader::fill(int number) {
  Side& side = sides_[number];
  const int first = number * kOfSide;
  side.words.clear();
  side.tags.clear();
  side.heads.clear();
  side.phrases.clear();
  side.head_phrases.clear();
  side.word_functions.clear();
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
  Facts facts;
  facts.lifted = static_cast<std::uint32_t>(projectivizer_.lift(side.heads));
  const auto head_words = heads_.head_words(side.head_phrases, side.tags, side.word_functions);
  side.head_words.assign(head_words.begin(), head_words.end());
  side.columns = {side.words, side.tags, side.heads, side.phrases, side.head_words};
  if (conllu) {
    const conllu::Sentence& sentence = *side.sentence;
    for (const conllu::Field comment : sentence.comments) {
      facts.new_phrases = facts.new_phrases || sentence.text(comment).starts_with("# constituency = converted ");
      facts.new_arcs = facts.new_arcs || sentence.text(comment).starts_with("# dependency = converted ");
    }
  }
  side.facts.push_back(facts);
  if (options_.surfaces && number == 0) note(side);
}

// Keeps what the sentence looks like in the text, ranges of words as the file writes them.
void CorpusReader::note(Side& side) {
  std::string surface;
  if (side.sentence == nullptr) {
    for (std::string_view word : side.words) surface.append(word).append(" ");
  } else {
    const conllu::Sentence& sentence = *side.sentence;
    auto range = sentence.ranges.begin();
    for (std::size_t j = 0; j < sentence.words.size();) {
      const bool starts = range != sentence.ranges.end() && static_cast<std::size_t>(range->start) == j;
      surface.append(sentence.text(starts ? range->row[conllu::kForm] : sentence.words[j].row[conllu::kForm]));
      surface.append(" ");
      j = starts ? static_cast<std::size_t>((range++)->end) : j + 1;
    }
  }
  if (!surface.empty()) surface.pop_back();
  side.surfaces.push_back(std::move(surface));
}

void CorpusReader::fill_node_links() {
  node_links_.clear();
  const ParsedCorpus::Columns &source = sides_[0].columns, &target = sides_[1].columns;
  try {
    for (const NodeLinkEnds& ends : node_ends_) {
      node_links_.push_back(
          {node_number(ends.source, source.phrases.size(), source.words.size(), false, nodes_.number()),
           node_number(ends.target, target.phrases.size(), target.words.size(), true, nodes_.number())});
    }
  } catch (const InputError& error) {
    throw ReadError(kNodes, error.line, error.column, error.what(), error.remedy);
  }
}

void CorpusReader::add_pair() {
  int blamed = -1;
  try {
    for (int side = 0; side < (has_target() ? 2 : 1); ++side) {
      fill(side);
      const int first = side * kOfSide;
      blamed = has(first + kSourceText) ? first + kSourceText
                                        : first + (has(first + kSourceConllu) ? kSourceConllu : kSourcePenn);
      ParsedCorpus::check(sides_[side].columns);
    }
  } catch (const std::invalid_argument& error) {
    const Side& side = sides_[blamed >= kOfSide ? 1 : 0];
    const bool trees = is_tree_stream(blamed);
    const std::size_t line = !trees                            ? side.text.number()
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
