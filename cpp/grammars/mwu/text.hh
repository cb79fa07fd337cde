// The notation of rules of multi-word units (spec: mwu-forest, section 2, "Text form"): the words of the unit and the
// words of its tails' σ in surface order, each with the place of its head among them, 0 if it is not there.
//
//   首/2 款/0 ||| the first
//   x1:NR/3 x1:AD/3 推出/0 x2:NN/3 ||| x1 launch x2
//
// All words of one tail have the number of its variable. The last / of a word counts. As symbols, every word is
// followed by a kPlace; the first word of a variable is a kSite, further ones are kMore.
#pragma once

#include "grammars/rule_text.hh"

namespace treeglot::mwu {

SymbolText unit_text();

}  // namespace treeglot::mwu
