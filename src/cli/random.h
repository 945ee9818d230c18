// SPDX-License-Identifier: Apache-2.0
// Random inputs: the same for the same seed with every standard library.
#pragma once

#include <cstdint>

#include "array.h"

namespace max::cli {

// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  uint64_t state_;
};

// Floats in [0, 1), integers from 0 to `maximum`, booleans both values.
Array randomArray(Random& random, MaxDType dtype, const std::vector<int64_t>& shape, int64_t maximum);

}  // namespace max::cli
