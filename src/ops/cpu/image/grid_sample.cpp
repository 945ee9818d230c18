// SPDX-License-Identifier: Apache-2.0
// GridSample: positions and weights of pixels are computed once for all channels.
#include <algorithm>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/image/grid_axis.h"
#include "ops/cpu/image/sample_rows.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int kMostAxes = 3;
constexpr int64_t kBlock = 128;  // output pixels whose taps are computed together
constexpr int64_t kChannelsWorthRows = 16;
constexpr int64_t kMostPlane = int64_t{1} << 30;  // pixels

// The taps of a block of output pixels: those inside the image, for each pixel.
template <class T>
struct TapBlock {
  int64_t taps;      // at most, of one pixel
  int64_t* offsets;  // [kBlock][taps], of one channel
  T* weights;        // [kBlock][taps]
  int64_t* counts;   // [kBlock]
  bool isFull;       // all pixels have all taps

  TapBlock(std::byte* memory, int64_t taps_)
      : taps(taps_),
        offsets(reinterpret_cast<int64_t*>(memory)),
        weights(reinterpret_cast<T*>(offsets + kBlock * taps)),
        counts(reinterpret_cast<int64_t*>(weights + kBlock * taps)),
        isFull(true) {}
  static int64_t bytes(int64_t taps) {
    return kBlock * (taps * static_cast<int64_t>(sizeof(int64_t) + sizeof(T)) + static_cast<int64_t>(sizeof(int64_t)));
  }

  // Any number of taps.
  void sum(const T* image, int64_t count, T* out) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* at = offsets + i * taps;
      const T* by = weights + i * taps;
      T result = 0;
      for (int64_t k = 0; k < counts[i]; ++k) result += by[k] * image[at[k]];
      out[i] = result;
    }
  }
  template <int kTaps>
  void sumFull(const T* image, int64_t count, T* out) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* at = offsets + i * kTaps;
      const T* by = weights + i * kTaps;
      T result = 0;
      for (int k = 0; k < kTaps; ++k) result += by[k] * image[at[k]];
      out[i] = result;
    }
  }
  void run(const T* image, int64_t count, T* out) const {
    if (!isFull) return sum(image, count, out);
    if (taps == 1) return sumFull<1>(image, count, out);
    if (taps == 4) return sumFull<4>(image, count, out);
    if (taps == 8) return sumFull<8>(image, count, out);
    sum(image, count, out);
  }
};

