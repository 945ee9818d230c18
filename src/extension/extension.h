// SPDX-License-Identifier: Apache-2.0
// Operators of extensions: C functions behind the interfaces of schemas and kernels.
//
// They belong to the process and are never removed, so graphs, plans and models may point to them.
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
  std::string extension;  // name in messages: a file or a name
  std::string domain;
  std::string name;
  std::string types;
  std::string attributes;
  MaxOperator functions;  // the row itself; its strings may be gone
};

// Throws INVALID_ARGUMENT if the row cannot be an operator.
ExtensionOperator checkedOperator(const MaxOperator& row, std::string extension);

// ALREADY_EXISTS if one of them is defined elsewhere.
void requireNewOperators(std::span<const ExtensionOperator> operators);
// All or nothing. Operators already registered with the same functions stay; ALREADY_EXISTS names the definer of one
// with other functions. `isUsed` becomes true once something refers to the functions. Thread-safe.
void addExtensionOperators(std::vector<ExtensionOperator> operators, bool& isUsed);

// Receives a copy of the message of a failing C API call, in a thread that runs an extension's function; NULL
// elsewhere.
std::string* extensionMessage() noexcept;

// A run whose operator allocates its outputs.
class OutputMaker {
 public:
  // The output's memory; throws if it cannot have this shape.
  virtual void* make(size_t output, const Shape& shape) = 0;

 protected:
  ~OutputMaker() = default;
};
// That of the call running in this thread; NULL if it does not allocate outputs.
OutputMaker* outputMakerOf(const MaxOperatorCall* call) noexcept;

}  // namespace max

// A node as seen by an extension's functions.
struct MaxOperatorNode {
  const max::Node& node;
  size_t outputCount;
  MaxDevice* device = nullptr;                         // while the node is prepared or runs
  std::span<const max::Tensor* const> constants = {};  // while the node is prepared
};

// Data that an `infer` function reads and writes.
struct MaxShapeContext {
  max::InferContext& infer;
  size_t maxOutputs;
  size_t scratch = 0;
  std::vector<max::Ref<max::Tensor>> copies = {};  // of contents that are not aligned
};
