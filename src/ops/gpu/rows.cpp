// SPDX-License-Identifier: Apache-2.0
// Softmax, and normalisations of rows: a block for each row, which is read once for each sum.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "graph/readers/normalization.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// Lines along an axis: [outer, size, inner].
constexpr const char* kSoftmax = R"(
extern "C" __global__ void gpu_softmax(const Element* in, Element* out, long long lines, long long size, long long inner) {
  __shared__ Sum shared[128];
  EACH_ROW(line, lines) {
    const long long first = line / inner * size * inner + line % inner;
    Sum most = -(Sum)INFINITY, sum = 0;
    for (long long i = threadIdx.x; i < size; i += 128) most = Largest::of(most, (Sum)in[first + i * inner]);
    most = joined<Largest>(most, shared);
    for (long long i = threadIdx.x; i < size; i += 128) sum += exp((Sum)in[first + i * inner] - most);
    sum = joined<Total>(sum, shared);
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = (Sum)in[first + i * inner] - most;
      out[first + i * inner] = (Element)(RESULT);
    }
  }
}
)";

// Lines with others between their elements: a thread for each.
constexpr const char* kSoftmaxAcross = R"(
extern "C" __global__ void gpu_softmax_across(const Element* in, Element* out, long long lines, long long size,
                                              long long inner) {
  EACH(line, lines) {
    const long long first = line / inner * size * inner + line % inner;
    Sum most = -(Sum)INFINITY, sum = 0;
#pragma unroll 4
    for (long long i = 0; i < size; ++i) most = Largest::of(most, (Sum)in[first + i * inner]);
#pragma unroll 4
    for (long long i = 0; i < size; ++i) sum += exp((Sum)in[first + i * inner] - most);
#pragma unroll 4
    for (long long i = 0; i < size; ++i) {
      const Sum x = (Sum)in[first + i * inner] - most;
      out[first + i * inner] = (Element)(RESULT);
    }
  }
}
)";

// SUBTRACTS: the mean goes first. Of `groups` rows after each other, each has `step` scales, one for `inner` elements.
// Short rows with scales of their own stay in registers.
constexpr const char* kNorm = R"(
extern "C" __global__ void gpu_norm(const Element* in PARAMETERS, long long rows, long long size, float epsilon,
                                    long long groups, long long step, long long inner) {
  __shared__ Sum shared[128];
  const int kKept = 4;
  const bool isShort = groups == 1 && inner == 1 && size % PIECE == 0 && size <= kKept * 128 * PIECE && isAligned(in)
      ALIGNED;
  EACH_ROW(row, rows) {
    const long long first = row * size;
    Sum mean = 0, squares = 0;
    if (isShort) {
      Sum kept[kKept][PIECE];
#pragma unroll
      for (int k = 0; k < kKept; ++k) {
        const long long i = (threadIdx.x + 128 * k) * PIECE;
        if (i >= size) continue;
        Element piece[PIECE];
        takePiece(piece, in + first + i, PIECE, true);
#pragma unroll
        for (int e = 0; e < PIECE; ++e) kept[k][e] = (Sum)piece[e];
        TAKE_RESIDUAL
#pragma unroll
        for (int e = 0; e < PIECE; ++e) mean += kept[k][e];
      }
      mean = SUBTRACTS ? joined<Total>(mean, shared) / (Sum)size : (Sum)0;
#pragma unroll
      for (int k = 0; k < kKept; ++k) {
        if ((threadIdx.x + 128 * k) * PIECE >= size) continue;
#pragma unroll
        for (int e = 0; e < PIECE; ++e) squares += (kept[k][e] - mean) * (kept[k][e] - mean);
      }
      const Sum factor = (Sum)1 / sqrt(joined<Total>(squares, shared) / (Sum)size + (Sum)epsilon);
#pragma unroll
      for (int k = 0; k < kKept; ++k) {
        const long long at = (threadIdx.x + 128 * k) * PIECE;
        if (at >= size) continue;
        Element piece[PIECE], scales[PIECE] TAKEN_BIAS;
        STORE_PIECE
        takePiece(scales, scale + at, PIECE, true);
        TAKE_BIAS
#pragma unroll
        for (int e = 0; e < PIECE; ++e)
          piece[e] = (Element)((kept[k][e] - mean) * factor * (Sum)scales[e] BIAS_PIECE);
        givePiece(out + first + at, piece, PIECE, true);
      }
      if (threadIdx.x == 0) {
        MOMENTS
      }
      continue;
    }
    if (SUBTRACTS) {
      for (long long i = threadIdx.x; i < size; i += 128) mean += VALUE;
      mean = joined<Total>(mean, shared) / (Sum)size;
    }
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = VALUE - mean;
      squares += x * x;
    }
    const Sum factor = (Sum)1 / sqrt(joined<Total>(squares, shared) / (Sum)size + (Sum)epsilon);
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = VALUE;
      const long long at = row % groups * step + i / inner;
      STORE
      out[first + i] = (Element)((x - mean) * factor * (Sum)scale[at] BIAS);
    }
    if (threadIdx.x == 0) {
      MOMENTS
    }
  }
}
)";

