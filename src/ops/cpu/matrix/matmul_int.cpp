// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul on 8-bit integers.
#include <algorithm>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "base/packed_memory.h"
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/families.h"

namespace max {

namespace {

// Which inputs the operands are; 0 = none (the first input is always A).
struct Inputs {
  size_t a, aZero, b, bZero, aScale, bScale, yScale, yZero, factor, addend;

  // Whether sums become other numbers, with factors of columns.
  constexpr bool scales() const { return yZero || factor; }
};
constexpr Inputs kPlain{0, 2, 1, 3, 0, 0, 0, 0, 0, 0}, kQuantized{0, 2, 3, 5, 1, 4, 6, 7, 0, 0},
    kScaled{0, 2, 1, 3, 0, 0, 0, 0, 4, 5};

bool isByte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

IntegerSource sourceOf(const void* data, DType dtype, int64_t columns) {
  return {data, dtype == DType::Int8, columns, 1};
}

// B packed at load.
class PreparedColumns final : public Prepared {
 public:
  // `replaced`: the input that is no longer read, SIZE_MAX = none.
  PreparedColumns(const IntegerGemmTable& table, const Tensor& b, const Tensor* zeros, size_t replaced)
      : usesBytes_(table.usesBytes), panelColumns_(table.panelColumns), replaced_(replaced) {
    const int64_t depth = b.shape()[0], count = b.shape()[1];
    storage_ = allocatePackedStorage(PackedColumns::bytes(table, depth, count));
    columns_.emplace(table, depth, count, storage_->data());
    ZeroPoints points;
    if (zeros) points = {zeros->data(), zeros->dtype() == DType::Int8, zeros->count()};
    packColumns(table, sourceOf(b.data(), b.dtype(), count), points, depth, count, defaultLanes(), *columns_);
  }
  size_t bytes() const override { return storage_->size(); }
  bool replaces(size_t input) const override { return input == replaced_; }
  bool fits(const IntegerGemmTable& table) const {
    return table.usesBytes == usesBytes_ && table.panelColumns == panelColumns_;
  }
  const PackedColumns& columns() const { return *columns_; }

 private:
  bool usesBytes_;
  int panelColumns_;
  size_t replaced_;
  Ref<Storage> storage_;
  std::optional<PackedColumns> columns_;
};

// Packing must not inflate narrow matrices, which a small file can contain.
bool isMostlyPadding(const IntegerGemmTable& table, const Tensor& b) {
  constexpr size_t kFree = 1 << 20, kMostTimes = 4;
  return PackedColumns::bytes(table, b.shape()[0], b.shape()[1]) > kFree + kMostTimes * b.bytes();
}

// True if the value has one element, or `count` of them, whatever the shapes of the model's inputs.
bool hasKnownCount(const Value* value, int64_t count) {
  if (!value) return true;
  Dim elements = 1;
  for (const Dim& dim : value->type.dims) elements = elements * dim;
  return value->type.ranked && (elements.is(1) || elements.is(count));
}

// No plan will need another kernel than the one below (see accepts).
template <const Inputs& kInputs>
bool isAlwaysFast(const Node& node, int64_t columns) {
  for (const size_t input : {kInputs.aZero, kInputs.aScale, kInputs.yScale, kInputs.yZero})
    if (input != 0 && !hasKnownCount(node.input(input), 1)) return false;
  if (kInputs.factor && !hasKnownCount(node.input(kInputs.factor), columns)) return false;
  return kInputs.bScale == 0 || hasKnownCount(node.input(kInputs.bScale), columns);
}

template <const Inputs& kInputs>
Ref<Prepared> prepare(const Node& node, std::span<const Tensor* const> constants) {
  const auto constant = [&](size_t i) { return i < constants.size() ? constants[i] : nullptr; };
  const Tensor *b = constant(kInputs.b), *zeros = constant(kInputs.bZero);
  if (!b || !isByte(b->dtype()) || b->shape().rank() != 2 || b->count() == 0) return nullptr;
  if (node.input(kInputs.bZero) && (!zeros || (zeros->count() != 1 && zeros->count() != b->shape()[1]))) return nullptr;
  const IntegerGemmTable& table = integerGemmTable();
  if (isMostlyPadding(table, *b)) return nullptr;
  return makeRef<PreparedColumns>(table, *b, zeros, isAlwaysFast<kInputs>(node, b->shape()[1]) ? kInputs.b : SIZE_MAX);
}

template <const Inputs& kInputs>
bool accepts(const OpRequest& request) {
  const Operand &a = request.inputs[kInputs.a], &b = request.inputs[kInputs.b];
  if (!isByte(a.dtype) || !isByte(b.dtype) || a.shape.empty() || b.shape.empty()) return false;
  if (kInputs.yZero && !isByte(request.outputs[0].dtype)) return false;
  const ProductShape shape(a.shape, b.shape, false, false);
  const int64_t rows = shape.batchCount() == 1 && !kInputs.factor ? shape.rows : 1,
                columns = shape.bCount() == 1 ? shape.columns : 1;
  return hasCount(request, kInputs.aZero, rows) && hasCount(request, kInputs.bZero, columns) &&
         hasCount(request, kInputs.aScale, 1) && hasCount(request, kInputs.bScale, columns) &&
         hasCount(request, kInputs.yScale, 1) && hasCount(request, kInputs.yZero, 1) &&
         hasCount(request, kInputs.factor, shape.columns);
}

template <const Inputs& kInputs>
class IntegerMatMul final : public OpKernel {
 public:
  explicit IntegerMatMul(const OpRequest& request)
      : table_(integerGemmTable()),
        shape_(request.inputs[kInputs.a].shape, request.inputs[kInputs.b].shape, false, false),
        lanes_(std::max(request.lanes, 1)) {
    for (const Operand& input : request.inputs) inputs_.push_back({input.dtype, input.shape, nullptr});
    outputIsSigned_ = request.outputs[0].dtype == DType::Int8;
    const auto* prepared = dynamic_cast<const PreparedColumns*>(request.node.prepared.get());
    if (prepared && prepared->fits(table_)) prepared_ = prepared;
    // One B for all: the batch is more rows.
    if (shape_.bCount() == 1) {
      products_ = 1;
      rows_ = shape_.aCount() * shape_.rows;
    } else {
      products_ = shape_.batchCount();
      rows_ = shape_.rows;
    }
  }

