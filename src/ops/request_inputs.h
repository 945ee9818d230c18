// SPDX-License-Identifier: Apache-2.0
// A kernel's request as seen by the operators' readers (graph/readers/).
#pragma once

#include <span>
#include <vector>

#include "graph/node_inputs.h"
#include "ops/op_kernel.h"

namespace max {

class RequestInputs {
 public:
  // `data`: the operands of a run, NULL while the kernel is created.
  explicit RequestInputs(const OpRequest& request, const void* const* data = nullptr);
  RequestInputs(const Node& node, std::span<const Tensor* const> inputs);  // NULL = omitted
  RequestInputs(const RequestInputs&) = delete;
  RequestInputs& operator=(const RequestInputs&) = delete;

  const NodeInputs& operator*() const { return inputs_; }
  const std::vector<InputType>& types() const { return types_; }

 private:
  std::vector<Ref<Tensor>> views_;
  std::vector<InputType> types_;
  NodeInputs inputs_;
};

}  // namespace max
