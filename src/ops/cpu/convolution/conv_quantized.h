// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers over channels-last tensors, per CPU target.
#pragma once

#include <cstdint>

#include "ops/cpu/matrix/gemm_int.h"

namespace max {

// The sums of one output pixel: of channel c, sum over taps of (taps[t * stride][c] ^ flip) * weights[t, c].
struct DepthwiseBytes {
  const uint8_t* const* taps;  // an even number
  int64_t stride, pairs;       // pairs of taps
  const int16_t* weights;      // [pairs][channels][2]
  int64_t channels;
  uint8_t flip;  // 0x80 makes signed bytes unsigned ones that are greater by 128
  int32_t* sums;
};
using DepthwiseBytesFunction = void (*)(const DepthwiseBytes& pixel);
DepthwiseBytesFunction depthwiseBytesFunction();  // of cpuTarget()

// The same with weights of 8 bits, four taps at a time, and the results as 8-bit numbers. Channels come in blocks of 64
// whose order is that of depthwiseQuadPlace, also in factors and bias.
struct DepthwiseQuads {
  const uint8_t* const* taps;  // a multiple of four
  int64_t stride, quads;
  const int8_t* weights;  // [quads][places][4]
  int64_t channels;
  uint8_t flip;
  const Requantization* how;  // without a sum
  uint8_t* out;
};
using DepthwiseQuadsFunction = void (*)(const DepthwiseQuads& pixel);
DepthwiseQuadsFunction depthwiseQuadsFunction();  // NULL if this machine has no such instructions

inline constexpr int64_t kQuadBlock = 64;
inline int64_t depthwiseQuadPlaces(int64_t channels) { return (channels + kQuadBlock - 1) / kQuadBlock * kQuadBlock; }
inline int64_t depthwiseQuadPlace(int64_t channel) {
  const int64_t c = channel % kQuadBlock;
  return channel - c + c % 16 / 4 * 16 + c / 16 * 4 + c % 4;
}

}  // namespace max
