// SPDX-License-Identifier: Apache-2.0
// Convolutions with up to eight filters, or some more of long sums, as the last ones of networks that make images: as a
// product, they would fill a part of a vector only. Here vectors hold channels, and each sum is added up at the end.
#pragma once

#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

inline constexpr int64_t kMostFewFilters = 8;

// How a row of output pixels is computed, for up to four filters.
struct FewRow {
  const float* const* x;        // per kernel row: the input row with its borders
  const float* const* weights;  // per kernel row: that of the first filter
  int64_t rows;                 // kernel rows inside the image
  int64_t depth;                // kernel width * channels, consecutive in a row of the input
  int64_t filterFloats;         // from the weights of one filter to those of the next
  int64_t step;                 // floats of the input from one output pixel to the next
  int64_t pixels;
  int64_t filters;    // of these
  int64_t pixelSize;  // floats from one pixel of the output to the next
  const float* bias;  // NULL = none
  float* out;
  float low, high;  // limits of the results; infinities = none
};

struct FewTable {
  void (*run)(const FewRow& row);
};
const FewTable& fewTable();  // of cpuTarget()

// [filter][kernel row][kernel column][channel].
class FewWeights : public Prepared {
 public:
  explicit FewWeights(const Tensor& weights);
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  const float* values() const { return values_->as<float>(); }

 private:
  Ref<Tensor> values_;
};

// Whether a convolution has so few filters, and a form that is worth it.
bool hasFewFilters(const Node& node, const Shape& weights);
// With filters that the load prepared, or that come with the call.
bool acceptsFew(const OpRequest& request);
std::unique_ptr<OpKernel> createFew(const OpRequest& request);

}  // namespace max
