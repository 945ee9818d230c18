// SPDX-License-Identifier: Apache-2.0
// max.Conv with one filter for each channel.
#include <algorithm>
#include <utility>

#include "base/align.h"
#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

Ref<DepthwiseWeights> weightsOf(const OpRequest& request) {
  if (auto* prepared = dynamic_cast<DepthwiseWeights*>(request.node.prepared.get()))
    return Ref<DepthwiseWeights>(prepared);
  if (!request.inputs[1].constant) return nullptr;
  return makeRef<DepthwiseWeights>(*request.inputs[1].constant, isNarrow(request.inputs[0]));
}

// A kernel of one column has nothing to keep in registers from one pixel of a row to the next, but from one row to the
// next. Functions are applied to pixels that follow each other.
bool isTurned(const OpRequest& request, const ConvShape& shape) {
  return shape.kernel[2] == 1 && shape.kernel[1] > 1 && shape.taps() == shape.kernel[1] &&
         !isNarrow(request.inputs[0]) && !fusedActivation(request.node).function;
}

// With the columns of an image as rows.
ConvShape turned(ConvShape shape) {
  shape.dilation[2] = 1;  // of a single tap
  for (Spatial* axes :
       {&shape.in, &shape.out, &shape.kernel, &shape.stride, &shape.dilation, &shape.before, &shape.after})
    std::swap((*axes)[1], (*axes)[2]);
  return shape;
}

class DepthwiseOp : public OpKernel {
 public:
  DepthwiseOp(const OpRequest& request, const ConvShape& shape)
      : isTurned_(isTurned(request, shape)),
        shape_(isTurned_ ? turned(shape) : shape),
        readsNarrow_(isNarrow(request.inputs[0])),
        writesNarrow_(isNarrow(request.outputs[0])),
        rows_(request.node, shape_, weightsOf(request), readsNarrow_, writesNarrow_, isFar(shape)),
        hasBias_(request.has(2)),
        hasResidual_(request.has(3)),
        inPitch_(shape.channels * (readsNarrow_ ? 2 : 4)) {
    if (isTurned_) {
      rows_.setTurned();
      setInPitch(inPitch_);
      setOutPitch(shape.channels * (writesNarrow_ ? 2 : 4));
    }
    const double work =
        static_cast<double>(shape.images * shape.pixels()) * static_cast<double>(shape.taps() * shape.channels);
    lanes_ = work < 100e3 ? 1 : std::max(request.lanes, 1);
    if (!request.inputs[1].constant && !request.node.prepared)
      weightBytes_ = alignUp(checkedMultiply<int64_t>(sizeof(float), request.inputs[1].shape.count()));
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedAdd(weightBytes_, checkedMultiply(rows_.scratchBytes(), lanes_)));
  }

  bool takesPitch(OperandPlace place) const override {
    return place.side == OperandPlace::Output ? !hasResidual_ : place.number == 0;
  }
  void setPitch(OperandPlace place, size_t bytes) override {
    place.side == OperandPlace::Output ? setOutPitch(static_cast<int64_t>(bytes))
                                       : setInPitch(static_cast<int64_t>(bytes));
  }

  void run(const OpContext& context) const override {
    const int64_t step = isTurned_ ? inPitch_ : shape_.in[2] * inPitch_;
    const int64_t frame = shape_.in[1] * shape_.in[2] * inPitch_;
    const auto input = [&](int64_t image, int64_t d, int64_t h) -> const void* {
      return context.in<std::byte>(0) + (image * shape_.in[0] + d) * frame + h * step;
    };
    const DepthwiseRows::Operands operands{hasBias_ ? context.in<float>(2) : nullptr,
                                           hasResidual_ ? context.in<float>(3) : nullptr, context.out<std::byte>(),
                                           weightBytes_ > 0 ? channelsLast(context) : nullptr};
    rows_.runAll(std::min(lanes_, context.lanes), input, operands, context.scratch + weightBytes_);
  }

 private:
  void setInPitch(int64_t bytes) {
    inPitch_ = bytes;
    rows_.setInStep(bytes / (readsNarrow_ ? 2 : 4) * (isTurned_ ? shape_.in[1] : 1));
  }
  void setOutPitch(int64_t bytes) {
    if (!isTurned_) return rows_.setOutPitch(bytes);
    const int64_t pixel = bytes / (writesNarrow_ ? 2 : 4), row = shape_.out[1] * pixel, frame = shape_.out[2] * row;
    rows_.setOutSteps({row, pixel, frame, shape_.out[0] * frame});
  }
  // Filters that are not known before the call.
  const float* channelsLast(const OpContext& context) const {
    auto* weights = reinterpret_cast<float*>(context.scratch);
    transposeMatrices(context.in<float>(1), 1, shape_.channels, shape_.taps(), weights);
    return weights;
  }

  bool isTurned_;
  ConvShape shape_;
  bool readsNarrow_, writesNarrow_;
  DepthwiseRows rows_;
  bool hasBias_, hasResidual_;
  int64_t inPitch_;  // bytes from one pixel to the next
  int64_t weightBytes_ = 0;
  int lanes_;
};

}  // namespace

std::unique_ptr<OpKernel> createDepthwise(const OpRequest& request, const ConvShape& shape) {
  return std::make_unique<DepthwiseOp>(request, shape);
}

}  // namespace max
