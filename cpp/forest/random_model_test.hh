// Language models for the tests of this folder: random n-grams, compiled to a file that goes away.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/model.hh"

namespace treeglot::test {

using Gram = std::vector<std::string>;

// A model of random n-grams: not a distribution, but a model of any shape. `closed`: contexts and suffixes of n-grams
// are there too; otherwise the compiler must make them up, as for pruned models.
inline std::string random_arpa(std::mt19937& random, int order, int words, double density, bool closed) {
  auto chance = [&](double p) { return std::uniform_real_distribution<double>(0, 1)(random) < p; };
  std::vector<std::set<Gram>> grams(order);
  grams[0] = {{"<unk>"}, {"<s>"}, {"</s>"}};
  std::vector<std::string> vocabulary{"<s>", "</s>"};
  if (chance(0.3)) vocabulary.push_back("<unk>");
  for (int w = 0; w < words; ++w) {
    vocabulary.push_back(std::string(1, static_cast<char>('a' + w)));
    grams[0].insert({vocabulary.back()});
  }
  for (int n = 2; n <= order; ++n) {
    int wanted = static_cast<int>(density * std::pow(static_cast<double>(vocabulary.size()), std::min(n, 3)));
    for (int i = 0; i < wanted; ++i) {
      Gram gram;
      for (int j = 0; j < n; ++j) gram.push_back(vocabulary[random() % vocabulary.size()]);
      grams[n - 1].insert(gram);
      for (int length = n - 1; closed && length > 1; --length) {
        for (int start = 0; start + length <= n; ++start) {
          grams[length - 1].insert(Gram(gram.begin() + start, gram.begin() + start + length));
        }
      }
    }
  }
  std::ostringstream arpa;
  arpa << "\\data\\\n";
  for (int n = 1; n <= order; ++n) arpa << "ngram " << n << "=" << grams[n - 1].size() << "\n";
  auto number = [&] { return -0.1 * static_cast<double>(1 + random() % 30); };
  for (int n = 1; n <= order; ++n) {
    arpa << "\n\\" << n << "-grams:\n";
    for (const Gram& gram : grams[n - 1]) {
      arpa << number() << "\t";
      for (int j = 0; j < n; ++j) arpa << (j ? " " : "") << gram[j];
      if (n < order && chance(0.7)) arpa << "\t" << (chance(0.3) ? 0.0 : number() + 1);
      arpa << "\n";
    }
  }
  arpa << "\n\\end\\\n";
  return arpa.str();
}

struct TemporaryModel {
  explicit TemporaryModel(const std::string& arpa) {
    char name[] = "/tmp/treeglot-chart-test-XXXXXX";
    int handle = ::mkstemp(name);
    if (handle < 0) throw std::runtime_error("no temporary file");
    ::close(handle);
    path = name;
    std::string_view rest = arpa;
    lm::compile_arpa([&] { return std::exchange(rest, {}); }, path);
  }
  ~TemporaryModel() { ::unlink(path.c_str()); }
  std::string path;
};

}  // namespace treeglot::test
