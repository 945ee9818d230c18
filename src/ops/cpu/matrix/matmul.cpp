// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm, max.MatMul and max.SelectedMatMul of float32.
#include "ops/cpu/matrix/matmul.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "base/packed_memory.h"
#include "graph/readers/matrix.h"
#include "ops/cpu/matrix/matmul_f64.h"
#include "ops/cpu/movement/movement.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

// With fewer rows of A than this, packing a non-constant B costs more than it saves.
constexpr int64_t kRowsWorthPacking = 32;
// With so few rows of A, sums along the rows of B take less time than packing these: a few rows for short sums, twice
// as many for long ones.
constexpr int64_t kRowsForDot = 3, kMostRowsForDot = 8, kLongSum = 1024;
constexpr int64_t kFloatsWorthStreaming = 128 << 10;            // of B, which is then not near
constexpr int64_t kMostStreamed = 2048, kFewestStreamed = 128;  // columns of a task
// A small B stays in the first cache as it is; many rows are worth a copy, whose vectors cross no lines.
constexpr int64_t kNearFloats = 8 << 10, kRowsWorthCopying = 256;
constexpr int64_t kFewestHalves = 64 << 10;  // fewer weights stay near as floats
constexpr int64_t kMostRowsOfHalves = 16;    // more take longer than with floats
constexpr int64_t kNarrowedAtOnce = 1024;
// With fewer rows or columns, or shorter sums, rounding a factor that is no weight costs more than it saves.
constexpr int64_t kRowsWorthRounding = 64, kColumnsWorthRounding = 32, kDepthWorthRounding = 16;

Shape broadcastOf(const Shape& a, const Shape& b) {
  Shape result = Shape::filled(std::max(a.rank(), b.rank()), 1);
  for (const Shape* shape : {&a, &b})
    for (int i = 0; i < shape->rank(); ++i) {
      int64_t& dim = result[result.rank() - shape->rank() + i];
      if ((*shape)[i] != 1) dim = (*shape)[i];
    }
  return result;
}

// The matrix of a broadcast operand for matrix `index` of the whole batch.
int64_t matrixIndex(const Shape& operand, const Shape& batch, int64_t index) {
  int64_t result = 0, stride = 1;
  for (int i = batch.rank() - 1, j = operand.rank() - 1; i >= 0; --i, --j) {
    const int64_t position = index % batch[i];
    index /= batch[i];
    if (j < 0) continue;
    if (operand[j] != 1) result += position * stride;
    stride *= operand[j];
  }
  return result;
}

struct Options {
  const GemmTable* table = &gemmTable();
  bool transA = false, transB = false;
  Epilogue epilogue;
  int bias = -1;      // input, one value per column, or that for each of the result's first axis
  int residual = -1;  // input of the output's shape
  int addend = -1;    // input that is broadcast and scaled in a separate pass
  int matrix = -1;    // input, which matrix along the first axis of B is meant; -1 = B has no such axis
  float beta = 1;
};

Shape shapeOfB(const OpRequest& request, const Options& options) {
  const Shape& b = request.inputs[1].shape;
  return options.matrix < 0 ? b : Shape(b.dims().subspan(1));
}

// Whether dot products of columns with rows of A, read in place, take fewer instructions than a panel of B that
// consists mostly of padding: a row costs a panel one for each element. Those add loads and the sum of a vector's
// lanes.
bool hasFewColumns(const GemmTable& table, int64_t depth, int64_t columns) {
  constexpr int64_t kMostColumns = 8, kLeastDepth = 64, kLaneSum = 6;
  if (columns < 1 || columns > kMostColumns || depth < kLeastDepth) return false;
  return table.wordElements == 1 && columns * (depth + depth / 4 + kLaneSum * table.lanes) < depth * table.lanes;
}

// The form of B when the kernel runs.
enum class RightSide { Packed, PackAtRun, InPlace, Dot, FewColumns, Stream };

class MatMulOp : public OpKernel {
 public:
  MatMulOp(const OpRequest& request, const Options& options);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override { return static_cast<size_t>(gemmAt_) + gemm_.scratchBytes(); }

 private:
  ProductShape foldBatch(const OpRequest& request) const;
  RightSide choose(const OpRequest& request);
  bool multipliesColumn(const OpRequest& request) const;
  WorkVector<GemmOffsets> offsets() const;
  int64_t biasCount(const OpRequest& request) const;
  int64_t chosenMatrix(const OpContext& context) const;
  const float* right(const OpContext& context) const { return context.in<float>(1) + chosenMatrix(context) * sizeOfB_; }
  const float* transposedA(const OpContext& context) const;
  void packB(const OpContext& context, float* packed) const;
  void packWordsOfB(const OpContext& context, float* packed) const;
  int64_t panelBytes() const { return alignUp(checkedMultiply(4 * shape_.depth, gemm_.panels().width(0))); }
  void packTails(const OpContext& context, float* tails) const;
  void runRows(const OpContext& context) const;
  void runFewColumns(const OpContext& context) const;
  const float* columnsOfB(const OpContext& context) const;
  void finishRows(const OpContext& context, int64_t at, int64_t biasAt, int64_t rows, int64_t count) const;
  void addBroadcast(const OpContext& context) const;
  Panels panelsOfB() const { return {options_.table->lanes, options_.table->panelVectors, shape_.columns}; }
  int64_t tailCount() const;
  int64_t firstTail() const;
  int64_t rowStride() const { return readsNarrow_ ? shape_.depth / 2 : shape_.depth; }  // of A
  static const float* optional(const OpContext& context, int input) {
    return input < 0 ? nullptr : context.in<float>(static_cast<size_t>(input));
  }

