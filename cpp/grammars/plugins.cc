#include "grammars/plugins.hh"

#include <dlfcn.h>
#include <sys/stat.h>

#include <stdexcept>

namespace treeglot {

void load_grammars(const std::string& path) {
  // A FIFO would wait for a writer. A name without a slash is looked for by the system.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) throw std::runtime_error(path + " is no file");
  if (!::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* why = ::dlerror();
    throw std::runtime_error(why ? why : "cannot load " + path);
  }
}

}  // namespace treeglot
