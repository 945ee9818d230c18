// SPDX-License-Identifier: Apache-2.0
// Regular expressions: RE2's syntax, full matches, patterns of strangers.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/active_call.h"
#include "base/error.h"
#include "ops/cpu/string/regex.h"

namespace max {
namespace {

struct Case {
  const char* pattern;
  std::initializer_list<const char*> matching;
  std::initializer_list<const char*> others;
};

const Case kCases[] = {
    {"", {""}, {"a"}},
    {"abc", {"abc"}, {"", "ab", "abcd", "xabc"}},
    {"a|bc|", {"a", "bc", ""}, {"b", "abc"}},
    {"a*b+c?", {"b", "aabb", "abc", "bc"}, {"", "ac", "abcc"}},
    {"a*?b+?c??", {"b", "aabbc"}, {"ac"}},
    {"(ab)*", {"", "ab", "abab"}, {"aba"}},
    {"(?:a|b){2,3}", {"ab", "bbb"}, {"a", "abab"}},
    {"a{2}b{1,}c{0,1}", {"aab", "aabbbc"}, {"ab", "aac"}},
    {"a{,3}", {"a{,3}"}, {"a", "aaa"}},
    {"a{x}", {"a{x}"}, {"a"}},
    {"(a*)*", {"", "aaa"}, {"b"}},
    {"(|a)+", {"", "aa"}, {"b"}},
    {".", {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x94\xa5"}, {"", "\n", "ab"}},
    {"(?s).", {"\n"}, {""}},
    {"(?s:.).", {"\na"}, {"\n\n"}},
    {"[a-c\\d]", {"a", "c", "7"}, {"d", "A", ""}},
    {"[^a-c\\d]", {"d", "\n"}, {"b", "3"}},
    {"[]a]", {"]", "a"}, {"b"}},
    {"[^]a]", {"b"}, {"]"}},
    {"[a\\]-]", {"a", "]", "-"}, {"\\"}},
    {"[[:alpha:][:digit:]_]+", {"aZ9_"}, {"a-b"}},
    {"[[:^space:]]", {"x"}, {" "}},
    {"\\D\\S\\W", {"x! "}, {"1! ", "x  ", "x!a"}},
    {"\\w+@\\w+\\.(com|org)", {"a_1@b2.org"}, {"a@b.net", "@b.com"}},
    {"\\x41\\x{1F525}\\n\\t\\.\\\\", {"A\xf0\x9f\x94\xa5\n\t.\\"}, {"A"}},
    {"\\101\\07", {"A\a"}, {"A"}},
    {"\\Qa.b*\\E+", {"a.b*", "a.b**"}, {"axb", "a.b"}},
    {"^abc$", {"abc"}, {"abc\n"}},
    {"(?m)a$\n^b", {"a\nb"}, {"ab"}},
    {"a$\nb", {}, {"a\nb"}},
    {"\\Aa\\z", {"a"}, {"aa"}},
    {"\\bfoo\\b bar", {"foo bar"}, {"foobar"}},
    {"fo\\Bo", {"foo"}, {}},
    {"f\\boo", {}, {"foo"}},
    {"(?i)stra\xc3\x9f"
     "e\xc3\xa4",
     {"STRA\xc3\x9f"
      "E\xc3\x84"},
     {"strasse\xc3\xa4"}},
    {"(?i:a)b", {"Ab", "ab"}, {"aB"}},
    {"(?i)a(?-i)b", {"Ab"}, {"aB"}},
    {"(?i)[^a]", {"b"}, {"A", "a"}},
    {"(?P<year>\\d{4})-(?<month>\\d\\d)", {"2026-11"}, {"26-11"}},
    {"((a)|b)(?U)c*", {"acc", "b"}, {"c"}},
};

TEST(Regex, MatchesAsRe2) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.pattern);
    const Regex regex(c.pattern);
    for (const char* text : c.matching) EXPECT_TRUE(regex.matches(text)) << text;
    for (const char* text : c.others) EXPECT_FALSE(regex.matches(text)) << text;
  }
}

TEST(Regex, NamesThePlaceOfAMistake) {
  const struct {
    const char* pattern;
    const char* message;
  } mistakes[] = {
      {"(a", "missing )"},
      {"a)", "unexpected )"},
      {"[a", "missing ]"},
      {"[b-a]", "bad character range"},
      {"*a", "nothing to repeat"},
      {"a**", "repetition of a repetition"},
      {"a{2}{3}", "repetition of a repetition"},
      {"a{1001}", "bad repetition"},
      {"a{3,2}", "bad repetition"},
      {"\\", "unexpected end"},
      {"\\y", "unknown escape"},
      {"\\1", "references"},
      {"\\xg", "hexadecimal"},
      {"\\x{110000}", "not a code point"},
      {"[[:what:]]", "unknown class [:what:]"},
      {"(?x)", "unknown flag"},
      {"(?P<>a)", "group name"},
      {"(?=a)", "unknown flag"},
      {"\xff", "UTF-8"},
      {"\\pL", "Unicode"},
  };
  for (const auto& mistake : mistakes) try {
      const Regex regex(mistake.pattern);
      ADD_FAILURE() << mistake.pattern;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(mistake.message), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("regular expression '"), std::string::npos);
    }
}

