// SPDX-License-Identifier: Apache-2.0
// max.Conv with few channels, or with one vector of filters, in float32: each element of the input is multiplied by a
// vector of filters. Rows of the input are copied with their borders, unless they have none.
#include "ops/cpu/convolution/conv_stem.h"

#include <algorithm>

#include "base/align.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_few.h"
#include "ops/cpu/convolution/conv_rows.h"
#include "ops/cpu/convolution/winograd.h"
#include "ops/cpu/narrow.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/conv_stem.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int kVectors = 2;                     // of filters
constexpr int kPixels = kLanes >= 16 ? 14 : 6;  // so that their sums are in registers

// Where results go. T: an element of the output; kFull: all vectors of filters are.
template <class T, bool kFull>
struct Store {
  T* out;

  HWY_INLINE void operator()(const StemRow& row, V sum, int64_t at, int64_t v) const {
    const D d;
    const int64_t count = kFull ? kLanes : row.filters - v * kLanes;
    if constexpr (sizeof(T) == 2)
      storeNarrow(sum, out + at + v * kLanes, count);
    else
      storeFirst(d, sum, out + at + v * kLanes, count);
  }
};

template <int kCount, int kWide, class S>
HWY_INLINE void tile(const StemRow& row, S store, int64_t pixel) {
  const D d;
  V sum[kCount][kWide];
  MAX_UNROLL for (int v = 0; v < kWide; ++v) {
    const V bias = row.bias ? loadFirst(d, row.bias + v * kLanes, row.filters - v * kLanes) : hn::Zero(d);
    MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p][v] = bias;
  }
  const int64_t step = row.step;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, ++x, weights += kWide * kLanes) {
      V weight[kWide];
      MAX_UNROLL for (int v = 0; v < kWide; ++v) weight[v] = hn::LoadU(d, weights + v * kLanes);
      MAX_UNROLL for (int p = 0; p < kCount; ++p) {
        const V value = hn::Set(d, x[p * step]);
        MAX_UNROLL for (int v = 0; v < kWide; ++v) sum[p][v] = hn::MulAdd(value, weight[v], sum[p][v]);
      }
    }
  }
  const V low = hn::Set(d, row.low), high = hn::Set(d, row.high);
  MAX_UNROLL for (int p = 0; p < kCount; ++p) MAX_UNROLL for (int v = 0; v < kWide; ++v)
      store(row, hn::Min(high, hn::Max(low, sum[p][v])), (pixel + p) * row.pixelSize, v);
}

// The last tile overlaps the one before it.
template <int kWide, class S>
void runPixels(const StemRow& row, S store) {
  int64_t pixel = 0;
  for (; pixel + kPixels <= row.pixels; pixel += kPixels) tile<kPixels, kWide>(row, store, pixel);
  if (pixel < row.pixels && row.pixels >= kPixels) return tile<kPixels, kWide>(row, store, row.pixels - kPixels);
  for (; pixel < row.pixels; ++pixel) tile<1, kWide>(row, store, pixel);
}

template <int kWide, class T>
void runVectors(const StemRow& row, T* out) {
  if (row.filters == kWide * kLanes)
    runPixels<kWide>(row, Store<T, true>{out});
  else
    runPixels<kWide>(row, Store<T, false>{out});
}

template <class T>
void runBlock(const StemRow& row, T* out) {
  row.filters > kLanes ? runVectors<kVectors>(row, out) : runVectors<1>(row, out);
}

void run(const StemRow& row) {
#if HWY_TARGET == HWY_AVX3
  if (row.narrow) return runBlock(row, row.narrow);
#endif
  runBlock(row, row.out);
}

}  // namespace

extern const StemTable kStem;
constexpr StemTable kStem = {kVectors * kLanes, kLanes, run};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

namespace {

constexpr int64_t kMostChannels = 4, kMostTaps = 768;
constexpr int64_t kMostBeforeWords = 32;  // filters, or elements of a window; with more, bfloat16 is faster
constexpr int64_t kMostOfLine = 64;       // filters, or elements of a window, of one axis

Ref<StemWeights> weightsOf(const OpRequest& request, const StemTable& table) {
  auto* prepared = dynamic_cast<StemWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(table)) return Ref<StemWeights>(prepared);
  return makeRef<StemWeights>(table, *request.inputs[1].constant);
}

class StemOp final : public BorderedRowsOp {
 public:
  explicit StemOp(const OpRequest& request)
      : BorderedRowsOp(request, isNarrow(request.outputs[0]) && fusedActivation(request.node).function),
        table_(stemTable()),
        weights_(weightsOf(request, table_)),
        writesNarrow_(isNarrow(request.outputs[0])) {}

