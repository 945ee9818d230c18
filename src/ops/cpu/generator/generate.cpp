// SPDX-License-Identifier: Apache-2.0
// Operators that create tensors from shapes and a few numbers: Shape, Size,
// ConstantOfShape, Range, EyeLike, OneHot, Trilu.
#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "graph/readers/generator.h"
#include "graph/readers/indexing.h"
#include "ops/cpu/movement/movement.h"
#include "ops/families.h"

namespace max {

namespace {

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

// Fills `count` elements of 1, 2, 4, 8 or 16 bytes with copies of one, many at a time.
void fillElements(std::byte* target, const std::byte* value, int64_t bytes, int64_t count) {
  constexpr int64_t kBlock = 256;
  std::byte block[kBlock];
  for (int64_t i = 0; i < kBlock; i += bytes) std::memcpy(block + i, value, static_cast<size_t>(bytes));
  const int64_t blocks = count * bytes / kBlock;
  inParts(blocks, kBlock / 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::memcpy(target + i * kBlock, block, kBlock);
  });
  std::memcpy(target + blocks * kBlock, block, static_cast<size_t>(count * bytes % kBlock));
}

class ShapeOp final : public OpKernel {
 public:
  explicit ShapeOp(const OpRequest& request) : shape_(request.inputs[0].shape) {
    const auto [begin, end] = readers::readDimensionRange(*RequestInputs(request));
    begin_ = begin;
    end_ = end;
  }
  void run(const OpContext& context) const override {
    std::copy(shape_.begin() + begin_, shape_.begin() + end_, context.out<int64_t>());
  }

 private:
  Shape shape_;
  int begin_, end_;
};

class SizeOp final : public OpKernel {
 public:
  explicit SizeOp(const OpRequest& request) : count_(request.inputs[0].shape.count()) {}
  void run(const OpContext& context) const override { *context.out<int64_t>() = count_; }

 private:
  int64_t count_;
};

class ConstantOfShapeOp final : public OpKernel {
 public:
  explicit ConstantOfShapeOp(const OpRequest& request)
      : value_(readers::readFillValue(*RequestInputs(request))),
        dtype_(request.outputs[0].dtype),
        bytes_(static_cast<int64_t>(sizeOf(dtype_))),
        count_(request.outputs[0].shape.count()) {
    if (isPacked(dtype_)) repeatPacked();
  }
  void run(const OpContext& context) const override {
    constexpr std::byte zero[16] = {};
    if (isPacked(dtype_)) return fillPacked(context);
    const std::byte* value = value_ ? value_->as<std::byte>() : zero;
    context.parallelFor(count_, 1 << 15, [&](int64_t begin, int64_t end, int) {
      fillElements(context.out<std::byte>() + begin * bytes_, value, bytes_, end - begin);
    });
  }

 private:
  // Eight elements take whole bytes.
  void repeatPacked() {
    uint8_t code = 0;
    if (value_) unpackCodes(dtype_, value_->data(), 0, 1, &code);
    const std::vector<uint8_t> codes(8, code);
    packCodes(dtype_, pattern_, 0, 8, codes.data());
  }
  void fillPacked(const OpContext& context) const {
    auto* out = context.out<uint8_t>();
    const size_t bytes = bytesFor(dtype_, count_), period = bitsOf(dtype_);
    WorkCounter work;
    for (size_t i = 0; i < bytes; ++i, work.pass()) out[i] = pattern_[i % period];
    // Unused bits of the last byte are zero.
    const size_t rest = static_cast<size_t>(count_) * period % 8;
    if (rest > 0) out[bytes - 1] = static_cast<uint8_t>(out[bytes - 1] & ((1u << rest) - 1));
  }

  Ref<Tensor> value_;
  DType dtype_;
  int64_t bytes_, count_;
  uint8_t pattern_[8] = {};
};

template <class T>
class RangeOp final : public OpKernel {
 public:
  explicit RangeOp(const OpRequest& request) : count_(request.outputs[0].shape.count()) {}
  void run(const OpContext& context) const override {
    const T start = *context.in<T>(0), delta = *context.in<T>(2);
    T* out = context.out<T>();
    inParts(count_, 1, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = at(start, delta, i);
    });
  }

