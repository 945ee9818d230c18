// SPDX-License-Identifier: Apache-2.0
// max.ExpandConv of float32: a pointwise product makes many channels, a depthwise convolution reads them. The factors
// of the product may be rounded to bfloat16; its results then are, too, where that pays. A large image
// is computed in strips: some rows of products stay in the second cache until the convolution has read them.
#include <algorithm>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/narrow.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kStripsFromBytes = 512 << 10;  // of products
constexpr int64_t kChunkBytes = 96 << 10;        // of products computed at once,
constexpr int64_t kChunkPixels = 48;             // but at least this many pixels
constexpr int64_t kTasksPerLane = 2;

enum Input : size_t { X, ExpandWeights, Weights, ExpandBias, Bias };

// Whether products are rounded to bfloat16.
bool keepsNarrow(const Node& node, const GemmTable& table, const Shape& weights) {
  return table.takesNarrow() && depthwiseTakesNarrow(node, weights);
}

class PreparedExpandConv : public Prepared {
 public:
  PreparedExpandConv(const Node& node, const GemmTable& table, const Tensor& expand, const Tensor& weights, int lanes)
      : expand_(makeRef<PackedWeights>(table, 1, expand.shape()[1], expand.shape()[0])),
        depthwise_(makeRef<DepthwiseWeights>(weights, keepsNarrow(node, table, weights.shape()))) {
    const int64_t channels = expand.shape()[1], filters = expand.shape()[0];
    packMatrix(table, {expand.as<float>(), 1, channels, 1, channels, filters}, expand_->matrix(0), lanes);
  }
  size_t bytes() const override { return expand_->bytes() + depthwise_->bytes(); }
  bool replaces(size_t input) const override { return input == ExpandWeights || input == Weights; }
  const PackedWeights& expand() const { return *expand_; }
  const Ref<DepthwiseWeights>& depthwise() const { return depthwise_; }

 private:
  Ref<PackedWeights> expand_;
  Ref<DepthwiseWeights> depthwise_;
};

Ref<PreparedExpandConv> weightsOf(const OpRequest& request, const GemmTable& table) {
  auto* prepared = dynamic_cast<PreparedExpandConv*>(request.node.prepared.get());
  if (prepared && prepared->expand().fits(table)) return Ref<PreparedExpandConv>(prepared);
  return makeRef<PreparedExpandConv>(request.node, table, *request.inputs[ExpandWeights].constant,
                                     *request.inputs[Weights].constant, request.lanes);
}

ConvShape depthwiseShape(const OpRequest& request) {
  Shape products = request.inputs[X].shape;
  products[products.rank() - 1] = request.inputs[Weights].shape[0];
  return {request.node, products, request.inputs[Weights].shape, request.outputs[0].shape};
}

// How the rows of an image are computed. Chunks of products follow each other in a ring that holds what the
// rows of the convolution read that are computed at once.
struct Strips {
  bool used;          // else all products are computed first
  int64_t chunkRows;  // of products
  int64_t ringChunks;
  int64_t segments = 1;  // of an image, in turns by different lanes

  Strips(const ConvShape& shape, int64_t elementBytes, int lanes) {
    const int64_t rowBytes = checkedMultiply(elementBytes, checkedMultiply(shape.in[2], shape.channels));
    const int64_t reach = (shape.kernel[1] - 1) * shape.dilation[1], rows = std::max<int64_t>(shape.in[1], 1);
    const int64_t held = reach + (kDepthwiseRowsAtOnce - 1) * shape.stride[1];
    const int64_t fitting = std::max(kChunkBytes / std::max<int64_t>(rowBytes, 1),
                                     ceilDiv(kChunkPixels, std::max<int64_t>(shape.in[2], 1)));
    chunkRows = std::clamp<int64_t>(fitting, 1, rows);
    ringChunks = std::min(ceilDiv(held, chunkRows) + 1, ceilDiv(rows, chunkRows));
    // What neighbouring segments both compute should be small.
    const int64_t most = 1 + rows / (8 * (reach + chunkRows));
    if (lanes > 1 && shape.images > 0)
      segments = std::clamp<int64_t>(ceilDiv(lanes * kTasksPerLane, shape.images), 1, most);
    if (segments > lanes) segments -= segments % lanes;
    const bool isLarge = checkedMultiply(checkedMultiply(rowBytes, rows), shape.images) >= kStripsFromBytes;
    used = isLarge && shape.images * segments >= lanes && shape.in[0] == 1;
  }
};

