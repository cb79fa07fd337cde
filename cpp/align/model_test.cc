#include "align/model.hh"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace al = treeglot::align;

BOOST_AUTO_TEST_SUITE(alignment_model)

BOOST_AUTO_TEST_CASE(learns_saves_and_aligns) {
  al::Corpus corpus;
  for (int n = 0; n < 5; ++n) {
    corpus.add("das haus", "the house");
    corpus.add("das buch", "the book");
    corpus.add("ein buch", "a book");
    corpus.add("", "nothing");
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("treeglot_model_test." + std::to_string(::getpid()))).string();
  std::string first;
  for (int threads : {1, 3}) {
    al::TrainOptions options;
    options.threads = threads;
    al::write_model(corpus, al::learn(corpus, options, {}), path);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (first.empty()) first = bytes;
    BOOST_TEST((bytes == first));
  }
  {
    al::Model model(path);
    std::string forward, reverse;
    model.align({"ein haus", "", "das neu"}, {"a house", "the", "the new"}, 2, forward, reverse);
    BOOST_TEST(forward == "0-0 1-1\n\n0-0 1-1\n");
    BOOST_TEST(reverse == "0-0 1-1\n\n0-0 1-1\n");
  }
  // Every shorter file and every changed byte is refused.
  for (std::size_t size : {std::size_t{0}, std::size_t{40}, std::size_t{80}, first.size() - 8}) {
    std::ofstream(path, std::ios::binary).write(first.data(), static_cast<std::streamsize>(size));
    BOOST_CHECK_THROW(al::Model{path}, std::runtime_error);
  }
  for (std::size_t at = 0; at < first.size(); at += 5) {
    std::string changed = first;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::ofstream(path, std::ios::binary).write(changed.data(), static_cast<std::streamsize>(changed.size()));
    BOOST_CHECK_THROW(al::Model{path}, std::runtime_error);
  }
  std::remove(path.c_str());
}

BOOST_AUTO_TEST_SUITE_END()
