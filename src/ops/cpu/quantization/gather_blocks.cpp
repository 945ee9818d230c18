// SPDX-License-Identifier: Apache-2.0
// GatherBlockQuantized: only converts the selected rows to real numbers.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "graph/readers/quantization.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/movement.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrain = 16384;  // numbers

// The value of each code of a type of up to 8 bits.
std::array<float, 256> valuesOf(DType dtype, int bits) {
  std::array<float, 256> values{};
  for (int code = 0; code < (1 << bits); ++code) {
    const auto byte = static_cast<uint8_t>(code);
    loadNumbers(dtype, &byte, 0, 1, &values[static_cast<size_t>(code)]);
  }
  return values;
}

// Numbers packed from the low bits up, without gaps.
struct Codes {
  const uint8_t* bytes;
  int bits;

  uint8_t operator[](int64_t i) const {
    const int64_t bit = i * bits;
    return static_cast<uint8_t>((bytes[bit >> 3] >> (bit & 7)) & ((1 << bits) - 1));
  }
};

// (number - zero) * scale of some bytes, or of the two halves of each.
void scaledBytes(const uint8_t* bytes, int64_t count, float zero, float scale, float* numbers) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = (static_cast<float>(bytes[i]) - zero) * scale;
}
void scaledHalves(const uint8_t* bytes, int64_t count, const float* values, float zero, float scale, float* numbers) {
  float scaled[16];
  for (int i = 0; i < 16; ++i) scaled[i] = (values[i] - zero) * scale;
  for (int64_t i = 0; i < count / 2; ++i) {
    numbers[2 * i] = scaled[bytes[i] & 15];
    numbers[2 * i + 1] = scaled[bytes[i] >> 4];
  }
}

class GatherBlocksOp final : public OpKernel {
 public:
  GatherBlocksOp(const OpRequest& request, const readers::GatheredBlocks& read);
  void run(const OpContext& context) const override;

 private:
  void slice(const OpContext& context, int64_t from, int64_t to) const;
  void part(const OpContext& context, int64_t from, int64_t count, float* numbers) const;
  void blocks(const OpContext& context, int64_t row, int64_t column, int64_t count, float* numbers) const;
  void columns(const OpContext& context, int64_t row, int64_t column, int64_t count, float* numbers) const;
  int64_t scaleRow(int64_t row) const;
  float scaleAt(const OpContext& context, int64_t i) const;
  float zeroAt(const OpContext& context, int64_t scale) const;

  DType dtype_, scaleType_;
  int bits_;
  std::array<float, 256> values_;
  Shape shape_, scaleShape_;  // shape_: of single numbers
  int rank_, axis_;
  int64_t outer_, size_, inner_, count_;
  int64_t block_, lastColumns_;  // of the data's last axis
  int64_t scaleColumns_, zeroColumns_;
  bool is64_, hasZeros_;
  float middle_;  // the zero point if there are none
};

GatherBlocksOp::GatherBlocksOp(const OpRequest& request, const readers::GatheredBlocks& read)
    : dtype_(request.inputs[0].dtype),
      scaleType_(request.inputs[2].dtype),
      bits_(static_cast<int>(read.bits)),
      values_(valuesOf(dtype_, bits_)),
      shape_(request.inputs[0].shape),
      scaleShape_(request.inputs[2].shape),
      rank_(shape_.rank()),
      is64_(request.inputs[1].dtype == DType::Int64),
      hasZeros_(request.has(3)),
      middle_(dtype_ == DType::UInt8 ? static_cast<float>(1 << (bits_ - 1)) : 0) {
  if (dtype_ == DType::UInt8) shape_[rank_ - 1] *= 8 / bits_;
  const int gathered = read.gatheredAxis();
  axis_ = read.quantizedAxis();
  block_ = read.block ? read.block : std::max<int64_t>(shape_[axis_], 1);
  outer_ = shape_.product(0, gathered);
  size_ = shape_[gathered];
  inner_ = shape_.product(gathered + 1, rank_);
  count_ = request.inputs[1].shape.count();
  lastColumns_ = shape_.back();
  scaleColumns_ = scaleShape_.back();
  const int64_t perByte = dtype_ == DType::UInt8 ? 8 / bits_ : 1;
  zeroColumns_ = hasZeros_ ? request.inputs[3].shape.back() * perByte : 0;
}

void GatherBlocksOp::run(const OpContext& context) const {
  if (outer_ * count_ * inner_ == 0) return;
  const size_t bytes = sizeOf(scaleType_) * static_cast<size_t>(inner_);
  context.parallelFor(outer_ * count_, grainOf(kGrain, {inner_}), [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t index = indexAt(context.inputs[1], is64_, i % count_);
      index += index < 0 ? size_ : 0;
      if (index < 0 || index >= size_)  // no data: zeros
        std::memset(context.out<std::byte>() + static_cast<size_t>(i) * bytes, 0, bytes);
      else
        slice(context, (i / count_ * size_ + index) * inner_, i * inner_);
    }
  });
}