 private:
  static T at(T start, T delta, int64_t i) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(delta) * static_cast<uint64_t>(i));
    else
      return static_cast<T>(start + delta * static_cast<T>(i));
  }
  int64_t count_;
};

template <class T, DType kDType>
constexpr Implementation rangeOf() {
  return {"range", [](const OpRequest& request) { return request.inputs[0].dtype == kDType; }, make<RangeOp<T>>};
}

constexpr Implementation kRange[] = {
    rangeOf<float, DType::Float32>(), rangeOf<double, DType::Float64>(), rangeOf<int64_t, DType::Int64>(),
    rangeOf<int32_t, DType::Int32>(), rangeOf<int16_t, DType::Int16>(),
};

// The number one in a dtype's bytes; false if the dtype has none here.
bool oneOf(DType dtype, std::byte* bytes) {
  const float one = 1;
  const double wideOne = 1;
  const uint64_t integer = 1;  // little endian: its first bytes are a narrower one
  switch (dtype) {
    case DType::Float32:
      std::memcpy(bytes, &one, 4);
      return true;
    case DType::Float64:
      std::memcpy(bytes, &wideOne, 8);
      return true;
    case DType::Float16:
      std::memcpy(bytes, std::array{halfFromFloat(1)}.data(), 2);
      return true;
    case DType::BFloat16:
      std::memcpy(bytes, std::array{bfloat16FromFloat(1)}.data(), 2);
      return true;
    default:
      break;
  }
  if (dtype != DType::Bool && (!isInteger(dtype) || isPacked(dtype))) return false;
  std::memcpy(bytes, &integer, 8);
  return true;
}

class EyeLikeOp final : public OpKernel {
 public:
  explicit EyeLikeOp(const OpRequest& request)
      : rows_(request.outputs[0].shape[0]),
        columns_(request.outputs[0].shape[1]),
        diagonal_(readers::readDiagonal(request.node.attributes)),
        bytes_(static_cast<int64_t>(sizeOf(request.outputs[0].dtype))) {
    oneOf(request.outputs[0].dtype, one_);
  }
  static bool accepts(const OpRequest& request) {
    alignas(8) std::byte ignored[8];
    return request.outputs[0].shape.rank() == 2 && oneOf(request.outputs[0].dtype, ignored);
  }
  void run(const OpContext& context) const override {
    std::byte* out = context.out<std::byte>();
    if (rows_ * columns_ == 0) return;
    clearBytes(out, static_cast<size_t>(rows_ * columns_ * bytes_));
    const int64_t first = diagonal_ <= -rows_ ? rows_ : std::max<int64_t>(0, -diagonal_);
    if (diagonal_ >= columns_) return;
    WorkCounter work;
    for (int64_t row = first; row < rows_ && row + diagonal_ < columns_; ++row, work.pass(8))
      std::memcpy(out + (row * columns_ + row + diagonal_) * bytes_, one_, static_cast<size_t>(bytes_));
  }

 private:
  int64_t rows_, columns_, diagonal_, bytes_;
  alignas(8) std::byte one_[8];
};

// indices [outer, inner] (any number type), depth, values = [off, on] -> [outer, depth, inner]
class OneHotOp final : public OpKernel {
 public:
  explicit OneHotOp(const OpRequest& request)
      : indexType_(request.inputs[0].dtype), bytes_(static_cast<int64_t>(sizeOf(request.outputs[0].dtype))) {
    const Shape& out = request.outputs[0].shape;
    const int axis = readers::readOneHotAxis(*RequestInputs(request));
    outer_ = out.product(0, axis);
    depth_ = out[axis];
    inner_ = out.product(axis + 1, out.rank());
  }
  static bool accepts(const OpRequest& request) {
    return isNumeric(request.inputs[0].dtype) && request.has(2) && bitsOf(request.inputs[2].dtype) >= 8;
  }
  void run(const OpContext& context) const override {
    const std::byte* values = context.in<std::byte>(2);
    std::byte* out = context.out<std::byte>();
    fillElements(out, values, bytes_, outer_ * depth_ * inner_);
    WorkCounter work;
    for (int64_t k = 0; k < outer_ * inner_; ++k, work.pass(16)) {
      int64_t index = indexOf(context.inputs[0], k);
      if (index < 0) index += depth_;
      if (index < 0 || index >= depth_) continue;  // ONNX: such a row is all "off"
      std::memcpy(out + ((k / inner_ * depth_ + index) * inner_ + k % inner_) * bytes_, values + bytes_,
                  static_cast<size_t>(bytes_));
    }
  }

