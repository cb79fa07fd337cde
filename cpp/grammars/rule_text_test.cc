#include "grammars/rule_text.hh"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

using namespace treeglot;

namespace {

// Words and categories by number, numbered as they are needed.
struct Names {
  std::vector<std::string> texts;
  std::uint32_t operator()(std::string_view text) {
    texts.emplace_back(text);
    return static_cast<std::uint32_t>(texts.size() - 1);
  }
  TextOf of() const {
    return [this](std::uint32_t id) { return std::string_view(texts[id]); };
  }
};

std::string source_text(const std::vector<SourceText>& side) {
  Names names;
  std::vector<Symbol> symbols;
  for (const SourceText& item : side) symbols.push_back(symbol(item.kind, names(item.text)));
  std::string out;
  write_source(symbols, names.of(), names.of(), out);
  return out;
}

std::string target_text(const std::vector<TargetText>& side) {
  Names names;
  std::vector<TargetSymbol> symbols;
  for (const TargetText& item : side) {
    symbols.push_back(item.variable >= 0 ? target_variable(static_cast<std::uint32_t>(item.variable))
                                         : names(item.text));
  }
  std::string out;
  write_target(symbols, names.of(), out);
  return out;
}

const auto no_tag = [](std::string_view) { return false; };

}  // namespace

BOOST_AUTO_TEST_SUITE(rule_text)

BOOST_AUTO_TEST_CASE(the_kinds) {
  using K = SymbolKind;
  BOOST_TEST(source_text({{K::kWord, "英特尔"}, {K::kWord, "将"}, {K::kHeadWord, "推出"}, {K::kInternalWord, "本"}}) ==
             "英特尔 将 ^推出 x1:本*");
  BOOST_TEST(source_text({{K::kVariable, "NR"}, {K::kWord, "款"}, {K::kHeadVariable, "VV"}, {K::kInternalTag, "NN"}}) ==
             "x1:NR 款 ^x2:VV x3:NN*");
  BOOST_TEST(source_text({{K::kPhrasal, "NP[JJ_NN]"}, {K::kHeadWord, "款"}}) == "x1:NP[JJ_NN] ^款");
  BOOST_TEST(source_text({{K::kHeadPhrasal, "VP[VV_NN]"}}) == "^x1:VP[VV_NN]");
  BOOST_TEST(source_text({{K::kWord, "将"}, {K::kHeadWord, "推出"}, {K::kClose, ""}}) == "+ 将 ^推出");
  BOOST_TEST(source_text({{K::kWord, "将"}, {K::kRunWord, "推出"}}) == "将 ^x1:推出+");
  BOOST_TEST(source_text({{K::kRunTag, "VV"}, {K::kInternalTag, "NN"}}) == "^x1:VV+ x2:NN*");
  BOOST_TEST(
      source_text(
          {{K::kOpen, "NP"}, {K::kOpen, "NN"}, {K::kWord, "本"}, {K::kClose, ""}, {K::kSite, "VP"}, {K::kClose, ""}}) ==
      "(NP (NN 本) x1:VP)");
  BOOST_TEST(source_text({{K::kWord, "das"}, {K::kGap, ""}, {K::kGap, ""}}) == "das x1:X x2:X");
  BOOST_TEST(target_text({{1, ""}, {-1, "in"}, {-1, "Asia"}, {0, ""}}) == "x2 in Asia x1");
}

BOOST_AUTO_TEST_CASE(escapes) {
  const std::vector<std::pair<std::string, std::string>> cases{{"^", "\\u005e"},
                                                               {"_:M", "_:M"},
                                                               {"x1:NN",
                                                                "\\u0078"
                                                                "1:NN"},
                                                               {"*", "\\u002a"},
                                                               {"a*b*", "a*b\\u002a"},
                                                               {"+", "\\u002b"},
                                                               {"c++", "c+\\u002b"},
                                                               {"+c", "+c"},
                                                               {"|||", "\\u007c||"},
                                                               {"a b", "a\\u0020b"},
                                                               {"a\u3000b", "a\\u3000b"},
                                                               {"a\u00a0", "a\\u00a0"},
                                                               {"\\u0041", "\\u005cu0041"},
                                                               {"\\u004", "\\u004"},
                                                               {"x1",
                                                                "\\u0078"
                                                                "1"},
                                                               {"x1y", "x1y"},
                                                               {"x:", "x:"},
                                                               {"_", "_"},
                                                               {"(", "("},
                                                               {"||", "||"}};
  for (const auto& [plain, escaped] : cases) {
    BOOST_TEST(source_text({{SymbolKind::kWord, plain}}) == escaped);
    BOOST_TEST(unescape(escaped) == plain);
  }
  BOOST_TEST(target_text({{-1, "x1"}, {-1, "x"}, {-1, "x1y"}, {-1, "^"}}) ==
             "\\u0078"
             "1 x x1y \\u005e");
  BOOST_TEST(source_text({{SymbolKind::kWord, "x1"}, {SymbolKind::kHeadWord, "a"}}) == "x1 ^a");
  BOOST_TEST(source_text({{SymbolKind::kVariable, "A[B]"}}) == "x1:A[B\\u005d");
  BOOST_TEST(source_text({{SymbolKind::kVariable, "WP*"}}) == "x1:WP\\u002a");
  BOOST_TEST(source_text({{SymbolKind::kOpen, "-LRB-"}, {SymbolKind::kWord, "("}, {SymbolKind::kClose, ""}}) ==
             "(-LRB- \\u0028)");
}

