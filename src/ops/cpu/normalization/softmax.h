// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax of float32, for each CPU target (softmax_simd.cpp).
#pragma once

#include <cstdint>

namespace max {

struct SoftmaxTable {
  // One line of `size` elements side by side. y may be x. With memory for a line in `weights`, y is stored past the
  // caches (ops/cpu/streamed.h), and the second line behind x is prefetched.
  void (*row)(const float* x, float* y, int64_t size, bool logarithm, float* weights);
  // `columns` lines side by side, whose elements are `stride` apart. y may be x; scratch: 2 * columns floats.
  void (*columns)(const float* x, float* y, int64_t size, int64_t stride, int64_t columns, float* scratch,
                  bool logarithm);
};

const SoftmaxTable& softmaxTable();  // of the CPU target of now

}  // namespace max
