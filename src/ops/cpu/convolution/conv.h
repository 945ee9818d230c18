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
  // Per kernel row: the input row, of floats. With words per pair of them: the two rows, of bfloat16, or one and NULL.
  const void* const* x;
  const float* const* weights;    // per kernel row: [kernel width][channels]; or DepthwiseWeights::words()
  int64_t rows;                   // kernel rows inside the image, or pairs
  int64_t channels, first, last;  // of a pixel; those from `first` to `last` are computed
  int64_t inWidth, outWidth;
  int64_t kernelWidth, stride, dilation, before;
  const float* bias;      // NULL = none
  const float* residual;  // NULL = none; the output's place in it
  float* out;
  uint16_t* narrow;  // the output as bfloat16 instead; NULL = floats
  bool isFar;        // the input is in no near cache
  bool isStreamed;   // floats past the caches (ops/cpu/streamed.h)
  float low, high;   // limits of the results; infinities = none
};
using DepthwiseFunction = void (*)(const DepthwiseRow& row);

// Filters of a depthwise convolution with the channels last: [taps][channels].
class DepthwiseWeights : public Prepared {
 public:
  DepthwiseWeights(const Tensor& weights, bool hasWords);
  size_t bytes() const override { return values_->bytes() + (words_ ? words_->bytes() : 0); }
  bool replaces(size_t input) const override { return input == 1; }
  const float* row(int64_t kernelRow) const { return values_->as<float>() + kernelRow * width_ * channels_; }
  // The taps of a kernel row and of the next as words of bfloat16, or of the row and zeros.
  const float* words(int64_t kernelRow, bool isPair) const;

 private:
  int64_t placeOf(int64_t tap, int64_t c) const;

  int64_t channels_, width_;
  Ref<Tensor> values_, words_;
};

// Computes a depthwise convolution row by row, some channels of them at a time.
class DepthwiseRows {
 public:
  // The input, in a near cache or not, and the output are float32 or bfloat16.
  DepthwiseRows(const Node& node, const ConvShape& shape, Ref<DepthwiseWeights> weights, bool readsNarrow,
                bool writesNarrow, bool isFar);
  int64_t scratchBytes() const;                  // of a lane
  int64_t grain(int64_t rows, int lanes) const;  // of a loop over rows
  // `input(image, d, h)` is a row of the input, [in[2]][channels]; the others are those of the whole node.
  using Input = FunctionRef<const void*(int64_t image, int64_t d, int64_t h)>;
  struct Operands {
    const float *bias, *residual;  // NULL = none
    std::byte* output;
  };
  // Rows [begin, end) of the output, counted over all images.
  void run(int64_t begin, int64_t end, Input input, const Operands& operands, std::byte* scratch) const;

 private:
  int64_t findRows(int64_t index, Input input, const void** x, int64_t* kernelRows) const;
  void runRow(int64_t index, Input input, const Operands& operands, int64_t first, int64_t last,
              std::byte* scratch) const;
  void applyFunction(const DepthwiseRow& row, uint16_t* narrow) const;

  ConvShape shape_;
  Ref<DepthwiseWeights> weights_;
  bool readsNarrow_, writesNarrow_, isFar_;
  int64_t outBytes_;
  Activation activation_;
  decltype(GemmTable::narrowFunction) roundedFunction_;  // NULL = as exact as floats are
  DepthwiseFunction function_;
  int64_t blockChannels_;
};

// One filter per channel, of a size that the depthwise kernel supports.
bool isDepthwise(const Shape& weights, int64_t groups);
// Whether there is a kernel that multiplies words, for an input of bfloat16.
bool depthwiseTakesNarrow(const Node& node, const Shape& weights);
std::unique_ptr<OpKernel> createDepthwise(const OpRequest& request, const ConvShape& shape);
Ref<Prepared> prepareDepthwise(const Node& node, const Tensor& weights);

// How the filters of a convolution that is not depthwise are packed; nothing if they are not.
std::optional<PackedForm> filterForm(const Node& node, std::span<const Tensor* const> constants);

}  // namespace max
