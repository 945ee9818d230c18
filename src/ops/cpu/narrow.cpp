// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/narrow.h"

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

bool mayBeNarrow(const Node& node) { return gemmTableFor(node).wordElements == 2; }

}  // namespace max
