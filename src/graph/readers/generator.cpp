// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/generator.h"

#include <algorithm>

namespace max::readers {

DimensionRange readDimensionRange(const NodeInputs& inputs) {
  const int64_t rank = inputs.rank(0);
  const auto bound = [&](std::string_view name, int64_t fallback) {
    const int64_t at = inputs.attributes().getInt(name, fallback);
    return static_cast<int>(std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank));
  };
  const int begin = bound("start", 0);
  return {begin, std::max(begin, bound("end", rank))};
}

int readFlattenAxis(const NodeInputs& inputs) {
  const int64_t rank = inputs.rank(0), axis = inputs.attributes().getInt("axis", 1);
  if (axis < -rank || axis > rank) inputs.fail("axis ", axis, " is out of range for rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ref<Tensor> readFillValue(const NodeInputs& inputs) {
  Ref<Tensor> value = inputs.attributes().getTensor("value");
  if (value && value->count() != 1) inputs.fail("attribute 'value' has ", value->count(), " elements, needs 1");
  return value;
}

bool keepsUpper(const NodeInputs& inputs) { return inputs.flag("upper", true); }

}  // namespace max::readers
