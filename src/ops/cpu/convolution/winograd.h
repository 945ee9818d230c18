// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution: 3 x 3 filters, without strides, over tiles of the output; or some of these filters for each,
// one a frame.
//
// A tile of m x m output pixels reads n x n input pixels, n = m + 2. Both it and the filters are transformed to n x n
// values, so that the tile is n x n products of channels instead of 9 m^2. m is 2 or 4.
#pragma once

#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/matmul.h"

namespace max {

inline constexpr int kWinogradMostSide = 6;  // n
inline constexpr int kWinogradMostValues = kWinogradMostSide * kWinogradMostSide;

struct WinogradInput {
  const void* const* pixels;  // [n * n], of floats or of bfloat16
  int64_t channels;
  float* out;  // value v at out + v * stride
  int64_t stride;
};

struct WinogradOutput {
  const float* values;  // value v at values + v * stride
  int64_t stride;
  int64_t channels;
  const float* bias;               // NULL = none
  const float* residual;           // NULL = none; the output's place in it
  const uint16_t* narrowResidual;  // instead, as bfloat16
  float* out;
  uint16_t* narrow;            // instead, as bfloat16
  int64_t rowStep, pixelStep;  // of the output,
  int64_t residualRowStep, residualPixelStep;
  int64_t rows, columns;  // pixels of the tile that exist
  const Epilogue* epilogue;
};

// One channel of a panel of filters.
struct WinogradFilters {
  const float* from;    // of any alignment; filter k's 3 x 3 taps at from + k * step
  int64_t step, count;  // those from `count` to `width` are zero
  int64_t width;        // whole vectors, in each of which a filter exists
  float* out;           // filter k's value v at out + v * stride + k; whole vectors lie at multiples of their size
  int64_t stride;
};

struct WinogradTable {
  void (*input)(const WinogradInput& tile);
  void (*narrowInput)(const WinogradInput& tile);
  void (*output)(const WinogradOutput& tile);
  // Computes in float64 and rounds once. Stores past the caches (hwy::FlushStream).
  void (*filters)(const WinogradFilters& filters);
};
// Of cpuTarget(); `side`: m.
const WinogradTable& winogradTable(int side);

// Its products are float32 at each precision: where they are fewer by enough, also instead of direct ones of bfloat16.
bool hasWinogradWeights(const Node& node);
// Weights that are prepared at load decide: NULL = the direct way, which is better or the only one.
std::unique_ptr<OpKernel> createWinograd(const OpRequest& request, const ConvShape& shape);
// Of the tiles that these weights are prepared for at load; 0 = the direct way.
int winogradSide(const Node& node, const Tensor& weights);
PackedForm winogradForm(const Tensor& weights, int side);
Ref<Prepared> winogradWeights(const Tensor& weights, int side);
// From their packed matrices and back; NULL if they are others.
Ref<Prepared> winogradWeights(Ref<PackedWeights> packed, int side);
const PackedWeights* packedWinograd(const Prepared& prepared);

}  // namespace max
