// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "ops/cpu/string/regex.h"
#include "ops/cpu/string/text.h"

namespace max::regex {

namespace {

constexpr int kMostRepeats = 1000;
constexpr int kMostDepth = 200;
constexpr uint32_t kLastCode = 0x10FFFF;

using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

struct NamedSet {
  std::string_view name;
  std::string_view ranges;  // pairs of ends
};

constexpr NamedSet kPosixSets[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", std::string_view("\0\x7f", 2)},
    {"blank", "\t\t  "},
    {"cntrl", std::string_view("\0\x1f\x7f\x7f", 4)},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZ__az"},
    {"xdigit", "09AFaf"},
};

// \d, \s, \w; \D, \S, \W are their complements.
constexpr NamedSet kPerlSets[] = {{"d", "09"}, {"s", "\t\n\f\r  "}, {"w", "09AZ__az"}};

Ranges rangesOf(std::string_view ends) {
  Ranges ranges;
  for (size_t i = 0; i + 1 < ends.size(); i += 2)
    ranges.emplace_back(static_cast<unsigned char>(ends[i]), static_cast<unsigned char>(ends[i + 1]));
  return ranges;
}

Ranges complement(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges result;
  uint32_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (first > next) result.emplace_back(next, first - 1);
    next = std::max(next, last + 1);
  }
  if (next <= kLastCode) result.emplace_back(next, kLastCode);
  return result;
}

struct Flags {
  bool ignoresCase = false, dotIsAll = false, isMultiline = false;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Pattern run() {
    pattern_.root = alternation(0);
    if (at_ < text_.size()) invalid("unexpected )");
    return std::move(pattern_);
  }

 private:
  template <class... Texts>
  [[noreturn]] void invalid(const Texts&... texts) const {
    invalidArgument("regular expression '", text_, "': ", texts..., " at character ", at_);
  }