  const Node& node_;
  Options options_;
  int64_t matrices_;                              // of which one is chosen
  int64_t sizeOfB_;                               // elements, of the chosen one
  bool isIndexOf64Bits_;                          // that of the chosen one
  bool readsNarrow_, addsNarrow_, writesNarrow_;  // bfloat16
  int64_t biases_;
  bool swaps_;  // the product is computed as that of the transposed factors
  ProductShape shape_;
  bool addsFloat64_;           // partial sums
  Ref<PackedWeights> packed_;  // set by choose(), so it comes before right_
  WorkVector<float> columns_;  // of a constant B, if they are few; likewise
  RightSide right_;
  Gemm gemm_;
  Shape addendShape_, outShape_;
  // Offsets of parts of the scratch memory, in bytes; the floats of a panel that become words, one for each lane.
  int64_t bAt_ = 0, panelsAt_ = 0, gemmAt_ = 0;
};

MatMulOp::MatMulOp(const OpRequest& request, const Options& options)
    : node_(request.node),
      options_(options),
      matrices_(options.matrix < 0 ? 1 : request.inputs[1].shape[0]),
      sizeOfB_(shapeOfB(request, options).count()),
      isIndexOf64Bits_(options.matrix >= 0 &&
                       request.inputs[static_cast<size_t>(options.matrix)].dtype == DType::Int64),
      readsNarrow_(isNarrow(request.inputs[0])),
      addsNarrow_(options.residual >= 0 && isNarrow(request.inputs[static_cast<size_t>(options.residual)])),
      writesNarrow_(isNarrow(request.outputs[0])),
      biases_(biasCount(request)),
      swaps_(multipliesColumn(request)),
      shape_(foldBatch(request)),
      addsFloat64_(request.settings.partialSums == PartialSums::Float64),
      right_(choose(request)),
      gemm_(shape_.rows, shape_.columns, 1, shape_.depth, options.epilogue, request.lanes, offsets(),
            request.settings.partialSums,
            {*options.table, readsNarrow_, writesNarrow_, packed_ ? packed_->dtype() : DType::Float32}),
      outShape_(request.outputs[0].shape) {
  if (options.addend >= 0) addendShape_ = request.inputs[static_cast<size_t>(options.addend)].shape;
  const int64_t aFloats = shape_.transA ? shape_.aCount() * shape_.rows * shape_.depth : 0;
  const int64_t bFloats =
      right_ == RightSide::PackAtRun
          ? checkedMultiply(shape_.bCount(), packedCount(gemm_.table(), shape_.depth, shape_.columns))
      : right_ == RightSide::InPlace ? (shape_.bCount() - firstTail()) * tailCount()
      : right_ == RightSide::FewColumns && columns_.empty() && !shape_.transB
          ? checkedMultiply(shape_.bCount(), shape_.depth * shape_.columns)
          : 0;
  bAt_ = alignUp(4 * aFloats);
  panelsAt_ = bAt_ + alignUp(checkedMultiply<int64_t>(4, bFloats));
  const bool makesWords = right_ == RightSide::PackAtRun && gemm_.table().wordElements == 2;
  gemmAt_ = checkedAdd(panelsAt_, makesWords ? checkedMultiply<int64_t>(std::max(request.lanes, 1), panelBytes()) : 0);
}

int64_t MatMulOp::biasCount(const OpRequest& request) const {
  if (options_.bias < 0) return 1;
  const Shape& shape = request.inputs[static_cast<size_t>(options_.bias)].shape;
  return shape.rank() == 2 ? shape[0] : 1;
}

// A column: its product is a row of dot products with the rows of A, which are read in place.
bool MatMulOp::multipliesColumn(const OpRequest& request) const {
  const ProductShape shape(request.inputs[0].shape, shapeOfB(request, options_), options_.transA, options_.transB);
  return shape.columns == 1 && !shape.transA && !request.node.prepared && options_.table->wordElements == 1 &&
         request.settings.partialSums == PartialSums::Float32;
}

// One B for all: the batch of A is just more rows.
ProductShape MatMulOp::foldBatch(const OpRequest& request) const {
  ProductShape shape(request.inputs[0].shape, shapeOfB(request, options_), options_.transA, options_.transB);
  if (shape.bCount() == 1 && !shape.transA && biases_ == 1) {
    shape.rows = checkedMultiply(shape.rows, shape.aCount());
    shape.aBatch = shape.bBatch = shape.batch = Shape();
  }
  if (swaps_) {
    std::swap(shape.rows, shape.columns);
    std::swap(shape.aBatch, shape.bBatch);
    shape.transB = true;
  }
  return shape;
}

