// SPDX-License-Identifier: Apache-2.0
// Operators of extensions: C functions behind the interfaces of schemas and kernels.
//
// They belong to the process and are never removed, so that graphs, plans and models may point at them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "base/tensor.h"
#include "graph/schema.h"
#include "max/extension.h"

namespace max {

// A row of an extension's table, checked and copied.
struct ExtensionOperator {
  std::string extension;  // what messages call it: a file or a name
  std::string domain;
  std::string name;
  std::string types;
  std::string attributes;
  MaxOperator functions;  // the row itself; its texts may be gone
};

// Throws INVALID_ARGUMENT if the row cannot be an operator.
ExtensionOperator checkedOperator(const MaxOperator& row, std::string extension);

// ALREADY_EXISTS if one of them is defined by somebody else.
void requireNewOperators(std::span<const ExtensionOperator> operators);
// All or nothing. Operators that are there already with the same functions are left alone; ALREADY_EXISTS names who
// defined one with others. `isUsed` becomes true once something refers to the functions. Thread-safe.
void addExtensionOperators(std::vector<ExtensionOperator> operators, bool& isUsed);

// Where the message of a failing call of the C API goes besides, in a thread that runs a function of an extension;
// NULL elsewhere.
std::string* extensionMessage() noexcept;

// A run whose outputs the operator makes.
class OutputMaker {
 public:
  // Its memory; throws if the output cannot have this shape.
  virtual void* make(size_t output, const Shape& shape) = 0;

 protected:
  ~OutputMaker() = default;
};
// That of a call that runs in this thread; NULL if it makes no outputs.
OutputMaker* outputMakerOf(const MaxOperatorCall* call) noexcept;

}  // namespace max

// What the functions of an extension see of a node.
struct MaxOperatorNode {
  const max::Node& node;
  size_t outputCount;
  MaxDevice* device = nullptr;                         // while the node is prepared or runs
  std::span<const max::Tensor* const> constants = {};  // while the node is prepared
};

// What an `infer` function reads and writes.
struct MaxShapeContext {
  max::InferContext& infer;
  size_t maxOutputs;
  size_t scratch = 0;
  std::vector<max::Ref<max::Tensor>> copies = {};  // of contents that are not aligned
};
