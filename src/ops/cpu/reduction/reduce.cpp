// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/reduction/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/interrupt_point.h"
#include "graph/readers/reduction.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/reduction/reduce_layout.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int64_t kVectors = 64;                                     // columns that fill a few vectors
constexpr int64_t kColumns = 1024;                                   // accumulators used side by side
constexpr int64_t kChunksPerLane = 2;                                // of columns
constexpr int64_t kSideBytes = 256;                                  // of accumulators that fill vectors
constexpr int64_t kElementsPerPart = 16384;                          // worth a thread
constexpr int64_t kMaxParts = 64;                                    // of a reduction to one element
constexpr int64_t kTinyRow = 6, kFewRows = 16, kRowsTogether = 256;  // tiny rows become columns

enum class Finish : uint8_t { None, Mean, Root, Logarithm, ShiftedLogarithm };

struct Reduction {
  std::string_view name;
  Fold fold;
  Finish finish;
};

constexpr Reduction kReductions[] = {
    {"ReduceSum", Fold::Sum, Finish::None},
    {"ReduceMean", Fold::Sum, Finish::Mean},
    {"ReduceMax", Fold::Max, Finish::None},
    {"ReduceMin", Fold::Min, Finish::None},
    {"ReduceProd", Fold::Product, Finish::None},
    {"ReduceL1", Fold::SumOfMagnitudes, Finish::None},
    {"ReduceL2", Fold::SumOfSquares, Finish::Root},
    {"ReduceSumSquare", Fold::SumOfSquares, Finish::None},
    {"ReduceLogSum", Fold::Sum, Finish::Logarithm},
    {"ReduceLogSumExp", Fold::SumOfExponentials, Finish::ShiftedLogarithm},
    {"GlobalAveragePool", Fold::Sum, Finish::Mean},
    {"GlobalMaxPool", Fold::Max, Finish::None},
};

const Reduction& reductionOf(const OpRequest& request) {
  return *std::find_if(std::begin(kReductions), std::end(kReductions),
                       [&](const Reduction& row) { return row.name == request.node.op(); });
}

// False if the axes are not known or there are none.
bool findAxes(const OpRequest& request, std::array<bool, kMaxRank>& reduced) {
  const int rank = request.inputs[0].shape.rank();
  reduced.fill(false);
  if (request.node.op().starts_with("Global")) {
    for (int i = 2; i < rank; ++i) reduced[static_cast<size_t>(i)] = true;
    return rank > 2;
  }
  const auto reduction = readers::readReduction(*RequestInputs(request));
  if (reduction) reduced = reduction->reduced;
  return std::find(reduced.begin(), reduced.end(), true) != reduced.end();
}

// Converts the accumulators of a type to results.
template <class T, class A>
void finishTyped(Finish finish, int64_t folded, const void* accumulators, int64_t count, void* output) {
  const A* from = static_cast<const A*>(accumulators);
  T* to = static_cast<T*>(output);
  for (int64_t i = 0; i < count; ++i) {
    A value = from[i];
    if (finish == Finish::Mean) value = static_cast<A>(value / static_cast<A>(folded));
    if (finish == Finish::Root) value = accumulatorOf<A>(std::sqrt(static_cast<double>(value)));
    if (finish == Finish::Logarithm) value = accumulatorOf<A>(std::log(static_cast<double>(value)));
    to[i] = static_cast<T>(value);
  }
}

using FinishFunction = void (*)(Finish, int64_t, const void*, int64_t, void*);

FinishFunction finishOf(DType dtype, Fold fold) {
  if (foldsInElements(dtype, fold))
    return dtype == DType::Int32 ? finishTyped<int32_t, int32_t> : finishTyped<uint8_t, uint8_t>;
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8:
      return finishTyped<uint8_t, int64_t>;
    case DType::Int8:
      return finishTyped<int8_t, int64_t>;
    case DType::Int32:
      return finishTyped<int32_t, int64_t>;
    case DType::Int64:
      return finishTyped<int64_t, int64_t>;
    case DType::Float64:
      return finishTyped<double, double>;
    default:
      return finishTyped<float, float>;
  }
}

