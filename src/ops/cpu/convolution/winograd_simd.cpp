// SPDX-License-Identifier: Apache-2.0
// Transforms of tiles for Winograd's convolution, per target. Vectors run along channels.
#include <algorithm>
#include <limits>

#include "ops/cpu/convolution/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/winograd_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/transpose-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());

using Double = hn::ScalableTag<double>;
using W = hn::Vec<Double>;
constexpr int64_t kDoubles = hn::MaxLanes(Double());

// The values at p and -p of a filter's polynomial, times `factor`: 1 over the product of the distances from the other
// points.
HWY_INLINE void filterPair(const W (&x)[3], double p, double factor, W& positive, W& negative) {
  const Double d;
  const W even = hn::MulAdd(hn::Set(d, factor * p * p), x[2], hn::Mul(hn::Set(d, factor), x[0]));
  const W odd = hn::Mul(hn::Set(d, factor * p), x[1]);
  positive = hn::Add(even, odd);
  negative = hn::Sub(even, odd);
}

// Polynomials through the points 0, 1, -1 and infinity.
struct Two {
  static constexpr int kSide = 2;
  static constexpr int kValues = 4;

  HWY_INLINE static void filter(const W (&x)[3], W (&out)[4]) {
    out[0] = x[0];
    filterPair(x, 1, 0.5, out[1], out[2]);
    out[3] = x[2];
  }

  HWY_INLINE static void input(const V (&x)[4], V (&out)[4]) {
    out[0] = hn::Sub(x[0], x[2]);
    out[1] = hn::Add(x[1], x[2]);
    out[2] = hn::Sub(x[2], x[1]);
    out[3] = hn::Sub(x[3], x[1]);
  }

  HWY_INLINE static void output(const V (&v)[4], V (&out)[2]) {
    out[0] = hn::Add(hn::Add(v[0], v[1]), v[2]);
    out[1] = hn::Add(hn::Sub(v[1], v[2]), v[3]);
  }
};

// Through 0, a, -a, b, -b and infinity. These points lose half a digit less than 1 and 2, and all that follows from
// them is exact in float32.
struct Four {
  static constexpr int kSide = 4;
  static constexpr int kValues = 6;
  static constexpr float kA = 0.625f, kB = 1.375f, kA2 = kA * kA, kB2 = kB * kB;

  HWY_INLINE static void filter(const W (&x)[3], W (&out)[6]) {
    constexpr double a2 = kA2, b2 = kB2;
    out[0] = hn::Mul(hn::Set(Double(), 1 / a2 / b2), x[0]);
    filterPair(x, kA, 0.5 / a2 / (a2 - b2), out[1], out[2]);
    filterPair(x, kB, 0.5 / b2 / (b2 - a2), out[3], out[4]);
    out[5] = x[2];
  }

  // The values at c and -c, where `others` is the square of the other point.
  HWY_INLINE static void pair(const V (&x)[6], float c, float others, V& positive, V& negative) {
    const D d;
    const V even = hn::NegMulAdd(hn::Set(d, others), x[2], x[4]);
    const V odd = hn::Mul(hn::Set(d, c), hn::NegMulAdd(hn::Set(d, others), x[1], x[3]));
    positive = hn::Add(even, odd);
    negative = hn::Sub(even, odd);
  }

  HWY_INLINE static void input(const V (&x)[6], V (&out)[6]) {
    const D d;
    const V product = hn::Set(d, kA2 * kB2), sum = hn::Set(d, kA2 + kB2);
    out[0] = hn::MulAdd(product, x[0], hn::NegMulAdd(sum, x[2], x[4]));
    pair(x, kA, kB2, out[1], out[2]);
    pair(x, kB, kA2, out[3], out[4]);
    out[5] = hn::MulAdd(product, x[1], hn::NegMulAdd(sum, x[3], x[5]));
  }

  HWY_INLINE static void output(const V (&v)[6], V (&out)[4]) {
    const D d;
    const V evenA = hn::Add(v[1], v[2]), oddA = hn::Sub(v[1], v[2]);
    const V evenB = hn::Add(v[3], v[4]), oddB = hn::Sub(v[3], v[4]);
    out[0] = hn::Add(hn::Add(evenA, evenB), v[0]);
    out[1] = hn::MulAdd(hn::Set(d, kA), oddA, hn::Mul(hn::Set(d, kB), oddB));
    out[2] = hn::MulAdd(hn::Set(d, kA2), evenA, hn::Mul(hn::Set(d, kB2), evenB));
    out[3] = hn::MulAdd(hn::Set(d, kA2 * kA), oddA, hn::MulAdd(hn::Set(d, kB2 * kB), oddB, v[5]));
  }
};

