// What the declarations of the head-dependents grammars share; each grammar has its own folder and registers itself.
#pragma once

#include <string>

#include "grammars/hdr/extractor.hh"
#include "grammars/hdr/matcher.hh"
#include "grammars/registry.hh"

namespace treeglot {

struct HdrFamily {
  bool structures = false;  // fixed and floating structures as labels
  bool phrasal = false;     // phrasal nodes
};

// A grammar with extractor, matcher, the options and the notation of its family; name and title are the caller's.
Grammar hdr_grammar(std::string name, std::string title, HdrFamily family);

}  // namespace treeglot
