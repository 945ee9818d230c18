// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/narrow.h"

#include <algorithm>

#include "ops/cpu/matrix/gemm.h"

namespace max {

bool areFloats(const OpRequest& request, const NarrowOperands& narrow) {
  const auto fits = [](const Operand& operand, bool mayBeNarrow) {
    return !operand.present() || operand.dtype == DType::Float32 || (mayBeNarrow && isNarrow(operand));
  };
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (!fits(request.inputs[i], narrow.hasInput(i))) return false;
  for (size_t i = 0; i < request.outputs.size(); ++i)
    if (!fits(request.outputs[i], narrow.hasOutput(i))) return false;
  return true;
}

NarrowOperands narrowTogether(const Node& node, size_t inputs) {
  constexpr size_t kMost = 31;
  if (!mayBeNarrow(node) || std::max(inputs, node.outputs.size()) > kMost) return {};
  return {(1u << inputs) - 1, (1u << node.outputs.size()) - 1, true};
}

bool mayBeNarrow(const Node& node) { return gemmTableFor(node).takesNarrow(); }

}  // namespace max