std::string withTypes(DType dtype, const std::string& text) {
  return concat(typesSource(dtype), pieceSource(), rowSource(), text);
}

constexpr int64_t kManyLines = 32;  // side by side, so that threads beside each other read memory that is, too

class PlacedSoftmax final : public Placed {
 public:
  PlacedSoftmax(DType dtype, bool isLogarithm)
      : Placed(concat("#define RESULT ", isLogarithm ? "x - log(sum)" : "exp(x) / sum", "\n",
                      withTypes(dtype, concat(kSoftmax, kSoftmaxAcross))),
               {"gpu_softmax", "gpu_softmax_across"}) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const Shape& shape = request.inputs[0].shape;
    const int axis = readers::readAxis(request.node.attributes, -1, shape.rank());
    const int64_t outer = shape.product(0, axis), size = shape.rank() ? shape[axis] : 1;
    const int64_t inner = shape.product(std::min(axis + 1, shape.rank()), shape.rank());
    const bool isAcross = inner >= kManyLines;
    auto op = std::make_unique<LaunchOp>(*this, isAcross);
    op->addInput(0);
    op->addOutput(0);
    for (const int64_t value : {outer * inner, size, inner}) op->addValue(value);
    if (isAcross)
      op->coverElements(outer * inner);
    else
      op->coverRows(outer * inner);
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

constexpr const char* kTakeResidual = R"(takePiece(piece, residual + first + i, PIECE, true);
#pragma unroll
        for (int e = 0; e < PIECE; ++e) kept[k][e] += (Sum)piece[e];)";
constexpr const char* kStorePiece = R"(
#pragma unroll
        for (int e = 0; e < PIECE; ++e) piece[e] = (Element)kept[k][e];
        givePiece(total + first + at, piece, PIECE, true);)";

std::string normSource(const NormRow& row, const Node& node, DType dtype) {
  const bool hasResidual = row.scale == 2, hasBias = node.input(row.scale + 1),
             storesSum = hasResidual && node.output(1);
  std::string parameters = hasResidual ? ", const Element* residual" : "";
  const std::string aligned = concat(hasResidual ? "&& isAligned(residual) " : "", hasBias ? "&& isAligned(bias) " : "",
                                     storesSum ? "&& isAligned(total) " : "", "&& isAligned(scale) && isAligned(out)");
  parameters += ", const Element* scale";
  if (hasBias) parameters += ", const Element* bias";
  parameters += ", Element* out";
  std::string moments;
  if (storesSum) parameters += ", Element* total";
  if (!hasResidual && node.output(1)) {
    parameters += ", float* means";
    moments += "means[row] = (float)mean;\n";
  }
  if (node.output(2)) {
    parameters += ", float* factors";
    moments += "factors[row] = (float)factor;\n";
  }
  return withTypes(dtype, filledIn(kNorm, {{"PARAMETERS", parameters},
                                           {"VALUE", hasResidual ? "((Sum)in[first + i] + (Sum)residual[first + i])"
                                                                 : "(Sum)in[first + i]"},
                                           {"ALIGNED", aligned},
                                           {"TAKE_RESIDUAL", hasResidual ? kTakeResidual : ""},
                                           {"TAKEN_BIAS", hasBias ? ", biases[PIECE]" : ""},
                                           {"TAKE_BIAS", hasBias ? "takePiece(biases, bias + at, PIECE, true);" : ""},
                                           {"BIAS_PIECE", hasBias ? "+ (Sum)biases[e]" : ""},
                                           {"STORE_PIECE", storesSum ? kStorePiece : ""},
                                           {"BIAS", hasBias ? "+ (Sum)bias[at]" : ""},
                                           {"MOMENTS", moments},
                                           {"STORE", storesSum ? "total[first + i] = (Element)x;" : ""},
                                           {"SUBTRACTS", row.subtracts ? "true" : "false"}}));
}

