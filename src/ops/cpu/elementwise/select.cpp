// SPDX-License-Identifier: Apache-2.0
// Where on elements without arithmetic: strings and complex numbers.
#include <array>
#include <cstring>

#include "ops/cpu/element.h"
#include "ops/families.h"
#include "ops/ref/reference.h"

namespace max {

namespace {

class SelectOp final : public OpKernel {
 public:
  explicit SelectOp(const OpRequest& request)
      : bytes_(static_cast<int64_t>(sizeOf(request.outputs[0].dtype))), shape_(request.outputs[0].shape) {
    for (size_t i = 0; i < 3; ++i) strides_[i] = reference::broadcastStrides(request.inputs[i].shape, shape_);
  }
  static bool accepts(const OpRequest& request) {
    return request.inputs.size() == 3 && sizeOf(request.outputs[0].dtype) > 0 && !isPacked(request.outputs[0].dtype);
  }

  void run(const OpContext& context) const override {
    const uint8_t* condition = context.in<uint8_t>(0);
    std::byte* out = context.out<std::byte>();
    visitElementBytes(bytes_, [&](auto size) {
      reference::forEachOffset<3>(shape_, strides_, [&](int64_t k, const std::array<int64_t, 3>& at) {
        const size_t chosen = condition[at[0]] ? 1 : 2;
        copyElement(size, out + k * bytes_, context.in<std::byte>(chosen) + at[chosen] * bytes_);
      });
    });
  }

 private:
  int64_t bytes_;
  Shape shape_;
  std::array<Shape, 3> strides_;
};

constexpr Implementation kSelect[] = {
    {"select", SelectOp::accepts,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<SelectOp>(request); }}};

const OpRow kRows[] = {{"", "Where", kSelect}};

}  // namespace

std::span<const OpRow> selectOps() { return kRows; }

}  // namespace max
