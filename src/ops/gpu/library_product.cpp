// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/library_product.h"

#include <algorithm>
#include <utility>

#include "device/device.h"
#include "kernel/module.h"

namespace max {

namespace {

// From which size on the library computes a product: multiplications, and rows and columns. Chosen on an H100.
struct SizeRow {
  DType factors;
  int64_t multiplications;
  int64_t lines;
};
constexpr SizeRow kSizes[] = {
    {DType::Float32, int64_t{1} << 27, 64},
    {DType::Float16, int64_t{1} << 25, 64},
    {DType::BFloat16, int64_t{1} << 25, 64},
};

bool isLarge(const DeviceProductShape& shape) {
  return std::ranges::any_of(kSizes, [&](const SizeRow& row) {
    return row.factors == shape.factors && std::min(shape.rows, shape.columns) >= row.lines &&
           shape.batch * shape.rows * shape.columns * shape.depth >= row.multiplications;
  });
}

constexpr int64_t kPieceElements = 8;  // by which the factors' places are counted, 16 bytes of bfloat16

// A factor as an array: what lies between its first and its last element.
int64_t spanOf(int64_t batch, int64_t distance, int64_t lines, int64_t stride, int64_t line) {
  return (batch - 1) * distance + (lines - 1) * stride + line;
}
int64_t spanOfA(const DeviceProductShape& shape) {
  return spanOf(shape.batch, shape.aBatch, shape.transposesA ? shape.depth : shape.rows, shape.aStride,
                shape.transposesA ? shape.rows : shape.depth);
}
int64_t spanOfB(const DeviceProductShape& shape) {
  return spanOf(shape.batch, shape.bBatch, shape.transposesB ? shape.columns : shape.depth, shape.bStride,
                shape.transposesB ? shape.depth : shape.columns);
}
int64_t padded(int64_t elements) { return (elements + 127) / 128 * 128; }

// Whether rounding both factors to bfloat16 first takes less time than it saves, by an H100's rates.
bool isWorthNarrowing(const DeviceProductShape& shape) {
  if (shape.factors != DType::Float32 || shape.precision != MAX_PRECISION_MEDIUM) return false;
  for (const int64_t step : {shape.aStride, shape.bStride, shape.aBatch, shape.bBatch, shape.columns})
    if (step % kPieceElements != 0) return false;
  const double multiplications = static_cast<double>(shape.batch) * static_cast<double>(shape.rows) *
                                 static_cast<double>(shape.columns) * static_cast<double>(shape.depth);
  return multiplications * 2.1e-15 > 3e-6 + 3e-12 * static_cast<double>(spanOfA(shape) + spanOfB(shape));
}

class LibraryProductOp final : public OpKernel {
 public:
  LibraryProductOp(Ref<DeviceProduct> product, const DeviceProductShape& shape, bool makesSums,
                   std::unique_ptr<LaunchOp> narrow, std::unique_ptr<LaunchOp> finish)
      : product_(std::move(product)),
        narrowedA_(narrow ? static_cast<size_t>(padded(spanOfA(shape))) * sizeof(uint16_t) : 0),
        narrowed_(narrow ? narrowedA_ + static_cast<size_t>(padded(spanOfB(shape))) * sizeof(uint16_t) : 0),
        narrow_(std::move(narrow)),
        hasBias_(shape.hasBias),
        hasAddend_(shape.hasAddend),
        sumBytes_(makesSums ? sumBytesOf(shape) : 0),
        finish_(std::move(finish)) {
    implementation = product_->name();
  }

  size_t scratchBytes() const override { return narrowed_ + sumBytes_ + product_->workspaceBytes(); }
  size_t launchCount() const override { return 1 + (narrow_ ? 1 : 0) + (finish_ ? 1 : 0); }
  void run(const OpContext& context) const override {
    if (narrow_) narrow_->run(context);
    std::byte* const scratch = context.scratch + narrowed_;
    product_->launch(
        *context.place->stream,
        {narrow_ ? context.scratch : context.inputs[0], narrow_ ? context.scratch + narrowedA_ : context.inputs[1],
         hasBias_ ? context.inputs[2] : nullptr, hasAddend_ ? context.inputs[3] : nullptr,
         sumBytes_ > 0 ? scratch : context.outputs[0], scratch + sumBytes_});
    if (finish_) finish_->run(context);
  }

 private:
  static size_t sumBytesOf(const DeviceProductShape& shape) {
    return (static_cast<size_t>(shape.batch * shape.rows * shape.columns) * sizeof(float) + 255) / 256 * 256;
  }

