// SPDX-License-Identifier: Apache-2.0
// Parts of convolutions over channels-last tensors.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

struct PackedForm;

// Finds the pixels that output pixels read, as row pointers for a product. T: float, or uint8_t for elements of any
// size, with as many channels as a pixel has bytes.
template <class T>
class ConvRows {
 public:
  explicit ConvRows(const ConvShape& shape);
  // `zeros`: what pixels outside the input contain, one per channel.
  struct Source {
    const ConvRows* rows;
    const T* x;
    const T* zeros;
  };
  // Finding the taps costs more than counted for their products (base/interrupt_point.h).
  bool hasManyTaps() const { return offsets_.size() > 256; }
  static void fill(const void* source, int64_t first, int64_t count, int tileRows, const T** table);

 private:
  int64_t offsetOf(int64_t image, const Spatial& at) const;
  int64_t insideRun(const Spatial& at) const;
  void fillRun(const T* from, int64_t count, int tileRows, const T** table) const;
  void fillPixel(const Source& source, int64_t image, const Spatial& at, int tileRows, const T** table) const;

  ConvShape shape_;
  Spatial steps_;                 // elements from one input position to the next
  std::vector<int64_t> offsets_;  // of each tap from the first
};

// How a depthwise convolution computes one row of output pixels.
struct DepthwiseRow {
  const void* const* x;         // per kernel row: the input row
  const float* const* weights;  // per kernel row: [kernel width][channels]
  int64_t rows;                 // kernel rows inside the image
  int64_t channels;
  int64_t inWidth, outWidth;
  int64_t kernelWidth, stride, dilation, before;
  const float* bias;      // NULL = none
  const float* residual;  // NULL = none; the output's place in it
  float* out;
  uint16_t* narrow;  // the output as bfloat16 instead; NULL = floats
  bool isNarrow;     // the input is bfloat16
  bool isFar;        // the input is in no near cache
  bool isStreamed;   // floats past the caches (ops/cpu/streamed.h)
  float low, high;   // limits of the results; infinities = none
};
using DepthwiseFunction = void (*)(const DepthwiseRow& row);
DepthwiseFunction depthwiseFunction();  // of cpuTarget()

// Filters of a depthwise convolution with the channels last: [taps][channels].
class DepthwiseWeights : public Prepared {
 public:
  explicit DepthwiseWeights(const Tensor& weights);
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  const float* data() const { return values_->as<float>(); }

 private:
  Ref<Tensor> values_;
};

// Computes a depthwise convolution row by row.
class DepthwiseRows {
 public:
  // The input is float32 or bfloat16, in a near cache or not.
  DepthwiseRows(const Node& node, const ConvShape& shape, Ref<DepthwiseWeights> weights, bool readsNarrow, bool isFar);
  // Row `index` of the output. `input(d, h)` is a row of the input, [in[2]][channels].
  void run(int64_t index, FunctionRef<const void*(int64_t d, int64_t h)> input, const float* bias,
           const float* residual, float* out) const {
    run(index, input, bias, residual, out, nullptr);
  }
  // With results of bfloat16, for activations that are limits.
  void run(int64_t index, FunctionRef<const void*(int64_t d, int64_t h)> input, const float* bias,
           const float* residual, uint16_t* out) const {
    run(index, input, bias, residual, nullptr, out);
  }

 private:
  void run(int64_t index, FunctionRef<const void*(int64_t d, int64_t h)> input, const float* bias,
           const float* residual, float* out, uint16_t* narrow) const;

  ConvShape shape_;
  Ref<DepthwiseWeights> weights_;
  bool readsNarrow_, isFar_;
  int64_t outBytes_;
  Activation activation_;
  DepthwiseFunction function_;
};

// One filter per channel, of a size that the depthwise kernel supports.
bool isDepthwise(const Shape& weights, int64_t groups);
// Whether it is worth to have its input as bfloat16: other kernels read so many vectors for each of their results that
// making them floats again costs more than reading them takes.
bool depthwiseTakesNarrow(const Node& node, const Shape& weights);
std::unique_ptr<OpKernel> createDepthwise(const OpRequest& request, const ConvShape& shape);
Ref<Prepared> prepareDepthwise(const Tensor& weights);

// How the filters of a convolution that is not depthwise are packed; nothing if they are not.
std::optional<PackedForm> filterForm(const Node& node, std::span<const Tensor* const> constants);

}  // namespace max
