// SPDX-License-Identifier: Apache-2.0
// Operators that work along one axis, compiled for a few element types.
#pragma once

#include "ops/op_kernel.h"

namespace max {

// A tensor as [outer, size, inner] around one axis.
struct Line {
  int64_t outer, size, inner;
  Line(const Shape& shape, int axis)
      : outer(shape.product(0, axis)), size(shape[axis]), inner(shape.product(axis + 1, shape.rank())) {}
};

template <template <class> class K, class T, DType kDType>
constexpr Implementation rowOf(std::string_view name) {
  return {name, [](const OpRequest& request) { return request.inputs[0].dtype == kDType; },
          [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K<T>>(request); }};
}

template <template <class> class K>
inline constexpr Implementation kTyped[] = {
    rowOf<K, float, DType::Float32>("typed"),
    rowOf<K, double, DType::Float64>("typed"),
    rowOf<K, int64_t, DType::Int64>("typed"),
    rowOf<K, int32_t, DType::Int32>("typed"),
};

}  // namespace max
