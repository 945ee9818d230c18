// SPDX-License-Identifier: Apache-2.0
// Products of a recurrent layer whose weights are bytes. The input, and each item's state in each step, are quantised
// as DynamicQuantizeLinear does it; the sums of 8-bit products are exact, and become real numbers.
#include <algorithm>
#include <vector>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/packed_memory.h"
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/quantization/quantize.h"
#include "ops/cpu/recurrent/products.h"

namespace max {

namespace {

// W or R, [directions, depth, columns], with the zero points of all or one per direction or column.
struct ByteMatrices {
  const void* data;
  bool isSigned;
  const void* zeros;  // NULL = 0
  int64_t zeroCount;
  int64_t directions, depth, columns;

  void pack(const IntegerGemmTable& table, int64_t direction, int lanes, PackedColumns& packed) const {
    const auto* bytes = static_cast<const uint8_t*>(data) + direction * depth * columns;
    ZeroPoints points;
    if (zeros) {
      const int64_t each = zeroCount / directions;
      points = {static_cast<const uint8_t*>(zeros) + direction * each, isSigned, each};
    }
    packColumns(table, {bytes, isSigned, columns, 1}, points, depth, columns, lanes, packed);
  }
};

// W and R of all directions.
class ByteWeights final : public Prepared {
 public:
  ByteWeights(const IntegerGemmTable& table, const ByteMatrices (&matrices)[2])
      : usesBytes_(table.usesBytes), panelColumns_(table.panelColumns) {
    for (size_t i = 0; i < 2; ++i) {
      const ByteMatrices& from = matrices[i];
      const size_t each = PackedColumns::bytes(table, from.depth, from.columns);
      storage_[i] = allocatePackedStorage(checkedMultiply(each, static_cast<size_t>(from.directions)));
      for (int64_t direction = 0; direction < from.directions; ++direction) {
        auto* memory = static_cast<std::byte*>(storage_[i]->data()) + static_cast<size_t>(direction) * each;
        columns_[i].emplace_back(table, from.depth, from.columns, memory);
        from.pack(table, direction, defaultLanes(), columns_[i].back());
      }
    }
  }
  size_t bytes() const override { return storage_[0]->size() + storage_[1]->size(); }
  bool replaces(size_t input) const override { return input == kW || input == kR; }
  bool fits(const IntegerGemmTable& table) const {
    return table.usesBytes == usesBytes_ && table.panelColumns == panelColumns_;
  }
  const PackedColumns& columns(size_t matrix, int64_t direction) const {
    return columns_[matrix][static_cast<size_t>(direction)];
  }

 private:
  bool usesBytes_;
  int panelColumns_;
  Ref<Storage> storage_[2];
  std::vector<PackedColumns> columns_[2];
};

constexpr size_t kWeightInputs[] = {kW, kR}, kScaleInputs[] = {kInputScale, kStateScale},
                 kZeroInputs[] = {kInputZero, kStateZero};

class ByteProducts final : public RecurrentProducts {
 public:
  ByteProducts(const OpRequest& request, const RecurrentSizes& sizes)
      : table_(integerGemmTable()),
        quantization_(quantizeTable()),
        loops_(recurrentTable()),
        sizes_(sizes),
        lanes_(std::max(request.lanes, 1)),
        weightsAreSigned_(request.inputs[kW].dtype == DType::Int8),
        matrices_{matrixOf(request, 0), matrixOf(request, 1)} {
    auto* prepared = dynamic_cast<ByteWeights*>(request.node.prepared.get());
    if (prepared && prepared->fits(table_)) prepared_ = prepared;
    for (Matrix& matrix : matrices_) {
      matrix.scalesAt = take(sharedBytes_, checkedMultiply<size_t>(sizeof(float), static_cast<size_t>(sizes_.all())));
      if (!prepared_) matrix.columnsAt = take(sharedBytes_, PackedColumns::bytes(table_, matrix.depth, sizes_.all()));
    }
    inputAt_ = take(sharedBytes_, matrices_[0].at.end);
  }

  size_t scratchBytes() const override { return sharedBytes_; }
  size_t itemBytes() const override { return matrices_[1].at.end; }

