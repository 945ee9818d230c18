// SPDX-License-Identifier: Apache-2.0
// Softmax, and normalisations of rows: a block for each row, which is read once for each sum.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "graph/readers/normalization.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int32_t kThreads = 128;
constexpr int64_t kMostBlocks = 65536;

constexpr const char* kSums = R"(
static inline __device__ Sum largest(Sum a, Sum b) { return a != a ? a : b > a || b != b ? b : a; }

// Of all threads, in a fixed order.
template <bool isSum>
static inline __device__ Sum joined(Sum mine, Sum* shared) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const Sum a = shared[threadIdx.x], b = shared[threadIdx.x + half];
      shared[threadIdx.x] = isSum ? a + b : largest(a, b);
    }
    __syncthreads();
  }
  return shared[0];
}
)";

// Lines along an axis: [outer, size, inner].
constexpr const char* kSoftmax = R"(
extern "C" __global__ void gpu_softmax(const Element* in, Element* out, long long lines, long long size, long long inner) {
  __shared__ Sum shared[128];
  for (long long line = blockIdx.x; line < lines; line += gridDim.x) {
    const long long first = line / inner * size * inner + line % inner;
    Sum most = -(Sum)INFINITY, sum = 0;
    for (long long i = threadIdx.x; i < size; i += 128) most = largest(most, (Sum)in[first + i * inner]);
    most = joined<false>(most, shared);
    for (long long i = threadIdx.x; i < size; i += 128) sum += exp((Sum)in[first + i * inner] - most);
    sum = joined<true>(sum, shared);
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = (Sum)in[first + i * inner] - most;
      out[first + i * inner] = (Element)(RESULT);
    }
  }
}
)";

// SUBTRACTS: the mean goes first. Of `groups` rows after each other, each has `step` scales, one for `inner` elements.
constexpr const char* kNorm = R"(
extern "C" __global__ void gpu_norm(const Element* in PARAMETERS, long long rows, long long size, float epsilon,
                                    long long groups, long long step, long long inner) {
  __shared__ Sum shared[128];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const long long first = row * size;
    Sum mean = 0, squares = 0;
    if (SUBTRACTS) {
      for (long long i = threadIdx.x; i < size; i += 128) mean += VALUE;
      mean = joined<true>(mean, shared) / (Sum)size;
    }
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = VALUE - mean;
      squares += x * x;
    }
    const Sum factor = (Sum)1 / sqrt(joined<true>(squares, shared) / (Sum)size + (Sum)epsilon);
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = VALUE;
      const long long at = row % groups * step + i / inner;
      STORE
      out[first + i] = (Element)((x - mean) * factor * (Sum)scale[at] BIAS);
    }
  }
}
)";

std::string withTypes(DType dtype, const std::string& text) {
  const KernelType type = kernelType(dtype);
  return concat("#include \"max_half.h\"\n#include <cmath>\ntypedef ", type.element, " Element;\ntypedef ",
                type.accumulator, " Sum;\n", kSums, text);
}

class PlacedSoftmax final : public Placed {
 public:
  PlacedSoftmax(DType dtype, bool isLogarithm)
      : Placed(
            concat("#define RESULT ", isLogarithm ? "x - log(sum)" : "exp(x) / sum", "\n", withTypes(dtype, kSoftmax)),
            "gpu_softmax") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const Shape& shape = request.inputs[0].shape;
    const int axis = readers::readAxis(request.node.attributes, -1, shape.rank());
    const int64_t outer = shape.product(0, axis), size = shape.rank() ? shape[axis] : 1;
    const int64_t inner = shape.product(std::min(axis + 1, shape.rank()), shape.rank());
    auto op = std::make_unique<LaunchOp>(*this);
    op->addInput(0);
    op->addOutput(0);
    for (const int64_t value : {outer * inner, size, inner}) op->addValue(value);
    op->setGrid(std::min(outer * inner, kMostBlocks), 1, 1, kThreads);
    return op;
  }
};

Ref<Placed> placeSoftmax(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  return makeRef<PlacedSoftmax>(dtype, node.is("LogSoftmax"));
}

struct NormRow {
  std::string_view domain, op;
  bool subtracts;
  size_t scale;               // the input; that before it is the residual, if it is not the first
  bool isOfChannels = false;  // scales are of channels, rows are channels or groups of them
};
constexpr NormRow kNorms[] = {{"", "LayerNormalization", true, 1},
                              {"", "RMSNormalization", false, 1},
                              {kMaxDomain, "AddLayerNormalization", true, 2},
                              {"", "InstanceNormalization", true, 1, true},
                              {"", "GroupNormalization", true, 1, true}};

std::string replaced(std::string text, std::string_view name, const std::string& by) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
  return text;
}

