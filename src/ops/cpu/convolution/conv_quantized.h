// SPDX-License-Identifier: Apache-2.0
// Depthwise and grouped convolutions of 8-bit integers, and those with few filters, over channels-last tensors.
#pragma once

#include <cstdint>
#include <memory>

#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/convolution/quantized_operands.h"

namespace max {

Ref<Prepared> prepareQuantizedDepthwise(const Node& node, const Tensor& weights, const Tensor* zeros,
                                        const QuantizedInputs& inputs);
// Whether the machine runs what prepareQuantizedDepthwise made, maybe elsewhere.
bool fitsQuantizedDepthwise(const Prepared& filters);
std::unique_ptr<OpKernel> createQuantizedDepthwise(const OpRequest& request, const ConvShape& shape,
                                                   Ref<Prepared> filters, const QuantizedInputs& inputs);

// The sums of one output pixel: of channel c, sum over taps of (columns[offsets[t]][c] ^ flip) * weights[t, c].
struct DepthwiseBytes {
  const uint8_t* const* columns;
  const int64_t* offsets;  // an even number
  int64_t pairs;           // pairs of taps
  const int16_t* weights;  // [pairs][channels][2]
  int64_t channels;
  uint8_t flip;  // 0x80 makes signed bytes unsigned ones that are greater by 128
  int32_t* sums;
};
using DepthwiseBytesFunction = void (*)(const DepthwiseBytes& pixel);
DepthwiseBytesFunction depthwiseBytesFunction();  // of cpuTarget()

// 8-bit results of a run of output pixels, with weights of 8 bits, four taps at a time. Of pixel p, tap t is
// columns[offsets[t] + p * pixelStep]. Where four columns, which lie one after the other then, serve several
// neighbouring pixels, weights are [step][sharing][64][4], for one pixel after the other; else [step][64][4]. There are
// as many for each block of channels. With `rows`, kernels are 3 x 3, and so many of two rows of the output exist,
// which share four of the input: row i of column w, of the first pixel, is columns[offsets[i] + w]. Weights are
// [column][row of the output][64][4] then, and columns of up to kPixels more pixels can be read.
struct DepthwiseQuads {
  static constexpr int kRows = 2, kColumns = 3, kPixels = 3;
  const uint8_t* const* columns;
  const int64_t* offsets;  // [steps][4]
  int64_t steps;
  int64_t sharing;  // 1, 2 or 4 pixels
  int64_t rows;     // 0 = pixels of one row only
  int64_t rowStep;  // from one row of the output to the next
  int64_t pixels, pixelStep;
  const int8_t* weights;
  int64_t channels;
  uint8_t flip;
  const Requantization* how;  // with numbers for each place of each block
  const uint8_t* other;       // what a sum adds, as results lie; may be NULL
  uint8_t* out;
};
using DepthwiseQuadsFunction = void (*)(const DepthwiseQuads& run);
DepthwiseQuadsFunction depthwiseQuadsFunction();  // NULL if this machine has no such instructions

// Products of groups of 4, 8, 16 or 32 channels and as many filters, 64 channels at a time. Rows of A are those
// channels of a pixel, whose words are spread to their groups; `words` of a tile are those of a group. The columns of a
// panel are filters in the order of groupedChannel. Without residuals and factors of columns. NULL if this machine has
// no such instructions.
const IntegerGemmTable* groupedBytesTable();
inline constexpr int64_t kGroupedChannels = 64;
inline int64_t groupedChannel(int64_t column) { return column % 16 * 4 + column / 16; }

// Sums of a run of output pixels for up to kMostFewFilterBytes filters, as the last ones of networks that make images:
// vectors of the pixels' bytes are multiplied by those of each filter, and added up at the end. Of pixel p, kernel row
// r is the `depth` bytes at x[r] + p * step.
struct FewFilterBytes {
  const uint8_t* const* x;
  int64_t rows, depth, step, pixels;
  const int8_t* weights;  // [row][vector][filter][64], filled up with zeros
  int64_t filters;
  int32_t* sums;  // [pixels][filters]
};
inline constexpr int64_t kMostFewFilterBytes = 4;
using FewFilterBytesFunction = void (*)(const FewFilterBytes& run);
FewFilterBytesFunction fewFilterBytesFunction();  // NULL if this machine has no such instructions

// Convolutions of unsigned bytes with so few filters, in one group, without zero points of weights.
bool hasFewFilterBytes(const Attributes& attributes, const Tensor& weights, const Tensor* zeros);
Ref<Prepared> prepareQuantizedFew(const Tensor& weights, size_t input);
// Whether the machine runs what prepareQuantizedFew made, maybe elsewhere.
bool fitsQuantizedFew(const Prepared& filters);
std::unique_ptr<OpKernel> createQuantizedFew(const OpRequest& request, const ConvShape& shape, Ref<Prepared> filters,
                                             const QuantizedInputs& inputs);

// Channels that a vector of 64 bytes holds: 64 of one pixel, or 32 or 16 of several. Blocks may overlap; only a single
// one may be wider than there are channels.
struct ChannelBlock {
  int64_t first, width;

  static constexpr int64_t kPlaces = 64;
  // The block that contains channel `c` and those before it are in other ones.
  ChannelBlock(int64_t c, int64_t channels) {
    const int64_t left = channels - c;
    width = left > 32 && channels >= 64 ? 64 : left > 16 && channels >= 32 ? 32 : 16;
    first = std::max<int64_t>(0, std::min(c, channels - width));
  }
  int64_t last() const { return first + width; }
  // Of each place among the block's weights and parameters, in the order that interleaving bytes gives.
  int64_t channel(int64_t place) const { return first + (place % 16 / 4 * 16 + place / 16 * 4 + place % 4) % width; }
};

}  // namespace max
