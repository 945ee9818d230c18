// SPDX-License-Identifier: Apache-2.0
// Products with weights of 2, 4 or 8 bits that share a scale and a zero point block by block.
#pragma once

#include <cstdint>

namespace max {

// Some blocks of the weights of one output. Each byte holds one element of each of 8 / bits planes, so that elements
// taken plane by plane come in another order than the depth: plane p has p, p + planes, p + 2 planes, ..
struct PackedWeights {
  const uint8_t* bytes;
  const float* scales;  // of the blocks
  const float* zeros;
  int64_t blocks;
  int64_t bytesPerBlock;
  int bits;
};

inline constexpr int64_t kNBitsRows = 4;

struct NBitsTable {
  // The weights as floats, plane by plane.
  void (*expand)(const PackedWeights& weights, float* to);
  // results[i] = sum of weights * rows[i], for at most kNBitsRows rows that lie plane by plane.
  void (*dot)(const PackedWeights& weights, const float* const* rows, int64_t rowCount, float* results);
};
const NBitsTable& nBitsTable();  // of cpuTarget()

}  // namespace max