RightSide MatMulOp::choose(const OpRequest& request) {
  if (swaps_) return RightSide::Dot;
  const GemmTable& table = *options_.table;
  auto* prepared = dynamic_cast<PackedWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(table)) {
    packed_ = Ref<PackedWeights>(prepared);
    return RightSide::Packed;
  }
  const Tensor* constant = request.inputs[1].constant;
  const bool sumsInOneGo = request.settings.partialSums == PartialSums::Float32;
  const bool roundsSums = !sumsInOneGo && !addsFloat64_;  // partial ones, to a narrow type
  if (!roundsSums && matrices_ == 1 && hasFewColumns(table, shape_.depth, shape_.columns)) {
    if (constant && !shape_.transB) {
      columns_.resize(static_cast<size_t>(constant->count()));
      transposeMatrices(constant->as<float>(), shape_.bCount(), shape_.depth, shape_.columns, columns_.data());
    }
    return RightSide::FewColumns;
  }
  if (constant) {
    const int64_t count = matrices_ * shape_.bCount();
    packed_ = makeRef<PackedWeights>(table, count, shape_.depth, shape_.columns);
    for (int64_t i = 0; i < count; ++i)
      packMatrix(table, packSourceOf(shape_, constant->as<float>(), i), packed_->matrix(i), request.lanes);
    return RightSide::Packed;
  }
  const int64_t most = shape_.depth < kLongSum ? kMostRowsForDot : 2 * kMostRowsForDot;
  const int64_t rowsForDot = std::clamp(shape_.depth / 8, kRowsForDot, most);
  if (shape_.transB && shape_.rows <= rowsForDot && sumsInOneGo) return RightSide::Dot;
  if (shape_.transB || table.wordElements != 1) return RightSide::PackAtRun;
  const int64_t floats = shape_.depth * shape_.columns;
  if (shape_.rows == 1 && sumsInOneGo && shape_.bCount() * floats >= kFloatsWorthStreaming) return RightSide::Stream;
  const bool isNear = floats <= kNearFloats && shape_.rows < kRowsWorthCopying;
  return isNear || shape_.rows < kRowsWorthPacking ? RightSide::InPlace : RightSide::PackAtRun;
}

// Floats of the padded last panel of one B that is read in place; 0 if it is full.
int64_t MatMulOp::tailCount() const {
  const Panels panels = panelsOfB();
  if (panels.count == 0 || panels.paddedColumns() == shape_.columns) return 0;
  return shape_.depth * panels.width(panels.count - 1);
}

// Before this one, matrices that are read in place have another behind them, where the last panel may read.
int64_t MatMulOp::firstTail() const {
  const Panels panels = panelsOfB();
  const bool suffices = panels.paddedColumns() - shape_.columns <= shape_.depth * shape_.columns;
  return suffices ? std::max<int64_t>(shape_.bCount() - 1, 0) : 0;
}

WorkVector<GemmOffsets> MatMulOp::offsets() const {
  const int64_t packedSize = packed_ ? packed_->stride() : packedCount(*options_.table, shape_.depth, shape_.columns);
  const int64_t tail = tailCount(), firstTail = this->firstTail();
  const bool isPacked = right_ == RightSide::Packed || right_ == RightSide::PackAtRun;
  WorkVector<GemmOffsets> result(static_cast<size_t>(shape_.batchCount()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i), b = matrixIndex(shape_.bBatch, shape_.batch, index);
    GemmOffsets& at = result[i];
    at.a = matrixIndex(shape_.aBatch, shape_.batch, index) * shape_.rows * rowStride();
    at.b = b * (isPacked ? packedSize : shape_.depth * shape_.columns);
    at.bTail = b < firstTail ? -1 : (b - firstTail) * tail;
    at.bias = index * biases_ / static_cast<int64_t>(result.size()) * (swaps_ ? 1 : shape_.columns);
    at.c = at.residual = index * shape_.rows * shape_.columns;
  }
  return result;
}

void MatMulOp::run(const OpContext& context) const {
  if (right_ == RightSide::FewColumns) {
    runFewColumns(context);
  } else if (right_ == RightSide::Dot || right_ == RightSide::Stream) {
    runRows(context);
  } else {
    float* scratchB = reinterpret_cast<float*>(context.scratch + bAt_);
    if (right_ == RightSide::PackAtRun) packB(context, scratchB);
    if (right_ == RightSide::InPlace) packTails(context, scratchB);
    const auto residual = static_cast<size_t>(options_.residual);
    const GemmOperands operands{.a = transposedA(context),
                                .lda = rowStride(),
                                .b = right_ == RightSide::Packed
                                         ? packed_->data() + chosenMatrix(context) * packed_->stride()
                                     : right_ == RightSide::PackAtRun ? scratchB
                                                                      : right(context),
                                .ldb = right_ == RightSide::InPlace ? shape_.columns : 0,
                                .bTail = scratchB,
                                .c = writesNarrow_ ? nullptr : context.out<float>(),
                                .narrowC = writesNarrow_ ? context.out<uint16_t>() : nullptr,
                                .ldc = shape_.columns,
                                .bias = optional(context, options_.bias),
                                .residual = addsNarrow_ ? nullptr : optional(context, options_.residual),
                                .narrowResidual = addsNarrow_ ? context.in<uint16_t>(residual) : nullptr,
                                .ldr = shape_.columns};
    gemm_.run(operands, context.scratch + gemmAt_, context.lanes);
  }
  if (options_.addend >= 0) addBroadcast(context);
}

