// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows of float32, for each CPU target (norm_simd.cpp).
#pragma once

#include <cstdint>

namespace max {

struct Moments {
  float mean;
  float inverseDeviation;  // 1 / sqrt(variance + epsilon)
};

// Adding up the lanes of sums is most of the work on rows of up to so many elements, which are taken together.
inline constexpr int64_t kShortRow = 256;

struct NormTable {
  // Of each of some rows, one after the other.
  void (*moments)(const float* x, int64_t rows, int64_t size, float epsilon, Moments* moments);
  Moments momentsOf(const float* x, int64_t size, float epsilon) const {
    Moments of;
    moments(x, 1, size, epsilon, &of);
    return of;
  }
  // 1 / sqrt(mean of squares + epsilon)
  float (*inverseRootMeanSquare)(const float* x, int64_t size, float epsilon);
  float (*sumOfSquares)(const float* x, int64_t size);
  float (*sumOfMagnitudes)(const float* x, int64_t size);
  // sum = x + r. sum may be one of them.
  void (*add)(const float* x, const float* r, float* sum, int64_t size);
  // y = (x - mean) * inverseDeviation * scale[i] + bias[i] of each row; bias may be NULL, y may be x.
  void (*apply)(const float* x, float* y, int64_t rows, int64_t size, const Moments* moments, const float* scale,
                const float* bias);
  // The same past the caches (ops/cpu/streamed.h): the second next row is prefetched.
  void (*applyStreamed)(const float* x, float* y, int64_t rows, int64_t size, const Moments* moments,
                        const float* scale, const float* bias);
  // The same, rounded to bfloat16.
  void (*applyNarrow)(const float* x, uint16_t* y, int64_t rows, int64_t size, const Moments* moments,
                      const float* scale, const float* bias);
  // y = (x - mean) * factor + shift; y may be x.
  void (*scaleAndShift)(const float* x, float* y, int64_t size, float mean, float factor, float shift);
};

const NormTable& normTable();  // of the CPU target of now

}  // namespace max
