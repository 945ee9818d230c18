// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/cpu/normalization/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/normalization/norm_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/reduction/fold-inl.h"
#include "ops/cpu/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// Elements per set of accumulators: bounds the rounding error of long rows.
constexpr int64_t kPart = 8192;

template <class Map>
HWY_INLINE double longSum(const float* x, int64_t size, const Map& map) {
  double sum = 0;
  for (int64_t i = 0; i < size; i += kPart) {
    sum += foldSum(x + i, size - i < kPart ? size - i : kPart, map);
    if (size > kPart) passWork(kPart);
  }
  return sum;
}

float sumOfSquares(const float* x, int64_t size) {
  return static_cast<float>(longSum(x, size, [](V v) HWY_ATTR { return hn::Mul(v, v); }));
}

float sumOfMagnitudes(const float* x, int64_t size) {
  return static_cast<float>(longSum(x, size, [](V v) HWY_ATTR { return hn::Abs(v); }));
}

Moments momentsOfLong(const float* x, int64_t size, float epsilon) {
  const double count = static_cast<double>(size);
  const auto mean = static_cast<float>(longSum(x, size, [](V v) HWY_ATTR { return v; }) / count);
  const F d;
  const V center = hn::Set(d, mean);
  const double variance = longSum(x, size,
                                  [center](V v) HWY_ATTR {
                                    const V distance = hn::Sub(v, center);
                                    return hn::Mul(distance, distance);
                                  }) /
                          count;
  return {mean, 1 / std::sqrt(static_cast<float>(variance) + epsilon)};
}

// Sums of four rows of map(row, vector, how many elements are left).
template <class Map>
HWY_INLINE void sumRows(const float* const (&x)[4], int64_t size, const Map& map, float* to) {
  const F d;
  V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  forEachLane(size, [&](int64_t i, size_t left) HWY_ATTR {
    MAX_UNROLL for (int r = 0; r < 4; ++r) sum[r] = hn::Add(sum[r], map(r, loadLanes(d, x[r] + i, left), left));
  });
  sumsOf(sum, to);
}

// Of up to four short rows; each result is what it is in any other company.
void momentsOfShort(const float* x, int64_t rows, int64_t size, float epsilon, Moments* moments) {
  const F d;
  const float* row[4];
  for (int64_t r = 0; r < 4; ++r) row[r] = x + (r < rows ? r : rows - 1) * size;
  const float count = static_cast<float>(size);
  float mean[4], squares[4];
  sumRows(
      row, size, [](int, V v, size_t) HWY_ATTR { return v; }, mean);
  for (float& each : mean) each /= count;
  const V center[4] = {hn::Set(d, mean[0]), hn::Set(d, mean[1]), hn::Set(d, mean[2]), hn::Set(d, mean[3])};
  const auto square = [&](int r, V v, size_t left) HWY_ATTR {
    const V distance = hn::Sub(v, center[r]);
    return hn::Mul(distance, left == 0 ? distance : hn::IfThenElseZero(hn::FirstN(d, left), distance));
  };
  sumRows(row, size, square, squares);
  for (float& each : squares) each = 1 / std::sqrt(each / count + epsilon);
  for (int64_t r = 0; r < rows; ++r) moments[r] = {mean[r], squares[r]};
}

void moments(const float* x, int64_t rows, int64_t size, float epsilon, Moments* moments) {
  const bool areShort = size <= kShortRow;
  const int64_t step = areShort ? 4 : 1;
  for (int64_t row = 0; row < rows; row += step, x += step * size, moments += step)
    if (areShort)
      momentsOfShort(x, rows - row < step ? rows - row : step, size, epsilon, moments);
    else
      *moments = momentsOfLong(x, size, epsilon);
}

float inverseRootMeanSquare(const float* x, int64_t size, float epsilon) {
  return 1 / std::sqrt(sumOfSquares(x, size) / static_cast<float>(size) + epsilon);
}

void add(const float* x, const float* r, float* sum, int64_t size) {
  const F d;
  forEachLane(size, [=](int64_t i, size_t left) HWY_ATTR {
    storeLanes(hn::Add(loadLanes(d, x + i, left), loadLanes(d, r + i, left)), d, sum + i, left);
  });
}

// `store`(vector, how many elements are left, the vector's place in x, in y)
template <class T, class Store>
HWY_INLINE void applyTo(const float* x, T* y, int64_t size, const Moments& moments, const float* scale,
                        const float* bias, const Store& store) {
  const F d;
  const V center = hn::Set(d, moments.mean), by = hn::Set(d, moments.inverseDeviation);
  const auto normalised = [=](int64_t i, size_t left) HWY_ATTR {
    return hn::Mul(hn::Mul(hn::Sub(loadLanes(d, x + i, left), center), by), loadLanes(d, scale + i, left));
  };
  if (bias)
    forEachLane(size, [=](int64_t i, size_t left) HWY_ATTR {
      store(hn::Add(normalised(i, left), loadLanes(d, bias + i, left)), left, x + i, y + i);
    });
  else
    forEachLane(size, [=](int64_t i, size_t left) HWY_ATTR { store(normalised(i, left), left, x + i, y + i); });
}

template <class T, class Store>
HWY_INLINE void applyToEach(const float* x, T* y, int64_t rows, int64_t size, const Moments* moments,
                            const float* scale, const float* bias, const Store& store) {
  for (int64_t row = 0; row < rows; ++row, x += size, y += size) applyTo(x, y, size, moments[row], scale, bias, store);
}

void apply(const float* x, float* y, int64_t rows, int64_t size, const Moments* moments, const float* scale,
           const float* bias) {
  applyToEach(x, y, rows, size, moments, scale, bias,
              [](V v, size_t left, const float*, float* to) HWY_ATTR { storeLanes(v, F(), to, left); });
}

void applyStreamed(const float* x, float* y, int64_t rows, int64_t size, const Moments* moments, const float* scale,
                   const float* bias) {
  applyToEach(x, y, rows, size, moments, scale, bias, [=](V v, size_t, const float* from, float* to) HWY_ATTR {
    __builtin_prefetch(from + 2 * size);
    hn::Stream(v, F(), to);
  });
}

void applyNarrow(const float* x, uint16_t* y, int64_t rows, int64_t size, const Moments* moments, const float* scale,
                 const float* bias) {
  applyToEach(x, y, rows, size, moments, scale, bias, [](V v, size_t left, const float*, uint16_t* to) HWY_ATTR {
    storeNarrow(v, to, left ? static_cast<int64_t>(left) : static_cast<int64_t>(hn::Lanes(F())));
  });
}

void scaleAndShift(const float* x, float* y, int64_t size, float mean, float factor, float shift) {
  const F d;
  const V center = hn::Set(d, mean), a = hn::Set(d, factor), b = hn::Set(d, shift);
  forEachLane(size, [=](int64_t i, size_t left) HWY_ATTR {
    storeLanes(hn::MulAdd(hn::Sub(loadLanes(d, x + i, left), center), a, b), d, y + i, left);
  });
}

}  // namespace

extern const NormTable kNormTable;
const NormTable kNormTable = {moments, inverseRootMeanSquare, sumOfSquares, sumOfMagnitudes, add,
                              apply,   applyStreamed,         applyNarrow,  scaleAndShift};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const NormTable& normTable() { return MAX_CHOOSE_TARGET(kNormTable); }
}  // namespace max
#endif
