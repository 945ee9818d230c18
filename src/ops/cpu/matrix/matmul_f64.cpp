// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/matrix/matmul_f64.h"

#include <algorithm>

#include "base/work_vector.h"
#include "graph/readers/matrix.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/ref/reference.h"

namespace max {

namespace {

constexpr int64_t kRowsPerPart = 32;

// Added to the product: element (m, n) of matrix i lies at i / repeats * matrix + m * row + n * column.
struct Addend {
  size_t input;
  double factor;
  int64_t matrix, row, column;
  int64_t repeats = 1;
};

class DoubleProductOp final : public OpKernel {
 public:
  explicit DoubleProductOp(const OpRequest& request)
      : function_(doubleRowsFunction()),
        product_(request.node.attributes),
        shape_(request.inputs[0].shape, request.inputs[1].shape, product_.transposesA, product_.transposesB),
        alpha_(static_cast<double>(product_.alpha)) {
    findAddends(request);
    const int64_t aSize = shape_.rows * shape_.depth, bSize = shape_.depth * shape_.columns;
    const std::array<Shape, 2> strides{reference::broadcastStrides(shape_.aBatch, shape_.batch),
                                       reference::broadcastStrides(shape_.bBatch, shape_.batch)};
    reference::forEachOffset<2>(shape_.batch, strides, [&](int64_t, const std::array<int64_t, 2>& at) {
      offsets_.push_back({at[0] * aSize, at[1] * bSize});
    });
  }

  // B with contiguous rows, if it is transposed.
  size_t scratchBytes() const override {
    if (!shape_.transB) return 0;
    const int64_t elements = checkedMultiply(shape_.bCount(), shape_.depth * shape_.columns);
    return static_cast<size_t>(checkedMultiply<int64_t>(sizeof(double), elements));
  }

  void run(const OpContext& context) const override {
    const double* b = shape_.transB ? transposed(context) : context.in<double>(1);
    const int64_t parts = (shape_.rows + kRowsPerPart - 1) / kRowsPerPart;
    const int64_t work = kRowsPerPart * shape_.depth * shape_.columns;
    const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(work, 1));
    context.parallelFor(static_cast<int64_t>(offsets_.size()) * parts, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) runPart(context, b, i / parts, i % parts * kRowsPerPart);
    });
  }

 private:
  struct Offsets {
    int64_t a, b;
  };

  void findAddends(const OpRequest& request) {
    if (request.node.is("Gemm")) {
      if (!request.has(2)) return;
      const Shape strides = reference::broadcastStrides(request.inputs[2].shape, request.outputs[0].shape);
      addends_.push_back({2, static_cast<double>(product_.beta), 0, strides[0], strides[1]});
    } else if (request.node.isOwn("MatMul")) {
      if (request.has(2)) addBias(request.inputs[2].shape);
      if (request.has(3)) addends_.push_back({3, 1, shape_.rows * shape_.columns, shape_.columns, 1});
    }
  }

  // One for all matrices, or one for each of the result's first axis.
  void addBias(const Shape& shape) {
    const int64_t biases = shape.rank() == 2 ? shape[0] : 1;
    addends_.push_back(
        {2, 1, shape_.columns, 0, 1, std::max<int64_t>(shape_.batchCount() / std::max<int64_t>(biases, 1), 1)});
  }

  const double* transposed(const OpContext& context) const {
    const int64_t size = sizeof(double), matrix = shape_.depth * shape_.columns * size;
    for (int64_t i = 0; i < shape_.bCount(); ++i)
      transposeTiles(size, context.in<std::byte>(1) + i * matrix, shape_.depth * size, context.scratch + i * matrix,
                     shape_.columns * size, shape_.columns, shape_.depth);
    return reinterpret_cast<const double*>(context.scratch);
  }

  void runPart(const OpContext& context, const double* b, int64_t matrix, int64_t first) const {
    const Offsets& at = offsets_[static_cast<size_t>(matrix)];
    const int64_t aRow = shape_.transA ? 1 : shape_.depth, aColumn = shape_.transA ? shape_.rows : 1;
    const int64_t rows = std::min(kRowsPerPart, shape_.rows - first), columns = shape_.columns;
    double* c = context.out<double>() + (matrix * shape_.rows + first) * columns;
    function_({context.in<double>(0) + at.a + first * aRow, aRow, aColumn, b + at.b, columns, c, columns, rows,
               shape_.depth, columns});
    for (int64_t i = 0; i < rows * columns && alpha_ != 1; ++i) c[i] *= alpha_;
    for (const Addend& addend : addends_) {
      const double* x = context.in<double>(addend.input) + matrix / addend.repeats * addend.matrix + first * addend.row;
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < columns; ++n)
          c[m * columns + n] += addend.factor * x[m * addend.row + n * addend.column];
    }
  }

  DoubleRowsFunction function_;
  readers::Product product_;
  ProductShape shape_;
  double alpha_;
  std::vector<Addend> addends_;
  WorkVector<Offsets> offsets_;
};

}  // namespace

bool acceptsDoubleProduct(const OpRequest& request) {
  const auto fits = [](const Operand& operand) { return !operand.present() || operand.dtype == DType::Float64; };
  return std::all_of(request.inputs.begin(), request.inputs.end(), fits) &&
         !readers::hasActivation(request.node.attributes);
}

std::unique_ptr<OpKernel> createDoubleProduct(const OpRequest& request) {
  return std::make_unique<DoubleProductOp>(request);
}

}  // namespace max
