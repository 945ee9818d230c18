// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/library_product.h"

#include <algorithm>
#include <utility>

#include "device/device.h"
#include "kernel/module.h"

namespace max {

namespace {

// From which size on the library computes a product: multiplications, and rows and columns. Chosen without measuring.
struct SizeRow {
  DType factors;
  int64_t multiplications;
  int64_t lines;
};
constexpr SizeRow kSizes[] = {
    {DType::Float32, int64_t{1} << 23, 64},
    {DType::Float16, int64_t{1} << 23, 64},
    {DType::BFloat16, int64_t{1} << 23, 64},
};

bool isLarge(const DeviceProductShape& shape) {
  return std::ranges::any_of(kSizes, [&](const SizeRow& row) {
    return row.factors == shape.factors && std::min(shape.rows, shape.columns) >= row.lines &&
           shape.batch * shape.rows * shape.columns * shape.depth >= row.multiplications;
  });
}

class LibraryProductOp final : public OpKernel {
 public:
  LibraryProductOp(Ref<DeviceProduct> product, size_t sumBytes, std::unique_ptr<LaunchOp> finish)
      : product_(std::move(product)), sumBytes_((sumBytes + 255) / 256 * 256), finish_(std::move(finish)) {
    implementation = product_->name();
  }

  size_t scratchBytes() const override { return sumBytes_ + product_->workspaceBytes(); }
  void run(const OpContext& context) const override {
    product_->launch(*context.place->stream, context.inputs[0], context.inputs[1],
                     finish_ ? context.scratch : context.outputs[0], context.scratch + sumBytes_);
    if (finish_) finish_->run(context);
  }

 private:
  const Ref<DeviceProduct> product_;
  const size_t sumBytes_;
  const std::unique_ptr<LaunchOp> finish_;
};

}  // namespace

std::unique_ptr<OpKernel> libraryProduct(const Placed& placed, const DeviceProductShape& shape,
                                         const std::function<std::unique_ptr<LaunchOp>()>& finish) {
  if (!isLarge(shape)) return nullptr;
  Ref<DeviceProduct> product = placed.module()->device().product(shape);
  if (!product) return nullptr;
  const size_t sums = finish ? static_cast<size_t>(shape.batch * shape.rows * shape.columns) * sizeof(float) : 0;
  return std::make_unique<LibraryProductOp>(std::move(product), sums, finish ? finish() : nullptr);
}

}  // namespace max