int64_t MatMulOp::chosenMatrix(const OpContext& context) const {
  if (options_.matrix < 0) return 0;
  const int64_t index = indexAt(context.inputs[options_.matrix], isIndexOf64Bits_, 0);
  return checkedIndex(node_, index, matrices_, 0);
}

const float* MatMulOp::transposedA(const OpContext& context) const {
  const float* a = context.in<float>(0);
  if (!shape_.transA) return a;
  float* to = reinterpret_cast<float*>(context.scratch);
  transposeMatrices(a, shape_.aCount(), shape_.depth, shape_.rows, to);
  return to;
}

void MatMulOp::packB(const OpContext& context, float* packed) const {
  const GemmTable& table = gemm_.table();
  if (table.wordElements == 2) return packWordsOfB(context, packed);
  const int64_t stride = packedCount(table, shape_.depth, shape_.columns), count = shape_.bCount();
  const float* b = right(context);
  const auto packOne = [&](int64_t i, int lanes) {
    packMatrix(table, packSourceOf(shape_, b, i), packed + i * stride, lanes);
  };
  if (count == 1) return packOne(0, context.lanes);
  const bool isSmall = count * stride < (64 << 10);
  parallelFor(isSmall ? 1 : context.lanes, count, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) packOne(i, 1);
  });
}

void MatMulOp::packWordsOfB(const OpContext& context, float* packed) const {
  const GemmTable& table = gemm_.table();
  const int64_t stride = packedCount(table, shape_.depth, shape_.columns), panels = gemm_.panels().count;
  const int64_t count = shape_.bCount(), tasks = count * panels;
  const int lanes = count * stride < (64 << 10) ? 1 : context.lanes;
  const float* b = right(context);
  parallelFor(lanes, tasks, std::max<int64_t>(1, tasks / (lanes * 8)), [&](int64_t begin, int64_t end, int lane) {
    auto* floats = reinterpret_cast<float*>(context.scratch + panelsAt_ + lane * panelBytes());
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task / panels, panel = task % panels;
      packPanelsAsWords(table, packSourceOf(shape_, b, i), panel, panel + 1, floats, packed + i * stride);
    }
  });
}

void MatMulOp::packTails(const OpContext& context, float* tails) const {
  const int64_t size = tailCount();
  if (size == 0) return;
  const Panels& panels = gemm_.panels();
  WorkCounter work;
  for (int64_t i = firstTail(); i < shape_.bCount(); ++i, tails += size, work.pass(16)) {
    const PackSource source = panelOf(packSourceOf(shape_, right(context), i), panels, panels.count - 1);
    gemm_.table().pack(source, 0, source.rows(), tails);
  }
}

void MatMulOp::runRows(const OpContext& context) const {
  // As many columns as stay in the first cache while some rows multiply them.
  constexpr int64_t kMostColumns = 64, kFloats = 4096, kMostRows = 128;
  const bool streams = right_ == RightSide::Stream;
  const auto multiply = streams ? gemm_.table().streamRow : gemm_.table().dot;
  const int64_t ldb = streams ? shape_.columns : shape_.depth;
  const int64_t near = kFloats / std::max<int64_t>(shape_.depth, 1) / 4 * 4;
  const int64_t share = ceilDiv(shape_.columns, std::max(context.lanes, 1)) / 64 * 64;
  const int64_t chunk = streams           ? std::clamp(share, kFewestStreamed, kMostStreamed)
                        : shape_.rows > 1 ? std::clamp<int64_t>(near, 4, kMostColumns)
                                          : kMostColumns;
  const int64_t chunks = ceilDiv(shape_.columns, chunk), parts = ceilDiv(shape_.rows, kMostRows);
  const WorkVector<GemmOffsets>& batch = gemm_.batch();
  const float* a = swaps_ ? right(context) : transposedA(context);
  const float* b = swaps_ ? context.in<float>(0) : right(context);
  const int64_t tasks = static_cast<int64_t>(batch.size()) * parts * chunks;
  const int64_t grain = std::max<int64_t>(1, (64 << 10) / std::max<int64_t>(1, shape_.depth * chunk));
  context.parallelFor(tasks, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task) {
      const GemmOffsets& at = batch[static_cast<size_t>(task / chunks / parts)];
      const int64_t column = task % chunks * chunk, count = std::min(chunk, shape_.columns - column);
      const int64_t first = task / chunks % parts * kMostRows;
      const float* columns = b + at.b + column * (streams ? 1 : ldb);
      for (int64_t m = first; m < std::min(first + kMostRows, shape_.rows); ++m) {
        const int64_t to = at.c + m * shape_.columns + column;
        multiply(a + at.a + m * shape_.depth, columns, ldb, shape_.depth, count, context.out<float>() + to);
        finishRows(context, to, at.bias + (swaps_ ? 0 : column), 1, count);
      }
    }
  });
}