class ExpandConvOp final : public OpKernel {
 public:
  ExpandConvOp(const OpRequest& request, const GemmTable& table)
      : shape_(depthwiseShape(request)),
        channels_(request.inputs[X].shape.back()),
        readsNarrow_(isNarrow(request.inputs[X])),
        inStep_(readsNarrow_ ? channels_ / 2 : channels_),
        keepsNarrow_(keepsNarrow(request.node, table, request.inputs[Weights].shape)),
        strips_(shape_, elementBytes(), request.lanes),
        table_(table),
        weights_(weightsOf(request, table)),
        depthwise_(request.node, shape_, weights_->depthwise(), keepsNarrow_, isNarrow(request.outputs[0]), false),
        epilogue_{1, fusedActivation(request.node, "expand_")},
        products_(productsOf(strips_.used ? strips_.chunkRows : shape_.images * shape_.in[0] * shape_.in[1],
                             strips_.used ? 1 : request.lanes)),
        lastProducts_(productsOf(strips_.used ? shape_.in[1] % strips_.chunkRows : 0, 1)),
        hasExpandBias_(request.has(ExpandBias)),
        hasBias_(request.has(Bias)) {
    if (strips_.used) depthwise_.keepOrder();
    const int64_t rows = strips_.used ? strips_.ringChunks * strips_.chunkRows
                                      : checkedMultiply(shape_.images, checkedMultiply(shape_.in[0], shape_.in[1]));
    const int lanes = std::max(request.lanes, 1);
    valueBytes_ = alignUp(checkedMultiply(rows, rowBytes()));
    // Products and rows of the convolution are made in turns.
    laneBytes_ =
        valueBytes_ +
        std::max(alignUp(static_cast<int64_t>(std::max(products_.scratchBytes(), lastProducts_.scratchBytes()))),
                 checkedMultiply<int64_t>(depthwise_.scratchBytes(), strips_.used ? 1 : lanes));
    lanes_ = strips_.used ? lanes : 1;
  }

  size_t scratchBytes() const override { return static_cast<size_t>(checkedMultiply(laneBytes_, lanes_)); }

  bool takesPitch(OperandPlace place) const override {
    return place.side == OperandPlace::Output || (place.number == X && !readsNarrow_);
  }
  void setPitch(OperandPlace place, size_t bytes) override {
    if (place.side == OperandPlace::Output)
      depthwise_.setOutPitch(static_cast<int64_t>(bytes));
    else
      inStep_ = static_cast<int64_t>(bytes / sizeof(float));
  }

  void run(const OpContext& context) const override {
    if (!strips_.used) return runWhole(context);
    context.parallelFor(shape_.images * strips_.segments, 1, [&](int64_t begin, int64_t end, int lane) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t segment = task % strips_.segments, rows = shape_.out[1];
        runSegment(context, task / strips_.segments, segment * rows / strips_.segments,
                   (segment + 1) * rows / strips_.segments, context.scratch + lane * laneBytes_);
      }
    });
  }

 private:
  int64_t elementBytes() const { return keepsNarrow_ ? sizeof(uint16_t) : sizeof(float); }
  int64_t rowBytes() const { return elementBytes() * shape_.in[2] * shape_.channels; }  // of products
  int64_t stepsPerRow() const { return shape_.taps() * shape_.out[2] * shape_.channels / 4; }
  Gemm productsOf(int64_t rows, int lanes) const {
    return {checkedMultiply(rows, shape_.in[2]),
            shape_.channels,
            1,
            channels_,
            epilogue_,
            lanes,
            WorkVector<GemmOffsets>(1),
            PartialSums::Float32,
            {table_, readsNarrow_, keepsNarrow_}};
  }

  // Products of rows of the input, counted over all images.
  void multiply(const OpContext& context, const Gemm& products, int64_t firstRow, std::byte* to,
                std::byte* scratch) const {
    GemmOperands operands;
    operands.lda = inStep_;
    operands.a = context.in<float>(X) + firstRow * shape_.in[2] * operands.lda;
    operands.b = weights_->expand().data();
    if (keepsNarrow_)
      operands.narrowC = reinterpret_cast<uint16_t*>(to);
    else
      operands.c = reinterpret_cast<float*>(to);
    operands.ldc = shape_.channels;
    operands.bias = hasExpandBias_ ? context.in<float>(ExpandBias) : nullptr;
    products.run(operands, scratch, context.lanes);
  }

  DepthwiseRows::Operands operandsOf(const OpContext& context) const {
    return {hasBias_ ? context.in<float>(Bias) : nullptr, nullptr, context.out<std::byte>()};
  }

  void runWhole(const OpContext& context) const {
    std::byte* values = context.scratch;
    multiply(context, products_, 0, values, context.scratch + valueBytes_);
    const int64_t rows = shape_.images * shape_.out[0] * shape_.out[1];
    const bool isSmall = rows * stepsPerRow() < 25'000;
    const auto rowOf = [&](int64_t image, int64_t d, int64_t h) {
      return values + ((image * shape_.in[0] + d) * shape_.in[1] + h) * rowBytes();
    };
    depthwise_.runAll(isSmall ? 1 : context.lanes, rowOf, operandsOf(context), values + valueBytes_);
  }

  // Rows [begin, end) of an image's output.
  void runSegment(const OpContext& context, int64_t image, int64_t begin, int64_t end, std::byte* memory) const {
    const int64_t rows = strips_.chunkRows, reach = (shape_.kernel[1] - 1) * shape_.dilation[1];
    const auto place = [&](int64_t chunk) { return memory + chunk % strips_.ringChunks * rows * rowBytes(); };
    int64_t next = std::max<int64_t>(begin * shape_.stride[1] - shape_.before[1], 0) / rows;
    for (int64_t row = begin, some; row < end; row += some) {
      some = std::min(kDepthwiseRowsAtOnce, end - row);
      const int64_t last = std::min((row + some - 1) * shape_.stride[1] - shape_.before[1] + reach, shape_.in[1] - 1);
      for (; next * rows <= last; ++next) {
        const Gemm& products = (next + 1) * rows <= shape_.in[1] ? products_ : lastProducts_;
        multiply(context, products, image * shape_.in[1] + next * rows, place(next), memory + valueBytes_);
      }
      const int64_t index = image * shape_.out[1] + row;
      const auto rowOf = [&](int64_t, int64_t, int64_t h) { return place(h / rows) + h % rows * rowBytes(); };
      depthwise_.run(index, index + some, rowOf, operandsOf(context), memory + valueBytes_);
    }
  }

  ConvShape shape_;   // of the convolution
  int64_t channels_;  // of the product's rows
  bool readsNarrow_;  // bfloat16 is multiplied
  int64_t inStep_;    // floats, or words of it, from one of those rows to the next
  bool keepsNarrow_;  // products are bfloat16
  Strips strips_;
  const GemmTable& table_;
  Ref<PreparedExpandConv> weights_;
  DepthwiseRows depthwise_;
  Epilogue epilogue_;
  Gemm products_, lastProducts_;  // of a chunk and of an image's last, if that is smaller; or all
  bool hasExpandBias_, hasBias_;
  int64_t valueBytes_, laneBytes_;
  int lanes_;
};

