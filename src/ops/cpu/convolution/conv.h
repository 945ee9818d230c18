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
  explicit ConvRows(const ConvShape& shape) : ConvRows(shape, shape.channels) {}
  // Pixels whose first elements are `pixelStep` apart.
  ConvRows(const ConvShape& shape, int64_t pixelStep);
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
  int64_t insideRun(int64_t column) const;
  bool contains(const Spatial& at, size_t axis, int64_t tap) const;
  template <class Function>
  void forEachTap(const Spatial& at, const Function& function) const;
  void fillRun(const Source& source, int64_t image, const Spatial& at, int64_t count, int tileRows,
               const T** table) const;
  void fillWholeTiles(const T* from, int64_t step, const T** table) const;
  void fillPixel(const Source& source, int64_t image, const Spatial& at, int tileRows, const T** table) const;

  ConvShape shape_;
  Spatial steps_;                 // elements from one input position to the next
  std::vector<int64_t> offsets_;  // of each tap from the first
};

inline constexpr int64_t kDepthwiseRowsAtOnce = 2;  // of the output

// How a depthwise convolution computes some rows of output pixels.
struct DepthwiseBand {
  // Rows of the input, of floats or with words of bfloat16; NULL = outside. A row of the output reads `kernelRows`, and
  // the next one those that come `rowStride` later.
  const void* const* x;
  int64_t rows, kernelRows, rowStride;
  const float* weights;  // per kernel row, `weightsStep` from each other: [kernel width][channels]; or words
  int64_t weightsStep;
  int64_t channels;                    // of a pixel
  int64_t stripPixels, blockChannels;  // which are computed downwards before the next ones
  int64_t inStep, outStep;             // from one pixel to the next
  int64_t inWidth, outWidth;
  int64_t outRowStep;  // from one row of the output to the next
  int64_t kernelWidth, stride, dilation, before;
  const float* bias;      // NULL = none
  const float* residual;  // NULL = none; the output's place in it
  float* out;
  uint16_t* narrow;  // the output as bfloat16 instead; NULL = floats
  // From what a row of the output reads to what the next one does, of an input that is in no near cache: it is
  // prefetched. 0 = near.
  int64_t farStep;
  bool isStreamed;  // floats past the caches (ops/cpu/streamed.h)
  bool isTurned;    // rows are the columns of an image
  float low, high;  // limits of the results; infinities = none

  // What row `h` of the output reads for kernel row `r`.
  template <class T>
  const T* row(int64_t h, int64_t r) const {
    return static_cast<const T*>(x[h * rowStride + r]);
  }
};
using DepthwiseFunction = void (*)(const DepthwiseBand& band);

// Filters of a depthwise convolution with the channels last: [taps][channels].
class DepthwiseWeights : public Prepared {
 public:
  DepthwiseWeights(const Tensor& weights, bool hasWords);
  size_t bytes() const override { return values_->bytes() + (words_ ? words_->bytes() : 0); }
  bool replaces(size_t input) const override { return input == 1; }
  const float* values() const { return values_->as<float>(); }
  // For each kernel row, its taps and those of the next as words of bfloat16; half a step later, its taps and zeros.
  const float* words() const { return reinterpret_cast<const float*>(words_->data()); }
  int64_t wordsStep() const { return 2 * words_->shape()[1]; }

 private:
  int64_t placeOf(int64_t tap, int64_t c) const;

  int64_t channels_, width_;
  Ref<Tensor> values_, words_;
};

// Computes a depthwise convolution, some rows at a time.
class DepthwiseRows {
 public:
  // The input, in a near cache or not, and the output are float32 or bfloat16. Weights may be NULL where each call has
  // its own.
  DepthwiseRows(const Node& node, const ConvShape& shape, Ref<DepthwiseWeights> weights, bool readsNarrow,
                bool writesNarrow, bool isFar);
  int64_t scratchBytes() const;                  // of a lane
  int64_t grain(int64_t rows, int lanes) const;  // of a loop over rows
  // Elements from one pixel of the input to the next, and bytes of the output.
  void setInStep(int64_t step) { inStep_ = step; }
  void setOutPitch(int64_t bytes);
  // Elements from one pixel of the output to the next, from its row, frame and image.
  struct OutSteps {
    int64_t pixel, row, frame, image;
  };
  void setOutSteps(const OutSteps& steps) { out_ = steps; }
  void keepOrder();  // rows of an image come from its top to its bottom
  void setTurned();  // rows are the columns of an image, whose memory is read in its order
  // `input(image, d, h)` is a row of the input, [in[2]][inStep]; the others are those of the whole node.
  using Input = FunctionRef<const void*(int64_t image, int64_t d, int64_t h)>;
  struct Operands {
    const float *bias, *residual;  // NULL = none
    std::byte* output;
    const float* weights = nullptr;  // [taps][channels]; NULL = those that the load prepared
  };
  // Rows [begin, end) of the output, counted over all images, and in each as placeOf() has them.
  void run(int64_t begin, int64_t end, Input input, const Operands& operands, std::byte* scratch) const;
  // All rows; fewer rows than lanes, as of signals, are cut into columns. Each lane has its own scratch memory.
  void runAll(int lanes, Input input, const Operands& operands, std::byte* scratch) const;

 private:
  struct Columns {
    int64_t begin, end;
  };
  struct RowPlace {
    int64_t image, d, h;
  };
  RowPlace placeOf(int64_t index) const;
  int64_t findRows(const RowPlace& at, int64_t rows, Input input, const void** x) const;
  int64_t farStep() const;
  // Some columns only of a single row.
  void runBand(int64_t index, int64_t rows, Columns columns, Input input, const Operands& operands,
               std::byte* scratch) const;
  OutSteps denseSteps(int64_t pixel) const;
  void applyFunction(float* values, int64_t pixels, uint16_t* narrow) const;

  ConvShape shape_;
  Ref<DepthwiseWeights> weights_;
  bool readsNarrow_, writesNarrow_, isFar_, isLarge_;
  bool isTurned_ = false;
  Activation activation_;
  decltype(GemmTable::narrowFunction) roundedFunction_;  // NULL = as exact as floats are
  DepthwiseFunction function_;
  int bandAxis_;       // 1: the rows of a band follow each other downwards; 0: from frame to frame
  int64_t rowsApart_;  // rows of an image, from one row of a band to the next
  int64_t rowStride_;  // of the input, from one row of a band to the next
  int64_t mostRows_;   // of a band
  int64_t stripPixels_, blockChannels_;
  int64_t inStep_;
  OutSteps out_;
};

// An input that is in no near cache.
bool isFar(const ConvShape& shape);

// One filter per channel, of a size that the depthwise kernel supports.
bool isDepthwise(const Shape& weights, int64_t groups);
// Whether there is a kernel that multiplies words, for an input of bfloat16.
bool depthwiseTakesNarrow(const Node& node, const Shape& weights);
std::unique_ptr<OpKernel> createDepthwise(const OpRequest& request, const ConvShape& shape);
Ref<Prepared> prepareDepthwise(const Node& node, const Tensor& weights);

// How the filters of a convolution that is not depthwise are packed; nothing if they are not.
std::optional<PackedForm> filterForm(const Node& node, std::span<const Tensor* const> constants);

}  // namespace max
