// Dependency-to-string rules (Xie et al. 2011; spec: tree-to-string, sections 1 and 2): the
// declaration; extraction and matching are those of the family, grammars/hdr.
#include "grammars/hdr/declaration.hh"

namespace treeglot {
namespace {

const Registration kRegistration(hdr_grammar("dep2str", "a head with all its dependents to a string", {}));

}  // namespace
}  // namespace treeglot
