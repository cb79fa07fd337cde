// What happens when a mapped file is cut short while it is read: its lost pages become zeros, and that is noted.
#pragma once

#include <cstddef>
#include <string>

namespace treeglot {

// Watches over a mapping; returns its number for release_mapping(), or -1 if there are too many: then nothing is done.
int guard_mapping(const char* data, std::size_t size, const std::string& path);
// Must be called before the memory is unmapped.
void release_mapping(int number);

}  // namespace treeglot