  size_t scratchBytes() const override {
    return checkedAdd(checkedAdd(factorBytes(), tileBytes()),
                      checkedMultiply(productBytes(), static_cast<size_t>(runsTogether() ? lanes_ : 1)));
  }

  void run(const OpContext& context) const override {
    auto* factors = reinterpret_cast<float*>(context.scratch);
    if (kInputs.yZero) loadFactors(context, factors);
    if (kInputs.factor) loadScales(context, factors);
    std::byte *tiles = context.scratch + factorBytes(), *memory = tiles + tileBytes();
    if (!runsTogether()) {
      for (int64_t i = 0; i < products_; ++i, passWork(64)) multiply(context, i, factors, context.lanes, tiles, memory);
      return;
    }
    context.parallelFor(products_, 1, [&](int64_t begin, int64_t end, int lane) {
      const auto at = static_cast<size_t>(lane);
      for (int64_t i = begin; i < end; ++i, passWork(64))
        multiply(context, i, factors, 1, tiles + at * integerTileBytes(table_), memory + at * productBytes());
    });
  }

 private:
  // Enough products for each lane to compute whole ones.
  bool runsTogether() const { return lanes_ > 1 && products_ >= lanes_; }

  // `memory`: for packed operands and the bias.
  void multiply(const OpContext& context, int64_t i, const float* factors, int lanes, std::byte* tiles,
                std::byte* memory) const {
    const PackedColumns columns = prepared_ ? prepared_->columns() : packB(context, i, lanes, memory);
    const PackedRows rows = packA(context, i, lanes, columns.hasFactors, memory + packedBytes());
    IntegerResult result = resultOf(context, i, factors);
    if (hasOneZero()) {
      auto* bias = reinterpret_cast<int32_t*>(memory + productBytes() - rowBytes());
      const auto factor = static_cast<uint32_t>(rows.hasFactors ? rows.factors[0] : 0);
      for (int64_t n = 0; n < shape_.columns; ++n)
        bias[n] = static_cast<int32_t>(factor * static_cast<uint32_t>(columns.columnSums[n]));
      result.columnBias = bias;
    }
    multiplyIntegers(table_, {rows, columns, shape_.depth, shape_.columns}, rows_, result, lanes, tiles);
  }

  // One zero point of A, which becomes a bias of the columns.
  bool hasOneZero() const {
    if (!kInputs.scales() || !table_.usesBytes || rows_ == 0) return false;
    return kInputs.factor || inputs_[kInputs.aZero].shape.count() == 1;
  }

  // A number for each column.
  size_t rowBytes() const {
    return kInputs.scales() ? alignUp(static_cast<size_t>(shape_.columns) * sizeof(float)) : 0;
  }
  // Factors, and addends.
  size_t factorBytes() const { return checkedMultiply(rowBytes(), size_t{2}); }
  size_t productBytes() const {
    return checkedAdd(checkedAdd(packedBytes(), PackedRows::bytes(table_, rows_, shape_.depth)), rowBytes());
  }

  size_t packedBytes() const { return prepared_ ? 0 : PackedColumns::bytes(table_, shape_.depth, shape_.columns); }
  size_t tileBytes() const { return static_cast<size_t>(lanes_) * integerTileBytes(table_); }

  ZeroPoints zerosOf(const OpContext& context, size_t input) const {
    if (input >= inputs_.size() || !inputs_[input].present()) return {};
    return {context.inputs[input], inputs_[input].dtype == DType::Int8, inputs_[input].shape.count()};
  }

