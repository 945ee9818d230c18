// SPDX-License-Identifier: Apache-2.0
#include "ops/agreement.h"

#include <algorithm>
#include <optional>

namespace max {

namespace {

bool isWanted(const Node& node, size_t output) { return output >= node.outputs.size() || node.outputs[output]; }

// Unknown types and shapes match.
bool fits(const TensorType& type, const Shape& shape) {
  if (!type.ranked || isObject(type.dtype)) return true;
  if (type.rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (const Dim dim = type.dims[static_cast<size_t>(i)]; dim.isKnown() && dim.value() != shape[i]) return false;
  return true;
}

void requireView(const Node& node, std::span<const Operand> inputs, const Operand& output) {
  if (!node.schema->sharesInput()) return;
  const Operand& source = inputs[0];
  if (source.dtype != output.dtype || source.shape.count() != output.shape.count())
    invalidArgument(node.description(), ": ", source.dtype, source.shape, " cannot be viewed as ", output.dtype,
                    output.shape);
}

}  // namespace

bool isDeclared(const TensorType& type, DType dtype) {
  return type.dtype == dtype || type.dtype == DType::Invalid || type.dtype == DType::Optional;
}

bool isCountable(const Shape& shape) {
  int64_t bytes = 16;  // of the largest element
  for (const int64_t dim : shape)
    if (dim < 0 || (dim > 0 && __builtin_mul_overflow(bytes, dim, &bytes))) return false;
  return true;
}

void requireAgreed(const Node& node, size_t i, const TensorType* expected, DType dtype, const Shape& shape) {
  const auto agree = [&](const TensorType& type, const char* who) {
    if (!isDeclared(type, dtype) || !fits(type, shape))
      invalidArgument(node.description(), ": output ", i, " is ", dtype, shape, " at run time, but ", who, " has ",
                      type);
  };
  if (dtype == DType::Invalid) invalidArgument(node.description(), ": output ", i, " has no type at run time");
  if (!isCountable(shape))
    fail(MAX_STATUS_OUT_OF_RANGE, node.description(), ": Size overflow: output ", i, " has the shape ", shape);
  if (isObject(dtype) && shape.rank() > 0)
    invalidArgument(node.description(), ": output ", i, " is a ", dtype, " of shape ", shape, " at run time");
  if (expected) agree(*expected, "its operator");
  if (i < node.outputs.size() && node.outputs[i]) agree(node.outputs[i]->type, "the graph");
}

bool agreeOnOutputs(const Node& node, std::span<const Operand> inputs, const Inferred& inferred,
                    std::vector<Operand>& outputs) {
  outputs.assign(inferred.size(), {});
  for (size_t i = 0; i < inferred.size(); ++i) {
    const TensorType& type = inferred[i].type;
    if (!isWanted(node, i)) continue;
    if (!type.ranked || type.dtype == DType::Invalid) return false;
    const std::optional<Shape> shape = concrete(type.dims);
    if (!shape) return false;
    requireAgreed(node, i, nullptr, type.dtype, *shape);
    outputs[i] = {type.dtype, *shape, nullptr};
  }
  if (!outputs.empty() && outputs[0].present()) requireView(node, inputs, outputs[0]);
  return true;
}

void requireAgreed(const Node& node, const Inferred& expected, std::span<const Ref<Tensor>> results) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!isWanted(node, i)) continue;
    if (i >= results.size() || !results[i]) invalidArgument(node.description(), ": output ", i, " was not produced");
    requireAgreed(node, i, &expected[i].type, results[i]->dtype(), results[i]->shape());
  }
}

bool isDone(const Node& node, std::span<const Operand> outputs) {
  return !node.schema->has(kTraitRandom) && std::all_of(outputs.begin(), outputs.end(), [](const Operand& output) {
    return !output.present() || output.shape.count() == 0;
  });
}

}  // namespace max
