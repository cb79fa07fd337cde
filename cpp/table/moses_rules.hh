// Rules of words and gaps as Moses' chart decoder reads them, one a line, in the byte order of Moses' own tables:
//
//   das [X][X] haus [X] ||| the [X][X] house [X] ||| p(f|e) lex(f|e) p(e|f) lex(e|f) ||| 1-1 ||| n(e) n(f) n(f,e) |||
//   |||
//
// [X][X] is a gap, the last [X] what the rule makes. The fourth column joins the gaps; a table has no links of words.
#pragma once

#include <cstddef>
#include <string>

#include "table/moses_text.hh"
#include "table/rule_table.hh"

namespace treeglot {

// Beyond `memory` sorting goes to unnamed files in `folder`. Throws std::invalid_argument if a rule has symbols other
// than words and gaps.
void export_moses_rules(const RuleTable& table, const WriteText& write, const std::string& folder, std::size_t memory);

}  // namespace treeglot
