// SPDX-License-Identifier: Apache-2.0
#include "ops/request_inputs.h"

namespace max {

RequestInputs::RequestInputs(const OpRequest& request, const void* const* data)
    : types_(request.inputs.size()), inputs_(request.node, types_) {
  for (size_t i = 0; i < types_.size(); ++i) {
    const Operand& operand = request.inputs[i];
    if (!operand.present()) continue;
    types_[i] = {true, TensorType::of(operand.dtype, symbolic(operand.shape)), operand.constant, nullptr};
    if (operand.constant || !data) continue;
    views_.push_back(makeRef<Tensor>(operand.dtype, operand.shape, data[i], nullptr));
    types_[i].constant = views_.back().get();
  }
}

RequestInputs::RequestInputs(const Node& node, std::span<const Tensor* const> inputs)
    : types_(inputs.size()), inputs_(node, types_) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const Tensor* input = inputs[i])
      types_[i] = {true, TensorType::of(input->dtype(), symbolic(input->shape())), input, nullptr};
}

}  // namespace max