  // The matrix of an operand for product i.
  int64_t offsetOf(const Shape& own, int64_t i) const {
    int64_t offset = 0, stride = 1;
    for (int axis = shape_.batch.rank() - 1, k = own.rank() - 1; k >= 0; --axis, --k) {
      offset += (own[k] == 1 ? 0 : i % shape_.batch[axis]) * stride;
      stride *= own[k];
      i /= std::max<int64_t>(shape_.batch[axis], 1);
    }
    return offset;
  }

  PackedColumns packB(const OpContext& context, int64_t i, int lanes, std::byte* memory) const {
    PackedColumns packed(table_, shape_.depth, shape_.columns, memory);
    const auto* b = context.in<uint8_t>(kInputs.b) + offsetOf(shape_.bBatch, i) * shape_.depth * shape_.columns;
    packColumns(table_, sourceOf(b, inputs_[kInputs.b].dtype, shape_.columns), zerosOf(context, kInputs.bZero),
                shape_.depth, shape_.columns, lanes, packed);
    return packed;
  }

  PackedRows packA(const OpContext& context, int64_t i, int lanes, bool withSums, std::byte* memory) const {
    const int64_t matrix = products_ == 1 ? 0 : offsetOf(shape_.aBatch, i);
    PackedRows packed(table_, rows_, shape_.depth, memory);
    const auto* a = context.in<uint8_t>(kInputs.a) + matrix * shape_.rows * shape_.depth;
    packRows(table_, {a, inputs_[kInputs.a].dtype == DType::Int8, zerosOf(context, kInputs.aZero), rows_, shape_.depth},
             withSums, lanes, packed);
    return packed;
  }

  IntegerResult resultOf(const OpContext& context, int64_t i, const float* factors) const {
    IntegerResult result;
    const int64_t first = i * rows_ * shape_.columns;
    result.stride = shape_.columns;
    if (kInputs.factor) {
      result.reals = context.out<float>() + first;
      result.columnFactors = factors;
      if (hasAddends()) result.columnAddends = factors + rowBytes() / sizeof(float);
      return result;
    }
    if (!kInputs.yZero) {
      result.sums = context.out<int32_t>() + first;
      return result;
    }
    result.quantized = context.out<uint8_t>() + first;
    result.columnFactors = factors;
    result.mayOverflow = mayOverflow(factors, shape_.columns);
    result.zero = zerosOf(context, kInputs.yZero)[0];
    result.low = outputIsSigned_ ? -128 : 0;
    result.high = outputIsSigned_ ? 127 : 255;
    return result;
  }

  bool hasAddends() const { return kInputs.addend < inputs_.size() && inputs_[kInputs.addend].present(); }

  void loadScales(const OpContext& context, float* factors) const {
    const auto* scales = context.in<float>(kInputs.factor);
    const auto count = static_cast<size_t>(shape_.columns);
    if (inputs_[kInputs.factor].shape.count() == 1)
      std::fill_n(factors, count, scales[0]);
    else
      std::copy_n(scales, count, factors);
    if (hasAddends()) std::copy_n(context.in<float>(kInputs.addend), count, factors + rowBytes() / sizeof(float));
  }

  void loadFactors(const OpContext& context, float* factors) const {
    float a = 1, y = 1;
    loadNumbers(inputs_[kInputs.aScale].dtype, context.inputs[kInputs.aScale], 0, 1, &a);
    loadNumbers(inputs_[kInputs.yScale].dtype, context.inputs[kInputs.yScale], 0, 1, &y);
    const int64_t count = inputs_[kInputs.bScale].shape.count();
    loadNumbers(inputs_[kInputs.bScale].dtype, context.inputs[kInputs.bScale], 0, std::min(count, shape_.columns),
                factors);
    for (int64_t n = shape_.columns - 1; n >= 0; --n) factors[n] = a * factors[count == 1 ? 0 : n] / y;
  }

  const IntegerGemmTable& table_;
  ProductShape shape_;
  int lanes_;
  std::vector<Operand> inputs_;
  bool outputIsSigned_;
  const PreparedColumns* prepared_ = nullptr;
  int64_t products_, rows_;
};

template <const Inputs& kInputs>
constexpr Implementation kRow[] = {
    {"gemm_int8", accepts<kInputs>, [](const OpRequest& request) -> std::unique_ptr<OpKernel> {
       return std::make_unique<IntegerMatMul<kInputs>>(request);
     }}};

const OpRow kRows[] = {
    {"", "MatMulInteger", kRow<kPlain>, prepare<kPlain>},
    {"", "QLinearMatMul", kRow<kQuantized>, prepare<kQuantized>},
    {kMaxDomain, "MatMulInteger", kRow<kScaled>, prepare<kScaled>},
};

}  // namespace

std::span<const OpRow> integerMatMulOps() { return kRows; }

}  // namespace max