class ReduceOp final : public OpKernel {
 public:
  ReduceOp(const OpRequest& request, const Reduction& reduction, const std::array<bool, kMaxRank>& reduced)
      : layout_(planReduction(request.inputs[0].shape, reduced)),
        finish_(reduction.finish),
        function_(finishOf(request.inputs[0].dtype, reduction.fold)),
        elementSize_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        accumulatorSize_(foldsInElements(request.inputs[0].dtype, reduction.fold) ? elementSize_
                         : request.inputs[0].dtype == DType::Float32              ? 4
                                                                                  : 8),
        outputs_(request.outputs[0].shape.count()),
        folded_(outputs_ ? request.inputs[0].shape.count() / outputs_ : 0),
        lanes_(std::max(request.lanes, 1)) {
    // Enough for a thread; of columns as many as lanes leave to each, since the rows of a block are then read from end
    // to end, where narrow chunks walk through the pages of all rows once for every few lines.
    const int64_t enough = kElementsPerPart / std::max<int64_t>(folded_, 1);
    const int64_t share = layout_.kept.count() * layout_.width / (lanes_ == 1 ? 1 : kChunksPerLane * lanes_);
    chunk_ = layout_.rows ? std::clamp<int64_t>(enough, 1, kColumns)
                          : std::clamp<int64_t>(std::max(enough, share), kVectors, kColumns) / kVectors * kVectors;
    const bool isFloat32 = request.inputs[0].dtype == DType::Float32;
    fold_ = isFloat32 ? reduceTable().folds[static_cast<size_t>(reduction.fold)]
                      : *findPlainFold(reduction.fold, request.inputs[0].dtype);
    if (const FoldColumns wide = findWideColumns(reduction.fold, request.inputs[0].dtype)) {
      fold_.columns = wide;
      fold_.side = kSideBytes / accumulatorSize_;
    }
    isTiny_ =
        layout_.rows && layout_.size <= kTinyRow && layout_.widthStride == layout_.size && layout_.width >= kFewRows;
    if (isFloat32) maximum_ = reduceTable().folds[static_cast<size_t>(Fold::Max)];
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>(std::max<int64_t>(lanes_ * 2 * kColumns, kMaxParts) * accumulatorSize_);
  }

