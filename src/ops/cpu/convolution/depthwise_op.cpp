// SPDX-License-Identifier: Apache-2.0
// max.Conv with one filter for each channel.
#include <algorithm>

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

class DepthwiseOp : public OpKernel {
 public:
  DepthwiseOp(const OpRequest& request, const ConvShape& shape)
      : shape_(shape),
        readsNarrow_(isNarrow(request.inputs[0])),
        rows_(request.node, shape, weightsOf(request), readsNarrow_, isNarrow(request.outputs[0]), isFar(shape)),
        hasBias_(request.has(2)),
        hasResidual_(request.has(3)),
        inPitch_(shape.channels * (readsNarrow_ ? 2 : 4)) {
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
    if (place.side == OperandPlace::Output) return rows_.setOutPitch(static_cast<int64_t>(bytes));
    inPitch_ = static_cast<int64_t>(bytes);
    rows_.setInStep(inPitch_ / (readsNarrow_ ? 2 : 4));
  }

  void run(const OpContext& context) const override {
    const int64_t rowBytes = shape_.in[2] * inPitch_;
    const auto input = [&](int64_t image, int64_t d, int64_t h) -> const void* {
      return context.in<std::byte>(0) + ((image * shape_.in[0] + d) * shape_.in[1] + h) * rowBytes;
    };
    const DepthwiseRows::Operands operands{hasBias_ ? context.in<float>(2) : nullptr,
                                           hasResidual_ ? context.in<float>(3) : nullptr, context.out<std::byte>(),
                                           weightBytes_ > 0 ? channelsLast(context) : nullptr};
    rows_.runAll(std::min(lanes_, context.lanes), input, operands, context.scratch + weightBytes_);
  }

 private:
  // Filters that are not known before the call.
  const float* channelsLast(const OpContext& context) const {
    auto* weights = reinterpret_cast<float*>(context.scratch);
    transposeMatrices(context.in<float>(1), 1, shape_.channels, shape_.taps(), weights);
    return weights;
  }

  ConvShape shape_;
  bool readsNarrow_;
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
