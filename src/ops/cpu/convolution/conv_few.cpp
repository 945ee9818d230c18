// SPDX-License-Identifier: Apache-2.0
// max.Conv of float32 with few filters: vectors of the input's channels are multiplied by those of each filter.
#include "ops/cpu/convolution/conv_few.h"

#include <algorithm>

#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_rows.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/narrow.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/conv_few.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/sums-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int kBlock = 4;                      // filters
constexpr int kPixels = kLanes >= 16 ? 4 : 2;  // so that their sums are in registers

#if HWY_TARGET != HWY_SCALAR

// What is done to the sums of a pixel, as one short vector; a limit keeps a sum that is no number.
template <int kFilters>
class Results {
 public:
  explicit Results(const FewRow& row) : low_(hn::Set(d_, row.low)), high_(hn::Set(d_, row.high)) {
    HWY_ALIGN float bias[kBlock] = {};
    if (row.bias) std::copy_n(row.bias, kFilters, bias);
    bias_ = hn::Load(d_, bias);
  }
  HWY_INLINE void keep(float* sums, float* out) const {
    const Few kept = hn::Min(high_, hn::Max(low_, hn::Add(hn::Load(d_, sums), bias_)));
    if constexpr (kFilters == kBlock) return hn::StoreU(kept, d_, out);
    hn::Store(kept, d_, sums);
    MAX_UNROLL for (int f = 0; f < kFilters; ++f) out[f] = sums[f];
  }

 private:
  static constexpr hn::FixedTag<float, kBlock> d_{};
  using Few = hn::Vec<hn::FixedTag<float, kBlock>>;
  Few low_, high_, bias_;
};

template <int kFilters, int kCount>
HWY_INLINE void tile(const FewRow& row, const Results<kFilters>& results, int64_t pixel) {
  const D d;
  V sum[kCount][kFilters];
  MAX_UNROLL for (int p = 0; p < kCount; ++p) MAX_UNROLL for (int f = 0; f < kFilters; ++f) sum[p][f] = hn::Zero(d);
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * row.step, *weights = row.weights[r];
    const auto add = [&](auto load, int64_t k) HWY_ATTR {
      V weight[kFilters];
      MAX_UNROLL for (int f = 0; f < kFilters; ++f) weight[f] = load(weights + f * row.filterFloats + k);
      MAX_UNROLL for (int p = 0; p < kCount; ++p) {
        const V value = load(x + p * row.step + k);
        MAX_UNROLL for (int f = 0; f < kFilters; ++f) sum[p][f] = hn::MulAdd(value, weight[f], sum[p][f]);
      }
    };
    int64_t k = 0;
    for (; k + kLanes <= row.depth; k += kLanes) add([&](const float* from) HWY_ATTR { return hn::LoadU(d, from); }, k);
    if (k < row.depth) add([&](const float* from) HWY_ATTR { return loadFirst(d, from, row.depth - k); }, k);
  }
  MAX_UNROLL for (int p = 0; p < kCount; ++p) {
    HWY_ALIGN float sums[kBlock];
    sumsOf(sum[p], sums);
    results.keep(sums, row.out + (pixel + p) * row.pixelSize);
  }
}

template <int kFilters>
void runPixels(const FewRow& row) {
  const Results<kFilters> results(row);
  int64_t pixel = 0;
  for (; pixel + kPixels <= row.pixels; pixel += kPixels) tile<kFilters, kPixels>(row, results, pixel);
  for (; pixel < row.pixels; ++pixel) tile<kFilters, 1>(row, results, pixel);
}

void run(const FewRow& row) {
  constexpr void (*kRun[])(const FewRow& row) = {runPixels<1>, runPixels<2>, runPixels<3>, runPixels<4>};
  kRun[row.filters - 1](row);
}

#else

void run(const FewRow& row) {
  for (int64_t pixel = 0; pixel < row.pixels; ++pixel) {
    float sums[kBlock] = {};
    for (int64_t r = 0; r < row.rows; ++r)
      for (int64_t f = 0; f < row.filters; ++f)
        for (int64_t k = 0; k < row.depth; ++k)
          sums[f] += row.x[r][pixel * row.step + k] * row.weights[r][f * row.filterFloats + k];
    for (int64_t f = 0; f < row.filters; ++f) {
      const float sum = sums[f] + (row.bias ? row.bias[f] : 0.f);
      row.out[pixel * row.pixelSize + f] = sum < row.low ? row.low : sum > row.high ? row.high : sum;
    }
  }
}

#endif

}  // namespace

extern const FewTable kFew;
constexpr FewTable kFew = {run};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

