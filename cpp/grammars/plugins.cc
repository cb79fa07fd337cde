#include "grammars/plugins.hh"

#include <dlfcn.h>

#include <stdexcept>

namespace treeglot {

void load_grammars(const std::string& path) {
  if (!::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* why = ::dlerror();
    throw std::runtime_error(why ? why : "cannot load " + path);
  }
}

}  // namespace treeglot