  bool atEnd() const { return at_ == text_.size(); }
  bool sees(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  bool take(std::string_view token) {
    if (!sees(token)) return false;
    at_ += token.size();
    return true;
  }
  uint32_t takeCharacter() {
    if (atEnd()) invalid("unexpected end");
    const Character character = firstCharacter(text_.substr(at_));
    if (character.code > kLastCode) invalid("no UTF-8");
    at_ += character.bytes;
    return character.code;
  }

  int add(Part part) {
    pattern_.parts.push_back(std::move(part));
    return static_cast<int>(pattern_.parts.size()) - 1;
  }
  int addSet(Ranges ranges, bool isNegated = false) {
    Part part;
    part.kind = Part::Set;
    part.set = static_cast<int>(pattern_.sets.size());
    std::sort(ranges.begin(), ranges.end());
    CharSet characters;
    characters.ranges = std::move(ranges);
    characters.isNegated = isNegated;
    characters.ignoresCase = flags_.ignoresCase;
    pattern_.sets.push_back(std::move(characters));
    return add(std::move(part));
  }
  int addCharacter(uint32_t code) { return addSet({{code, code}}); }
  int addAssertion(Assertion assertion) {
    Part part;
    part.kind = Part::Assert;
    part.assertion = assertion;
    return add(std::move(part));
  }
  int addList(Part::Kind kind, std::vector<int> children) {
    if (children.size() == 1) return children[0];
    Part part;
    part.kind = children.empty() ? Part::Empty : kind;
    part.children = std::move(children);
    return add(std::move(part));
  }

  // a|b|c up to ) or the end. Flags set inside end there.
  int alternation(int depth) {
    if (depth > kMostDepth) invalid("nested more than ", kMostDepth, " deep");
    const Flags outer = flags_;
    std::vector<int> choices;
    do choices.push_back(concatenation(depth));
    while (take("|"));
    flags_ = outer;
    return addList(Part::Alternate, std::move(choices));
  }

  int concatenation(int depth) {
    std::vector<int> items;
    while (!atEnd() && !sees("|") && !sees(")")) {
      if (take("\\Q")) {
        quoted(items);
        continue;
      }
      const std::optional<int> item = atom(depth);
      if (item) items.push_back(repeated(*item));
    }
    return addList(Part::Concat, std::move(items));
  }

  void quoted(std::vector<int>& items) {
    const size_t before = items.size();
    while (!atEnd() && !take("\\E")) items.push_back(addCharacter(takeCharacter()));
    if (items.size() > before) items.back() = repeated(items.back());
  }

  // Nothing for groups that only set flags.
  std::optional<int> atom(int depth) {
    if (take("(")) return group(depth);
    if (take("[")) return set();
    if (take(".")) return flags_.dotIsAll ? addSet({{0, kLastCode}}) : addSet({{'\n', '\n'}}, true);
    if (take("^")) return addAssertion(flags_.isMultiline ? Assertion::LineBegin : Assertion::TextBegin);
    if (take("$")) return addAssertion(flags_.isMultiline ? Assertion::LineEnd : Assertion::TextEnd);
    if (sees("*") || sees("+") || sees("?")) invalid("nothing to repeat");
    if (take("\\")) return escape();
    return addCharacter(takeCharacter());
  }

  std::optional<int> group(int depth) {
    const Flags outer = flags_;
    if (take("?") && !takeGroupName()) {
      const bool isScoped = takeFlags();
      if (!isScoped) return std::nullopt;
    }
    const int part = alternation(depth + 1);
    if (!take(")")) invalid("missing )");
    flags_ = outer;
    return part;
  }

  bool takeGroupName() {
    if (!take("P<") && !take("<")) return false;
    const size_t end = text_.find('>', at_);
    const std::string_view name = text_.substr(at_, end == text_.npos ? 0 : end - at_);
    const auto isLetter = [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    };
    if (name.empty() || !std::all_of(name.begin(), name.end(), isLetter)) invalid("bad group name");
    at_ = end + 1;
    return true;
  }

  // After "(?": true if the flags apply to a group that follows, false if they apply from here on.
  bool takeFlags() {
    bool value = true;
    for (;;) {
      if (take(":")) return true;
      if (take(")")) return false;
      if (take("-"))
        value = false;
      else if (take("i"))
        flags_.ignoresCase = value;
      else if (take("s"))
        flags_.dotIsAll = value;
      else if (take("m"))
        flags_.isMultiline = value;
      else if (!take("U"))
        invalid("unknown flag or group");
    }
  }

  bool takeRepetition(int& least, int& most) {
    least = 0;
    most = -1;
    if (take("*")) return true;
    if (take("+")) return least = 1, true;
    if (take("?")) return most = 1, true;
    return takeCounts(least, most);
  }

  int repeated(int item) {
    Part part;
    if (!takeRepetition(part.least, part.most)) return item;
    take("?");  // the shortest match instead of the longest: a full match has only one length
    int least = 0, most = 0;
    if (takeRepetition(least, most)) invalid("repetition of a repetition");
    part.kind = Part::Repeat;
    part.children = {item};
    return add(std::move(part));
  }

  std::optional<int> takeNumber() {
    if (atEnd() || text_[at_] < '0' || text_[at_] > '9') return std::nullopt;
    int number = 0;
    for (; !atEnd() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      number = std::min(number * 10 + (text_[at_] - '0'), kMostRepeats + 1);
    return number;
  }

  // {n}, {n,}, {n,m}; any other { is literal.
  bool takeCounts(int& least, int& most) {
    const size_t begin = at_;
    if (!take("{")) return false;
    const std::optional<int> first = takeNumber();
    const bool hasComma = first && take(",");
    const std::optional<int> second = hasComma ? takeNumber() : first;
    if (!first || !take("}")) {
      at_ = begin;
      return false;
    }
    least = *first;
    most = second.value_or(-1);
    if (least > kMostRepeats || most > kMostRepeats || (most >= 0 && most < least)) invalid("bad repetition");
    return true;
  }

  int escape() {
    if (take("A")) return addAssertion(Assertion::TextBegin);
    if (take("z")) return addAssertion(Assertion::TextEnd);
    if (take("b")) return addAssertion(Assertion::WordBoundary);
    if (take("B")) return addAssertion(Assertion::NoWordBoundary);
    if (auto ranges = takePerlSet()) return addSet(std::move(*ranges));
    return addCharacter(escapedCharacter());
  }

  std::optional<Ranges> takePerlSet() {
    if (sees("p") || sees("P"))
      fail(MAX_STATUS_UNIMPLEMENTED, "regular expression '", text_, "': classes of Unicode (\\p) are not supported");
    for (const NamedSet& named : kPerlSets) {
      if (take(named.name)) return rangesOf(named.ranges);
      const char upper = static_cast<char>(named.name[0] - 32);
      if (take({&upper, 1})) return complement(rangesOf(named.ranges));
    }
    return std::nullopt;
  }

  uint32_t escapedCharacter() {
    constexpr std::string_view kLetters = "atnvfr";
    constexpr std::string_view kCodes = "\a\t\n\v\f\r";
    const uint32_t code = takeCharacter();
    if (code == 'x') return hexadecimal();
    if (code >= '0' && code <= '7') return octal(code - '0');
    if (code < 0x80)
      if (const size_t letter = kLetters.find(static_cast<char>(code)); letter != kLetters.npos)
        return static_cast<unsigned char>(kCodes[letter]);
    const bool isWord = code == '_' || (code >= '0' && code <= '9') || ((code | 32) >= 'a' && (code | 32) <= 'z');
    if (code >= 0x80 || isWord) invalid("unknown escape");
    return code;
  }

  // RE2 has no references to groups, so \1 needs two more digits.
  uint32_t octal(uint32_t code) {
    const bool isShort = code == 0;
    size_t digits = 1;
    for (; digits < 3 && !atEnd() && text_[at_] >= '0' && text_[at_] <= '7'; ++digits)
      code = code * 8 + static_cast<uint32_t>(text_[at_++] - '0');
    if (digits == 1 && !isShort) invalid("RE2 does not support back-references");
    return code;
  }

  uint32_t hexDigit() {
    const uint32_t code = takeCharacter();
    if (code >= '0' && code <= '9') return code - '0';
    if ((code | 32) >= 'a' && (code | 32) <= 'f') return (code | 32) - 'a' + 10;
    invalid("bad hexadecimal number");
  }

  uint32_t hexadecimal() {
    if (!take("{")) {
      const uint32_t high = hexDigit();
      return high * 16 + hexDigit();
    }
    uint32_t code = 0;
    do {
      code = code * 16 + hexDigit();
      if (code > kLastCode) invalid("the number is not a code point");
    } while (!take("}"));
    return code;
  }

  // After [.
  int set() {
    const bool isNegated = take("^");
    Ranges ranges;
    for (bool isFirst = true; isFirst || !sees("]"); isFirst = false) {
      if (atEnd()) invalid("missing ]");
      if (takeSetWithin(ranges)) continue;
      const uint32_t first = setCharacter();
      uint32_t last = first;
      if (sees("-") && !sees("-]")) {
        take("-");
        last = setCharacter();
      }
      if (last < first) invalid("bad character range");
      ranges.emplace_back(first, last);
    }
    take("]");
    return addSet(std::move(ranges), isNegated);
  }

  uint32_t setCharacter() { return take("\\") ? escapedCharacter() : takeCharacter(); }

  // [:alpha:], [:^alpha:], \d.
  bool takeSetWithin(Ranges& ranges) {
    std::optional<Ranges> within;
    if (sees("[:")) {
      within = posixSet();
    } else if (sees("\\")) {
      const size_t begin = at_++;
      within = takePerlSet();
      if (!within) at_ = begin;
    }
    if (within) ranges.insert(ranges.end(), within->begin(), within->end());
    return within.has_value();
  }

  std::optional<Ranges> posixSet() {
    const size_t end = text_.find(":]", at_ + 2);
    if (end == text_.npos) return std::nullopt;
    std::string_view name = text_.substr(at_ + 2, end - at_ - 2);
    const bool isNegated = name.starts_with("^");
    if (isNegated) name.remove_prefix(1);
    for (const NamedSet& named : kPosixSets) {
      if (named.name != name) continue;
      at_ = end + 2;
      return isNegated ? complement(rangesOf(named.ranges)) : rangesOf(named.ranges);
    }
    invalid("unknown class [:", name, ":]");
  }

  std::string_view text_;
  size_t at_ = 0;
  Flags flags_;
  Pattern pattern_;
};

}  // namespace

Pattern parse(std::string_view text) { return Parser(text).run(); }

}  // namespace max::regex