  void start(const OpContext& context, int64_t direction, std::byte* scratch) const override {
    for (size_t i = 0; i < 2; ++i) {
      const Matrix& matrix = matrices_[i];
      const int64_t each = matrix.scaleCount / sizes_.directions;
      const float* from = context.in<float>(kScaleInputs[i]) + direction * each;
      auto* scales = reinterpret_cast<float*>(scratch + matrix.scalesAt);
      if (each == 1)
        fillParts(scales, sizes_.all(), *from);
      else
        copyLong(scales, from, sizeof(float) * static_cast<size_t>(sizes_.all()));
      if (prepared_) continue;
      PackedColumns packed(table_, matrix.depth, sizes_.all(), scratch + matrix.columnsAt);
      const ByteMatrices weights{context.inputs[kWeightInputs[i]],
                                 weightsAreSigned_,
                                 matrix.zeroCount ? context.inputs[kZeroInputs[i]] : nullptr,
                                 matrix.zeroCount,
                                 sizes_.directions,
                                 matrix.depth,
                                 sizes_.all()};
      weights.pack(table_, direction, context.lanes, packed);
    }
  }

  void multiplyInputs(const OpContext& context, int64_t direction, const float* bias, float* out,
                      std::byte* scratch) const override {
    const Product product{0, direction, matrices_[0].rows, context.in<float>(kX), bias, false};
    multiply(context, product, out, scratch, scratch + inputAt_);
  }
  void multiplyState(const OpContext& context, const RecurrentItems& items, StateProduct, const float* state,
                     float* out) const override {
    // Weights that do not fit into the cache are read from where the last step ended.
    const Product product{1, items.direction, items.count, state, nullptr, items.step % 2 != 0};
    multiply(context, product, out, items.shared, items.memory);
  }

 private:
  // Where the memory of a product has its parts.
  struct Layout {
    size_t tiles, rows, scales, zeros, bytes;  // scales and zero points of groups
    size_t end = 0;
  };
  // What W and R differ in.
  struct Matrix {
    int64_t rows, depth;            // of the other factor
    int64_t group;                  // rows that are quantised together
    int64_t scaleCount, zeroCount;  // 0 = none
    Layout at;
    size_t scalesAt = 0, columnsAt = 0;  // of W or R, in shared memory
  };
  struct Product {
    size_t matrix;
    int64_t direction, rows;
    const float* factor;
    const float* bias;
    bool fromLast;
  };

  Matrix matrixOf(const OpRequest& request, size_t i) const {
    const int64_t rows = i == 0 ? checkedMultiply(sizes_.steps, sizes_.batch) : sizes_.mostItems();
    Matrix matrix{};
    matrix.rows = rows;
    matrix.depth = i == 0 ? sizes_.inputSize : sizes_.hidden;
    matrix.group = i == 0 ? std::max<int64_t>(rows, 1) : 1;
    matrix.scaleCount = request.inputs[kScaleInputs[i]].shape.count();
    matrix.zeroCount = request.has(kZeroInputs[i]) ? request.inputs[kZeroInputs[i]].shape.count() : 0;
    const auto groups = static_cast<size_t>((rows + matrix.group - 1) / matrix.group);
    Layout& at = matrix.at;
    at.tiles = take(at.end, checkedMultiply(static_cast<size_t>(lanes_), integerTileBytes(table_)));
    at.rows = take(at.end, PackedRows::bytes(table_, rows, matrix.depth));
    at.scales = take(at.end, checkedMultiply(sizeof(float), groups));
    at.zeros = take(at.end, groups);
    at.bytes = take(at.end, static_cast<size_t>(checkedMultiply(rows, matrix.depth)));
    return matrix;
  }

  static size_t take(size_t& at, size_t bytes) {
    const size_t begin = at;
    at = checkedAdd(at, alignUp(bytes));
    return begin;
  }

  PackedColumns columnsOf(const Product& product, std::byte* shared) const {
    if (prepared_) return prepared_->columns(product.matrix, product.direction);
    const Matrix& matrix = matrices_[product.matrix];
    PackedColumns columns(table_, matrix.depth, sizes_.all(), shared + matrix.columnsAt);
    columns.hasFactors = table_.usesBytes;
    return columns;
  }