  const Ref<DeviceProduct> product_;
  const size_t narrowedA_, narrowed_;  // bytes at the beginning of the scratch memory
  const std::unique_ptr<LaunchOp> narrow_;
  const bool hasBias_, hasAddend_;
  const size_t sumBytes_;
  const std::unique_ptr<LaunchOp> finish_;
};

std::unique_ptr<LaunchOp> narrowing(const Placed& placed, const DeviceProductShape& shape) {
  auto op = std::make_unique<LaunchOp>(placed, numberOf(placed, kNarrow));
  op->addInput(0);
  op->addInput(1);
  op->addOutput(LaunchOp::kScratch);
  for (const int64_t value : {spanOfA(shape), spanOfB(shape), padded(spanOfA(shape))}) op->addValue(value);
  op->coverElements((spanOfA(shape) + spanOfB(shape)) / 4);
  return op;
}

std::unique_ptr<OpKernel> make(const Placed& placed, const DeviceProductShape& shape, bool makesSums,
                               const ProductFinish& finish) {
  if (!isLarge(shape)) return nullptr;
  const auto op = [&](Ref<DeviceProduct> product, std::unique_ptr<LaunchOp> narrow) {
    return std::make_unique<LibraryProductOp>(std::move(product), shape, makesSums, std::move(narrow),
                                              finish ? finish() : nullptr);
  };
  if (!makesSums && isWorthNarrowing(shape)) {
    DeviceProductShape narrow = shape;
    narrow.factors = DType::BFloat16;
    narrow.precision = MAX_PRECISION_HIGHEST;
    if (Ref<DeviceProduct> product = placed.module()->device().product(narrow))
      return op(std::move(product), narrowing(placed, shape));
  }
  Ref<DeviceProduct> product = placed.module()->device().product(shape);
  return product ? op(std::move(product), nullptr) : nullptr;
}

constexpr const char* kKernels = R"(
extern "C" __global__ void gpu_activate(Element* out, long long count, float alpha, float beta) {
  const int kPiece = 16 / (int)sizeof(Element);
  const bool aligned = (size_t)out % 16 == 0;
  const long long step = (long long)gridDim.x * blockDim.x, pieces = (count + kPiece - 1) / kPiece;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += step) {
    Element* const at = out + i * kPiece;
    const long long valid = count - i * kPiece;
    Element elements[16 / sizeof(Element)];
    takePiece(elements, at, valid, aligned);
    for (int e = 0; e < kPiece; ++e) elements[e] = (Element)activated((Sum)elements[e], alpha, beta);
    if (aligned && valid >= kPiece) {
      uint4 memory;
      memcpy(&memory, elements, 16);
      *(uint4*)at = memory;
    } else {
      for (int e = 0; e < kPiece; ++e)
        if (e < valid) at[e] = elements[e];
    }
  }
}
static inline __device__ void narrow(const Element* from, __nv_bfloat16* to, long long count) {
  const int kPiece = 16 / (int)sizeof(Element);
  const bool aligned = (size_t)from % 16 == 0;
  const long long step = (long long)gridDim.x * blockDim.x, pieces = (count + kPiece - 1) / kPiece;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += step) {
    Element elements[16 / sizeof(Element)];
    takePiece(elements, from + i * kPiece, count - i * kPiece, aligned);
    __nv_bfloat16 narrowed[16 / sizeof(Element)];
#pragma unroll
    for (int e = 0; e < kPiece; ++e) narrowed[e] = (__nv_bfloat16)(float)elements[e];
    uint2 memory[(16 / sizeof(Element) + 3) / 4];
    memcpy(memory, narrowed, sizeof narrowed);
    for (int e = 0; e < (kPiece + 3) / 4; ++e) ((uint2*)to)[i * kPiece / 4 + e] = memory[e];
  }
}
extern "C" __global__ void gpu_narrow(const Element* a, const Element* b, __nv_bfloat16* to, long long aCount,
                                      long long bCount, long long bPlace) {
  narrow(a, to, aCount);
  narrow(b, to + bPlace, bCount);
}
)";

}  // namespace

std::unique_ptr<OpKernel> libraryProduct(const Placed& placed, const DeviceProductShape& shape,
                                         const ProductFinish& finish) {
  return make(placed, shape, false, finish);
}

std::unique_ptr<OpKernel> librarySums(const Placed& placed, const DeviceProductShape& shape,
                                      const ProductFinish& finish) {
  return make(placed, shape, true, finish);
}

const char* libraryKernels() { return kKernels; }

}  // namespace max
