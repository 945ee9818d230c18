// SPDX-License-Identifier: Apache-2.0
// Lines of a tensor along one axis.
#pragma once

#include "ops/ref/reference.h"

namespace max::reference {

// A tensor as [outer, size, inner] around one axis.
struct Line {
  int64_t outer, size, inner;
  Line(const Shape& shape, int axis)
      : outer(shape.product(0, axis)), size(shape[axis]), inner(shape.product(axis + 1, shape.rank())) {}
  // Calls body(offset of the first element, number of the line); elements are `inner` apart.
  template <class Body>
  void forEach(Body body) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i, passWork(16)) body(o * size * inner + i, o * inner + i);
  }
};

}  // namespace max::reference