// What takes other engines exponential time or memory, or deep recursion.
TEST(Regex, IsBoundedWhateverThePattern) {
  const std::string text(5000, 'a');
  EXPECT_FALSE(Regex("(a*)*(a*)*b").matches(text));
  EXPECT_TRUE(Regex("(a|a|a?)*").matches(text));
  std::string optional;
  for (int i = 0; i < 500; ++i) optional += "a?";
  EXPECT_TRUE(Regex(optional + std::string(500, 'a')).matches(text.substr(0, 500)));
  EXPECT_THROW(Regex("((a{1000}){1000}){1000}"), Error);
  EXPECT_THROW(Regex("((({1000}){1000}){1000}){1000}"), Error);
  EXPECT_THROW(Regex("((()" + std::string("{1000}){1000}){1000}")), Error);
  EXPECT_THROW(Regex(std::string(100000, '(')), Error);
  EXPECT_THROW(Regex(std::string(100000, '(') + std::string(100000, ')')), Error);
  EXPECT_NO_THROW(Regex(std::string(150, '(') + std::string(150, ')')));
}

TEST(Regex, InvalidBytesMatchAsOneUnknownCharacter) {
  EXPECT_TRUE(Regex("..").matches("\xff\xc3"));
  EXPECT_FALSE(Regex("[a-z]+").matches("a\xff"));
  EXPECT_TRUE(Regex("[^a-z]").matches("\xed"));
}

// The matches of all parts of the text, tried one by one.
WorkVector<std::string_view> foundByTrying(const Regex& regex, std::string_view text) {
  RegexMatcher matcher(regex);
  WorkVector<std::string_view> found;
  for (size_t begin = 0; begin < text.size();) {
    size_t longest = 0;
    for (size_t count = 1; begin + count <= text.size(); ++count)
      if (matcher.matches(text.substr(begin, count))) longest = count;
    if (longest > 0) found.push_back(text.substr(begin, longest));
    begin += std::max<size_t>(longest, 1);
  }
  return found;
}

TEST(Regex, FindsTheLongestMatchesFromTheLeft) {
  std::mt19937 random(1);
  for (const char* pattern :
       {"a", "ab|a", "(a|ab)(c|bcd)?", "a*", "(a|b)*c|a", "b+a|ab*", "(ab?){2}", "[ab]c|c+", "a?b?c?"}) {
    const Regex regex(pattern);
    RegexSearch search(regex);
    for (int i = 0; i < 200; ++i) {
      std::string text;
      for (unsigned size = random() % 12; size > 0; --size) text += static_cast<char>('a' + random() % 4);
      EXPECT_EQ(search.findAll(text), foundByTrying(regex, text)) << pattern << " in " << text;
    }
  }
}

TEST(Regex, FindsAssertionsWhereTheyHold) {
  const Regex words("\\b[a-z]+\\b"), lines("(?m)^a|b$");
  EXPECT_EQ(RegexSearch(words).findAll("ab 1c d"), (WorkVector<std::string_view>{"ab", "d"}));
  EXPECT_EQ(RegexSearch(lines).findAll("ab\nab"), (WorkVector<std::string_view>{"a", "b", "a", "b"}));
}

// Processor time of this thread, so that a busy machine changes nothing.
int64_t nanosecondsToFindAll(size_t length) {
  const std::string text(length, 'a');
  timespec start{}, end{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  for (const char* pattern : {"a*b|a", "(a|b)*c|a", "(a?){20}b|aa"}) {
    const Regex regex(pattern);
    EXPECT_FALSE(RegexSearch(regex).findAll(text).empty()) << pattern;
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return (end.tv_sec - start.tv_sec) * 1'000'000'000 + end.tv_nsec - start.tv_nsec;
}

// Each of these would look at the rest of the text again for every character: 256 times as long for 16 times the text.
TEST(Regex, FindsInTimeByTheText) {
  constexpr size_t kShort = 1 << 15;
  EXPECT_LT(nanosecondsToFindAll(16 * kShort), 64 * nanosecondsToFindAll(kShort));
}

// A pattern that is one repeated set of characters is searched for in another way than one that has a choice.
TEST(Regex, RunsOfASetAreThoseOfAChoice) {
  const std::string letters[] = {"a", "b", "c", "d", "\n", "é", "\xff", "\xc3", " "};
  std::mt19937 random(7);
  for (const std::string pattern : {".", "[a-c]", "[a-c]+", "[a-c]*", "[a-c]?", "[a-c]{2}", "[a-c]{2,3}", "[a-c]{3,}",
                                    "[^a]+", "\\w{0,2}", "é+", "[^é]{2}", "a{0}"}) {
    const Regex run(pattern), choice(concat("(?:", pattern, "|", pattern, ")"));
    RegexSearch runs(run), choices(choice);
    for (int turn = 0; turn < 200; ++turn) {
      std::string text;
      for (auto left = random() % 20; left > 0; --left) text += letters[random() % std::size(letters)];
      EXPECT_EQ(runs.findAll(text), choices.findAll(text)) << pattern << " in '" << text << "'";
    }
  }
}

}  // namespace
}  // namespace max