class PlacedNorm final : public Placed {
 public:
  PlacedNorm(const NormRow& row, const Node& node, DType dtype)
      : Placed(normSource(row, node, dtype), "gpu_norm"), isOfChannels_(row.isOfChannels) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const RowLayout layout = isOfChannels_ ? channelRows(request) : lastRows(request);
    auto op = std::make_unique<LaunchOp>(*this);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    for (size_t i = 0; i < request.outputs.size(); ++i)
      if (request.outputs[i].present()) op->addOutput(i);
    op->addValue(layout.rows);
    op->addValue(layout.size);
    op->addValue(readers::readEpsilon(request.node.attributes));
    for (const int64_t value : {layout.groups, layout.step, layout.inner}) op->addValue(value);
    op->coverRows(layout.rows);
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
  if (!node.output(0)) return nullptr;
  const int axis = row->isOfChannels ? 0 : readers::LayerNorm(node.attributes, type.rank()).axis;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    if (node.inputs[i]->type.dtype != type.dtype) return nullptr;
    if (i >= row->scale && !row->isOfChannels && !isOfRows(node.inputs[i], type, axis)) return nullptr;
  }
  return node.input(row->scale) ? makeRef<PlacedNorm>(*row, node, type.dtype) : nullptr;
}

constexpr const char* kBatchNorm = R"(
extern "C" __global__ void gpu_batch_norm(const Element* x, const Scale* scale, const Scale* bias, const Moment* mean,
                                          const Moment* variance, Element* y, long long count, long long channels,
                                          long long inner, float epsilon) {
  EACH(i, count) {
    const long long c = i / inner % channels;
    const Sum factor = (Sum)1 / sqrt((Sum)variance[c] + (Sum)epsilon);
    y[i] = (Element)(((Sum)x[i] - (Sum)mean[c]) * factor * (Sum)scale[c] + (Sum)bias[c]);
  }
}
)";

// The moments are those of the batch: a block for each channel.
constexpr const char* kBatchNormTraining = R"(
extern "C" __global__ void gpu_batch_norm(const Element* x, const Scale* scale, const Scale* bias, const Moment* oldMean,
                                          const Moment* oldVariance OUTPUTS, long long count, long long channels,
                                          long long inner, float epsilon, float momentum) {
  __shared__ Sum shared[128];
  const long long each = count / channels;
  EACH_ROW(c, channels) {
    Sum mean = 0, variance = 0;
    for (long long k = threadIdx.x; k < each; k += 128) mean += (Sum)x[PLACE];
    mean = joined<Total>(mean, shared) / (Sum)each;
    for (long long k = threadIdx.x; k < each; k += 128) variance += ((Sum)x[PLACE] - mean) * ((Sum)x[PLACE] - mean);
    variance = joined<Total>(variance, shared) / (Sum)each;
    const Sum factor = (Sum)1 / sqrt(variance + (Sum)epsilon), kept = (Sum)momentum;
    for (long long k = threadIdx.x; k < each; k += 128)
      y[PLACE] = (Element)(((Sum)x[PLACE] - mean) * factor * (Sum)scale[c] + (Sum)bias[c]);
    if (threadIdx.x > 0) continue;
    STORE
  }
}
)";

