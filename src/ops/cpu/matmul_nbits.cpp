// SPDX-License-Identifier: Apache-2.0
// max.MatMulNBits: weights become floats a row at a time, on the way.
#include "ops/cpu/matmul_nbits.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/kernel.h"

namespace max {

namespace {

constexpr int64_t kRowsAtOnce = 4;

class NBitsKernel : public Kernel {
 public:
  explicit NBitsKernel(const KernelRequest& request);
  void run(const KernelContext& context) const override;
  size_t scratchBytes() const override;

 private:
  void arrange(const float* from, float* to) const;
  void readZeros(const KernelContext& context, int64_t column, float* zeros) const;
  void column(const KernelContext& context, int64_t n, const float* rows, float* lane) const;

  const NBitsTable* table_;
  int bits_;
  int64_t depth_, columns_, rows_;
  int64_t blocks_, blockSize_, padded_;
  bool hasZeros_, packedZeros_;
  int lanes_;
};

NBitsKernel::NBitsKernel(const KernelRequest& request)
    : table_(&nBitsTable()),
      bits_(static_cast<int>(request.node.attributes.getInt("bits", 4))),
      depth_(request.node.attributes.getInt("K", 0)),
      columns_(request.node.attributes.getInt("N", 0)),
      rows_(depth_ > 0 ? request.inputs[0].shape.count() / depth_ : 0),
      blocks_(0),
      blockSize_(request.node.attributes.getInt("block_size", 32)),
      padded_(0),
      hasZeros_(request.has(3)),
      packedZeros_(hasZeros_ && request.inputs[3].dtype == DType::UInt8),
      lanes_(std::max(request.lanes, 1)) {
  blocks_ = (depth_ + blockSize_ - 1) / blockSize_;
  padded_ = blocks_ * blockSize_;
}

// The rows of A, and for each lane the weights and zero points of one column.
size_t NBitsKernel::scratchBytes() const {
  const int64_t floats =
      checkedAdd(checkedMultiply(rows_, padded_), checkedMultiply<int64_t>(lanes_, padded_ + blocks_));
  return static_cast<size_t>(checkedMultiply<int64_t>(4, floats));
}

// In planes, as the weights are; beyond the depth 0.
void NBitsKernel::arrange(const float* from, float* to) const {
  const int64_t planes = 8 / bits_, size = padded_ / planes;
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = i * planes + plane;
      to[plane * size + i] = at < depth_ ? from[at] : 0;
    }
}

void NBitsKernel::readZeros(const KernelContext& context, int64_t n, float* zeros) const {
  if (!hasZeros_) {
    std::fill_n(zeros, blocks_, static_cast<float>(1 << (bits_ - 1)));
    return;
  }
  if (!packedZeros_) {
    std::copy_n(context.in<float>(3) + n * blocks_, blocks_, zeros);
    return;
  }
  const uint8_t* packed = context.in<uint8_t>(3) + n * ((blocks_ * bits_ + 7) / 8);
  for (int64_t block = 0; block < blocks_; ++block) {
    const int64_t bit = block * bits_;
    zeros[block] = static_cast<float>((packed[bit / 8] >> (bit % 8)) & ((1 << bits_) - 1));
  }
}

void NBitsKernel::column(const KernelContext& context, int64_t n, const float* rows, float* lane) const {
  float* zeros = lane + padded_;
  readZeros(context, n, zeros);
  const int64_t bytes = blockSize_ * bits_ / 8;
  table_->expand(
      {context.in<uint8_t>(1) + n * blocks_ * bytes, context.in<float>(2) + n * blocks_, zeros, blocks_, bytes, bits_},
      lane);
  for (int64_t m = 0; m < rows_; m += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, rows_ - m);
    const float* some[kRowsAtOnce];
    float results[kRowsAtOnce];
    for (int64_t i = 0; i < count; ++i) some[i] = rows + (m + i) * padded_;
    table_->dot(lane, some, count, padded_, results);
    for (int64_t i = 0; i < count; ++i) context.out<float>()[(m + i) * columns_ + n] = results[i];
  }
}

void NBitsKernel::run(const KernelContext& context) const {
  auto* rows = reinterpret_cast<float*>(context.scratch);
  for (int64_t m = 0; m < rows_; ++m) arrange(context.in<float>(0) + m * depth_, rows + m * padded_);
  float* lanes = rows + rows_ * padded_;
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(padded_ * (rows_ + 1), 1));
  parallelFor(std::min(context.lanes, lanes_), columns_, grain, [&](int64_t begin, int64_t end, int index) {
    float* lane = lanes + index * (padded_ + blocks_);
    for (int64_t n = begin; n < end; ++n) column(context, n, rows, lane);
  });
}

std::unique_ptr<Kernel> createNBits(const KernelRequest& request) { return std::make_unique<NBitsKernel>(request); }

constexpr Implementation kNBits[] = {{"matmul_nbits_f32", nullptr, createNBits}};
const OpKernels kRows[] = {{kMaxDomain, "MatMulNBits", kNBits}};

}  // namespace

std::span<const OpKernels> matMulNBitsKernels() { return kRows; }

}  // namespace max
