// Rules between sequences of trees: the declaration.
#include "grammars/tree2tree/declaration.hh"

namespace treeglot {
namespace {

const Registration kRegistration(tree_to_tree_grammar("stssg", "pairs of sequences of tree fragments (STSSG)", true));

}  // namespace
}  // namespace treeglot
