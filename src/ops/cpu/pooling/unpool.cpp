// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: elements go to places that another tensor names.
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/element.h"
#include "ops/families.h"

namespace max {

namespace {

// The shape given by the window attributes; the output may be larger.
Shape unpooledShape(const OpRequest& request) {
  Shape shape = request.inputs[0].shape;
  const readers::Pool pool(request.node.attributes, static_cast<size_t>(shape.rank() - 2));
  for (int i = 2; i < shape.rank(); ++i) {
    const readers::Window& window = pool.windows.axes[static_cast<size_t>(i - 2)];
    shape[i] = window.stride * (shape[i] - 1) + window.size - window.padBegin - window.padEnd;
  }
  return shape;
}

class MaxUnpoolOp final : public OpKernel {
 public:
  explicit MaxUnpoolOp(const OpRequest& request)
      : node_(request.node),
        unpooled_(unpooledShape(request)),
        strides_(contiguousStrides(request.outputs[0].shape)),
        inside_(contiguousStrides(unpooled_)),
        count_(request.inputs[0].shape.count()),
        places_(unpooled_.count()),
        bytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        outputBytes_(static_cast<size_t>(request.outputs[0].shape.count() * bytes_)),
        isExact_(unpooled_ == request.outputs[0].shape) {
    const Shape& output = request.outputs[0].shape;
    for (int i = 0; i < output.rank(); ++i)
      require(unpooled_[i] <= output[i], MAX_STATUS_INVALID_ARGUMENT, node_.description(), ": output_shape ", output,
              " is smaller than the unpooled size, ", unpooled_);
  }

  void run(const OpContext& context) const override {
    const auto* x = context.in<std::byte>(0);
    const auto* indices = context.in<int64_t>(1);
    auto* y = context.out<std::byte>();
    clearBytes(y, outputBytes_);
    // What does not change is local: elements may be stored to anything that has an address.
    visitElementBytes(bytes_, [this, x, indices, y, places = places_, isExact = isExact_](auto size) {
      inParts(count_, 4, [=, this](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t index = indices[i];
          if (index < 0 || index >= places) [[unlikely]]
            failIndex(index);
          copyElement(size, y + (isExact ? index : target(index)) * size, x + i * size);
        }
      });
    });
  }

 private:
  [[noreturn]] void failIndex(int64_t index) const {
    fail(MAX_STATUS_OUT_OF_RANGE, node_.description(), ": index ", index, " is not in [0, ", places_, ")");
  }

  // Of the output, in elements.
  int64_t target(int64_t index) const {
    int64_t offset = 0;
    for (int i = 0; i < unpooled_.rank(); ++i) offset += index / inside_[i] % unpooled_[i] * strides_[i];
    return offset;
  }

  const Node& node_;
  Shape unpooled_, strides_, inside_;
  int64_t count_, places_, bytes_;
  size_t outputBytes_;
  bool isExact_;
};

constexpr Implementation kCopy[] = {
    {"copy", hasByteElements,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<MaxUnpoolOp>(request); }}};

const OpRow kRows[] = {{"", "MaxUnpool", kCopy}};

}  // namespace

std::span<const OpRow> unpoolOps() { return kRows; }

}  // namespace max
