// SPDX-License-Identifier: Apache-2.0
// GridSample: where pixels are read and what they weigh is found once for all channels.
#include <algorithm>

#include "base/checked.h"
#include "ops/cpu/grid_axis.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int kMostAxes = 3;
constexpr int64_t kBlock = 128;  // output pixels whose taps are found together

// The taps of a block of output pixels: those that lie on the image, for each pixel.
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
class GridSampleKernel final : public Kernel {
 public:
  explicit GridSampleKernel(const KernelRequest& request)
      : rule_(request.node), rank_(request.inputs[0].shape.rank() - 2), lanes_(std::max(request.lanes, 1)) {
    const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
    batch_ = x[0];
    channels_ = x[1];
    inputSize_ = x.product(2, x.rank());
    outputSize_ = y.product(2, y.rank());
    const Shape strides = contiguousStrides(x);
    for (int axis = 0; axis < rank_; ++axis) {
      axes_.emplace_back(rule_, x[axis + 2]);
      strides_.push(strides[axis + 2]);
      taps_ *= rule_.taps();
    }
  }
  size_t scratchBytes() const override { return static_cast<size_t>(lanes_ * TapBlock<T>::bytes(taps_)); }

  void run(const KernelContext& context) const override {
    const int64_t blocks = (outputSize_ + kBlock - 1) / kBlock;
    const int64_t grain = std::max<int64_t>(1, 16384 / (kBlock * taps_ * std::max<int64_t>(channels_, 1)));
    context.parallelFor(batch_ * blocks, grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* memory = context.scratch + lane * TapBlock<T>::bytes(taps_);
      for (int64_t i = begin; i < end; ++i) runBlock(context, i / blocks, i % blocks * kBlock, memory);
    });
  }

 private:
  void runBlock(const KernelContext& context, int64_t image, int64_t first, std::byte* memory) const {
    const int64_t count = std::min(kBlock, outputSize_ - first);
    TapBlock<T> block(memory, taps_);
    const T* grid = context.in<T>(1) + (image * outputSize_ + first) * rank_;
    for (int64_t i = 0; i < count; ++i) findTaps(grid + i * rank_, i, block);
    for (int64_t c = 0; c < channels_; ++c)
      block.run(context.in<T>(0) + (image * channels_ + c) * inputSize_, count,
                context.out<T>() + (image * channels_ + c) * outputSize_ + first);
  }

  // Coordinates are given innermost axis first. All combinations of the axes' taps, without those off the image.
  void findTaps(const T* coordinates, int64_t pixel, TapBlock<T>& block) const {
    const int perAxis = rule_.taps();
    int64_t* offsets = block.offsets + pixel * taps_;
    T* weights = block.weights + pixel * taps_;
    int64_t count = 1;
    offsets[0] = 0;
    weights[0] = 1;
    for (int axis = 0; axis < rank_; ++axis) {
      int64_t pixels[GridRule::kMostTaps];
      T by[GridRule::kMostTaps];
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
  GridRule rule_;
  int rank_, lanes_;
  int64_t batch_, channels_, inputSize_, outputSize_, taps_ = 1;
  std::vector<GridAxis<T>> axes_;
  Shape strides_;
};

template <DType kDType>
bool accepts(const KernelRequest& request) {
  return request.inputs[0].dtype == kDType && request.inputs[1].dtype == kDType &&
         request.inputs[0].shape.rank() - 2 <= kMostAxes;
}

template <class T>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<GridSampleKernel<T>>(request);
}

constexpr Implementation kGridSample[] = {
    {"grid_f32", accepts<DType::Float32>, create<float>},
    {"grid_f64", accepts<DType::Float64>, create<double>},
};
constexpr OpKernels kRows[] = {{"", "GridSample", kGridSample}};

}  // namespace

std::span<const OpKernels> gridSampleKernels() { return kRows; }

}  // namespace max
