// What is known to be as it was written, so that a file is read through once and not each time it is opened.
//
// Contents (the checksum) are remembered in this process by the file's stamp; structure (that all parts fit together,
// which takes longer) by the header's checksum, which covers the contents. For large files both are also noted in
// `.treeglot-verified` beside the file; where that cannot be written they are verified again.
#pragma once

#include <cstdint>

#include "base/mapped_file.hh"

namespace treeglot {

// Files from this size on are noted beside them: smaller ones are verified faster than one would notice.
inline constexpr std::uint64_t kNotedContents = std::uint64_t{256} << 20, kNotedStructure = std::uint64_t{1} << 20;

bool contents_are_known(const MappedFile& file, std::uint64_t checksum);
void contents_are_good(const MappedFile& file, std::uint64_t checksum);
bool structure_is_known(const MappedFile& file, std::uint64_t checksum);
void structure_is_good(const MappedFile& file, std::uint64_t checksum);

}  // namespace treeglot