std::string normSource(const NormRow& row, const Node& node, DType dtype) {
  const bool hasResidual = row.scale == 2, hasBias = node.input(row.scale + 1),
             storesSum = hasResidual && node.output(1);
  std::string parameters = hasResidual ? ", const Element* residual" : "";
  parameters += ", const Element* scale";
  if (hasBias) parameters += ", const Element* bias";
  parameters += ", Element* out";
  if (storesSum) parameters += ", Element* total";
  std::string text = replaced(kNorm, "PARAMETERS", parameters);
  text = replaced(std::move(text), "VALUE",
                  hasResidual ? "((Sum)in[first + i] + (Sum)residual[first + i])" : "(Sum)in[first + i]");
  text = replaced(std::move(text), "BIAS", hasBias ? "+ (Sum)bias[at]" : "");
  text = replaced(std::move(text), "STORE", storesSum ? "total[first + i] = (Element)x;" : "");
  return withTypes(dtype, replaced(std::move(text), "SUBTRACTS", row.subtracts ? "true" : "false"));
}

class PlacedNorm final : public Placed {
 public:
  PlacedNorm(const NormRow& row, const Node& node, DType dtype)
      : Placed(normSource(row, node, dtype), "gpu_norm"),
        outputs_(row.scale == 2 && node.output(1) ? 2 : 1),
        isOfChannels_(row.isOfChannels) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const RowLayout layout = isOfChannels_ ? channelRows(request) : lastRows(request);
    auto op = std::make_unique<LaunchOp>(*this);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    for (size_t i = 0; i < outputs_; ++i) op->addOutput(i);
    op->addValue(layout.rows);
    op->addValue(layout.size);
    op->addValue(readers::readEpsilon(request.node.attributes));
    for (const int64_t value : {layout.groups, layout.step, layout.inner}) op->addValue(value);
    op->setGrid(std::min(layout.rows, kMostBlocks), 1, 1, kThreads);
    return op;
  }

 private:
  struct RowLayout {
    int64_t rows, size, groups = 1, step = 0, inner = 1;
  };

  static RowLayout lastRows(const OpRequest& request) {
    const Shape& shape = request.inputs[0].shape;
    const int axis = readers::LayerNorm(request.node.attributes, shape.rank()).axis;
    return {shape.product(0, axis), shape.product(axis, shape.rank())};
  }

  static RowLayout channelRows(const OpRequest& request) {
    const Shape& shape = request.inputs[0].shape;
    const int64_t inner = shape.product(2, shape.rank());
    const bool areGroups = request.node.is("GroupNormalization");
    const int64_t groups = areGroups ? readers::GroupNorm(request.node.attributes).groups : shape[1];
    const int64_t step = shape[1] / groups;
    return {shape[0] * groups, step * inner, groups, step, inner};
  }

  size_t outputs_;
  bool isOfChannels_;
};

// Scale and bias have the shape of a row.
bool isOfRows(const Value* parameter, const TensorType& rows, int axis) {
  if (!parameter->type.ranked || parameter->type.rank() != rows.rank() - axis) return false;
  for (int i = 0; i < parameter->type.rank(); ++i)
    if (parameter->type.dims[static_cast<size_t>(i)] != rows.dims[static_cast<size_t>(axis + i)]) return false;
  return true;
}

Ref<Placed> placeNorm(const Node& node) {
  const auto* row = std::ranges::find_if(
      kNorms, [&](const NormRow& each) { return each.domain == node.domain() && each.op == node.op(); });
  const TensorType& type = node.input(0)->type;
  if (row == std::end(kNorms) || !type.ranked || !isFloat(type.dtype) || !kernelType(type.dtype).element)
    return nullptr;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] && (row->scale != 2 || i > 1)) return nullptr;  // means and deviations
  if (!node.output(0)) return nullptr;
  const int axis = row->isOfChannels ? 0 : readers::LayerNorm(node.attributes, type.rank()).axis;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    if (node.inputs[i]->type.dtype != type.dtype) return nullptr;
    if (i >= row->scale && !row->isOfChannels && !isOfRows(node.inputs[i], type, axis)) return nullptr;
  }
  return node.input(row->scale) ? makeRef<PlacedNorm>(*row, node, type.dtype) : nullptr;
}

std::vector<PlaceRow> makeRows() {
  std::vector<PlaceRow> rows{{"", "Softmax", placeSoftmax}, {"", "LogSoftmax", placeSoftmax}};
  for (const NormRow& row : kNorms) rows.push_back({row.domain, row.op, placeNorm});
  return rows;
}

}  // namespace

std::span<const PlaceRow> gpuRows() {
  static const std::vector<PlaceRow> rows = makeRows();
  return rows;
}

}  // namespace max
