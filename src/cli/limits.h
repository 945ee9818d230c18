// SPDX-License-Identifier: Apache-2.0
// What the machine can do at most, measured with the library itself.
#pragma once

#include "model.h"

namespace max::cli {

struct Limits {
  double multiplicationsPerMs = 0;         // of a large product of float32 matrices
  double integerMultiplicationsPerMs = 0;  // of one of 8-bit integers; 0 = not measured
  double bytesPerMs = 0;                   // that a reduction reads from memory

  bool areMeasured() const { return bytesPerMs > 0; }
};

// On the device, with the threads and at the precision of a model. Takes a fraction of a second.
Limits measureLimits(const OpenModel& open, bool integers);

}  // namespace max::cli
