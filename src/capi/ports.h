// SPDX-License-Identifier: Apache-2.0
// What is told of an input or output.
#pragma once

#include "capi/index.h"
#include "executor/model_info.h"
#include "max/model.h"

namespace max::capi {

inline MaxValueKind kindOf(DType dtype) {
  if (!isObject(dtype)) return MAX_VALUE_KIND_TENSOR;
  return static_cast<MaxValueKind>(dtype) - static_cast<MaxValueKind>(DType::Sequence) + MAX_VALUE_KIND_SEQUENCE;
}
inline MaxValueKind kindOf(const ModelTensor& tensor) { return kindOf(tensor.dtype); }

// Of the tensors within a sequence or optional, of the values of a map.
inline MaxDType elementTypeOf(TensorType type) {
  while (isObject(type.dtype)) type = type.held();
  return static_cast<MaxDType>(type.dtype);
}
inline MaxDType elementTypeOf(const ModelTensor& tensor) { return elementTypeOf(tensor.valueType()); }

inline const char* dimensionName(const ModelTensor& tensor, int32_t dimension) {
  const std::string& name = elementAt(tensor.dimNames, dimension, "Dimension");
  return name.empty() ? nullptr : name.c_str();
}

}  // namespace max::capi
