// SPDX-License-Identifier: Apache-2.0
// A pattern becomes a program of few instructions; all its threads run through the text in step, each place of the
// program at most once for each character.
#include "ops/cpu/regex.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "ops/cpu/text.h"

namespace max {

namespace {

constexpr size_t kMostInstructions = size_t{1} << 15;
constexpr size_t kMostSteps = size_t{1} << 18;  // of compiling: repetitions of nothing make no instructions

bool isIn(const std::vector<std::pair<uint32_t, uint32_t>>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

uint32_t changedCase(uint32_t code, std::string (*change)(std::string_view)) {
  std::string text;
  appendCharacter(text, code);
  return firstCharacter(change(text)).code;
}

bool isWord(uint32_t code) {
  return code == '_' || (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z');
}

constexpr uint32_t kNone = UINT32_MAX;  // beyond the text
constexpr uint32_t kReplacement = 0xFFFD;

}  // namespace

void regex::CharSet::prepare() {
  for (uint32_t code = 0; code < ascii.size(); ++code) ascii[code] = find(code);
}

bool regex::CharSet::find(uint32_t code) const {
  bool found = isIn(ranges, code);
  if (!found && ignoresCase)
    found = isIn(ranges, changedCase(code, lowerCase)) || isIn(ranges, changedCase(code, upperCase));
  return found != isNegated;
}

class RegexCompiler {
 public:
  RegexCompiler(Regex& regex, const regex::Pattern& pattern, std::string_view text)
      : program_(regex.program_), pattern_(pattern), text_(text) {}

  void run() {
    emit(pattern_.root);
    add({Regex::Instruction::Match});
  }

 private:
  using Instruction = Regex::Instruction;

  int here() const { return static_cast<int>(program_.size()); }
  int add(const Instruction& instruction) {
    if (program_.size() >= kMostInstructions) failSize();
    program_.push_back(instruction);
    return here() - 1;
  }
  int addSplit() { return add({Instruction::Split, {}, 0, here() + 1, 0}); }
  Instruction& at(int i) { return program_[static_cast<size_t>(i)]; }
  [[noreturn]] void failSize() const { invalidArgument("regular expression '", text_, "' is too large"); }

  // As deep as the pattern is nested, which the parser bounds.
  void emit(int number) {
    if (++steps_ > kMostSteps) failSize();
    const regex::Part& part = pattern_.parts[static_cast<size_t>(number)];
    switch (part.kind) {
      case regex::Part::Empty:
        return;
      case regex::Part::Set:
        add({Instruction::Set, {}, part.set});
        return;
      case regex::Part::Assert:
        add({Instruction::Assert, part.assertion});
        return;
      case regex::Part::Concat:
        for (int child : part.children) emit(child);
        return;
      case regex::Part::Alternate:
        return alternate(part);
      case regex::Part::Repeat:
        return repeat(part);
    }
  }

  void alternate(const regex::Part& part) {
    std::vector<int> jumps;
    for (size_t i = 0; i + 1 < part.children.size(); ++i) {
      const int split = addSplit();
      emit(part.children[i]);
      jumps.push_back(add({Instruction::Jump}));
      at(split).other = here();
    }
    emit(part.children.back());
    for (int jump : jumps) at(jump).next = here();
  }

  void repeat(const regex::Part& part) {
    const int child = part.children[0];
    for (int i = 0; i < part.least; ++i) emit(child);
    if (part.most < 0) {
      const int split = addSplit();
      emit(child);
      add({Instruction::Jump, {}, 0, split});
      at(split).other = here();
      return;
    }
    std::vector<int> splits;
    for (int i = part.least; i < part.most; ++i) {
      splits.push_back(addSplit());
      emit(child);
    }
    for (int split : splits) at(split).other = here();
  }

  std::vector<Instruction>& program_;
  const regex::Pattern& pattern_;
  std::string_view text_;
  size_t steps_ = 0;
};

namespace {

uint32_t read(std::string_view& text) {
  if (text.empty()) return kNone;
  const Character character = firstCharacter(text);
  text.remove_prefix(character.bytes);
  return character.code < kRawByte ? character.code : kReplacement;
}

bool holds(regex::Assertion assertion, uint32_t before, uint32_t after) {
  switch (assertion) {
    case regex::Assertion::TextBegin:
      return before == kNone;
    case regex::Assertion::TextEnd:
      return after == kNone;
    case regex::Assertion::LineBegin:
      return before == kNone || before == '\n';
    case regex::Assertion::LineEnd:
      return after == kNone || after == '\n';
    case regex::Assertion::WordBoundary:
      return isWord(before) != isWord(after);
    case regex::Assertion::NoWordBoundary:
      return isWord(before) == isWord(after);
  }
  return false;
}

}  // namespace

bool RegexMatcher::matches(std::string_view text) {
  using Op = Regex::Instruction::Op;
  uint32_t code = read(text);
  threads_.clear();
  ++turn_;
  follow(threads_, 0, kNone, code);
  for (; code != kNone && !threads_.empty(); threads_.swap(next_)) {
    const uint32_t after = read(text);
    next_.clear();
    ++turn_;
    for (int thread : threads_) {
      const auto& instruction = regex_.program_[static_cast<size_t>(thread)];
      if (instruction.op == Op::Set && regex_.sets_[static_cast<size_t>(instruction.set)].contains(code))
        follow(next_, thread + 1, code, after);
    }
    code = after;
  }
  return std::any_of(threads_.begin(), threads_.end(),
                     [&](int thread) { return regex_.program_[static_cast<size_t>(thread)].op == Op::Match; });
}

// Adds the places that wait for a character, or match, and are reached from `start` without one.
void RegexMatcher::follow(std::vector<int>& threads, int start, uint32_t before, uint32_t after) {
  using Op = Regex::Instruction::Op;
  stack_.assign(1, start);
  while (!stack_.empty()) {
    const int place = stack_.back();
    stack_.pop_back();
    if (std::exchange(seen_[static_cast<size_t>(place)], turn_) == turn_) continue;
    const auto& instruction = regex_.program_[static_cast<size_t>(place)];
    if (instruction.op == Op::Set || instruction.op == Op::Match)
      threads.push_back(place);
    else if (instruction.op == Op::Jump || instruction.op == Op::Split)
      stack_.push_back(instruction.next);
    else if (holds(instruction.assertion, before, after))
      stack_.push_back(place + 1);
    if (instruction.op == Op::Split) stack_.push_back(instruction.other);
  }
}

// Finds matches within a text: threads know where they began, and those that began first keep their place.
class RegexSearch {
 public:
  RegexSearch(const Regex& regex, std::string_view text) : regex_(regex), seen_(regex.program_.size(), 0) {
    for (std::string_view rest = text; !rest.empty();) {
      offsets_.push_back(text.size() - rest.size());
      codes_.push_back(read(rest));
    }
    offsets_.push_back(text.size());
  }

  // The next match from character `from` on, as offsets of its bytes; begin == end if it is empty.
  bool find(size_t& from, size_t& begin, size_t& end) {
    std::vector<Thread> threads, next;
    bool isFound = false;
    size_t first = 0, last = 0;
    ++turn_;
    for (size_t at = from;; ++at) {
      if (!isFound) follow(threads, {0, at}, at);
      for (const Thread& thread : threads) {
        if (opOf(thread) != Op::Match || (isFound && thread.start > first)) continue;
        isFound = true;
        first = thread.start;
        last = at;
      }
      if (isFound) std::erase_if(threads, [&](const Thread& thread) { return thread.start > first; });
      if (at == codes_.size() || (isFound && threads.empty())) break;
      next.clear();
      ++turn_;
      for (const Thread& thread : threads) {
        const auto& instruction = regex_.program_[static_cast<size_t>(thread.place)];
        if (instruction.op == Op::Set && regex_.sets_[static_cast<size_t>(instruction.set)].contains(codes_[at]))
          follow(next, {thread.place + 1, thread.start}, at + 1);
      }
      threads.swap(next);
    }
    from = std::max(last, first + 1);
    begin = offsets_[first];
    end = offsets_[last];
    return isFound;
  }
  bool isAtEnd(size_t from) const { return from >= codes_.size(); }

 private:
  using Op = Regex::Instruction::Op;
  struct Thread {
    int place;
    size_t start;
  };

  Op opOf(const Thread& thread) const { return regex_.program_[static_cast<size_t>(thread.place)].op; }

  void follow(std::vector<Thread>& threads, Thread thread, size_t at) {
    const uint32_t before = at > 0 ? codes_[at - 1] : kNone, after = at < codes_.size() ? codes_[at] : kNone;
    stack_.assign(1, thread.place);
    while (!stack_.empty()) {
      const int place = stack_.back();
      stack_.pop_back();
      if (std::exchange(seen_[static_cast<size_t>(place)], turn_) == turn_) continue;
      const auto& instruction = regex_.program_[static_cast<size_t>(place)];
      if (instruction.op == Op::Set || instruction.op == Op::Match)
        threads.push_back({place, thread.start});
      else if (instruction.op == Op::Jump || instruction.op == Op::Split)
        stack_.push_back(instruction.next);
      else if (holds(instruction.assertion, before, after))
        stack_.push_back(place + 1);
      if (instruction.op == Op::Split) stack_.push_back(instruction.other);
    }
  }

  const Regex& regex_;
  std::vector<uint64_t> seen_;
  uint64_t turn_ = 0;
  std::vector<int> stack_;
  std::vector<uint32_t> codes_;
  std::vector<size_t> offsets_;  // of the characters, and the end
};

Regex::Regex(std::string_view pattern) {
  regex::Pattern parsed = regex::parse(pattern);
  RegexCompiler(*this, parsed, pattern).run();
  sets_ = std::move(parsed.sets);
  for (regex::CharSet& set : sets_) set.prepare();
}

bool Regex::matches(std::string_view text) const { return RegexMatcher(*this).matches(text); }

std::vector<std::string_view> Regex::findAll(std::string_view text) const {
  RegexSearch search(*this, text);
  std::vector<std::string_view> found;
  size_t begin = 0, end = 0;
  for (size_t from = 0; !search.isAtEnd(from) && search.find(from, begin, end);)
    if (begin < end) found.push_back(text.substr(begin, end - begin));
  return found;
}

}  // namespace max
