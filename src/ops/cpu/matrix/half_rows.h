// SPDX-License-Identifier: Apache-2.0
// A few rows times weights that are kept as float16 or bfloat16, which become floats in registers only.
#pragma once

#include <cstdint>

namespace max {

inline constexpr int64_t kHalfRows = 4;

// At most kHalfRows rows and one panel (ops/cpu/matrix/gemm.h).
struct HalfRows {
  const float* const* rows;
  int64_t count;
  int64_t rowOffset;  // floats from a row's pointer to its first element
  const uint16_t* b;  // [depth][width]
  int64_t depth, width;
  const float* bias;  // of the columns; NULL = none
  float* c;           // [count][columns], whose rows are ldc floats apart
  int64_t columns, ldc;
};

struct HalfRowsTable {
  void (*ofHalves)(const HalfRows& product);  // both NULL if the CPU target lacks conversions
  void (*ofBFloats)(const HalfRows& product);
};
const HalfRowsTable& halfRowsTable();  // of cpuTarget()

}  // namespace max
