#include "grammars/tree2tree/text.hh"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace treeglot;

namespace {

// Writes what was parsed: words and categories are numbered as they come.
std::string again(const std::string& text) {
  const SymbolText notation = tree_sequence_text();
  std::vector<std::string> names;
  std::vector<Symbol> symbols;
  for (const SourceText& part : notation.parse_source(text, [](std::string_view) { return false; })) {
    symbols.push_back(
        symbol(part.kind, part.kind == SymbolKind::kClose ? 0 : static_cast<std::uint32_t>(names.size())));
    names.push_back(part.text);
  }
  std::string out;
  const TextOf name = [&](std::uint32_t id) { return std::string_view(names[id]); };
  notation.write_source(symbols, name, name, out);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tree_sequences_are_read_as_they_are_written) {
  for (const char* text :
       {"(NP (NP (NR a)) x1:QP x2:NP)", "x1:DT x1:JJ", "(VP x1:ADVP (VP x1:VV x2:NP)) (PU .)",
        "(N -LRB-) (N \\u002dLRB-) (N \\u00781:a) (N \\u005cu0041) (N ^) (N *) (N _:x)", "(\\u0028 a) x1:x2"}) {
    BOOST_TEST(again(text) == text);
  }
}

BOOST_AUTO_TEST_CASE(broken_tree_sequences_are_refused) {
  for (const char* text : {"", "a", "(NP (NR a)", "(NP a))", "x2:NP", "(NP x1:A x3:B)", "x1:A (B b) x1:C",
                           "x1:", "( a)", "(NP  a)", "x0:A", "x1:A x2:B x1:C"}) {
    BOOST_CHECK_THROW(again(text), std::invalid_argument);
  }
}