template <class Size, class T>
HWY_INLINE void inputVector(const WinogradInput& tile, int64_t c, int64_t count) {
  const D d;
  constexpr int n = Size::kValues;
  V columns[n][n];  // of columns, transformed
  MAX_UNROLL for (int j = 0; j < n; ++j) {
    V x[n], out[n];
    MAX_UNROLL for (int i = 0; i < n; ++i) x[i] = loadWide(static_cast<const T*>(tile.pixels[i * n + j]) + c, count);
    Size::input(x, out);
    MAX_UNROLL for (int i = 0; i < n; ++i) columns[i][j] = out[i];
  }
  float* to = tile.out + c;
  MAX_UNROLL for (int i = 0; i < n; ++i) {
    V out[n];
    Size::input(columns[i], out);
    MAX_UNROLL for (int j = 0; j < n; ++j) storeFirst(d, out[j], to + (i * n + j) * tile.stride, count);
  }
}

template <class Size, class T>
void inputTile(const WinogradInput& tile) {
  int64_t c = 0;
  for (; c + kLanes <= tile.channels; c += kLanes) inputVector<Size, T>(tile, c, kLanes);
  if (c < tile.channels) inputVector<Size, T>(tile, c, tile.channels - c);
}

HWY_INLINE V addResidual(const WinogradOutput& tile, V sum, int64_t at, int64_t count) {
  if (tile.residual) return hn::Add(sum, loadFirst(D(), tile.residual + at, count));
  return tile.narrowResidual ? hn::Add(sum, loadWide(tile.narrowResidual + at, count)) : sum;
}

HWY_INLINE V finish(const WinogradOutput& tile, V sum, V bias, int64_t at, int64_t count) {
  const D d;
  const Activation& activation = tile.epilogue->activation;
  sum = hn::Add(sum, bias);
  if (!tile.epilogue->addsResidualLast) sum = addResidual(tile, sum, at, count);
  if (activation.clamps) {
    sum = hn::Max(hn::Set(d, activation.low), sum);
    if (activation.high != std::numeric_limits<float>::infinity()) sum = hn::Min(hn::Set(d, activation.high), sum);
  }
  return tile.epilogue->addsResidualLast ? addResidual(tile, sum, at, count) : sum;
}

template <class Size>
HWY_INLINE void outputVector(const WinogradOutput& tile, int64_t c, int64_t count) {
  const D d;
  constexpr int n = Size::kValues, m = Size::kSide;
  V columns[m][n];
  MAX_UNROLL for (int j = 0; j < n; ++j) {
    V v[n], out[m];
    MAX_UNROLL for (int i = 0; i < n; ++i) v[i] = loadFirst(d, tile.values + (i * n + j) * tile.stride + c, count);
    Size::output(v, out);
    MAX_UNROLL for (int i = 0; i < m; ++i) columns[i][j] = out[i];
  }
  const V bias = tile.bias ? loadFirst(d, tile.bias + c, count) : hn::Zero(d);
  MAX_UNROLL for (int i = 0; i < m; ++i) {
    V out[m];
    Size::output(columns[i], out);
    if (i >= tile.rows) break;
    MAX_UNROLL for (int j = 0; j < m; ++j) {
      const int64_t at = i * tile.rowStep + j * tile.pixelStep + c;
      if (j >= tile.columns) continue;
      const int64_t from = i * tile.residualRowStep + j * tile.residualPixelStep + c;
      const V result = finish(tile, out[j], bias, from, count);
      if (tile.narrow)
        storeNarrow(result, tile.narrow + at, count);
      else
        storeFirst(d, result, tile.out + at, count);
    }
  }
}

template <class Size>
void outputTile(const WinogradOutput& tile) {
  int64_t c = 0;
  for (; c + kLanes <= tile.channels; c += kLanes) outputVector<Size>(tile, c, kLanes);
  if (c < tile.channels) outputVector<Size>(tile, c, tile.channels - c);
}

constexpr int kHalves = static_cast<int>(kLanes / kDoubles);

