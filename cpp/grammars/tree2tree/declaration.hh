// What the declarations of the tree-to-tree grammars share.
#pragma once

#include "grammars/registry.hh"

namespace treeglot {

// A grammar with all of the family's options; without `sequences`, covers are single trees.
Grammar tree_to_tree_grammar(std::string name, std::string title, bool sequences);

}  // namespace treeglot
