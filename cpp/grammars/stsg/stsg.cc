// Rules between single trees: the declaration.
#include "grammars/tree2tree/declaration.hh"

namespace treeglot {
namespace {

const Registration kRegistration(tree_to_tree_grammar("stsg", "pairs of tree fragments (STSG)", false));

}  // namespace
}  // namespace treeglot
