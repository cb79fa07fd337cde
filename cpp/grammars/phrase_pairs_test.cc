#include "grammars/phrase_pairs.hh"

#include <boost/test/unit_test.hpp>

using namespace treeglot;

namespace {

std::vector<PhraseSpan> spans_of(PhraseExtractor& extractor, std::size_t source, std::size_t target,
                                 const std::vector<WordLink>& links) {
  std::vector<WordId> f(source), e(target);
  return extractor.extract({f, e, links});
}

}  // namespace

BOOST_AUTO_TEST_CASE(unaligned_edges_give_variants) {
  PhraseExtractor extractor(7);
  // One link in the middle of three words each: every span around it.
  std::vector<WordLink> links = {{1, 1}};
  BOOST_TEST(spans_of(extractor, 3, 3, links).size() == 16u);
  BOOST_TEST(spans_of(extractor, 3, 3, {}).empty());
  PhraseExtractor short_ones(2);
  BOOST_TEST(spans_of(short_ones, 3, 3, links).size() == 9u);
}

BOOST_AUTO_TEST_CASE(crossing_links_bind_what_is_between) {
  PhraseExtractor extractor(7);
  std::vector<WordLink> links = {{0, 1}, {1, 0}, {1, 2}};
  auto spans = spans_of(extractor, 2, 3, links);
  // Word 1 is linked on both sides of word 0: only the whole.
  BOOST_REQUIRE(spans.size() == 2u);
  BOOST_TEST((spans[0].source_begin == 0 && spans[0].source_end == 1 && spans[0].target_begin == 1));
  BOOST_TEST((spans[1].source_end == 2 && spans[1].target_begin == 0 && spans[1].target_end == 3));
  BOOST_TEST(extractor.before(spans[1]) == kMonotone);
  BOOST_TEST(extractor.after(spans[1]) == kMonotone);
  BOOST_TEST(extractor.before(spans[0]) == kSwap);
  BOOST_TEST(extractor.after(spans[0]) == kMonotone);
}
