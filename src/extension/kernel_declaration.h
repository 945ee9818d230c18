// SPDX-License-Identifier: Apache-2.0
// Operators that a kernel source declares in comment lines starting with "//@".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "extension/kernel_expression.h"

namespace max {

struct DeclaredAttribute {
  std::string name;
  bool isFloat = false;
  float number = 0;  // the default of either
  int64_t integer = 0;
};

// The shape of an output.
struct DeclaredShape {
  enum Kind { None, Like, Broadcast, Dimensions } kind = None;
  std::vector<size_t> inputs;  // for Like: one or more, which must agree
  std::vector<SizeExpression> dimensions;
};

// An argument of the kernel.
struct DeclaredArgument {
  std::string text;
  enum Kind { Input, Output, Float, Size } kind = Size;
  size_t index = 0;                  // of the input, output or attribute
  std::vector<SizeExpression> size;  // one or none
};

struct DeclaredOperator {
  int line = 0;  // of its first line
  std::string domain, name;
  std::vector<std::string> inputs, outputs;
  std::string types;
  std::vector<DeclaredAttribute> attributes;
  std::vector<DeclaredShape> shapes;                   // of the outputs
  std::vector<std::pair<std::string, DType>> kernels;  // for the first input's type; Invalid = any
  std::vector<SizeExpression> grid, block;
  std::vector<SizeExpression> shared;  // one or none
  std::vector<DeclaredArgument> arguments;

  // -1 = there is none.
  int findInput(std::string_view text) const;
  int findOutput(std::string_view text) const;
  int findAttribute(std::string_view text) const;
};

// INVALID_ARGUMENT: "NAME:LINE: reason". Empty without declarations.
std::vector<DeclaredOperator> parseDeclarations(const std::string& name, std::string_view source);
// The source with empty lines instead of the declarations, so that its compiled form does not depend on them.
std::string withoutDeclarations(std::string_view source);

}  // namespace max
