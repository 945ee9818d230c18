// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/types.h"

namespace max::readers {

DType readType(const NodeInputs& inputs, std::string_view name, DType fallback) {
  if (!inputs.attributes().has(name)) return fallback;
  const int64_t number = inputs.attributes().getInt(name, 0);
  const std::optional<DType> dtype = dtypeFromOnnx(number);
  if (!dtype) inputs.fail("attribute '", name, "' is ", number, ", which is no data type");
  return *dtype;
}

DType readElementType(const NodeInputs& inputs, DType fallback) { return readType(inputs, "dtype", fallback); }

DType readCastType(const NodeInputs& inputs) {
  const DType dtype = readType(inputs, "to", DType::Invalid);
  if (dtype == DType::Invalid) inputs.fail("attribute 'to' is missing");
  return dtype;
}

TensorType readOptionalType(const NodeInputs& inputs) {
  InnerTypes types = {};
  size_t count = 0;
  for (const int64_t number : inputs.attributes().getInts("type")) {
    const auto dtype = static_cast<DType>(number);
    const bool isType =
        static_cast<int64_t>(dtype) == number && (isValid(dtype) || (dtype >= DType::Sequence && dtype <= DType::Map));
    if (!isType) inputs.fail("attribute 'type' holds ", number, ", which is no type");
    if (count < types.size()) types[count++] = dtype;
  }
  TensorType type;
  type.dtype = types[0];
  for (size_t i = 1; i < types.size(); ++i) type.inner[i - 1] = types[i];
  return type;
}

}  // namespace max::readers
