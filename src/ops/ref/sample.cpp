// SPDX-License-Identifier: Apache-2.0
#include "ops/ref/sample.h"

#include "base/interrupt_point.h"

namespace max::reference {

double sample(const double* image, const Shape& strides, const SampleTaps& taps) {
  const Shape all = Shape::filled(strides.rank(), taps.count);
  Shape tap = Shape::filled(strides.rank(), 0);
  double sum = 0;
  WorkCounter work;
  do {
    work.pass(16);
    int64_t offset = 0;
    double weight = 1;
    for (int axis = 0; axis < strides.rank(); ++axis) {
      const auto at = static_cast<size_t>(axis * taps.count + tap[axis]);
      offset = taps.pixels[at] < 0 || offset < 0 ? -1 : offset + taps.pixels[at] * strides[axis];
      weight *= taps.weights[at];
    }
    if (offset >= 0) sum += weight * image[offset];
  } while (advance(tap, all));
  return sum;
}

}  // namespace max::reference
