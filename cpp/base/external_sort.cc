#include "base/external_sort.hh"

#include <unistd.h>

namespace treeglot {

TemporaryFile::TemporaryFile(const std::string& folder) {
  std::string name = folder + "/.treeglot-sort-XXXXXX";
  int handle = ::mkstemp(name.data());
  if (handle < 0) throw std::runtime_error("cannot create a temporary file in " + folder);
  ::unlink(name.c_str());
  file_.reset(::fdopen(handle, "w+b"));
  if (!file_) throw std::runtime_error("cannot open a temporary file in " + folder);
}

void TemporaryFile::rewind() {
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0) throw std::runtime_error("cannot rewind a temporary file");
}

}  // namespace treeglot