std::unique_ptr<OpKernel> createBatchNorm(const Placed& placed, const OpRequest& request) {
  const Shape& x = request.inputs[0].shape;
  const readers::BatchNorm reader(request.node.attributes);
  const int64_t channels = request.inputs[1].shape.count(), inner = x.product(std::min(2, x.rank()), x.rank());
  if (!reader.isTraining) return elementLaunch(placed, request, x.count(), channels, inner, reader.epsilon);
  auto op = launchOf(placed, request, x.count(), channels, inner, reader.epsilon, reader.momentum);
  op->coverRows(channels);
  return op;
}

std::string trainingSource(const Node& node) {
  const bool hasMean = node.output(1), hasVariance = node.output(2);
  return filledIn(
      kBatchNormTraining,
      {{"OUTPUTS",
        concat(", Element* y", hasMean ? ", Moment* newMean" : "", hasVariance ? ", Moment* newVariance" : "")},
       {"STORE",
        concat(hasMean ? "newMean[c] = (Moment)((Sum)oldMean[c] * kept + mean * (1 - kept));\n" : "",
               hasVariance ? "newVariance[c] = (Moment)((Sum)oldVariance[c] * kept + variance * (1 - kept));\n" : "")},
       {"PLACE", "(k / inner * channels + c) * inner + k % inner"}});
}

Ref<Placed> placeBatchNorm(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const char *scale = kernelType(node.input(1)->type.dtype).element,
             *moment = kernelType(node.input(3)->type.dtype).element;
  if (!isFloat(dtype) || !kernelType(dtype).element || !scale || !moment || !node.output(0)) return nullptr;
  const bool isTraining = readers::BatchNorm(node.attributes).isTraining;
  return placedAs(withTypes(dtype, concat("typedef ", scale, " Scale;\ntypedef ", moment, " Moment;\n",
                                          isTraining ? trainingSource(node) : std::string(kBatchNorm))),
                  {"gpu_batch_norm"}, createBatchNorm);
}

// Over the channels around that of the element.
constexpr const char* kResponse = R"(
extern "C" __global__ void gpu_lrn(const Element* x, Element* y, long long count, long long channels, long long inner,
                                   long long size, float alpha, float beta, float bias) {
  EACH(i, count) {
    const long long c = i / inner % channels, low = c - (size - 1) / 2, high = c + size / 2;
    Sum squares = 0;
    for (long long k = low < 0 ? 0 : low; k <= high && k < channels; ++k) {
      const Sum value = (Sum)x[i + (k - c) * inner];
      squares += value * value;
    }
    y[i] = (Element)((Sum)x[i] / pow((Sum)bias + (Sum)alpha / (Sum)size * squares, (Sum)beta));
  }
}
)";

std::unique_ptr<OpKernel> createResponse(const Placed& placed, const OpRequest& request) {
  const Shape& x = request.inputs[0].shape;
  const readers::LocalResponse reader(request.node.attributes);
  return elementLaunch(placed, request, x.count(), x[1], x.product(2, x.rank()), reader.size, reader.alpha, reader.beta,
                       reader.bias);
}

Ref<Placed> placeResponse(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  return placedAs(typesSource(dtype) + kResponse, {"gpu_lrn"}, createResponse);
}

std::vector<PlaceRow> makeRows() {
  std::vector<PlaceRow> rows{{"", "Softmax", placeSoftmax},
                             {"", "LogSoftmax", placeSoftmax},
                             {"", "BatchNormalization", placeBatchNorm},
                             {"", "LRN", placeResponse}};
  for (const NormRow& row : kNorms) rows.push_back({row.domain, row.op, placeNorm});
  return rows;
}

}  // namespace

std::span<const PlaceRow> gpuRows() {
  static const std::vector<PlaceRow> rows = makeRows();
  return rows;
}

}  // namespace max
