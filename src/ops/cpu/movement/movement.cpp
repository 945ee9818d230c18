// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/movement/movement.h"

#include <algorithm>

namespace max {

std::vector<int64_t> MovementCall::integers(size_t i) const {
  if (!has(i)) return {};
  const Operand& operand = request_.inputs[i];
  const void* data = contents(i);
  std::vector<int64_t> values(static_cast<size_t>(operand.shape.count()));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = indexAt(data, operand.dtype == DType::Int64, static_cast<int64_t>(k));
  return values;
}

const void* MovementCall::contents(size_t i) const {
  if (request_.inputs[i].constant) return request_.inputs[i].constant->data();
  return data_ ? data_[i] : nullptr;
}

int MovementCall::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank)
    fail(MAX_STATUS_INVALID_ARGUMENT, "axis ", value, " is out of range for rank ", rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

SavedRequest::SavedRequest(const OpRequest& request)
    : node(request.node),
      inputs(request.inputs.begin(), request.inputs.end()),
      outputs(request.outputs.begin(), request.outputs.end()),
      lanes(request.lanes),
      settings(request.settings) {
  for (Operand& operand : inputs) operand.constant = nullptr;  // they may not live as long; runs have them again
}

bool allConstant(const OpRequest& request, size_t firstInput) {
  for (size_t i = firstInput; i < request.inputs.size(); ++i)
    if (request.inputs[i].present() && !request.inputs[i].constant) return false;
  return true;
}

bool hasByteElements(const OpRequest& request) {
  return !request.inputs.empty() && request.inputs[0].present() && bitsOf(request.inputs[0].dtype) >= 8;
}

void failIndex(const Node& node, int64_t index, int64_t size, int axis) {
  fail(MAX_STATUS_OUT_OF_RANGE, node.description(), ": index ", index, " is out of range [", -size, ", ", size - 1,
       "] of axis ", axis);
}

}  // namespace max
