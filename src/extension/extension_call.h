// SPDX-License-Identifier: Apache-2.0
// Calls of an extension's functions: their arguments and errors.
#pragma once

#include <span>
#include <vector>

#include "device/device.h"
#include "extension/extension.h"
#include "ops/op_kernel.h"

namespace max {

// Types and shapes of a call's inputs or outputs, in C form.
struct Operands {
  std::vector<MaxDType> dtypes;
  std::vector<int32_t> ranks;
  std::vector<Shape> shapes;
  std::vector<const int64_t*> dims;
  std::vector<int64_t> counts;

  explicit Operands(std::span<const Operand> operands);
  Operands(const Operands&) = delete;
  int32_t count() const { return static_cast<int32_t>(dtypes.size()); }
};

// Without pointers and lanes.
MaxOperatorCall callOf(MaxDevice& device, const Operands& inputs, const Operands& outputs, size_t scratch);

MaxShapeContext shapesOf(const ExtensionOperator& op, InferContext& context);

// Each throws the function's error, naming node and extension.
void callInfer(const ExtensionOperator& op, InferContext& context, MaxShapeContext& shapes);
Ref<Prepared> callPrepare(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants);
// `maker`: NULL if the outputs are allocated.
void callExecute(const ExtensionOperator& op, const MaxOperatorNode& node, const Prepared* state,
                 const MaxOperatorCall& call, OutputMaker* maker = nullptr);

// The node's state, or one for this kernel only, since loads prepare only as much as fits. NULL without a prepare
// function.
Ref<Prepared> stateOf(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants);

// Runs an operator that allocates its outputs.
std::vector<Ref<Tensor>> runMaking(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace max