void MatMulOp::runFewColumns(const OpContext& context) const {
  constexpr int64_t kMostRows = 32;  // of a task
  const int64_t depth = shape_.depth, columns = shape_.columns, parts = ceilDiv(shape_.rows, kMostRows);
  // The sums of lanes are no longer than those of a packed product, so that they are as exact.
  const int64_t part = gemm_.table().kBlock * (addsFloat64_ ? 1 : gemm_.table().lanes);
  const WorkVector<GemmOffsets>& batch = gemm_.batch();
  const float* a = transposedA(context);
  const float* b = columnsOfB(context);
  const int64_t grain = std::max<int64_t>(1, (64 << 10) / (kMostRows * depth * columns));
  context.parallelFor(static_cast<int64_t>(batch.size()) * parts, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task) {
      const GemmOffsets& at = batch[static_cast<size_t>(task / parts)];
      const int64_t first = task % parts * kMostRows, last = std::min(first + kMostRows, shape_.rows);
      const int64_t to = at.c + first * columns;
      gemm_.table().fewColumns(
          {a + at.a + first * depth, b + at.b, last - first, depth, columns, part, context.out<float>() + to});
      finishRows(context, to, at.bias, last - first, columns);
    }
  });
}

// The columns of B, one after the other.
const float* MatMulOp::columnsOfB(const OpContext& context) const {
  if (!columns_.empty()) return columns_.data();
  if (shape_.transB) return right(context);
  float* to = reinterpret_cast<float*>(context.scratch + bAt_);
  transposeMatrices(right(context), shape_.bCount(), shape_.depth, shape_.columns, to);
  return to;
}

void MatMulOp::finishRows(const OpContext& context, int64_t at, int64_t biasAt, int64_t rows, int64_t columns) const {
  const Epilogue& epilogue = options_.epilogue;
  const float* bias = optional(context, options_.bias);
  const float* residual = optional(context, options_.residual);
  float* out = context.out<float>() + at;
  const int64_t count = rows * columns;
  if (epilogue.alpha != 1)
    for (int64_t n = 0; n < count; ++n) out[n] *= epilogue.alpha;
  for (int64_t m = 0; bias && m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) out[m * columns + n] += bias[biasAt + (swaps_ ? 0 : n)];
  for (int64_t n = 0; residual && n < count; ++n) out[n] += residual[at + n];
  applyActivation(epilogue.activation, out, count);
}

void MatMulOp::addBroadcast(const OpContext& context) const {
  const float* addend = context.in<float>(static_cast<size_t>(options_.addend));
  float* out = context.out<float>();
  const int rank = addendShape_.rank();
  const int64_t columns = outShape_.back(), rows = outShape_[0];
  const int64_t columnStride = rank > 0 && addendShape_.back() != 1;
  const int64_t rowStride = rank > 1 && addendShape_[0] != 1 ? addendShape_.back() : 0;
  for (int64_t m = 0; m < rows; ++m)
    inParts(columns, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        out[m * columns + n] += options_.beta * addend[m * rowStride + n * columnStride];
    });
}

bool isFloat32(const OpRequest& request) {
  const auto matches = [](const Operand& operand) { return !operand.present() || operand.dtype == DType::Float32; };
  return std::all_of(request.inputs.begin(), request.inputs.end(), matches) &&
         std::all_of(request.outputs.begin(), request.outputs.end(), matches);
}

// Whether both factors are rounded at run time: many rows share what is packed of B.
bool roundsBoth(const OpRequest& request) {
  if (!gemmTableFor(request.node).takesNarrow() || request.inputs[1].constant || request.node.prepared) return false;
  const readers::Product product(request.node.attributes);
  const ProductShape shape(request.inputs[0].shape, request.inputs[1].shape, product.transposesA, product.transposesB);
  return shape.rows >= kRowsWorthRounding && shape.columns >= kColumnsWorthRounding &&
         shape.depth >= kDepthWorthRounding;
}

bool acceptsWords(const OpRequest& request) {
  return isFloat32(request) && (packsWords(request) || roundsBoth(request));
}

NarrowOperands narrowOperands(const Attributes& attributes, const Shape& weights) {
  const readers::Product product(attributes);
  if (product.transposesA || weights.rank() < 2) return {};
  return narrowProduct(weights[weights.rank() - (product.transposesB ? 1 : 2)]);
}

bool acceptsNarrow(const OpRequest& request) {
  if (isFloat32(request) && roundsBoth(request)) return true;
  return areFloats(request, narrowOperands(request.node.attributes, request.inputs[1].shape)) && packsWords(request);
}

