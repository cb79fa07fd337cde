// Grammars of one's own: a shared library whose static `Registration`s add grammars when it is loaded. It is compiled
// against these headers and linked with the extension module, whose registry it shares.
#pragma once

#include <string>

namespace treeglot {

// Loads a library for good. Throws std::runtime_error that says what is wrong (a grammar that is refused, too).
void load_grammars(const std::string& path);

}  // namespace treeglot
