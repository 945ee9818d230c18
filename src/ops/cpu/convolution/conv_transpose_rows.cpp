// SPDX-License-Identifier: Apache-2.0
// max.ConvTranspose whose taps do not overlap: for each row of taps, the products of a row of input pixels with the
// weights are a row of the output, with bias and activation while they are in registers.
#include "base/align.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_transpose.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

// One matrix for each row of taps: [channels, taps of the row * filters].
Ref<PackedWeights> packRows(const GemmTable& table, const Tensor& weights, int lanes) {
  const Shape& shape = weights.shape();
  const int64_t channels = shape[0], taps = shape.product(2, shape.rank()), width = shape.back();
  const int64_t columns = width * shape[1], stride = taps * shape[1];
  auto packed = makeRef<PackedWeights>(table, taps / width, channels, columns);
  const Ref<Tensor> ordered = withFiltersLast(weights);
  for (int64_t row = 0; row < taps / width; ++row)
    packMatrix(table, {ordered->as<float>() + row * columns, stride, 1, 1, channels, columns}, packed->matrix(row),
               lanes);
  return packed;
}

Ref<PackedWeights> weightsOf(const OpRequest& request, const GemmTable& table) {
  auto* prepared = dynamic_cast<PackedWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(table)) return Ref<PackedWeights>(prepared);
  return packRows(table, *request.inputs[1].constant, request.lanes);
}

class DisjointTapsOp final : public OpKernel {
 public:
  DisjointTapsOp(const OpRequest& request, const GemmTable& table)
      : shape_(request, true),
        readsNarrow_(isNarrow(request.inputs[0])),
        writesNarrow_(isNarrow(request.outputs[0])),
        pixelFloats_(readsNarrow_ ? shape_.channels / 2 : shape_.channels),
        tapRows_(shape_.kernel[0] * shape_.kernel[1]),
        columns_(shape_.kernel[2] * shape_.filters),
        packed_(weightsOf(request, table)),
        gemm_(tapRows_ == 1 ? shape_.images * shape_.inPixels() : shape_.in[2], columns_, 1, shape_.channels,
              Epilogue{1, fusedActivation(request.node)}, request.lanes, products(), PartialSums::Float32,
              {table, readsNarrow_, writesNarrow_}),
        hasBias_(request.has(2)),
        biasBytes_(hasBias_ ? alignUp(checkedMultiply<int64_t>(sizeof(float), columns_)) : 0) {}

  size_t scratchBytes() const override { return static_cast<size_t>(biasBytes_) + gemm_.scratchBytes(); }

  void run(const OpContext& context) const override {
    GemmOperands operands;
    operands.a = context.in<float>(0);
    operands.lda = pixelFloats_;
    operands.b = packed_->data();
    if (writesNarrow_)
      operands.narrowC = context.out<uint16_t>();
    else
      operands.c = context.out<float>();
    operands.ldc = columns_;
    operands.bias = hasBias_ ? biasOfRow(context) : nullptr;
    gemm_.run(operands, context.scratch + biasBytes_, context.lanes);
  }

 private:
  // One for each row of taps and each row of input pixels; without rows of taps, pixels are in the output's order.
  WorkVector<GemmOffsets> products() const {
    if (tapRows_ == 1) return WorkVector<GemmOffsets>(1);
    const int64_t lines = shape_.images * shape_.in[0] * shape_.in[1];
    WorkVector<GemmOffsets> result(static_cast<size_t>(checkedMultiply(tapRows_, lines)));
    auto* product = result.data();
    for (int64_t tap = 0; tap < tapRows_; ++tap)
      for (int64_t line = 0; line < lines; ++line, ++product) {
        const int64_t row = line % shape_.in[1] * shape_.kernel[1] + tap % shape_.kernel[1];
        const int64_t plane = line / shape_.in[1] * shape_.kernel[0] + tap / shape_.kernel[1];
        product->a = line * shape_.in[2] * pixelFloats_;
        product->b = tap * packed_->stride();
        product->c = (plane * shape_.out[1] + row) * shape_.out[2] * shape_.filters;
      }
    return result;
  }

  // The bias of each pixel of a row.
  const float* biasOfRow(const OpContext& context) const {
    auto* row = reinterpret_cast<float*>(context.scratch);
    for (int64_t tap = 0; tap < shape_.kernel[2]; ++tap)
      copyBytes(row + tap * shape_.filters, context.in<float>(2), static_cast<size_t>(shape_.filters) * sizeof(float));
    return row;
  }

  TransposedShape shape_;
  bool readsNarrow_, writesNarrow_;  // bfloat16
  int64_t pixelFloats_;              // of the input; words of two channels count as one
  int64_t tapRows_, columns_;
  Ref<PackedWeights> packed_;
  Gemm gemm_;
  bool hasBias_;
  int64_t biasBytes_;
};

}  // namespace

bool hasDisjointTaps(const Attributes& attributes, const Shape& weights) {
  const readers::Transposed reader(attributes, weights.dims().subspan(2));
  if (readers::readGroups(attributes) != 1 || reader.windows.isSame() || !reader.shape.empty()) return false;
  for (size_t i = 0; i < reader.windows.axes.size(); ++i) {
    const readers::Window& window = reader.windows.axes[i];
    if (window.size != window.stride || (window.dilation != 1 && window.size != 1)) return false;
    if (window.padBegin != 0 || window.padEnd != 0 || reader.extra[i] != 0) return false;
  }
  return true;
}

std::unique_ptr<OpKernel> createDisjointTaps(const OpRequest& request, const GemmTable& table) {
  return std::make_unique<DisjointTapsOp>(request, table);
}

Ref<Prepared> prepareDisjointTaps(const Node& node, const Tensor& weights) {
  return packRows(gemmTableFor(node), weights, defaultLanes());
}

}  // namespace max
