// Rules of constituency and dependency trees (paper "consdep2str"; spec: tree-to-string, section 4): the
// declaration; extraction and matching are those of the family, grammars/hdr.
#include "grammars/hdr/declaration.hh"

namespace treeglot {
namespace {

const Registration kRegistration(hdr_grammar("consdep2str",
                                             "dependency-to-string rules with phrasal nodes of the constituency tree",
                                             {.structures = false, .phrasal = true}));

}  // namespace
}  // namespace treeglot
