// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/types.h"

#include "base/error.h"

namespace max::readers {

DType readType(const Attributes& attributes, std::string_view name, DType fallback) {
  if (!attributes.has(name)) return fallback;
  const int64_t number = attributes.getInt(name, 0);
  const std::optional<DType> dtype = dtypeFromOnnx(number);
  if (!dtype) invalidArgument("attribute '", name, "' is ", number, ", which is not a data type");
  return *dtype;
}

DType readElementType(const Attributes& attributes, DType fallback) { return readType(attributes, "dtype", fallback); }

DType readCastType(const Attributes& attributes) {
  const DType dtype = readType(attributes, "to", DType::Invalid);
  if (dtype == DType::Invalid) invalidArgument("attribute 'to' is missing");
  return dtype;
}

TensorType readOptionalType(const Attributes& attributes) {
  InnerTypes types = {};
  size_t count = 0;
  for (const int64_t number : attributes.getInts("type")) {
    const auto dtype = static_cast<DType>(number);
    const bool isType =
        static_cast<int64_t>(dtype) == number && (isValid(dtype) || (dtype >= DType::Sequence && dtype <= DType::Map));
    if (!isType) invalidArgument("attribute 'type' contains ", number, ", which is not a type");
    if (count < types.size()) types[count++] = dtype;
  }
  TensorType type;
  type.dtype = types[0];
  for (size_t i = 1; i < types.size(); ++i) type.inner[i - 1] = types[i];
  return type;
}

}  // namespace max::readers
