// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_multiplied.h"

#include <algorithm>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/movement/transpose_tile.h"

namespace max {

namespace {

// Rows of floats that are `step` floats apart, as columns of `to`.
void transpose(const float* from, int64_t step, float* to, int64_t toStep, int64_t rows, int64_t columns) {
  passWork(rows * columns / 4);
  transposeFloats(from, step, to, toStep, rows, columns);
}

// Of an image that has the channels last, and each channel as often as it has filters: first the first filters of all
// channels, then the second ones.
ConvShape depthwiseShape(const OpRequest& request) {
  ConvShape shape(request.node, channelsLast(request.inputs[0].shape), request.inputs[1].shape,
                  channelsLast(request.outputs[0].shape));
  shape.channels = shape.groups = shape.filters;
  shape.images = 1;  // at a time
  return shape;
}

class MultipliedOp final : public OpKernel {
 public:
  explicit MultipliedOp(const OpRequest& request)
      : shape_(depthwiseShape(request)),
        images_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        times_(shape_.filters / channels_),
        hasBias_(request.has(2)),
        rows_(request.node, shape_, nullptr, false, false, isFar(shape_)),
        lanes_(std::max(request.lanes, 1)) {
    const int64_t filters = shape_.filters, in = checkedMultiply(shape_.in[0] * shape_.in[1], shape_.in[2]);
    const auto bytesOf = [](int64_t count, int64_t each) { return alignUp(checkedMultiply(4 * count, each)); };
    biasAt_ = bytesOf(filters, shape_.taps());
    inAt_ = biasAt_ + bytesOf(filters, 1);
    outAt_ = checkedAdd(inAt_, bytesOf(filters, in));
    rowsAt_ = checkedAdd(outAt_, bytesOf(filters, shape_.pixels()));
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedAdd(rowsAt_, checkedMultiply(rows_.scratchBytes(), lanes_)));
  }

  void run(const OpContext& context) const override {
    orderFilters(context);
    const int64_t in = shape_.in[0] * shape_.in[1] * shape_.in[2];
    for (int64_t image = 0; image < images_; ++image) {
      const float* x = context.in<float>(0) + image * channels_ * in;
      for (int64_t i = 0; i < times_; ++i)
        transpose(x, in, at(context, inAt_) + i * channels_, shape_.filters, channels_, in);
      runImage(context);
      float* y = context.out<float>() + image * shape_.filters * shape_.pixels();
      for (int64_t i = 0; i < times_; ++i)
        transpose(at(context, outAt_) + i * channels_, shape_.filters, y + i * shape_.pixels(),
                  times_ * shape_.pixels(), shape_.pixels(), channels_);
    }
  }

 private:
  static float* at(const OpContext& context, int64_t place) {
    return reinterpret_cast<float*>(context.scratch + place);
  }

  void orderFilters(const OpContext& context) const {
    const int64_t taps = shape_.taps();
    float* bias = at(context, biasAt_);
    for (int64_t i = 0; i < times_; ++i) {
      transpose(context.in<float>(1) + i * taps, times_ * taps, at(context, 0) + i * channels_, shape_.filters,
                channels_, taps);
      for (int64_t c = 0; c < channels_ && hasBias_; ++c)
        bias[i * channels_ + c] = context.in<float>(2)[c * times_ + i];
    }
  }

  void runImage(const OpContext& context) const {
    const float* x = at(context, inAt_);
    const auto input = [&](int64_t, int64_t d, int64_t h) -> const void* {
      return x + (d * shape_.in[1] + h) * shape_.in[2] * shape_.filters;
    };
    const DepthwiseRows::Operands operands{hasBias_ ? at(context, biasAt_) : nullptr, nullptr, context.scratch + outAt_,
                                           at(context, 0)};
    rows_.runAll(std::min(lanes_, context.lanes), input, operands, context.scratch + rowsAt_);
  }

  ConvShape shape_;
  int64_t images_, channels_, times_;
  bool hasBias_;
  DepthwiseRows rows_;
  int lanes_;
  int64_t biasAt_ = 0, inAt_ = 0, outAt_ = 0, rowsAt_ = 0;  // in the scratch memory, after the filters
};

}  // namespace

bool acceptsMultiplied(const OpRequest& request) {
  constexpr int64_t kMostTimes = 8;
  const Shape& weights = request.inputs[1].shape;
  const int64_t groups = readers::readGroups(request.node.attributes);
  if (request.inputs[1].constant || request.node.prepared || weights.rank() > 5 || groups < 2) return false;
  if (weights[1] != 1 || weights[0] < 2 * groups || weights[0] > kMostTimes * groups) return false;
  return isDepthwise(weights, weights[0]);
}

std::unique_ptr<OpKernel> createMultiplied(const OpRequest& request) { return std::make_unique<MultipliedOp>(request); }

}  // namespace max