Options optionsOf(const readers::Product& product) {
  Options options;
  options.transA = product.transposesA;
  options.transB = product.transposesB;
  options.epilogue.alpha = product.alpha;
  return options;
}

using CreateOptions = Options (*)(const OpRequest& request);

template <CreateOptions create>
std::unique_ptr<OpKernel> createFloats(const OpRequest& request) {
  return std::make_unique<MatMulOp>(request, create(request));
}

template <CreateOptions create>
std::unique_ptr<OpKernel> createWords(const OpRequest& request) {
  Options options = create(request);
  options.table = &gemmTableFor(request.node);
  return std::make_unique<MatMulOp>(request, options);
}

Options matMulOptions(const OpRequest&) { return {}; }

Options fusedOptions(const OpRequest& request) {
  Options options = optionsOf(readers::Product(request.node.attributes));
  options.epilogue.activation = fusedActivation(request.node);
  if (request.has(2)) options.bias = 2;
  if (request.has(3)) options.residual = 3;
  return options;
}

Options selectedOptions(const OpRequest& request) {
  Options options = optionsOf(readers::Product(request.node.attributes));
  options.matrix = 2;
  return options;
}

// What `accepts` says without the index of the matrix.
template <bool (*accepts)(const OpRequest& request)>
bool acceptsSelected(const OpRequest& request) {
  return accepts({request.node, request.inputs.first(2), request.outputs, request.lanes, request.settings});
}

// C of Gemm is a bias, a residual, or another, rare form.
void placeAddend(const OpRequest& request, Options& options) {
  const Shape& c = request.inputs[2].shape;
  const Shape& out = request.outputs[0].shape;
  const bool isRow = c.rank() >= 1 && c.back() == out.back() && c.count() == out.back();
  if (options.beta == 1 && isRow)
    options.bias = 2;
  else if (options.beta == 1 && c == out)
    options.residual = 2;
  else if (options.beta != 0)
    options.addend = 2;
}

Options gemmOptions(const OpRequest& request) {
  const readers::Product product(request.node.attributes);
  Options options = optionsOf(product);
  options.beta = product.beta;
  if (request.has(2)) placeAddend(request, options);
  return options;
}

// The shape of A only matters for rank 1, which packing does not need.
std::optional<ProductShape> packedShape(const Node& node, std::span<const Tensor* const> constants, DType dtype) {
  const Tensor* b = constants.size() > 1 ? constants[1] : nullptr;
  if (!b || b->dtype() != dtype || b->shape().empty()) return std::nullopt;
  const bool transB = readers::Product(node.attributes).transposesB;
  const int64_t depth = b->shape().rank() == 1 ? b->shape()[0] : b->shape()[b->shape().rank() - (transB ? 1 : 2)];
  const ProductShape shape({1, depth}, b->shape(), false, transB);
  const GemmTable& table = gemmTableFor(node);
  const bool isColumn = shape.columns == 1 && table.wordElements == 1;
  const bool isReadAsItIs =
      isColumn || (node.op() != "SelectedMatMul" && hasFewColumns(table, shape.depth, shape.columns));
  if ((isReadAsItIs && dtype == DType::Float32) || isMostlyPadding(table, shape.bCount(), shape.depth, shape.columns))
    return std::nullopt;
  return shape;
}

// Whether floats are exactly those of a type of half their size, to which they are narrowed.
bool narrowExactly(const HalfType& half, const float* from, int64_t count, uint16_t* to) {
  float again[kNarrowedAtOnce];
  for (int64_t i = 0, some; i < count; i += some) {
    some = std::min(count - i, kNarrowedAtOnce);
    half.narrow({to + i, {from + i, nullptr, nullptr}, {1, 0, 0}, some, 0, 0});
    half.widen({again, {to + i, nullptr, nullptr}, {1, 0, 0}, some, 0, 0});
    if (std::memcmp(again, from + i, static_cast<size_t>(some) * sizeof(float)) != 0) return false;
  }
  return true;
}

// NULL unless that loses nothing.
Ref<PackedWeights> packHalves(const HalfType& half, const ProductShape& shape, const float* weights) {
  const GemmTable& table = gemmTable();
  const Panels panels(table.lanes, table.panelVectors, shape.columns);
  auto packed = makeRef<PackedWeights>(table, shape.bCount(), shape.depth, shape.columns, nullptr, half.dtype);
  std::atomic<bool> isExact{true};
  parallelFor(defaultLanes(), shape.bCount() * panels.count, 1, [&](int64_t begin, int64_t end, int) {
    WorkVector<float> floats(static_cast<size_t>(shape.depth * panels.width(0)));
    for (int64_t i = begin; i < end && isExact; ++i) {
      const int64_t matrix = i / panels.count, panel = i % panels.count;
      table.pack(panelOf(packSourceOf(shape, weights, matrix), panels, panel), 0, shape.depth, floats.data());
      auto* to = reinterpret_cast<uint16_t*>(packed->matrix(matrix)) + panels.begin(panel) * shape.depth;
      if (!narrowExactly(half, floats.data(), shape.depth * panels.width(panel), to)) isExact = false;
    }
  });
  return isExact ? packed : nullptr;
}

