// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution: 3 x 3 filters, without strides, over tiles of the output.
//
// A tile of m x m output pixels reads n x n input pixels, n = m + 2. Both it and the filters are transformed to n x n
// values, so that the tile is n x n products of channels instead of 9 m^2. m is 2 or 4.
#pragma once

#include "ops/cpu/convolution/conv.h"

namespace max {

inline constexpr int kWinogradMostSide = 6;  // n
inline constexpr int kWinogradMostValues = kWinogradMostSide * kWinogradMostSide;

struct WinogradInput {
  const float* const* pixels;  // [n * n]
  int64_t channels;
  float* out;  // value v at out + v * stride
  int64_t stride;
};

struct WinogradOutput {
  const float* values;  // value v at values + v * stride
  int64_t stride;
  int64_t channels;
  const float* bias;      // NULL = none
  const float* residual;  // NULL = none; the output's place in it
  float* out;
  int64_t rowStep, pixelStep;  // of out and residual
  int64_t rows, columns;       // pixels of the tile that exist
  const Activation* activation;
};

// One channel of a panel of filters.
struct WinogradFilters {
  const float* from;    // filter k's 3 x 3 taps at from + k * step
  int64_t step, count;  // those from `count` to `width` are zero
  int64_t width;        // a multiple of the target's vectors
  float* out;           // filter k's value v at out + v * stride + k
  int64_t stride;
};

struct WinogradTable {
  void (*input)(const WinogradInput& tile);
  void (*output)(const WinogradOutput& tile);
  // Computes in float64 and rounds once.
  void (*filters)(const WinogradFilters& filters);
};
// Of cpuTarget(); `side`: m.
const WinogradTable& winogradTable(int side);

// Its products are float32 at each precision: where they are fewer by enough, also instead of direct ones of bfloat16.
bool hasWinogradWeights(const Node& node);
// Weights that are prepared at load decide: NULL = the direct way, which is better or the only one.
std::unique_ptr<OpKernel> createWinograd(const OpRequest& request, const ConvShape& shape);
Ref<Prepared> prepareWinograd(const Node& node, const Tensor& weights);
// For tiles of a given size.
Ref<Prepared> winogradWeights(const Tensor& weights, int side);

}  // namespace max
