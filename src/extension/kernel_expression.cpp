// SPDX-License-Identifier: Apache-2.0
#include "extension/kernel_expression.h"

#include <array>
#include <cctype>
#include <charconv>

#include "base/error.h"

namespace max {

// Shunting-yard: operators wait until what binds stronger has gone before them.
class SizeParser {
 public:
  using Step = SizeExpression::Step;

  explicit SizeParser(std::string_view text) : rest_(text) { result_.text_ = std::string(text); }

  SizeExpression run() {
    while (skipBlanks(), !rest_.empty()) {
      const char c = rest_.front();
      const bool isValue = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
      if (isValue && !expectsValue_) wrong("an operator is missing before '", rest_, "'");
      if (std::isdigit(static_cast<unsigned char>(c)))
        number();
      else if (isValue)
        name();
      else
        sign(c);
    }
    if (expectsValue_) wrong("unexpected end");
    while (!waiting_.empty()) {
      if (!waiting_.back().isOperator()) wrong("a parenthesis is not closed");
      emit();
    }
    checkDepth();
    return std::move(result_);
  }

 private:
  // An operator, an open parenthesis, or the parenthesis of min or max.
  struct Waiting {
    char sign;
    Step::Kind kind = Step::Number;
    int arguments = 0;
    bool isOperator() const { return sign != '('; }
  };

  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    invalidArgument("'", result_.text_, "' is not a size: ", parts...);
  }

  void checkDepth() const {
    size_t depth = 0;
    for (const Step& step : result_.steps_) {
      const bool isValue = step.kind == Step::Number || step.kind == Step::Term;
      depth += isValue ? 1 : size_t(-1);
      if (depth > SizeExpression::kMaxDepth) wrong("it is nested too deeply");
    }
  }

  void skipBlanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  int64_t digits() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) wrong("a number is missing or too large at '", rest_, "'");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  void number() {
    expectsValue_ = false;
    result_.steps_.push_back({Step::Number, digits()});
  }

  std::string word() {
    size_t end = 0;
    while (end < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[end])) || rest_[end] == '_')) ++end;
    std::string result(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return result;
  }

  void name() {
    SizeTerm term{word()};
    const bool isCall = rest_.starts_with('(') && (term.name == "min" || term.name == "max");
    if (isCall) return openCall(term.name == "min" ? Step::Minimum : Step::Maximum);
    expectsValue_ = false;
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      property(term);
    }
    result_.steps_.push_back({Step::Term, 0, std::move(term)});
  }

  void property(SizeTerm& term) {
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front()))) {
      const int64_t axis = digits();
      if (axis >= kMaxRank) wrong("there is no dimension ", axis);
      term.kind = SizeTerm::Axis;
      term.axis = static_cast<int>(axis);
      return;
    }
    const std::string what = word();
    if (what != "size" && what != "rank") wrong("'.", what, "' is not .size, .rank or the number of a dimension");
    term.kind = what == "size" ? SizeTerm::Size : SizeTerm::Rank;
  }

  void openCall(Step::Kind kind) {
    rest_.remove_prefix(1);
    waiting_.push_back({'(', kind, 1});
  }

  static Step::Kind kindOf(char sign) {
    switch (sign) {
      case '+':
        return Step::Add;
      case '-':
        return Step::Subtract;
      case '*':
        return Step::Multiply;
      case '/':
        return Step::Divide;
      default:
        return Step::Remainder;
    }
  }

  static int strengthOf(char sign) { return sign == '+' || sign == '-' ? 1 : 2; }

  void emit() {
    result_.steps_.push_back({waiting_.back().kind});
    waiting_.pop_back();
  }

  void emitUpToParenthesis() {
    while (!waiting_.empty() && waiting_.back().isOperator()) emit();
    if (waiting_.empty()) wrong("'", rest_, "' has no opening parenthesis");
  }

  void sign(char c) {
    if (c == '(' && expectsValue_)
      waiting_.push_back({'('});
    else if (expectsValue_ || c == '(')
      wrong("a value or an operator is missing before '", rest_, "'");
    else if (c == ')')
      close();
    else if (c == ',')
      separate();
    else
      infix(c);
    rest_.remove_prefix(1);
  }

  void close() {
    emitUpToParenthesis();
    const Waiting call = waiting_.back();
    waiting_.pop_back();
    if (call.arguments == 0) return;
    if (call.arguments != 2) wrong("min and max take two values");
    result_.steps_.push_back({call.kind});
  }

  void separate() {
    emitUpToParenthesis();
    if (waiting_.back().arguments == 0) wrong("a comma is outside min and max");
    ++waiting_.back().arguments;
    expectsValue_ = true;
  }

  void infix(char c) {
    if (std::string_view("+-*/%").find(c) == std::string_view::npos) wrong("'", c, "' is not an operator");
    while (!waiting_.empty() && waiting_.back().isOperator() && strengthOf(waiting_.back().sign) >= strengthOf(c))
      emit();
    waiting_.push_back({c, kindOf(c)});
    expectsValue_ = true;
  }

  std::string_view rest_;
  SizeExpression result_;
  std::vector<Waiting> waiting_;
  bool expectsValue_ = true;
};

SizeExpression SizeExpression::parse(std::string_view text) { return SizeParser(text).run(); }

void SizeExpression::forEachTerm(FunctionRef<void(SizeTerm&)> function) {
  for (Step& step : steps_)
    if (step.kind == Step::Term) function(step.term);
}

Dim SizeExpression::combine(Step::Kind kind, Dim a, Dim b) const {
  const bool divides = kind == Step::Divide || kind == Step::Remainder;
  if (divides && b.is(0)) invalidArgument("'", text_, "' divides by zero");
  switch (kind) {
    case Step::Add:
      return a + b;
    case Step::Subtract:
      return a - b;
    case Step::Multiply:
      return a * b;
    case Step::Divide:
      return floorDivide(a, b);
    case Step::Remainder:
      return a - floorDivide(a, b) * b;
    case Step::Minimum:
      return minimum(a, b);
    default:
      return maximum(a, b);
  }
}

std::optional<Dim> SizeExpression::evaluate(FunctionRef<std::optional<Dim>(const SizeTerm&)> valueOf) const {
  std::array<Dim, kMaxDepth> stack;
  size_t depth = 0;
  for (const Step& step : steps_) {
    if (step.kind == Step::Number) {
      stack[depth++] = step.number;
    } else if (step.kind == Step::Term) {
      const std::optional<Dim> value = valueOf(step.term);
      if (!value) return std::nullopt;
      stack[depth++] = *value;
    } else {
      --depth;
      stack[depth - 1] = combine(step.kind, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}

}  // namespace max
