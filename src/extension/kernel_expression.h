// SPDX-License-Identifier: Apache-2.0
// Sizes in declarations of kernel operators, such as "(y.size + 255) / 256", for known or symbolic shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "graph/dim.h"

namespace max {

// A name: "rows", "y.size", "x.0".
struct SizeTerm {
  std::string name;
  enum Kind { Plain, Size, Rank, Axis } kind = Plain;
  int axis = 0;
  // Its owner, set by the code that resolves names.
  enum Owner { Attribute, Input, Output } owner = Attribute;
  size_t index = 0;
};

class SizeExpression {
 public:
  // Numbers, names, + - * / %, min(,), max(,) and parentheses. INVALID_ARGUMENT explains a malformed expression.
  static SizeExpression parse(std::string_view text);

  const std::string& text() const { return text_; }
  // All names in it.
  void forEachTerm(FunctionRef<void(SizeTerm&)> function);
  // `valueOf` returns nullopt for unknown values; the result is then nullopt too. Does not allocate for numbers.
  std::optional<Dim> evaluate(FunctionRef<std::optional<Dim>(const SizeTerm&)> valueOf) const;

 private:
  friend class SizeParser;
  // In the order of a stack machine.
  struct Step {
    enum Kind { Number, Term, Add, Subtract, Multiply, Divide, Remainder, Minimum, Maximum } kind;
    int64_t number = 0;
    SizeTerm term = {};
  };
  static constexpr size_t kMaxDepth = 16;

  Dim combine(Step::Kind kind, Dim a, Dim b) const;

  std::string text_;
  std::vector<Step> steps_;
};

}  // namespace max