  void quantize(const OpContext& context, const float* numbers, int64_t count, uint8_t* bytes, float& scale,
                uint8_t& zero) const {
    float low = 0, high = 0;
    inParts(count, 1,
            [&](int64_t begin, int64_t end) { quantization_.range(numbers + begin, end - begin, low, high); });
    const float range = (high - low) / 255, step = range == 0 ? 1 : range;
    scale = step;
    zero = quantized<uint8_t>(0 - low, step, 0);
    context.parallelFor(count, kGrain, [&, z = zero](int64_t begin, int64_t end, int) {
      quantization_.loops<uint8_t>().quantize(numbers + begin, bytes + begin, end - begin, step, z);
    });
  }

  void multiply(const OpContext& context, const Product& product, float* out, std::byte* shared,
                std::byte* scratch) const {
    const Matrix& matrix = matrices_[product.matrix];
    const int64_t rows = product.rows, depth = matrix.depth, columnCount = sizes_.all();
    auto* groupScales = reinterpret_cast<float*>(scratch + matrix.at.scales);
    auto* groupZeros = reinterpret_cast<uint8_t*>(scratch + matrix.at.zeros);
    auto* bytes = reinterpret_cast<uint8_t*>(scratch + matrix.at.bytes);
    for (int64_t row = 0; row < rows; row += matrix.group)
      quantize(context, product.factor + row * depth, matrix.group * depth, bytes + row * depth,
               groupScales[row / matrix.group], groupZeros[row / matrix.group]);
    const PackedColumns columns = columnsOf(product, shared);
    PackedRows packed(table_, rows, depth, scratch + matrix.at.rows);
    const ZeroPoints zeros{groupZeros, false, matrix.group == 1 ? rows : 1};
    packRows(table_, {bytes, false, zeros, rows, depth}, columns.hasFactors, context.lanes, packed);
    packed.hasFactors = false;  // zero points are subtracted where sums become real
    IntegerResult result;
    result.sums = reinterpret_cast<int32_t*>(out);
    result.stride = columnCount;
    multiplyIntegers(table_, {packed, columns, depth, columnCount, product.fromLast}, rows, result, context.lanes,
                     scratch + matrix.at.tiles);
    const auto* scales = reinterpret_cast<const float*>(shared + matrix.scalesAt);
    context.parallelFor(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(columnCount, 1)),
                        [&](int64_t begin, int64_t last, int) {
                          for (int64_t row = begin; row < last; ++row, passWork(16 + columnCount)) {
                            const int64_t group = row / matrix.group;
                            loops_.makeReal(out + row * columnCount, table_.usesBytes ? -groupZeros[group] : 0,
                                            columns.columnSums, groupScales[group], scales, product.bias, columnCount);
                          }
                        });
  }

  static constexpr int64_t kGrain = 16384;

  const IntegerGemmTable& table_;
  const QuantizeTable& quantization_;
  const RecurrentTable& loops_;
  RecurrentSizes sizes_;
  int lanes_;
  bool weightsAreSigned_;
  Matrix matrices_[2];
  const ByteWeights* prepared_ = nullptr;
  size_t sharedBytes_ = 0, inputAt_ = 0;
};

}  // namespace

std::unique_ptr<RecurrentProducts> byteProducts(const OpRequest& request, const RecurrentSizes& sizes) {
  return std::make_unique<ByteProducts>(request, sizes);
}

Ref<Prepared> prepareByteWeights(const Node& node, std::span<const Tensor* const> constants) {
  const auto constant = [&](size_t i) { return i < constants.size() ? constants[i] : nullptr; };
  const IntegerGemmTable& table = integerGemmTable();
  ByteMatrices matrices[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor *weights = constant(kWeightInputs[i]), *zeros = constant(kZeroInputs[i]);
    if (!weights || (node.input(kZeroInputs[i]) && !zeros)) return nullptr;
    const Shape& shape = weights->shape();
    matrices[i] = {weights->data(),
                   weights->dtype() == DType::Int8,
                   zeros ? zeros->data() : nullptr,
                   zeros ? zeros->count() : 0,
                   shape[0],
                   shape[1],
                   shape[2]};
    // Packing must not inflate narrow matrices, which a small file can contain.
    constexpr size_t kFree = 1 << 20, kMostTimes = 4;
    if (PackedColumns::bytes(table, shape[1], shape[2]) > kFree + kMostTimes * weights->bytes()) return nullptr;
  }
  return makeRef<ByteWeights>(table, matrices);
}

}  // namespace max