template <class T>
class GridSampleOp final : public OpKernel {
 public:
  explicit GridSampleOp(const OpRequest& request)
      : table_(sampleTable()),
        rule_(request.node.attributes),
        rank_(request.inputs[0].shape.rank() - 2),
        lanes_(std::max(request.lanes, 1)),
        batch_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        width_(std::max<int64_t>(request.inputs[0].shape[request.inputs[0].shape.rank() - 1], 1)) {
    const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
    inputSize_ = x.product(2, x.rank());
    outputSize_ = y.product(2, y.rank());
    const bool isNearest = rule_.mode == readers::GridMode::Nearest;
    samplesPlanes_ = std::is_same_v<T, float> && rank_ == 2 && inputSize_ > 0 && inputSize_ < kMostPlane &&
                     (isNearest || (rule_.mode == readers::GridMode::Linear && channels_ < kChannelsWorthRows)) &&
                     rule_.padding == readers::GridPadding::Zeros;
    gathersRows_ = std::is_same_v<T, float> && !samplesPlanes_ && channels_ >= kChannelsWorthRows && batch_ > 0;
    const Shape strides = contiguousStrides(x);
    for (int axis = 0; axis < rank_; ++axis) {
      axes_.emplace_back(rule_, x[axis + 2]);
      strides_.push(strides[axis + 2] * (gathersRows_ ? channels_ : 1));
      taps_ *= rule_.taps();
    }
    const int64_t size = sizeof(T);
    if (gathersRows_) imageBytes_ = alignUp(checkedMultiply(size, checkedMultiply(channels_, inputSize_)));
    blockBytes_ = alignUp(TapBlock<T>::bytes(taps_));
    laneBytes_ = checkedAdd(blockBytes_, gathersRows_ ? alignUp(checkedMultiply(size * kBlock, channels_)) : 0);
  }
  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedAdd(imageBytes_, checkedMultiply(laneBytes_, lanes_)));
  }

  void run(const OpContext& context) const override {
    if (!gathersRows_) return runImages(context, 0, batch_);
    for (int64_t image = 0; image < batch_; ++image) {
      channelsLast(context, image);
      runImages(context, image, image + 1);
    }
  }

 private:
  void runImages(const OpContext& context, int64_t firstImage, int64_t lastImage) const {
    const int64_t blocks = (outputSize_ + kBlock - 1) / kBlock;
    const int64_t grain = grainOf(16384, {kBlock, taps_, channels_});
    context.parallelFor((lastImage - firstImage) * blocks, grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* memory = context.scratch + imageBytes_ + lane * laneBytes_;
      for (int64_t i = begin; i < end; ++i) runBlock(context, firstImage + i / blocks, i % blocks * kBlock, memory);
    });
  }

  void channelsLast(const OpContext& context, int64_t image) const {
    const int64_t size = sizeof(T), channels = channels_;
    const std::byte* from = context.in<std::byte>(0) + image * inputSize_ * channels * size;
    const int64_t grain = std::max<int64_t>(16, 8192 / channels);
    context.parallelFor(inputSize_, grain, [&](int64_t begin, int64_t end, int) {
      transposeTiles(size, from + begin * size, inputSize_ * size, context.scratch + begin * channels * size,
                     channels * size, channels, end - begin);
    });
  }

  void runBlock(const OpContext& context, int64_t image, int64_t first, std::byte* memory) const {
    const int64_t count = std::min(kBlock, outputSize_ - first);
    TapBlock<T> block(memory, taps_);
    const T* grid = context.in<T>(1) + (image * outputSize_ + first) * rank_;
    if constexpr (std::is_same_v<T, float>)
      if (samplesPlanes_) return samplePlanes(context, image, first, grid);
    for (int64_t i = 0; i < count; ++i) findTaps(grid + i * rank_, i, block);
    WorkCounter work;
    T* out = context.out<T>() + image * channels_ * outputSize_ + first;
    if constexpr (std::is_same_v<T, float>)
      if (gathersRows_) return gatherRows(context, block, count, memory + blockBytes_, out);
    for (int64_t c = 0; c < channels_; ++c, work.pass(count * taps_))
      block.run(context.in<T>(0) + (image * channels_ + c) * inputSize_, count, out + c * outputSize_);
  }

  void samplePlanes(const OpContext& context, int64_t image, int64_t first, const float* grid) const {
    const int64_t count = std::min(kBlock, outputSize_ - first);
    passWork(count * channels_);
    table_.planes({context.in<float>(0) + image * channels_ * inputSize_, channels_, inputSize_ / width_, width_,
                   rule_.alignsCorners, rule_.mode == readers::GridMode::Nearest,
                   context.out<float>() + image * channels_ * outputSize_ + first, outputSize_},
                  grid, count);
  }

  // All channels of a pixel at once, then back to channels first.
  void gatherRows(const OpContext& context, const TapBlock<float>& block, int64_t count, std::byte* memory,
                  float* out) const {
    const auto* x = reinterpret_cast<const float*>(context.scratch);
    auto* rows = reinterpret_cast<float*>(memory);
    for (int64_t i = 0; i < count; ++i, passWork(channels_ * taps_ / 4))
      table_.rows(x, block.offsets + i * taps_, block.weights + i * taps_, block.counts[i], channels_,
                  rows + i * channels_);
    const int64_t size = sizeof(float);
    transposeTiles(size, memory, channels_ * size, reinterpret_cast<std::byte*>(out), outputSize_ * size, count,
                   channels_);
  }

  // Coordinates are given innermost axis first. All combinations of the axes' taps, without those outside the image.
  void findTaps(const T* coordinates, int64_t pixel, TapBlock<T>& block) const {
    const int perAxis = rule_.taps();
    int64_t* offsets = block.offsets + pixel * taps_;
    T* weights = block.weights + pixel * taps_;
    int64_t count = 1;
    offsets[0] = 0;
    weights[0] = 1;
    for (int axis = 0; axis < rank_; ++axis) {
      int64_t pixels[readers::Grid::kMostTaps];
      T by[readers::Grid::kMostTaps];
      axes_[static_cast<size_t>(axis)].locate(coordinates[rank_ - 1 - axis], pixels, by);
      const int64_t before = count;
      int64_t from[kMostTapsBefore];
      T weight[kMostTapsBefore];
      std::copy_n(offsets, before, from);
      std::copy_n(weights, before, weight);
      count = 0;
      for (int64_t k = 0; k < before; ++k)
        for (int tap = 0; tap < perAxis; ++tap) {
          if (pixels[tap] < 0) continue;
          offsets[count] = from[k] + pixels[tap] * strides_[axis];
          weights[count++] = weight[k] * by[tap];
        }
    }
    block.counts[pixel] = count;
    block.isFull = block.isFull && count == taps_;
  }

  static constexpr int kMostTapsBefore = 16;  // of all axes but the last
  const SampleTable& table_;
  readers::Grid rule_;
  int rank_;
  int64_t lanes_, batch_, channels_, inputSize_, outputSize_, taps_ = 1;
  bool gathersRows_;    // from the image with its channels last
  bool samplesPlanes_;  // several pixels of a channel at once
  int64_t width_;
  int64_t imageBytes_ = 0, blockBytes_, laneBytes_;
  std::vector<GridAxis<T>> axes_;
  Shape strides_;
};

template <DType kDType>
bool accepts(const OpRequest& request) {
  return request.inputs[0].dtype == kDType && request.inputs[1].dtype == kDType &&
         request.inputs[0].shape.rank() - 2 <= kMostAxes;
}

template <class T>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<GridSampleOp<T>>(request);
}

constexpr Implementation kGridSample[] = {
    {"grid_f32", accepts<DType::Float32>, create<float>},
    {"grid_f64", accepts<DType::Float64>, create<double>},
};
constexpr OpRow kRows[] = {{"", "GridSample", kGridSample}};

}  // namespace

std::span<const OpRow> gridSampleOps() { return kRows; }

}  // namespace max
