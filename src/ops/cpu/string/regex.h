// SPDX-License-Identifier: Apache-2.0
// Regular expressions in RE2's syntax, for full matches. Patterns are not trusted: matching takes time proportional to
// the text and to the program, whose size is limited; recursion depth is limited too.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interrupt_point.h"
#include "base/work_vector.h"

namespace max {

namespace regex {

// A set of characters.
struct CharSet {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // both ends belong to it
  bool isNegated = false;
  bool ignoresCase = false;
  std::bitset<128> ascii;  // the answer for these, once prepare() was called

  void prepare();
  bool contains(uint32_t code) const { return code < ascii.size() ? ascii[code] : find(code); }

 private:
  bool find(uint32_t code) const;
};

// An assertion at a position between characters.
enum class Assertion : uint8_t { TextBegin, TextEnd, LineBegin, LineEnd, WordBoundary, NoWordBoundary };

// A part of a pattern; children are numbers of parts.
struct Part {
  enum Kind : uint8_t { Empty, Set, Assert, Concat, Alternate, Repeat };
  Kind kind = Empty;
  Assertion assertion = Assertion::TextBegin;
  int set = 0;
  int least = 0, most = 0;  // of Repeat; most -1 = any number
  std::vector<int> children;
};

struct Pattern {
  std::vector<Part> parts;
  std::vector<CharSet> sets;
  int root = 0;
};

// INVALID_ARGUMENT naming the position if the pattern is malformed; UNIMPLEMENTED for RE2 features not supported here.
Pattern parse(std::string_view text);

}  // namespace regex

class Regex {
 public:
  explicit Regex(std::string_view pattern);
  bool matches(std::string_view text) const;  // all of it

 private:
  friend class RegexCompiler;
  friend class RegexMatcher;
  friend class RegexSearch;
  struct Instruction {
    enum Op : uint8_t { Set, Assert, Split, Jump, Match };
    Op op;
    regex::Assertion assertion = regex::Assertion::TextBegin;
    int set = 0;
    int next = 0, other = 0;  // Jump and Split; the others go on with the next instruction
  };
  // The whole pattern is a set of characters, repeated at least `least` and at most `most` times; -1 = any number.
  struct Run {
    int set, least, most;
  };
  std::vector<Instruction> program_;
  std::vector<regex::CharSet> sets_;
  std::optional<Run> run_;
};

// For many strings: reuses its memory. The expression must stay valid.
class RegexMatcher {
 public:
  explicit RegexMatcher(const Regex& regex) : regex_(regex), seen_(regex.program_.size(), 0) {}
  bool matches(std::string_view text);

 private:
  void follow(std::vector<int>& threads, int start, uint32_t before, uint32_t after);

  const Regex& regex_;
  std::vector<uint64_t> seen_;  // in which turn a place was reached
  uint64_t turn_ = 0;
  std::vector<int> stack_, threads_, next_;
  WorkCounter work_;
};

// Finds matches within strings, and reuses its memory. The expression must stay valid. For each character it finds the
// end of the longest match that starts there, visiting each instruction of the program at most once, however often
// matches fail.
class RegexSearch {
 public:
  explicit RegexSearch(const Regex& regex);
  // Non-overlapping matches, from the left, each as long as possible; none is empty.
  WorkVector<std::string_view> findAll(std::string_view text);

 private:
  // A place of the program, and the furthest end of a match that goes on from there.
  struct Reach {
    int place;
    size_t end;
  };
  WorkVector<std::string_view> findRuns(std::string_view text, const Regex::Run& run);
  void readCharacters(std::string_view text);
  void findEnds();
  void follow(const Reach& reach, size_t at);

  const Regex& regex_;
  std::vector<uint64_t> turns_;           // in which turn a place was reached
  std::vector<std::vector<int>> before_;  // the places that lead to each without a character
  uint64_t turn_ = 0;
  std::vector<Reach> later_, now_;  // of the character after this one, and of this one
  std::vector<int> stack_;
  WorkVector<uint32_t> codes_;
  WorkVector<size_t> offsets_;  // of the characters, and the text's end
  WorkVector<size_t> ends_;     // of the longest match that begins with each character
  WorkCounter work_;
};

}  // namespace max