 private:
  int64_t indexOf(const void* indices, int64_t k) const {
    if (indexType_ == DType::Int64 || indexType_ == DType::Int32)
      return indexAt(indices, indexType_ == DType::Int64, k);
    double value = 0;
    loadNumbers(indexType_, indices, k, 1, &value);
    return std::abs(value) < 0x1p62 ? static_cast<int64_t>(value) : depth_;  // too large, infinite or NaN: "off"
  }
  DType indexType_;
  int64_t bytes_, outer_, depth_, inner_;
};

// Keeps the upper or lower triangle of every matrix; k is the second input.
class TriluOp final : public OpKernel {
 public:
  explicit TriluOp(const OpRequest& request)
      : upper_(readers::keepsUpper(*RequestInputs(request))), hasDiagonal_(request.has(1)) {
    const Shape& shape = request.inputs[0].shape;
    bytes_ = static_cast<int64_t>(sizeOf(request.inputs[0].dtype));
    columns_ = shape.back();
    rows_ = shape[shape.rank() - 2];
    matrices_ = shape.product(0, shape.rank() - 2);
  }
  void run(const OpContext& context) const override {
    const int64_t diagonal = hasDiagonal_ ? *context.in<int64_t>(1) : 0;
    context.parallelFor(matrices_ * rows_, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, columns_ * bytes_)),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t row = begin; row < end; ++row) copyRow(context, row, diagonal);
                        });
  }

 private:
  void copyRow(const OpContext& context, int64_t row, int64_t diagonal) const {
    // The first column right of the diagonal's left side; diagonals far outside clamp to the row's ends.
    const int64_t shift = std::clamp<int64_t>(diagonal, -rows_ - columns_, rows_ + columns_) + (upper_ ? 0 : 1);
    const int64_t cut = std::clamp<int64_t>(row % rows_ + shift, 0, columns_);
    const int64_t from = upper_ ? cut : 0, to = upper_ ? columns_ : cut;
    std::byte* out = context.out<std::byte>() + row * columns_ * bytes_;
    const std::byte* in = context.in<std::byte>(0) + row * columns_ * bytes_;
    clearBytes(out, static_cast<size_t>(from * bytes_));
    copyBytes(out + from * bytes_, in + from * bytes_, static_cast<size_t>((to - from) * bytes_));
    clearBytes(out + to * bytes_, static_cast<size_t>((columns_ - to) * bytes_));
  }
  bool upper_, hasDiagonal_;
  int64_t bytes_, columns_, rows_, matrices_;
};

template <class K, bool (*Accepts)(const OpRequest&) = nullptr>
inline constexpr Implementation kGenerate[] = {{"generate", Accepts, make<K>}};

const OpRow kRows[] = {
    {"", "Shape", kGenerate<ShapeOp>},
    {"", "Size", kGenerate<SizeOp>},
    {"", "ConstantOfShape", kGenerate<ConstantOfShapeOp>},
    {"", "Range", kRange},
    {"", "EyeLike", kGenerate<EyeLikeOp, EyeLikeOp::accepts>},
    {"", "OneHot", kGenerate<OneHotOp, OneHotOp::accepts>},
    {"", "Trilu", kGenerate<TriluOp, hasByteElements>},
};

}  // namespace

std::span<const OpRow> generateOps() { return kRows; }

}  // namespace max
