// The steps of a derivation as people want to see them: what a derivation of the search says, with the language model's
// score of each step, and without steps that only help the search.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "forest/cube_pruning.hh"
#include "lm/model.hh"
#include "search/translation.hh"

namespace treeglot::forest {

std::string_view kind_name(NodeKind kind);

// log10 of the words that each step made itself, each word after those that come before it in the translation. The
// sentence's end goes with the last word, or with the first step of a translation without words.
std::vector<double> language_model_scores(const lm::Model& model, std::span<const DerivationStep> steps);

// A step before it is made readable.
struct RawStep {
  search::RuleUse use;
  bool helper;  // puts its parts one after the other and has no source side of its own
};

// Steps in preorder, made readable: helpers without features become part of the helper above them or, if they only pass
// something on, disappear; a step without a source side gets the words that it covers, with variables where other steps
// cover them.
std::vector<search::RuleUse> readable(std::vector<RawStep> steps,
                                      const std::function<std::string_view(std::uint32_t)>& source_word);

}  // namespace treeglot::forest
