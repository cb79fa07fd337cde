// For the tests of this folder: a folder that goes away with its files, and what is in a file.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace treeglot::test {

struct Folder {
  Folder() {
    char name[] = "/tmp/treeglot-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() {
    for (const std::string& file : files) ::unlink(file.c_str());
    ::rmdir(path.c_str());
  }
  std::string file(const std::string& name) {
    files.push_back(path + "/" + name);
    return files.back();
  }
  std::string path;
  std::vector<std::string> files;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace treeglot::test
