// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/cpu/normalization/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/normalization/norm_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/reduction/fold-inl.h"

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

Moments moments(const float* x, int64_t size, float epsilon) {
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

float inverseRootMeanSquare(const float* x, int64_t size, float epsilon) {
  return 1 / std::sqrt(sumOfSquares(x, size) / static_cast<float>(size) + epsilon);
}

void add(const float* x, const float* r, float* sum, int64_t size) {
  const F d;
  forEachLane(size, [=](int64_t i, size_t left) HWY_ATTR {
    storeLanes(hn::Add(loadLanes(d, x + i, left), loadLanes(d, r + i, left)), d, sum + i, left);
  });
}

// `store`(vector, index, how many elements are left)
template <class Store>
HWY_INLINE void applyTo(const float* x, int64_t size, float mean, float factor, const float* scale, const float* bias,
                        const Store& store) {
  const F d;
  const V center = hn::Set(d, mean), by = hn::Set(d, factor);
  const auto normalised = [=](int64_t i, size_t left) HWY_ATTR {
    return hn::Mul(hn::Mul(hn::Sub(loadLanes(d, x + i, left), center), by), loadLanes(d, scale + i, left));
  };
  if (bias)
    forEachLane(size, [=](int64_t i, size_t left)
                          HWY_ATTR { store(hn::Add(normalised(i, left), loadLanes(d, bias + i, left)), i, left); });
  else
    forEachLane(size, [=](int64_t i, size_t left) HWY_ATTR { store(normalised(i, left), i, left); });
}

void apply(const float* x, float* y, int64_t size, float mean, float factor, const float* scale, const float* bias) {
  applyTo(x, size, mean, factor, scale, bias,
          [=](V v, int64_t i, size_t left) HWY_ATTR { storeLanes(v, F(), y + i, left); });
}

void applyStreamed(const float* x, float* y, int64_t size, float mean, float factor, const float* scale,
                   const float* bias) {
  applyTo(x, size, mean, factor, scale, bias, [=](V v, int64_t i, size_t) HWY_ATTR {
    __builtin_prefetch(x + 2 * size + i);
    hn::Stream(v, F(), y + i);
  });
}

void applyNarrow(const float* x, uint16_t* y, int64_t size, float mean, float factor, const float* scale,
                 const float* bias) {
  applyTo(x, size, mean, factor, scale, bias, [=](V v, int64_t i, size_t left) HWY_ATTR {
    storeNarrow(v, y + i, left ? static_cast<int64_t>(left) : static_cast<int64_t>(hn::Lanes(F())));
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