 private:
  void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float* floats) const override {
    const int64_t at = segment.begin * shape_.filters, count = segment.pixels * shape_.filters;
    StemRow row{segment.x,
                nullptr,
                segment.count,
                shape_.kernel[2] * shape_.channels,
                shape_.stride[2] * shape_.channels,
                segment.pixels,
                0,
                shape_.filters,
                nullptr,
                nullptr,
                nullptr,
                activation_.low,
                activation_.high};
    if (!activation_.function)
      return runBlocks(context, row, segment, writesNarrow_ ? nullptr : context.out<float>() + at,
                       writesNarrow_ ? context.out<uint16_t>() + at : nullptr);
    float* out = writesNarrow_ ? floats : context.out<float>() + at;
    runBlocks(context, row, segment, out, nullptr);
    if (writesNarrow_)
      bfloat16GemmTable()->narrowFunction(activation_, {out, 0, 1, count, context.out<uint16_t>() + at, 0, {}, 0});
    else
      applyActivation(activation_, out, count);
  }

  void runBlocks(const OpContext& context, StemRow row, const BorderedRows::Segment& segment, float* out,
                 uint16_t* narrow) const {
    const float* weights[BorderedRows::kMost];
    row.weights = weights;
    for (int64_t filter = 0; filter < shape_.filters; filter += table_.blockFilters) {
      for (int64_t r = 0; r < row.rows; ++r) weights[r] = weights_->row(filter, segment.numbers[r]);
      row.filters = std::min(table_.blockFilters, shape_.filters - filter);
      row.bias = hasBias_ ? context.in<float>(2) + filter : nullptr;
      row.out = out ? out + filter : nullptr;
      row.narrow = narrow ? narrow + filter : nullptr;
      table_.run(row);
    }
  }

  const StemTable& table_;
  Ref<StemWeights> weights_;
  bool writesNarrow_;
};

}  // namespace

StemWeights::StemWeights(const StemTable& table, const Tensor& weights)
    : lanes_(table.lanes), blockFilters_(table.blockFilters), filters_(weights.shape()[0]) {
  const Shape& shape = weights.shape();
  const int64_t channels = shape[1], width = shape[shape.rank() - 1], taps = shape.product(2, shape.rank());
  kernelRows_ = taps / width;
  rowTaps_ = width * channels;
  values_ = Tensor::allocate(DType::Float32, Shape({checkedMultiply(alignUp(filters_, lanes_), taps * channels)}));
  auto* values = static_cast<float*>(values_->mutableData());
  std::fill_n(values, values_->count(), 0.f);
  const float* from = weights.as<float>();
  for (int64_t filter = 0; filter < filters_; ++filter) {
    const int64_t block = filter / blockFilters_ * blockFilters_;
    const int64_t padded = alignUp(std::min(blockFilters_, filters_ - block), lanes_);
    float* to = values + block * taps * channels + filter - block;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c)
        to[(tap * channels + c) * padded] = from[(filter * channels + c) * taps + tap];
  }
}

const float* StemWeights::row(int64_t filter, int64_t kernelRow) const {
  const int64_t padded = alignUp(std::min(blockFilters_, filters_ - filter), lanes_);
  return values_->as<float>() + filter * kernelRows_ * rowTaps_ + kernelRow * rowTaps_ * padded;
}

const StemTable& stemTable() { return MAX_CHOOSE_TARGET(kStem); }

bool isStem(const Node& node, const Tensor& weights) {
  const Shape& shape = weights.shape();
  if (!node.isOwn("Conv") || node.input(3) || readers::readGroups(node.attributes) != 1) return false;
  if (shape.product(1, shape.rank()) > kMostTaps || !hasBorderedRows(node, shape)) return false;
  // A product of many filters reads long windows of one axis where they are, and needs no tile of pixels.
  if (shape.rank() == 3 && shape[0] > kMostOfLine && shape[1] * shape[2] > kMostOfLine) return false;
  if (shape[1] <= kMostChannels)
    return !mayBeNarrow(node) || std::max(shape[0], shape.product(1, shape.rank())) <= kMostBeforeWords;
  const bool isOneVector = shape[0] > kMostFewFilters && shape[0] <= stemTable().lanes;
  return isOneVector && !mayBeNarrow(node) && winogradSide(node, weights) == 0;
}

Ref<Prepared> prepareStem(const Tensor& weights) { return makeRef<StemWeights>(stemTable(), weights); }

bool acceptsStem(const OpRequest& request) {
  return dynamic_cast<const StemWeights*>(request.node.prepared.get()) && !request.has(3) &&
         areFloats(request, {0, mayBeNarrow(request.node) ? operandBit(0) : 0});
}

std::unique_ptr<OpKernel> createStem(const OpRequest& request) { return std::make_unique<StemOp>(request); }

}  // namespace max
#endif