// As far as the shape of A is known.
bool hasManyRows(const Node& node) {
  const Value* a = node.input(0);
  if (!a || !a->type.ranked) return false;
  const int depthAxis = a->type.rank() - (readers::Product(node.attributes).transposesA ? 2 : 1);
  int64_t rows = 1;
  for (int axis = 0; axis < a->type.rank() && rows <= kMostRowsOfHalves; ++axis) {
    const Dim& dim = a->type.dims[static_cast<size_t>(axis)];
    if (axis != depthAxis && dim.isKnown()) rows *= std::min(dim.value(), kMostRowsOfHalves + 1);
  }
  return rows > kMostRowsOfHalves;
}

// Weights of models of float16 or bfloat16 are kept in the space that they had, unless many rows will multiply them,
// which does not wait for memory.
bool keepsHalves(const Node& node, const Tensor& weights) {
  return gemmTableFor(node).wordElements == 1 && weights.count() >= kFewestHalves && !hasManyRows(node);
}

// Those that became floats without a loss. Others, those of a file, are known by their place in it (kept_weights.h).
Ref<PackedWeights> packHalves(const Node& node, const ProductShape& shape, const Tensor& weights) {
  const bool isOfFile = weights.storage() && weights.storage()->file();
  if (isOfFile || !keepsHalves(node, weights)) return nullptr;
  uint16_t some[kNarrowedAtOnce];
  for (const HalfType& half : halfTypes())
    if (half.widen && narrowExactly(half, weights.as<float>(), kNarrowedAtOnce, some))
      if (Ref<PackedWeights> packed = packHalves(half, shape, weights.as<float>())) return packed;
  return nullptr;
}

// A panel of a matrix, in the order of GemmTable::pack; columns beyond the last one are 0.
void packPanel(const ProductShape& shape, const uint16_t* matrix, int64_t begin, int64_t width, uint16_t* to) {
  constexpr int64_t kBlock = 64;  // of a column, whose lines stay in the first cache
  const int64_t columns = std::min(width, shape.columns - begin);
  std::fill_n(to, columns < width ? shape.depth * width : 0, uint16_t{0});
  if (!shape.transB) {
    for (int64_t k = 0; k < shape.depth; ++k) std::copy_n(matrix + k * shape.columns + begin, columns, to + k * width);
    return;
  }
  for (int64_t block = 0; block < shape.depth; block += kBlock)
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t k = block; k < std::min(block + kBlock, shape.depth); ++k)
        to[k * width + n] = matrix[(begin + n) * shape.depth + k];
}

void widen(const HalfType& half, const uint16_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += kNarrowedAtOnce)
    half.widen({to + i, {from + i, nullptr, nullptr}, {1, 0, 0}, std::min(count - i, kNarrowedAtOnce), 0, 0});
}

// Of weights that are still of 16 bits.
Ref<PackedWeights> packNarrow(const Node& node, const HalfType& half, const ProductShape& shape,
                              const Tensor& weights) {
  const GemmTable& table = gemmTable();
  const Panels panels(table.lanes, table.panelVectors, shape.columns);
  const bool staysNarrow = keepsHalves(node, weights);
  auto packed = makeRef<PackedWeights>(table, shape.bCount(), shape.depth, shape.columns, nullptr,
                                       staysNarrow ? half.dtype : DType::Float32);
  parallelFor(defaultLanes(), shape.bCount() * panels.count, 1, [&](int64_t begin, int64_t end, int) {
    WorkVector<uint16_t> narrow(static_cast<size_t>(staysNarrow ? 0 : shape.depth * panels.width(0)));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / panels.count, panel = i % panels.count, width = panels.width(panel);
      const int64_t at = panels.begin(panel) * shape.depth, count = shape.depth * width;
      float* floats = packed->matrix(matrix);
      uint16_t* to = staysNarrow ? reinterpret_cast<uint16_t*>(floats) + at : narrow.data();
      packPanel(shape, weights.as<uint16_t>() + matrix * shape.depth * shape.columns, panels.begin(panel), width, to);
      if (!staysNarrow) widen(half, to, count, floats + at);
      passWork(count / 8);
    }
  });
  return packed;
}

// NULL if there are no such weights, or their products are of words.
Ref<PackedWeights> packNarrow(const Node& node, std::span<const Tensor* const> constants) {
  if (gemmTableFor(node).wordElements != 1) return nullptr;
  for (const HalfType& half : halfTypes()) {
    const std::optional<ProductShape> shape = packedShape(node, constants, half.dtype);
    if (shape && half.widen) return packNarrow(node, half, *shape, *constants[1]);
  }
  return nullptr;
}

Ref<Prepared> prepareWeights(const Node& node, std::span<const Tensor* const> constants) {
  if (Ref<PackedWeights> narrow = packNarrow(node, constants)) return narrow;
  const std::optional<ProductShape> shape = packedShape(node, constants, DType::Float32);
  if (!shape) return nullptr;
  if (Ref<PackedWeights> halves = packHalves(node, *shape, *constants[1])) return halves;
  const GemmTable& table = gemmTableFor(node);
  auto packed = makeRef<PackedWeights>(table, shape->bCount(), shape->depth, shape->columns);
  for (int64_t i = 0; i < shape->bCount(); ++i)
    packMatrix(table, packSourceOf(*shape, constants[1]->as<float>(), i), packed->matrix(i), defaultLanes());
  return packed;
}

