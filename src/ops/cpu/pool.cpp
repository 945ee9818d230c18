// SPDX-License-Identifier: Apache-2.0
// max.MaxPool and max.AveragePool: channels last, up to three spatial axes, float32.
#include "ops/cpu/pool.h"

#include <algorithm>

#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;  // reads that are worth handing to a thread

// One spatial axis.
struct Axis {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;

  // The taps of the window at `position` that lie in [low, high) of the input.
  int64_t firstTap(int64_t position, int64_t low) const {
    const int64_t missing = low - start(position);
    return missing > 0 ? (missing + dilation - 1) / dilation : 0;
  }
  int64_t tapsWithin(int64_t position, int64_t low, int64_t high) const {
    const int64_t room = high - start(position);
    const int64_t end = room > 0 ? std::min(kernel, (room + dilation - 1) / dilation) : 0;
    return std::max<int64_t>(0, end - firstTap(position, low));
  }
  int64_t start(int64_t position) const { return position * stride - padBegin; }
  int64_t seen(int64_t position) const { return tapsWithin(position, 0, input); }
  int64_t seenWithPads(int64_t position) const { return tapsWithin(position, -padBegin, input + padEnd); }
};

int64_t valueAt(const std::vector<int64_t>& values, size_t i, int64_t fallback) {
  return i < values.size() ? values[i] : fallback;
}

// Missing axes come first, as axes of size 1.
void readAxes(const KernelRequest& request, Axis (&axes)[3]) {
  const Attributes& attributes = request.node.attributes;
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  const auto rank = static_cast<size_t>(x.rank() - 2);
  const auto kernel = attributes.getInts("kernel_shape"), strides = attributes.getInts("strides"),
             dilations = attributes.getInts("dilations"), pads = attributes.getInts("pads");
  for (size_t i = 0; i < rank; ++i) {
    const int k = static_cast<int>(i) + 1;
    axes[3 - rank + i] = {x[k],
                          y[k],
                          valueAt(kernel, i, 1),
                          valueAt(strides, i, 1),
                          valueAt(dilations, i, 1),
                          valueAt(pads, i, 0),
                          valueAt(pads, i + rank, 0)};
  }
}

class PoolKernel final : public Kernel {
 public:
  PoolKernel(const KernelRequest& request, bool average)
      : table_(poolTable()),
        average_(average),
        includePads_(request.node.attributes.getInt("count_include_pad", 0) != 0),
        batch_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape.back()) {
    readAxes(request, axes_);
  }

  void run(const KernelContext& context) const override {
    const int64_t lines = batch_ * axes_[0].output * axes_[1].output;
    const int64_t perLine = axes_[2].output * channels_ * axes_[0].kernel * axes_[1].kernel * axes_[2].kernel;
    if (lines * perLine == 0) return;
    context.parallelFor(lines, std::max<int64_t>(1, kElementsPerPart / perLine), [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) runLine(context, line);
    });
  }

 private:
  // The output pixels along the last spatial axis.
  void runLine(const KernelContext& context, int64_t line) const {
    const int64_t row = line % axes_[1].output, plane = line / axes_[1].output % axes_[0].output;
    const int64_t image = line / axes_[1].output / axes_[0].output;
    const int64_t lineSize = axes_[2].input * channels_, planeSize = axes_[1].input * lineSize;
    const float* x = context.in<float>(0) + image * axes_[0].input * planeSize;
    float* y = context.out<float>() + line * axes_[2].output * channels_;
    const int64_t sizes[3] = {planeSize, lineSize, channels_};
    int64_t position[3] = {plane, row, 0};
    for (; position[2] < axes_[2].output; ++position[2], y += channels_) pixel(x, sizes, position, y);
  }

  void pixel(const float* x, const int64_t (&sizes)[3], const int64_t (&position)[3], float* y) const {
    PoolWindow window;
    int64_t seen = 1, padded = 1, offset = 0;
    for (int i = 0; i < 3; ++i) {
      const Axis& axis = axes_[i];
      window.count[i] = axis.seen(position[i]);
      window.stride[i] = axis.dilation * sizes[i];
      offset += (axis.start(position[i]) + axis.firstTap(position[i], 0) * axis.dilation) * sizes[i];
      seen *= window.count[i];
      if (includePads_) padded *= axis.seenWithPads(position[i]);
    }
    if (seen == 0) offset = 0;
    if (!average_) return table_.greatest(x + offset, window, channels_, y);
    const int64_t count = includePads_ ? padded : seen;
    table_.sum(x + offset, window, channels_, count ? 1 / static_cast<float>(count) : 0, y);
  }

  const PoolTable& table_;
  bool average_, includePads_;
  int64_t batch_, channels_;
  Axis axes_[3];
};

bool accepts(const KernelRequest& request) {
  return request.inputs[0].dtype == DType::Float32 && request.outputs.size() == 1 &&
         request.inputs[0].shape.rank() >= 3 && request.inputs[0].shape.rank() <= 5;
}

template <bool kAverage>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<PoolKernel>(request, kAverage);
}

constexpr Implementation kMaxPool[] = {{"pool", accepts, create<false>}};
constexpr Implementation kAveragePool[] = {{"pool", accepts, create<true>}};
constexpr OpKernels kRows[] = {{kMaxDomain, "MaxPool", kMaxPool}, {kMaxDomain, "AveragePool", kAveragePool}};

}  // namespace

std::span<const OpKernels> poolKernels() { return kRows; }

}  // namespace max
