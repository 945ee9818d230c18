// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/indexing.h"

#include <algorithm>

namespace max::readers {

int readGatherAxis(const NodeInputs& inputs) { return inputs.axisAttribute("axis", 0, inputs.rank(0)); }

int readBatchDims(const NodeInputs& inputs) {
  const int64_t count = inputs.attributes().getInt("batch_dims", 0);
  if (count < 0 || count >= std::min(inputs.rank(0), inputs.rank(1))) inputs.fail("attribute 'batch_dims' is ", count);
  return static_cast<int>(count);
}

ScatterReduction readScatterReduction(const NodeInputs& inputs) {
  const std::string name = inputs.attributes().getString("reduction", "none");
  if (name == "add") return ScatterReduction::Add;
  if (name == "mul") return ScatterReduction::Multiply;
  if (name == "max") return ScatterReduction::Max;
  return name == "min" ? ScatterReduction::Min : ScatterReduction::None;
}

TensorScatter readTensorScatter(const NodeInputs& inputs) {
  const int axis = inputs.axisAttribute("axis", -2, inputs.rank(0));
  if (axis == 0) inputs.fail("axis 0 is the batch");
  return {axis, inputs.attributes().getString("mode", "linear") == "circular"};
}

bool hasCentredBoxes(const NodeInputs& inputs) { return inputs.flag("center_point_box", false); }

bool sortsGroups(const NodeInputs& inputs) { return inputs.flag("sorted", true); }

bool hasSelectionAxis(const NodeInputs& inputs) { return inputs.attributes().has("axis"); }

std::optional<int> readSelectionAxis(const NodeInputs& inputs) {
  if (!hasSelectionAxis(inputs)) return std::nullopt;
  return inputs.axisAttribute("axis", 0, inputs.rank(0));
}

}  // namespace max::readers
