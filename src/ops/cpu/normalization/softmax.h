// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax of float32, and Softmax of bytes, for each CPU target (softmax_simd.cpp).
#pragma once

#include <cstdint>

namespace max {

// What bytes mean: those of a line are numbers `scale` apart, a result is a number divided by `resultScale`, plus
// `resultZero`. Bytes with a sign become such without by a flip of their highest bit: `flip` and `resultFlip` are 0x80
// then, and the zero point is that of flipped bytes.
struct ByteSoftmax {
  float scale, resultScale;
  int32_t resultZero;
  uint8_t flip, resultFlip;
};

struct SoftmaxTable {
  int64_t longestInRegisters;  // elements of lines whose softmax is not stored past the caches
  // `count` lines of `size` elements side by side. y may be x. With memory for a line in `weights`, y is stored past
  // the caches (ops/cpu/streamed.h), and the second line behind x is prefetched.
  void (*rows)(const float* x, float* y, int64_t count, int64_t size, bool logarithm, float* weights);
  // `columns` lines side by side, whose elements are `stride` apart. y may be x; scratch: 2 * columns floats.
  void (*columns)(const float* x, float* y, int64_t size, int64_t stride, int64_t columns, float* scratch,
                  bool logarithm);
  // Softmax of lines of bytes side by side. weights: as many floats as one has, and a vector more.
  void (*bytes)(const ByteSoftmax& how, const uint8_t* x, uint8_t* y, int64_t size, int64_t lines, float* weights);
};

const SoftmaxTable& softmaxTable();  // of the CPU target of now

// Of float64. y may be x.
struct DoubleSoftmaxTable {
  void (*row)(const double* x, double* y, int64_t size, bool logarithm);
  // `columns` lines side by side, whose elements are `stride` apart.
  void (*columns)(const double* x, double* y, int64_t size, int64_t stride, int64_t columns, bool logarithm);
};

const DoubleSoftmaxTable& doubleSoftmaxTable();  // of the CPU target of now; NULL without AVX-512

}  // namespace max