BOOST_AUTO_TEST_CASE(there_and_back) {
  std::mt19937 random(5);
  const std::vector<std::string> pieces{"a", "本",      "^",   "_", ":",      "x", "1",     "*",  "+",
                                        "|", "||",      " ",   "(", ")",      "[", "]",     "\\", "u",
                                        "0", "\\u005e", "x12", "é", "\u3000", "𝒳", "\u2003"};
  auto text = [&] {
    std::string result;
    for (std::size_t n = 1 + random() % 5; n > 0; --n) result += pieces[random() % pieces.size()];
    return result;
  };
  using K = SymbolKind;
  const std::vector<K> others{K::kWord, K::kVariable, K::kInternalWord, K::kInternalTag, K::kPhrasal};
  const std::vector<K> heads{K::kHeadWord, K::kHeadVariable, K::kHeadPhrasal, K::kRunWord, K::kRunTag};
  for (int round = 0; round < 3000; ++round) {
    std::vector<SourceText> side;
    std::set<std::string> tags;
    std::size_t size = 1 + random() % 5, head = random() % size, variables = 0;
    for (std::size_t i = 0; i < size; ++i) {
      K kind = i == head ? heads[random() % heads.size()] : others[random() % others.size()];
      std::string content = text();
      if (kind == K::kPhrasal || kind == K::kHeadPhrasal) content += "[" + text() + "]";
      if (kind == K::kInternalTag || kind == K::kRunTag) tags.insert(content);
      if (kind == K::kInternalWord && tags.contains(content)) kind = K::kInternalTag;
      variables += is_variable(symbol(kind, 0));
      side.push_back({kind, content});
    }
    for (SourceText& item : side) {  // the text cannot tell a word from an equal tag
      if (item.kind == K::kInternalWord && tags.contains(item.text)) item.kind = K::kInternalTag;
      if (item.kind == K::kRunWord && tags.contains(item.text)) item.kind = K::kRunTag;
    }
    if (random() % 4 == 0) side.push_back({K::kClose, ""});  // a run
    auto is_tag = [&](std::string_view content) { return tags.contains(std::string(content)); };
    BOOST_CHECK(parse_source(source_text(side), RuleFamily::kMembers, is_tag) == side);

    std::vector<SourceText> tree{{K::kOpen, text()}}, flat;
    int depth = 1;
    for (std::size_t n = random() % 8; n > 0; --n) {
      switch (random() % 4) {
        case 0:
          tree.push_back({K::kOpen, text()});
          ++depth;
          break;
        case 1:
          tree.push_back({K::kSite, text()});
          break;
        case 2:
          tree.push_back({K::kWord, text()});
          break;
        default:
          if (depth > 1) {
            tree.push_back({K::kClose, ""});
            --depth;
          }
      }
      flat.push_back(random() % 2 ? SourceText{K::kGap, ""} : SourceText{K::kWord, text()});
    }
    for (; depth > 0; --depth) tree.push_back({K::kClose, ""});
    BOOST_CHECK(parse_source(source_text(tree), RuleFamily::kTree, no_tag) == tree);
    if (!flat.empty()) BOOST_CHECK(parse_source(source_text(flat), RuleFamily::kGaps, no_tag) == flat);

    std::vector<TargetText> target;
    for (std::size_t i = 0; i < variables; ++i) target.push_back({static_cast<int>(i), ""});
    for (std::size_t n = 1 + random() % 3; n > 0; --n) target.push_back({-1, text()});
    std::shuffle(target.begin(), target.end(), random);
    BOOST_CHECK(parse_target(target_text(target), variables) == target);
  }
}

BOOST_AUTO_TEST_CASE(gaps_without_their_category) {
  const std::vector<SourceText> side{{SymbolKind::kGap, ""}, {SymbolKind::kWord, "的"}, {SymbolKind::kGap, ""}};
  for (std::string_view text : {"x1:X 的 x2:X", "x1 的 x2", "x1 的 x2:X"}) {
    BOOST_CHECK(parse_source(text, RuleFamily::kGaps, no_tag) == side);
  }
  const std::vector<SourceText> words{{SymbolKind::kWord, "x1"}, {SymbolKind::kGap, ""}, {SymbolKind::kWord, "x"}};
  BOOST_CHECK(parse_source(source_text(words), RuleFamily::kGaps, no_tag) == words);
  BOOST_CHECK_THROW(parse_source("x2 的 x1", RuleFamily::kGaps, no_tag), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  for (std::string_view text : {"", "a  ^b", "a b", "^a ^b", "x2:NN ^a", "^x1:", "^x1:VV*", "^", "x1:* ^a"}) {
    BOOST_CHECK_THROW(parse_source(text, RuleFamily::kMembers, no_tag), std::invalid_argument);
  }
  for (std::string_view text : {"(NP a", "(NP a))", "a", "(A b) (C d)", "( a)", "(A x2:B)", "(A b) c"}) {
    BOOST_CHECK_THROW(parse_source(text, RuleFamily::kTree, no_tag), std::invalid_argument);
  }
  BOOST_CHECK_THROW(parse_source("x1:Y", RuleFamily::kGaps, no_tag), std::invalid_argument);
  for (std::string_view text : {"", "x1", "x1 x1 x2", "x1 x3", "x0 x1 x2", "x1 x99999999999999999999"}) {
    BOOST_CHECK_THROW(parse_target(text, 2), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_SUITE_END()
