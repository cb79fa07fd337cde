// A parsed bitext as one mapped file: written once in a project, opened by everything that is learnt from it. Columns
// stay in the file; vocabularies are read. A file that is damaged, made up or of another byte order is refused when it
// is opened: nothing in it can lead outside of it.
#pragma once

#include <cstdint>
#include <string>

#include "trees/parsed_corpus.hh"

namespace treeglot {

class CorpusFile {
 public:
  static constexpr std::uint32_t kVersion = 4;  // 3: XXH64; 4: relations

  // Writes the pairs with the links of the first alignment, if there are any. Throws std::runtime_error.
  static void write(const ParsedBitext& bitext, const std::string& path);
  // Throws std::runtime_error that says what is wrong with the file.
  static ParsedBitext open(const std::string& path);
};

}  // namespace treeglot
