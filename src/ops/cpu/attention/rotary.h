// SPDX-License-Identifier: Apache-2.0
// max.Rotary: rotates the halves of rows, in pairs, by angles.
#pragma once

#include <memory>

#include "ops/op_kernel.h"

namespace max {

// Rows of `size` elements, one behind the other.
struct RotaryRows {
  const float* x;
  float* y;
  int64_t count, size;
  const float* cos;
  const float* sin;
  int64_t cosStep, sinStep;      // from one row to the next
  int64_t cosSecond, sinSecond;  // from an element of the first half to that of the second
};

struct RotaryTable {
  void (*rotate)(const RotaryRows& rows);
};
const RotaryTable& rotaryTable();  // of the CPU target of now

std::unique_ptr<OpKernel> createRotary(const OpRequest& request);

}  // namespace max
