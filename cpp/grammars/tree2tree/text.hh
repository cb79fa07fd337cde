// The notation of rules between sequences of trees (spec: tree-to-tree, section 2, "Text form"):
//
//   (NP (NP (NR 亚洲)) x1:QP x2:NP) ||| (NP (NP x1:DT x1:JJ x2:NN) (PP (IN in) (NP (NNP Asia))))
//   (QP x1:OD (M 款)) ||| x1:DT x1:JJ
//
// The nodes of a variable have one number. Round brackets in words are -LRB- and -RRB-; \uXXXX stands for the first
// character of a word that begins with x<digits>: or \u, for those of a word that has -LRB- or -RRB- itself, for
// brackets in labels, for white space and for the first bar of |||.
#pragma once

#include "grammars/rule_text.hh"

namespace treeglot {

SymbolText tree_sequence_text();

}  // namespace treeglot
