// SPDX-License-Identifier: Apache-2.0
// max.Rotary: rotates pairs of elements of rows by angles. A pair is an element of the first half and one of the
// second, or two neighbours.
#pragma once

#include <memory>

#include "ops/op_kernel.h"

namespace max {

// Rows of `size` elements.
struct RotaryRows {
  const float* x;
  float* y;
  int64_t count, size;
  int64_t step;  // from one row to the next
  const float* cos;
  const float* sin;
  int64_t cosStep, sinStep;      // from one row to the next
  int64_t cosSecond, sinSecond;  // from the angle of a pair's first element to that of its second; 0 = the same one
};

struct RotaryTable {
  void (*halves)(const RotaryRows& rows);
  void (*neighbours)(const RotaryRows& rows);
};
const RotaryTable& rotaryTable();  // of the CPU target of now

std::unique_ptr<OpKernel> createRotary(const OpRequest& request);

}  // namespace max