  void run(const OpContext& context) const override {
    if (outputs_ == 0) return;
    if (isOneRow() && layout_.size >= 4 * kElementsPerPart) return runParts(context);
    const int64_t parts = (layout_.width + chunk_ - 1) / chunk_;
    const int64_t grain = std::max<int64_t>(1, kElementsPerPart / (folded_ * chunk_));
    context.parallelFor(layout_.kept.count() * parts, grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* scratch = context.scratch + lane * 2 * kColumns * accumulatorSize_;
      for (int64_t i = begin; i < end; ++i) fold(context, i / parts, i % parts * chunk_, scratch);
    });
  }

 private:
  bool isOneRow() const {
    return layout_.rows && outputs_ == 1 && layout_.folded.dims.empty() && finish_ != Finish::ShiftedLogarithm;
  }

  // Outputs [line * width + first, ...), `chunk_` of them or what is left.
  void fold(const OpContext& context, int64_t line, int64_t first, std::byte* scratch) const {
    const std::byte* x =
        context.in<std::byte>(0) + (layout_.kept.offset(line) + first * layout_.widthStride) * elementSize_;
    const int64_t width = std::min(layout_.width - first, chunk_);
    std::byte* output = context.out<std::byte>() + (line * layout_.width + first) * elementSize_;
    std::byte* shift = scratch + kColumns * accumulatorSize_;
    if (finish_ == Finish::ShiftedLogarithm) {
      foldAll(maximum_, x, width, shift, nullptr);
      // Shifting by an infinity would make NaN.
      float* shifts = reinterpret_cast<float*>(shift);
      for (int64_t i = 0; i < width; ++i) shifts[i] = std::isinf(shifts[i]) ? 0 : shifts[i];
    }
    foldAll(fold_, x, width, scratch, shift);
    if (finish_ != Finish::ShiftedLogarithm) return function_(finish_, folded_, scratch, width, output);
    const float *sums = reinterpret_cast<float*>(scratch), *shifts = reinterpret_cast<float*>(shift);
    for (int64_t i = 0; i < width; ++i) reinterpret_cast<float*>(output)[i] = std::log(sums[i]) + shifts[i];
  }

  void foldAll(const FoldFunctions& functions, const std::byte* x, int64_t width, std::byte* accumulators,
               const std::byte* shift) const {
    functions.start(accumulators, width);
    const StridedDims& folded = layout_.folded;
    // Columns go down the innermost folded dimension at once.
    const bool down = !layout_.rows && !folded.dims.empty();
    const int64_t rows = down ? folded.dims.back() : 1, stride = down ? folded.strides.back() : 0;
    WorkCounter work;
    for (int64_t k = 0, count = folded.count(); k < count; k += rows) {
      const std::byte* from = x + folded.offset(k) * elementSize_;
      if (isTiny_)
        foldTiny(functions, from, width, accumulators, shift);
      else if (layout_.rows && functions.side > 0 && layout_.size >= 2 * functions.side)
        for (int64_t r = 0; r < width; ++r)
          foldRow(from + r * layout_.widthStride * elementSize_, layout_.size, accumulators + r * accumulatorSize_);
      else if (layout_.rows)
        functions.rows(from, width, layout_.widthStride, layout_.size, accumulators, shift);
      else
        functions.columns(from, rows, stride, width, accumulators, shift);
      work.pass(16 + (layout_.rows ? layout_.size : rows) * width);
    }
  }

  // Rows as columns, each element of which is folded for many rows at once.
  void foldTiny(const FoldFunctions& functions, const std::byte* x, int64_t width, std::byte* accumulators,
                const std::byte* shift) const {
    const int64_t rowBytes = layout_.size * elementSize_;
    alignas(64) std::byte tile[kTinyRow * kRowsTogether * sizeof(double)];
    for (int64_t r = 0; r < width; r += kRowsTogether) {
      const int64_t rows = std::min(width - r, kRowsTogether);
      transposeTiles(elementSize_, x + r * rowBytes, rowBytes, tile, rows * elementSize_, rows, layout_.size);
      functions.columns(tile, layout_.size, rows, rows, accumulators + r * accumulatorSize_,
                        shift ? shift + r * accumulatorSize_ : nullptr);
    }
  }

  // A long row as columns, which are joined by halves.
  void foldRow(const std::byte* x, int64_t size, std::byte* accumulator) const {
    alignas(64) std::byte sums[kSideBytes];
    const int64_t side = fold_.side, rows = size / side;
    fold_.start(sums, side);
    fold_.columns(x, rows, side, side, sums, nullptr);
    fold_.columns(x + rows * side * elementSize_, 1, side, size - rows * side, sums, nullptr);
    for (int64_t half = side / 2; half > 0; half /= 2) fold_.join(sums, sums + half * accumulatorSize_, half);
    fold_.join(accumulator, sums, 1);
  }

  // One long row, in parts even with one thread: the number of threads must not change results.
  void runParts(const OpContext& context) const {
    const int64_t parts = std::min(kMaxParts, layout_.size / kElementsPerPart);
    const int64_t size = (layout_.size + parts - 1) / parts;
    std::byte* accumulators = context.scratch;
    fold_.start(accumulators, parts);
    context.parallelFor(parts, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const std::byte* x = context.in<std::byte>(0) + i * size * elementSize_;
        const int64_t count = std::clamp<int64_t>(layout_.size - i * size, 0, size);
        std::byte* accumulator = accumulators + i * accumulatorSize_;
        if (fold_.side > 0)
          foldRow(x, count, accumulator);
        else
          fold_.rows(x, 1, 0, count, accumulator, nullptr);
      }
    });
    for (int64_t i = 1; i < parts; ++i) fold_.join(accumulators, accumulators + i * accumulatorSize_, 1);
    function_(finish_, folded_, accumulators, 1, context.out<std::byte>());
  }

  ReduceLayout layout_;
  Finish finish_;
  FinishFunction function_;
  FoldFunctions fold_{}, maximum_{};
  int64_t elementSize_, accumulatorSize_, outputs_, folded_;
  int64_t chunk_ = 1;  // outputs that are folded at once
  bool isTiny_ = false;
  int lanes_;
};

bool accepts(const OpRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  const Reduction& reduction = reductionOf(request);
  std::array<bool, kMaxRank> reduced;
  if (dtype != DType::Float32 && !findPlainFold(reduction.fold, dtype)) return false;
  if (dtype == DType::Bool && reduction.fold != Fold::Max && reduction.fold != Fold::Min) return false;
  return request.inputs[0].shape.count() > 0 && findAxes(request, reduced);
}

std::unique_ptr<OpKernel> create(const OpRequest& request) {
  std::array<bool, kMaxRank> reduced;
  findAxes(request, reduced);
  return std::make_unique<ReduceOp>(request, reductionOf(request), reduced);
}

constexpr Implementation kReduce[] = {{"reduce", accepts, create}};

std::vector<OpRow> makeRows() {
  std::vector<OpRow> rows;
  for (const Reduction& reduction : kReductions) rows.push_back({"", reduction.name, kReduce});
  return rows;
}

}  // namespace

std::span<const OpRow> reduceOps() {
  static const std::vector<OpRow> rows = makeRows();
  return rows;
}

}  // namespace max
