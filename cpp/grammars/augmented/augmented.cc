// Augmented dependency-to-string rules (paper "augmented"; spec: tree-to-string, section 3): the
// declaration; extraction and matching are those of the family, grammars/hdr.
#include "grammars/hdr/declaration.hh"

namespace treeglot {
namespace {

Grammar declaration() {
  Grammar grammar = hdr_grammar("augmented", "dependency-to-string rules with fixed and floating structures",
                                {.structures = true, .phrasal = false});
  grammar.stack_limit = 200;  // the paper's
  return grammar;
}

const Registration kRegistration(declaration());

}  // namespace
}  // namespace treeglot