// Prepared weights must be accepted: the original ones may have been released.
bool isSupported(const Shape& expand, const Shape& weights) {
  return expand.rank() >= 3 && expand.rank() <= 5 && expand.count() > 0 && weights.count() > 0 &&
         isDepthwise(weights, weights[0]);
}

NarrowOperands narrowOperands(const Shape& expand) { return {expand[1] % 2 == 0 ? operandBit(0) : 0, operandBit(0)}; }

bool acceptsOperands(const OpRequest& request, const NarrowOperands& narrow) {
  if (!areFloats(request, narrow)) return false;
  if (!isSupported(request.inputs[ExpandWeights].shape, request.inputs[Weights].shape)) return false;
  return request.node.prepared || (request.inputs[ExpandWeights].constant && request.inputs[Weights].constant);
}

bool accepts(const OpRequest& request) { return acceptsOperands(request, {}); }

bool acceptsWords(const OpRequest& request) {
  return mayBeNarrow(request.node) && acceptsOperands(request, narrowOperands(request.inputs[ExpandWeights].shape));
}

std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<ExpandConvOp>(request, gemmTable());
}

std::unique_ptr<OpKernel> createWords(const OpRequest& request) {
  return std::make_unique<ExpandConvOp>(request, gemmTableFor(request.node));
}

Ref<Prepared> prepare(const Node& node, std::span<const Tensor* const> constants) {
  const Tensor *expand = constants[ExpandWeights], *weights = constants[Weights];
  if (!expand || !weights || expand->dtype() != DType::Float32 || weights->dtype() != DType::Float32) return nullptr;
  if (!isSupported(expand->shape(), weights->shape())) return nullptr;
  return makeRef<PreparedExpandConv>(node, gemmTableFor(node), *expand, *weights, defaultLanes());
}

constexpr Implementation kExpandConv[] = {{"strips_bf16", acceptsWords, createWords}, {"strips_f32", accepts, create}};

NarrowOperands narrowOperands(const Node& node) {
  if (!mayBeNarrow(node) || !node.prepared) return {};
  return narrowOperands(node.inputs[ExpandWeights]->constant->shape());
}

const OpRow kRows[] = {{kMaxDomain, "ExpandConv", kExpandConv, prepare, nullptr, narrowOperands}};

}  // namespace

std::span<const OpRow> expandConvOps() { return kRows; }

}  // namespace max
