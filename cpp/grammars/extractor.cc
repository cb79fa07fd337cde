#include "grammars/extractor.hh"

#include <array>
#include <mutex>
#include <stdexcept>

#include "grammars/cons2str/extractor.hh"
#include "grammars/hdr/extractor.hh"
#include "grammars/hierarchical/extractor.hh"

namespace treeglot {

CategoryInterner::CategoryInterner(const SymbolTable& categories) : categories_(categories), known_(categories.size()) {
  for (std::size_t i = 0; i < known_; ++i) {
    ids_.emplace(categories.word(static_cast<WordId>(i)), static_cast<std::uint32_t>(i));
  }
}

std::uint32_t CategoryInterner::id(std::string_view text) {
  {
    std::shared_lock lock(mutex_);
    if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  }
  std::unique_lock lock(mutex_);
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  const std::size_t id = known_ + added_.size();
  if (id >= (1u << 28)) throw std::length_error("more than 268 million categories");  // a Symbol has 28 bits for it
  added_.emplace_back(text);
  ids_.emplace(added_.back(), static_cast<std::uint32_t>(id));
  return static_cast<std::uint32_t>(id);
}

std::uint32_t CategoryInterner::joint(std::uint32_t label, std::span<const WordId> tags) {
  std::string category = text(label);
  char before = '[';
  for (WordId tag : tags) {
    category += before;
    category += text(tag);
    before = '_';
  }
  category += ']';
  return id(category);
}

const std::string& CategoryInterner::text(std::uint32_t id) const {
  if (id < known_) return categories_.word(id);
  std::shared_lock lock(mutex_);
  return added_.at(id - known_);
}

std::size_t CategoryInterner::size() const {
  std::shared_lock lock(mutex_);
  return known_ + added_.size();
}

namespace {

constexpr std::array<std::string_view, 5> kNames{"dep2str", "augmented", "consdep2str", "cons2str", "hierarchical"};

[[noreturn]] void refuse(std::string_view grammar) {
  throw std::invalid_argument("there is no grammar " + std::string(grammar));
}

}  // namespace

std::span<const std::string_view> extractor_names() { return kNames; }

NeededTrees needed_trees(std::string_view grammar) {
  if (grammar == "dep2str" || grammar == "augmented") return {true, false};
  if (grammar == "consdep2str") return {true, true};
  if (grammar == "cons2str") return {false, true};
  if (grammar == "hierarchical") return {false, false};
  refuse(grammar);
}

std::unique_ptr<RuleExtractor> make_extractor(std::string_view grammar, const ExtractOptions& options,
                                              const ParsedCorpus& corpus, CategoryInterner& interner) {
  auto hdr = [&](HdrGrammar kind) { return std::make_unique<HdrExtractor>(kind, options, corpus, interner); };
  if (grammar == "dep2str") return hdr(HdrGrammar::kDep2str);
  if (grammar == "augmented") return hdr(HdrGrammar::kAugmented);
  if (grammar == "consdep2str") return hdr(HdrGrammar::kConsdep2str);
  if (grammar == "cons2str") {
    return std::make_unique<GhkmExtractor>(GhkmOptions{.max_height = options.max_height,
                                                       .max_leaves = options.max_leaves,
                                                       .max_variants = options.max_variants,
                                                       .max_fragments = options.max_fragments,
                                                       .composed = options.composed});
  }
  if (grammar == "hierarchical") {
    return std::make_unique<HierarchicalExtractor>(HierarchicalOptions{.max_span = options.max_initial_phrase,
                                                                       .max_gaps = options.max_gaps,
                                                                       .max_symbols = options.max_source_symbols,
                                                                       .min_gap = options.min_gap,
                                                                       .fractional = options.fractional,
                                                                       .tight = options.tight,
                                                                       .max_rules = options.max_rules});
  }
  refuse(grammar);
}

}  // namespace treeglot
