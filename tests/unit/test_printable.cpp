// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/printable.h"

namespace max {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "conv1/weights:0", "Gr\u00f6\u00dfe \u6570\u91cf \U0001f600", "\u00a0\u0301"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("a\nb\r\t\x7f"), "a\\nb\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u009b2J"), "\\xc2\\x9b2J");  // an escape sequence of eight bits
}

TEST(Printable, WhatMovesOrHidesTextIsEscaped) {
  for (const char* text : {"\u061c", "\u200b", "\u200d", "\u200e", "\u2028", "\u202a", "\u202e", "\u2066", "\u2069",
                           "\ufeff", "\ufff9", "\uffff", "\U000e0041"}) {
    const std::string shown = printable(text);
    EXPECT_EQ(shown.size(), 4 * std::string(text).size()) << text;
    EXPECT_EQ(shown.substr(0, 2), "\\x");
  }
}

TEST(Printable, InvalidUtf8IsEscaped) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // too long
  EXPECT_EQ(printable("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");           // too long
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut off
  EXPECT_EQ(printable("\xe2(\xac"), "\\xe2(\\xac");
}

TEST(Printable, LongTextsAreCut) {
  const std::string shown = printable(std::string(1 << 20, '\x1b'));
  EXPECT_LT(shown.size(), 60000u);
  EXPECT_EQ(shown.find('\x1b'), shown.npos);
}

TEST(Printable, LinesStayLines) {
  EXPECT_EQ(printableLines("a\tb\n\x1b\n\nc"), "a\tb\n\\x1b\n\nc");
  EXPECT_EQ(printableLines("\r\n"), "\\x0d\n");
}

TEST(Printable, JsonMeansTheSame) {
  EXPECT_EQ(printableJson("{\n  \"a\": \"\u00e4\u202e\"\n}"), "{\n  \"a\": \"\u00e4\\u202e\"\n}");
  EXPECT_EQ(printableJson("\"\x7f\u009b\""), "\"\\u007f\\u009b\"");
  EXPECT_EQ(printableJson("\"\U000e0041\""), "\"\\udb40\\udc41\"");
  EXPECT_EQ(printableJson("\"\xff\""), "\"\\ufffd\"");
}

}  // namespace
}  // namespace max
