// SPDX-License-Identifier: Apache-2.0
// Depthwise and grouped convolutions of 8-bit integers, and those with few filters, over channels-last tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

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
// as many for each block of channels.
struct DepthwiseQuads {
  const uint8_t* const* columns;
  const int64_t* offsets;  // [steps][4]
  int64_t steps;
  int64_t sharing;  // 1, 2 or 4 pixels
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

// The same of two rows of the output for square kernels of 3, 5 or 7 rows without strides and dilations: words are made
// of a column of the rows that both read, and serve all pixels that the column is a tap of. Weights are
// [word][row of the output][64][4] for each block of channels.
struct DepthwiseSquare {
  static constexpr int kRows = 2, kMostRows = 8;
  static constexpr int64_t kColumnBytes = 512;  // of memory
  int64_t size;
  const uint8_t* x[kMostRows];  // rows of the input; NULL = outside of the image, as columns outside of the width
  const uint8_t* zeros;         // what pixels outside contain, 64 bytes or more
  int64_t column, width;        // the first column of the first pixel, of so many
  int64_t pixels, rows;         // of the output; the second row may not exist
  int64_t rowStep;              // from one row of the output to the next
  const int8_t* weights;
  int64_t channels;
  uint8_t flip;
  const Requantization* how;  // with numbers for each place of each block
  const uint8_t* other;       // what a sum adds, as results lie; may be NULL
  uint8_t* out;
  std::byte* memory;  // memoryBytes() of it

  static bool exists(int64_t size) { return size == 3 || size == 5 || size == 7; }
  static constexpr int64_t inputRows(int64_t size) { return size + kRows - 1; }
  static constexpr int64_t words(int64_t size) { return size == 3 ? 3 : size == 5 ? 8 : 14; }
  // Row and column of byte number i of a word; -1 = of a column that another word has. The last two rows of six are
  // words of two columns.
  static std::pair<int64_t, int64_t> place(int64_t size, int64_t word, int64_t i) {
    if (word < size) return {i, word};
    if (size == 7) return {4 + i, word - 7};
    return {4 + i % 2, word == 7 ? (i < 2 ? -1 : 4) : 2 * (word - 5) + i / 2};
  }
  static int64_t memoryBytes(int64_t size, int64_t pixels) {
    return size == 3 ? 0 : (pixels + size + 8) * kColumnBytes;
  }
};
using DepthwiseSquareFunction = void (*)(const DepthwiseSquare& run);
DepthwiseSquareFunction depthwiseSquareFunction();  // NULL if this machine has no such instructions

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

// Calls body(width, number, first channel) for each block; the width is a constant.
template <class Body>
void forEachChannelBlock(int64_t channels, const Body& body) {
  for (int64_t c = 0, number = 0; c < channels; ++number) {
    const ChannelBlock block(c, channels);
    if (block.width == 64)
      body(std::integral_constant<int, 64>(), number, block.first);
    else if (block.width == 32)
      body(std::integral_constant<int, 32>(), number, block.first);
    else
      body(std::integral_constant<int, 16>(), number, block.first);
    c = block.last();
  }
}

}  // namespace max