// inner_ numbers from index `from` of the data to index `to` of the output.
void GatherBlocksOp::slice(const OpContext& context, int64_t from, int64_t to) const {
  float tile[kNumberTile];
  WorkCounter work;
  for (int64_t i = 0; i < inner_; i += kNumberTile, work.pass(4 * kNumberTile)) {
    const int64_t count = std::min(kNumberTile, inner_ - i);
    float* numbers = scaleType_ == DType::Float32 ? context.out<float>() + to + i : tile;
    part(context, from + i, count, numbers);
    if (numbers == tile) storeNumbers(scaleType_, context.outputs[0], to + i, count, tile);
  }
}

void GatherBlocksOp::part(const OpContext& context, int64_t from, int64_t count, float* numbers) const {
  while (count > 0) {
    const int64_t row = from / lastColumns_, column = from % lastColumns_,
                  some = std::min(count, lastColumns_ - column);
    axis_ == rank_ - 1 ? blocks(context, row, column, some, numbers) : columns(context, row, column, some, numbers);
    from += some;
    numbers += some;
    count -= some;
  }
}

// Where the scales of a row of the data begin. For types without zero points they may be repeated.
int64_t GatherBlocksOp::scaleRow(int64_t row) const {
  int64_t at = 0, stride = scaleColumns_;
  for (int i = rank_ - 2; i >= 0; row /= shape_[i--]) {
    const int64_t place = row % shape_[i];
    at += (i == axis_ ? place / block_ : scaleShape_[i] == 1 ? 0 : place) * stride;
    stride *= scaleShape_[i];
  }
  return at;
}

float GatherBlocksOp::scaleAt(const OpContext& context, int64_t i) const {
  if (scaleType_ == DType::Float32) return context.in<float>(2)[i];
  float scale;
  loadNumbers(scaleType_, context.inputs[2], i, 1, &scale);
  return scale;
}

float GatherBlocksOp::zeroAt(const OpContext& context, int64_t scale) const {
  if (!hasZeros_) return middle_;
  return values_[Codes{context.in<uint8_t>(3), bits_}[scale / scaleColumns_ * zeroColumns_ + scale % scaleColumns_]];
}

// Blocks along the last axis: one scale after the other.
void GatherBlocksOp::blocks(const OpContext& context, int64_t row, int64_t column, int64_t count,
                            float* numbers) const {
  const Codes codes{context.in<uint8_t>(0), bits_};
  const int64_t scales = scaleRow(row), from = row * lastColumns_, end = column + count;
  while (column < end) {
    const int64_t last = std::min(end, (column / block_ + 1) * block_), at = scales + column / block_;
    const float scale = scaleAt(context, at), zero = zeroAt(context, at);
    const int64_t some = last - column;
    if (dtype_ == DType::UInt8 && bits_ == 8)
      scaledBytes(codes.bytes + from + column, some, zero, scale, numbers);
    else if (bits_ == 4 && (from + column) % 2 == 0 && some % 2 == 0)
      scaledHalves(codes.bytes + (from + column) / 2, some, values_.data(), zero, scale, numbers);
    else
      for (int64_t i = 0; i < some; ++i) numbers[i] = (values_[codes[from + column + i]] - zero) * scale;
    column = last;
    numbers += some;
  }
}

// Blocks along another axis: one scale per column, or the same for all.
void GatherBlocksOp::columns(const OpContext& context, int64_t row, int64_t column, int64_t count,
                             float* numbers) const {
  const Codes codes{context.in<uint8_t>(0), bits_};
  const int64_t scales = scaleRow(row), from = row * lastColumns_, step = scaleColumns_ == 1 ? 0 : 1;
  for (int64_t i = column; i < column + count; ++i) {
    const int64_t at = scales + i * step;
    *numbers++ = (values_[codes[from + i]] - zeroAt(context, at)) * scaleAt(context, at);
  }
}

std::unique_ptr<OpKernel> create(const OpRequest& request) {
  const RequestInputs inputs(request);
  return std::make_unique<GatherBlocksOp>(request, readers::GatheredBlocks(*inputs));
}

constexpr Implementation kGather[] = {{"gather_blocks", nullptr, create}};
const OpRow kRows[] = {{"com.microsoft", "GatherBlockQuantized", kGather}};

}  // namespace

std::span<const OpRow> gatherBlocksOps() { return kRows; }

}  // namespace max
