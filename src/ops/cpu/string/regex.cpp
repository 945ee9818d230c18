// SPDX-License-Identifier: Apache-2.0
// A pattern becomes a program of few instructions; all its threads advance through the text together, with each
// instruction at most once per character.
#include "ops/cpu/string/regex.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/interrupt_point.h"
#include "ops/cpu/string/text.h"

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
      work_.pass(4);
      const auto& instruction = regex_.program_[static_cast<size_t>(thread)];
      if (instruction.op == Op::Set && regex_.sets_[static_cast<size_t>(instruction.set)].contains(code))
        follow(next_, thread + 1, code, after);
    }
    code = after;
  }
  return std::any_of(threads_.begin(), threads_.end(),
                     [&](int thread) { return regex_.program_[static_cast<size_t>(thread)].op == Op::Match; });
}

// Adds the instructions that consume a character, or match, and are reachable from `start` without one.
void RegexMatcher::follow(std::vector<int>& threads, int start, uint32_t before, uint32_t after) {
  using Op = Regex::Instruction::Op;
  stack_.assign(1, start);
  while (!stack_.empty()) {
    const int place = stack_.back();
    stack_.pop_back();
    work_.pass(4);
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

RegexSearch::RegexSearch(const Regex& regex)
    : regex_(regex), turns_(regex.program_.size(), 0), before_(regex.program_.size()) {
  using Op = Regex::Instruction::Op;
  const auto add = [this](int place, size_t from) {
    before_[static_cast<size_t>(place)].push_back(static_cast<int>(from));
  };
  for (size_t i = 0; i < regex.program_.size(); ++i) {
    const auto& instruction = regex.program_[i];
    if (instruction.op == Op::Jump || instruction.op == Op::Split) add(instruction.next, i);
    if (instruction.op == Op::Split) add(instruction.other, i);
    if (instruction.op == Op::Assert) add(static_cast<int>(i) + 1, i);
  }
}

WorkVector<std::string_view> RegexSearch::findAll(std::string_view text) {
  if (regex_.run_) return findRuns(text, *regex_.run_);
  readCharacters(text);
  findEnds();
  WorkVector<std::string_view> found;
  for (size_t at = 0; at < codes_.size(); at = std::max(ends_[at], at + 1)) {
    work_.pass(4);
    if (ends_[at] > at) found.push_back(text.substr(offsets_[at], offsets_[ends_[at]] - offsets_[at]));
  }
  return found;
}

// Words and characters, as most tokenizers want: each character is looked at once.
WorkVector<std::string_view> RegexSearch::findRuns(std::string_view text, const Regex::Run& run) {
  const regex::CharSet& set = regex_.sets_[static_cast<size_t>(run.set)];
  const int64_t least = std::max(run.least, 1), most = run.most < 0 ? INT64_MAX : run.most;
  WorkVector<std::string_view> found;
  std::string_view rest = text;
  const char* begin = text.data();
  int64_t count = 0;
  const auto end = [&] {
    if (count >= least && count <= most) found.emplace_back(begin, static_cast<size_t>(rest.data() - begin));
    begin = rest.data();
    count = 0;
  };
  while (!rest.empty()) {
    work_.pass(8);
    const auto byte = static_cast<unsigned char>(rest[0]);
    const Character character = byte < 0x80 ? Character{byte, 1} : firstCharacter(rest);
    const bool isIn = set.contains(character.code < kRawByte ? character.code : kReplacement);
    if (!isIn || count == most) end();
    rest.remove_prefix(isIn ? character.bytes : 0);
    count += isIn;
    if (isIn) continue;
    rest.remove_prefix(character.bytes);
    begin = rest.data();
  }
  end();
  return found;
}

void RegexSearch::readCharacters(std::string_view text) {
  codes_.clear();
  offsets_.clear();
  for (std::string_view rest = text; !rest.empty(); work_.pass(8)) {
    offsets_.push_back(text.size() - rest.size());
    codes_.push_back(read(rest));
  }
  offsets_.push_back(text.size());
}

// From the end of the text to its beginning: the results of later characters are known first.
void RegexSearch::findEnds() {
  using Op = Regex::Instruction::Op;
  ends_.assign(codes_.size() + 1, 0);
  later_.clear();
  for (size_t at = codes_.size() + 1; at-- > 0; later_.swap(now_)) {
    now_.clear();
    ++turn_;
    // Furthest ends come first, so that each instruction is reached with its furthest end.
    for (const Reach& reach : later_) {
      const int place = reach.place - 1;
      work_.pass(4);
      if (place < 0 || regex_.program_[static_cast<size_t>(place)].op != Op::Set) continue;
      const auto set = static_cast<size_t>(regex_.program_[static_cast<size_t>(place)].set);
      if (regex_.sets_[set].contains(codes_[at])) follow({place, reach.end}, at);
    }
    follow({static_cast<int>(regex_.program_.size()) - 1, at}, at);  // the match itself
  }
}

// Adds an instruction, and those that lead to it without a character.
void RegexSearch::follow(const Reach& reach, size_t at) {
  const uint32_t before = at > 0 ? codes_[at - 1] : kNone, after = at < codes_.size() ? codes_[at] : kNone;
  stack_.assign(1, reach.place);
  while (!stack_.empty()) {
    const int place = stack_.back();
    stack_.pop_back();
    work_.pass(4);
    const auto& instruction = regex_.program_[static_cast<size_t>(place)];
    if (instruction.op == Regex::Instruction::Assert && !holds(instruction.assertion, before, after)) continue;
    if (std::exchange(turns_[static_cast<size_t>(place)], turn_) == turn_) continue;
    now_.push_back({place, reach.end});
    if (place == 0) ends_[at] = reach.end;
    const std::vector<int>& more = before_[static_cast<size_t>(place)];
    stack_.insert(stack_.end(), more.begin(), more.end());
  }
}

Regex::Regex(std::string_view pattern) {
  regex::Pattern parsed = regex::parse(pattern);
  RegexCompiler(*this, parsed, pattern).run();
  const regex::Part& root = parsed.parts[static_cast<size_t>(parsed.root)];
  const bool repeats = root.kind == regex::Part::Repeat;
  const regex::Part& child = repeats ? parsed.parts[static_cast<size_t>(root.children[0])] : root;
  if (child.kind == regex::Part::Set) run_ = {child.set, repeats ? root.least : 1, repeats ? root.most : 1};
  sets_ = std::move(parsed.sets);
  for (regex::CharSet& set : sets_) set.prepare();
}

bool Regex::matches(std::string_view text) const { return RegexMatcher(*this).matches(text); }

}  // namespace max
