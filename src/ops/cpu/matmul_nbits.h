// SPDX-License-Identifier: Apache-2.0
// Products with weights of 2, 4 or 8 bits that share a scale and a zero point block by block.
#pragma once

#include <cstdint>

namespace max {

// Weights of one output: `blocks` blocks, in each byte the elements of one place in 8 / bits planes.
struct PackedWeights {
  const uint8_t* bytes;
  const float* scales;  // of the blocks
  const float* zeros;
  int64_t blocks;
  int64_t bytesPerBlock;
  int bits;
};

struct NBitsTable {
  // Weights as floats, one plane after the other: plane p has the elements p, p + planes, p + 2 planes, ..
  void (*expand)(const PackedWeights& weights, float* to);
  // results[i] = sum of weights * rows[i]; `count` is a multiple of 16, `rowCount` at most 4.
  void (*dot)(const float* weights, const float* const* rows, int64_t rowCount, int64_t count, float* results);
};
const NBitsTable& nBitsTable();  // of cpuTarget()

}  // namespace max