template <int kHalf>
HWY_INLINE W widenHalf(V v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(Double(), v);
#else
  const hn::Rebind<float, Double> single;
  if constexpr (kHalf == 1) return hn::PromoteTo(Double(), hn::UpperHalf(single, v));
  return hn::PromoteTo(Double(), hn::LowerHalf(single, v));
#endif
}

// The taps of a vector of filters, of which `count` exist, at least one; those of the others are zero.
HWY_INLINE void loadTaps(const float* from, int64_t step, int64_t count, V (&taps)[9]) {
#if HWY_TARGET == HWY_SCALAR
  (void)step, (void)count;
  hwy::CopyBytes<sizeof taps>(from, taps);
#else
  const float* filters[kLanes];
  MAX_UNROLL for (int64_t k = 0; k < kLanes; ++k) filters[k] = from + std::min(k, count - 1) * step;
  V last[4];  // from the sixth on: nothing behind the ninth is read
  transposeFour(filters, 0, taps);
  transposeFour(filters, 4, taps + 4);
  transposeFour(filters, 5, last);
  taps[8] = last[3];
  if (HWY_LIKELY(count >= kLanes)) return;
  const auto some = hn::FirstN(D(), static_cast<size_t>(count));
  MAX_UNROLL for (V& tap : taps) tap = hn::IfThenElseZero(some, tap);
#endif
}

template <class Size, int kHalf>
HWY_INLINE void filterHalf(const V (&taps)[9], float* to, int64_t stride) {
  constexpr int n = Size::kValues;
  const hn::Rebind<float, Double> single;
  W columns[3][n];
  MAX_UNROLL for (int j = 0; j < 3; ++j) {
    const W x[3] = {widenHalf<kHalf>(taps[j]), widenHalf<kHalf>(taps[3 + j]), widenHalf<kHalf>(taps[6 + j])};
    Size::filter(x, columns[j]);
  }
  MAX_UNROLL for (int i = 0; i < n; ++i) {
    const W x[3] = {columns[0][i], columns[1][i], columns[2][i]};
    W out[n];
    Size::filter(x, out);
    MAX_UNROLL for (int j = 0; j < n; ++j, to += stride) hn::StoreU(hn::DemoteTo(single, out[j]), single, to);
  }
}

// The values of some filters come together before they go to their matrices: these are about a power of two apart, so
// that lines there would evict each other half written. They are stored past the caches, since a store into one would
// read the line first. A filter's next rows follow in memory; those of other filters are far apart, which no processor
// foresees.
template <class Size>
void filterRow(const WinogradFilters& filters) {
  constexpr int64_t kPart = 64, kValues = Size::kValues * Size::kValues, kAheadTaps = 9 * 8;
  const D d;
  HWY_ALIGN float values[kValues * kPart];
  for (int64_t first = 0; first < filters.width; first += kPart) {
    const int64_t end = std::min(first + kPart, filters.width);
    for (int64_t k = first; k < std::min(end, filters.count); ++k)
      __builtin_prefetch(filters.from + k * filters.step + kAheadTaps);
    for (int64_t k = first; k < end; k += kLanes) {
      V taps[9];
      loadTaps(filters.from + k * filters.step, filters.step, filters.count - k, taps);
      filterHalf<Size, 0>(taps, values + k - first, kPart);
      if constexpr (kHalves == 2) filterHalf<Size, 1>(taps, values + k - first + kDoubles, kPart);
    }
    for (int64_t v = 0; v < kValues; ++v)
      for (int64_t k = first; k < end; k += kLanes)
        hn::Stream(hn::Load(d, values + v * kPart + k - first), d, filters.out + v * filters.stride + k);
  }
}

}  // namespace

extern const WinogradTable kWinogradTwo, kWinogradFour;
constexpr WinogradTable kWinogradTwo = {inputTile<Two, float>, inputTile<Two, uint16_t>, outputTile<Two>,
                                        filterRow<Two>};
constexpr WinogradTable kWinogradFour = {inputTile<Four, float>, inputTile<Four, uint16_t>, outputTile<Four>,
                                         filterRow<Four>};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const WinogradTable& winogradTable(int side) {
  return side == 2 ? MAX_CHOOSE_TARGET(kWinogradTwo) : MAX_CHOOSE_TARGET(kWinogradFour);
}

}  // namespace max
#endif
