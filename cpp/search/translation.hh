// What every decoder returns: the derivations of a sentence, best first. One shape for both searches, from here to the
// page that shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/words.hh"

namespace treeglot::search {

struct NBestRequest {
  int size = 1;
  bool distinct = false;  // no two with the same words
};

// A value of one feature.
struct FeatureValue {
  std::uint16_t feature;
  float value;
};

// A word of a target side, or the number of a variable: the place of what fills it in RuleUse::below.
using TargetItem = std::variant<std::uint32_t, std::string>;

// One application of a rule.
struct RuleUse {
  std::string grammar;               // of the rule; copy: a word that nothing translates; pseudo, glue: parts in order
  std::string_view kind;             // what part of the source it translates: word, subtree, group, span, goal ...
  std::uint32_t begin = 0, end = 0;  // its source words
  std::vector<std::uint32_t> parts;  // these words, if it has gaps; empty: all from begin to end
  std::string label;                 // of a constituent
  std::string source;                // its source side as text
  std::vector<TargetItem> target;
  std::string target_tree;           // its target side with the nodes of its trees as text, if it has them
  std::vector<WordLink> links;       // inside a phrase: source words from `begin` on, words of `target`
  std::vector<std::uint32_t> below;  // steps that fill the variables, in the order of the source
  std::vector<FeatureValue> features;
  std::uint32_t unlinked = 0;  // of its own source words: those without a link wherever the rule was seen
  bool headed = false;         // a rule for a head with its dependents
  bool phrasal = false;  // one of them in which a variable is a group of neighbours: a phrasal node or a structure
};

struct Derivation {
  double score = 0;              // the weighted sum of `features`
  std::vector<double> features;  // all, in the order of the decoder's
  std::string text;
  std::vector<RuleUse> steps;  // in preorder, the first is the topmost; empty if not asked for
};

struct Translation {
  std::vector<Derivation> derivations;            // best first
  std::size_t nodes = 0, edges = 0, options = 0;  // of the forest, if there was one
};

}  // namespace treeglot::search
