#include "shmem-cc/lexer.h"

#include <gtest/gtest.h>

namespace symm::cc {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (const Token& token : tokenize(text))
    result.emplace_back(text.substr(token.offset, token.length));
  return result;
}
using Words = std::vector<std::string>;

TEST(LexerTest, CommentsAndDirectivesLieBetweenTokens) {
  EXPECT_EQ(words("a /* <<< */ b // c\nd"), (Words{"a", "b", "d"}));
  EXPECT_EQ(words("# 1 \"f.cpp\" 2\n  #pragma once \\\n more\nx # y"), (Words{"x", "#", "y"}));
}

TEST(LexerTest, LiteralsAreOneToken) {
  EXPECT_EQ(words(R"(f("a\"b<<<", 'x', '\'', u8"s", L'c'))"),
            (Words{"f", "(", R"("a\"b<<<")", ",", "'x'", ",", R"('\'')", ",", "u8\"s\"", ",",
                   "L'c'", ")"}));
  EXPECT_EQ(words("R\"x(a)\" <<<1>>> )x\" b"), (Words{"R\"x(a)\" <<<1>>> )x\"", "b"}));
  EXPECT_EQ(words("u8R\"(\n)\" b"), (Words{"u8R\"(\n)\"", "b"}));
}

TEST(LexerTest, NumbersKeepSeparatorsAndExponents) {
  EXPECT_EQ(words("1'000'000 0x1.8p-3f 1e+5 .5 3.x 7'a'"),
            (Words{"1'000'000", "0x1.8p-3f", "1e+5", ".5", "3.x", "7'a", "'"}));
}

TEST(LexerTest, OnlyScopeAndArrowAreTwoCharacters) {
  EXPECT_EQ(words("a::b->c<<<d"), (Words{"a", "::", "b", "->", "c", "<", "<", "<", "d"}));
}

TEST(LexerTest, UnfinishedLiteralsEndWithTheText) {
  EXPECT_EQ(words("\"abc"), (Words{"\"abc"}));
  EXPECT_EQ(words("R\"(abc"), (Words{"R\"(abc"}));
  EXPECT_EQ(words("'\\"), (Words{"'\\"}));
  EXPECT_EQ(words("a /* b"), (Words{"a"}));
}

TEST(LexerTest, LocationFollowsLineMarkers) {
  const std::string_view text = "# 1 \"a.cpp\"\nx\n# 40 \"b.h\" 1\ny\nz\n";
  EXPECT_EQ(locate(text, text.find('x')).file, "a.cpp");
  EXPECT_EQ(locate(text, text.find('x')).line, 1u);
  EXPECT_EQ(locate(text, text.find('z')).file, "b.h");
  EXPECT_EQ(locate(text, text.find('z')).line, 41u);
}

}  // namespace
}  // namespace symm::cc
