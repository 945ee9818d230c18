// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers over channels-last tensors, per CPU target.
#pragma once

#include <cstdint>

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

}  // namespace max
