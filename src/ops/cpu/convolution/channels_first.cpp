// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/channels_first.h"

#include <vector>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/movement/transpose_tile.h"

namespace max {

namespace {

class ChannelsFirstOp final : public OpKernel {
 public:
  ChannelsFirstOp(const OpRequest& request, CreateKernel createInner, bool rounds)
      : images_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        filters_(request.outputs[0].shape[1]),
        inPixels_(request.inputs[0].shape.product(2, request.inputs[0].shape.rank())),
        outPixels_(request.outputs[0].shape.product(2, request.outputs[0].shape.rank())),
        hasBias_(request.has(2)),
        rounds_(rounds) {
    std::vector<Operand> inputs(request.inputs.begin(), request.inputs.end());
    std::vector<Operand> outputs(request.outputs.begin(), request.outputs.end());
    inputs[0].shape = channelsLast(inputs[0].shape);
    outputs[0].shape = channelsLast(outputs[0].shape);
    if (rounds_) inputs[0].dtype = DType::BFloat16;
    inner_ = createInner({request.node, inputs, outputs, request.lanes});
    const int64_t pixelBytes = alignUp(checkedMultiply<int64_t>(4, inputs[0].shape.count()));
    roundedAt_ = rounds_ ? pixelBytes : 0;
    outAt_ = checkedAdd(pixelBytes, rounds_ ? alignUp(pixelBytes / 2) : 0);
    innerAt_ = checkedAdd(outAt_, alignUp(checkedMultiply<int64_t>(4, outputs[0].shape.count())));
  }

  void run(const OpContext& context) const override {
    auto* x = reinterpret_cast<float*>(context.scratch);
    auto* y = reinterpret_cast<float*>(context.scratch + outAt_);
    transposeMatrices(context.in<float>(0), images_, channels_, inPixels_, x);
    auto* rounded = reinterpret_cast<uint16_t*>(context.scratch + roundedAt_);
    if (rounds_)
      inParts(images_ * inPixels_ * channels_, 1, [&](int64_t begin, int64_t end) {
        bfloat16GemmTable()->narrow(x + begin, end - begin, rounded + begin);
      });
    const void* inputs[] = {rounds_ ? static_cast<const void*>(rounded) : x, context.inputs[1],
                            hasBias_ ? context.inputs[2] : nullptr};
    void* outputs[] = {y};
    inner_->run({inputs, outputs, context.scratch + innerAt_, context.lanes});
    transposeMatrices(y, images_, outPixels_, filters_, context.out<float>());
  }
  size_t scratchBytes() const override { return static_cast<size_t>(innerAt_) + inner_->scratchBytes(); }

 private:
  int64_t images_, channels_, filters_, inPixels_, outPixels_;
  bool hasBias_, rounds_;
  std::unique_ptr<OpKernel> inner_;
  int64_t roundedAt_ = 0, outAt_, innerAt_;
};

}  // namespace

std::unique_ptr<OpKernel> createChannelsFirst(const OpRequest& request, CreateKernel createInner, bool rounds) {
  return std::make_unique<ChannelsFirstOp>(request, createInner, rounds);
}

}  // namespace max