namespace {

constexpr int64_t kBlockFilters = 4, kFewestChannels = 16;
constexpr int64_t kShortSum = 128;
// Of long sums, more filters than a product fills its vectors with.
constexpr int64_t kMostOfLongSums = 12, kLongSum = 256;

Ref<FewWeights> weightsOf(const OpRequest& request) {
  auto* prepared = dynamic_cast<FewWeights*>(request.node.prepared.get());
  if (prepared) return Ref<FewWeights>(prepared);
  return request.inputs[1].constant ? makeRef<FewWeights>(*request.inputs[1].constant) : nullptr;
}

class FewOp final : public BorderedRowsOp {
 public:
  explicit FewOp(const OpRequest& request) : BorderedRowsOp(request), table_(fewTable()), weights_(weightsOf(request)) {
    if (!weights_) weightBytes_ = alignUp(checkedMultiply<int64_t>(sizeof(float), request.inputs[1].shape.count()));
  }
  size_t scratchBytes() const override { return BorderedRowsOp::scratchBytes() + static_cast<size_t>(weightBytes_); }
  void run(const OpContext& context) const override {
    if (!weights_)
      transposeMatrices(context.in<float>(1), shape_.filters, shape_.channels, shape_.taps(), ownValues(context));
    BorderedRowsOp::run(context);
  }
  bool takesPitch(OperandPlace place) const override {
    return place.side == OperandPlace::Output || (place.number == 0 && rows_.takesInStep());
  }

 private:
  void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float*) const override {
    const float *values = weights_ ? weights_->values() : ownValues(context), *weights[BorderedRows::kMost];
    float* out = context.out<float>() + segment.begin * outStep_;
    FewRow row{};
    row.x = segment.x;
    row.weights = weights;
    row.rows = segment.count;
    row.depth = shape_.kernel[2] * shape_.channels;
    row.filterFloats = shape_.taps() * shape_.channels;
    row.step = shape_.stride[2] * inStep_;
    row.pixels = segment.pixels;
    row.pixelSize = outStep_;
    row.low = activation_.low;
    row.high = activation_.high;
    for (int64_t filter = 0; filter < shape_.filters; filter += kBlockFilters) {
      for (int64_t r = 0; r < segment.count; ++r)
        weights[r] = values + filter * row.filterFloats + segment.numbers[r] * row.depth;
      row.filters = std::min(kBlockFilters, shape_.filters - filter);
      row.bias = hasBias_ ? context.in<float>(2) + filter : nullptr;
      row.out = out + filter;
      table_.run(row);
    }
    if (activation_.function) applyFunction(out, segment.pixels);
  }

  // Of filters that are not known before the call, behind the memory of lanes.
  float* ownValues(const OpContext& context) const {
    return reinterpret_cast<float*>(context.scratch + BorderedRowsOp::scratchBytes());
  }

  const FewTable& table_;
  Ref<FewWeights> weights_;
  int64_t weightBytes_ = 0;
};

}  // namespace

FewWeights::FewWeights(const Tensor& weights) : values_(Tensor::allocate(DType::Float32, Shape({weights.count()}))) {
  const Shape& shape = weights.shape();
  transposeMatrices(weights.as<float>(), shape[0], shape[1], shape.product(2, shape.rank()),
                    static_cast<float*>(values_->mutableData()));
}

const FewTable& fewTable() { return MAX_CHOOSE_TARGET(kFew); }

bool hasFewFilters(const Node& node, const Shape& shape) {
  if (node.input(3) || readers::readGroups(node.attributes) != 1) return false;
  const int64_t most = shape.product(1, shape.rank()) >= kLongSum ? kMostOfLongSums : kMostFewFilters;
  if (shape[0] > most || shape[1] < kFewestChannels) return false;
  // Adding up takes as long as the products of so few factors; those of bfloat16 need not.
  const bool isShort = shape.product(1, shape.rank()) <= kShortSum || shape.product(2, shape.rank()) > 1;
  if (isShort && shape[0] > kBlockFilters && gemmTableFor(node).takesNarrow()) return false;
  return hasBorderedRows(node, shape);
}

bool acceptsFew(const OpRequest& request) {
  if (request.has(3) || !areFloats(request)) return false;
  if (request.node.prepared) return dynamic_cast<const FewWeights*>(request.node.prepared.get());
  const Shape& weights = request.inputs[1].shape;
  return !request.inputs[1].constant && weights.rank() <= 5 && hasFewFilters(request.node, weights);
}

std::unique_ptr<OpKernel> createFew(const OpRequest& request) { return std::make_unique<FewOp>(request); }

}  // namespace max
#endif