constexpr Implementation kDoubleProduct{"gemm_f64", acceptsDoubleProduct, createDoubleProduct};
template <CreateOptions create, bool (*accepts)(const OpRequest& request)>
constexpr Implementation kProduct[] = {
    {"gemm_bf16", accepts, createWords<create>}, {"gemm_f32", isFloat32, createFloats<create>}, kDoubleProduct};
constexpr Implementation kSelectedProduct[] = {
    {"gemm_bf16", acceptsSelected<acceptsNarrow>, createWords<selectedOptions>},
    {"gemm_f32", acceptsSelected<isFloat32>, createFloats<selectedOptions>}};

NarrowOperands narrowOperandsOf(const Node& node) {
  if (!mayBeNarrow(node) || !dynamic_cast<const PackedWeights*>(node.prepared.get())) return {};
  return narrowOperands(node.attributes, node.inputs[1]->constant->shape());
}

const OpRow kRows[] = {
    {"", "MatMul", kProduct<matMulOptions, acceptsNarrow>, prepareWeights, nullptr, narrowOperandsOf},
    {"", "Gemm", kProduct<gemmOptions, acceptsWords>, prepareWeights},
    {kMaxDomain, "MatMul", kProduct<fusedOptions, acceptsNarrow>, prepareWeights, nullptr, narrowOperandsOf},
    {kMaxDomain, "SelectedMatMul", kSelectedProduct, prepareWeights, nullptr, narrowOperandsOf},
};

bool isProduct(const Node& node) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const OpRow& row) { return row.domain == node.domain() && row.op == node.op(); });
}

}  // namespace

std::optional<PackedForm> productForm(const Node& node, std::span<const Tensor* const> constants) {
  const std::optional<ProductShape> shape =
      isProduct(node) ? packedShape(node, constants, DType::Float32) : std::nullopt;
  if (!shape) return std::nullopt;
  return PackedForm{"product", gemmTableFor(node), shape->bCount(), shape->depth, shape->columns, 0, {shape->transB}};
}

size_t PackedForm::bytes() const {
  const int64_t floats = checkedMultiply(matrices, packedCount(table, rows, columns));
  return checkedMultiply(static_cast<size_t>(floats), sizeof(float));
}

bool isMostlyPadding(const GemmTable& table, int64_t matrices, int64_t rows, int64_t columns) {
  constexpr int64_t kFree = 1 << 18, kMostTimes = 4;
  const int64_t own = checkedMultiply(matrices, checkedMultiply(rows, columns));
  return checkedMultiply(matrices, packedCount(table, rows, columns)) / kMostTimes > own + kFree / kMostTimes;
}

PackedWeights::PackedWeights(const GemmTable& table, int64_t matrices, int64_t rows, int64_t columns,
                             Ref<Storage> packed, DType dtype)
    : storage_(std::move(packed)),
      dtype_(dtype),
      stride_(packedCount(table, rows, columns) / (dtype == DType::Float32 ? 1 : 2)),
      layout_(table.layout()) {
  if (storage_) return;
  const int64_t floats = checkedMultiply(matrices, stride_);
  storage_ = allocatePackedStorage(checkedMultiply(static_cast<size_t>(floats), sizeof(float)));
}

ProductShape::ProductShape(const Shape& a, const Shape& b, bool transposeA, bool transposeB)
    : transA(transposeA && a.rank() > 1), transB(transposeB && b.rank() > 1) {
  depth = a.rank() > 1 && transA ? a[a.rank() - 2] : a.back();
  rows = a.rank() == 1 ? 1 : a[a.rank() - (transA ? 1 : 2)];
  columns = b.rank() == 1 ? 1 : b[b.rank() - (transB ? 2 : 1)];
  aBatch = Shape(a.dims().first(static_cast<size_t>(std::max(a.rank() - 2, 0))));
  bBatch = Shape(b.dims().first(static_cast<size_t>(std::max(b.rank() - 2, 0))));
  batch = broadcastOf(aBatch, bBatch);
}

bool packsWords(const OpRequest& request) {
  const GemmTable& table = gemmTableFor(request.node);
  if (table.wordElements == 1) return false;
  const auto* prepared = dynamic_cast<const PackedWeights*>(request.node.prepared.get());
  return (prepared && prepared->fits(table)) || request.inputs[1].constant;
}

PackSource packSourceOf(const ProductShape& shape, const float* b, int64_t index) {
  const bool byColumns = shape.transB;
  return {b + index * shape.depth * shape.columns,
          byColumns ? 1 : shape.columns,
          byColumns ? shape.depth : 1,
          1,
          shape.depth,
          shape.columns};
}

std::span<const OpRow> matMulOps() { return kRows; }

}  // namespace max
