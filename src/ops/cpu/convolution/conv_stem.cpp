// SPDX-License-Identifier: Apache-2.0
// max.Conv with few channels, or with one vector of filters, in float32: each element of the input is multiplied by a
// vector of filters, or vectors of pixels by each filter. Rows of the input are copied with their borders, unless they
// have none. The latter of bfloat16, too (stem_bf16-inl.h).
#include "ops/cpu/convolution/conv_stem.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/half.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_few.h"
#include "ops/cpu/convolution/conv_rows.h"
#include "ops/cpu/convolution/conv_windows.h"
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
constexpr int kSomePixels = kLanes >= 16 ? 8 : 4;
constexpr int kFewPixels = kLanes >= 16 ? 5 : 3;  // of short rows
// Chips whose units have half as many lanes need half the time for vectors of so few filters.
using Half = hn::CappedTag<float, kLanes >= 16 ? kLanes / 2 : kLanes>;
constexpr int64_t kHalf = hn::MaxLanes(Half());

// Where results go. T: an element of the output; kFull: all vectors of filters are.
template <class T, bool kFull>
struct Store {
  T* out;

  template <class DV>
  HWY_INLINE void operator()(const StemRow& row, DV d, hn::Vec<DV> sum, int64_t at, int64_t v) const {
    constexpr int64_t kAll = hn::MaxLanes(d);
    const int64_t count = kFull ? kAll : row.filters - v * kAll;
    T* to = out + at + v * kAll;
    if constexpr (sizeof(T) == 4 && kFull)
      hn::StoreU(sum, d, to);
    else if constexpr (sizeof(T) == 4)
      storeFirst(d, sum, to, count);
#if HWY_TARGET == HWY_AVX3
    else if constexpr (kAll < kLanes)
      storeNarrow(hn::ZeroExtendVector(D(), sum), to, count);
#endif
    else
      storeNarrow(sum, to, count);
  }
};

// DV: vectors of filters.
template <class DV, int kCount, int kWide, class S>
HWY_INLINE void tile(const StemRow& row, S store, int64_t pixel) {
  using Sum = hn::Vec<DV>;
  const DV d;
  Sum sum[kCount][kWide];
  MAX_UNROLL for (int v = 0; v < kWide; ++v) {
    const Sum bias = row.bias ? loadFirst(d, row.bias + v * kLanes, row.filters - v * kLanes) : hn::Zero(d);
    MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p][v] = bias;
  }
  const int64_t step = row.step;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, ++x, weights += kWide * kLanes) {
      Sum weight[kWide];
      MAX_UNROLL for (int v = 0; v < kWide; ++v) weight[v] = hn::LoadU(d, weights + v * kLanes);
      MAX_UNROLL for (int p = 0; p < kCount; ++p) {
        const Sum value = hn::Set(d, x[p * step]);
        MAX_UNROLL for (int v = 0; v < kWide; ++v) sum[p][v] = hn::MulAdd(value, weight[v], sum[p][v]);
      }
    }
  }
  const Sum low = hn::Set(d, row.low), high = hn::Set(d, row.high);
  MAX_UNROLL for (int p = 0; p < kCount; ++p) MAX_UNROLL for (int v = 0; v < kWide; ++v)
      store(row, d, hn::Min(high, hn::Max(low, sum[p][v])), (pixel + p) * row.pixelSize, v);
}

// Pixels from `pixel` on, so many tiles of them; the last of a row overlaps the one before it.
template <class DV, int kCount, int kWide, class S>
void runTiles(const StemRow& row, S store, int64_t pixel, int64_t tiles) {
  for (; tiles > 0; --tiles, pixel += kCount) tile<DV, kCount, kWide>(row, store, std::min(pixel, row.pixels - kCount));
}

// How many tiles of kPixels, before those of kSomePixels, compute the fewest pixels twice.
int64_t largeTiles(int64_t pixels) {
  if (pixels < kPixels) return 0;
  int64_t best = 0, fewest = ceilDiv(pixels, kSomePixels) * kSomePixels;
  const int64_t most = ceilDiv(pixels, kPixels);
  for (int64_t large = std::max(most - kSomePixels, int64_t{1}); large <= most; ++large) {
    const int64_t rest = std::max<int64_t>(pixels - large * kPixels, 0);
    const int64_t all = large * kPixels + ceilDiv(rest, kSomePixels) * kSomePixels;
    if (all <= fewest) best = large, fewest = all;
  }
  return best;
}

template <class DV, int kWide, class S>
void runPixels(const StemRow& row, S store) {
  if (row.pixels < kFewPixels) return runTiles<DV, 1, kWide>(row, store, 0, row.pixels);
  if (row.pixels < kSomePixels) return runTiles<DV, kFewPixels, kWide>(row, store, 0, ceilDiv(row.pixels, kFewPixels));
  const int64_t large = largeTiles(row.pixels), rest = std::max<int64_t>(row.pixels - large * kPixels, 0);
  runTiles<DV, kPixels, kWide>(row, store, 0, large);
  runTiles<DV, kSomePixels, kWide>(row, store, large * kPixels, ceilDiv(rest, kSomePixels));
}

template <class DV, int kWide, class T>
void runVectors(const StemRow& row, T* out) {
  if (row.filters == kWide * static_cast<int64_t>(hn::MaxLanes(DV())))
    runPixels<DV, kWide>(row, Store<T, true>{out});
  else
    runPixels<DV, kWide>(row, Store<T, false>{out});
}

template <class T>
void runBlock(const StemRow& row, T* out) {
  if constexpr (kHalf < kLanes) {
    if (row.filters <= kHalf) return runVectors<Half, 1>(row, out);
  }
  row.filters > kLanes ? runVectors<D, kVectors>(row, out) : runVectors<D, 1>(row, out);
}

// Filters times pixels of a tile of planes: sums in registers, beside a filter and pixels.
constexpr int kMostOfPlanes = kLanes >= 8 ? kLanes / 2 : 0;
constexpr int kPlaneFilters = 4;  // or twice as many
template <int kFilters>
constexpr int kPlaneVectors = (kLanes >= 16 ? 24 : 8) / kFilters;

HWY_INLINE void copyFirst(const float* from, int64_t count, float* to) {
  if (count == kPlaneFilters) return static_cast<void>(std::memcpy(to, from, sizeof(float) * kPlaneFilters));
  to[0] = from[0];
  if (count > 1) to[1] = from[1];
  if (count > 2) to[2] = from[2];
}

// Sums of filters [0, filters), each of vectors of pixels, to those of pixels.
template <int kFilters, int kCount>
void storePixels(const StemRow& row, const float* sums, int64_t pixel, int64_t count) {
  const D d;
  HWY_ALIGN float four[kPlaneFilters * kLanes];
  for (int64_t filter = 0; filter < row.filters; filter += kPlaneFilters) {
    const int64_t filters = std::min<int64_t>(kPlaneFilters, row.filters - filter);
    float* out = row.out + pixel * row.pixelSize + filter;
    for (int64_t first = 0; first < count; first += kLanes) {
      const float* from = sums + filter * kCount * kLanes + first;
      const auto load = [&](int64_t f) HWY_ATTR { return hn::Load(d, from + f * kCount * kLanes); };
      hn::StoreInterleaved4(load(0), load(1), load(2), load(3), d, four);
      const int64_t pixels = std::min(kLanes, count - first);
      for (int64_t p = 0; p < pixels; ++p, out += row.pixelSize) copyFirst(four + p * kPlaneFilters, filters, out);
    }
  }
}

// Of vectors of pixels and a filter.
struct ProductOfFloats {
  static HWY_INLINE V add(V sum, V pixels, V weight) { return hn::MulAdd(pixels, weight, sum); }
};

// `count` pixels, at least one of each vector.
template <class Product, int kFilters, int kCount>
HWY_INLINE void planeTile(const StemRow& row, int64_t pixel, int64_t count) {
  const D d;
  V sum[kFilters][kCount];
  MAX_UNROLL for (int f = 0; f < kFilters; ++f) {
    const V bias = hn::Set(d, row.bias && f < row.filters ? row.bias[f] : 0.f);
    MAX_UNROLL for (int v = 0; v < kCount; ++v) sum[f][v] = bias;
  }
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, weights += kFilters) {
      const float* from = x + row.offsets[tap];
      V values[kCount];
      MAX_UNROLL for (int v = 0; v < kCount; ++v) values[v] = hn::LoadU(d, from + v * kLanes);
      MAX_UNROLL for (int f = 0; f < kFilters; ++f) {
        const V weight = hn::Set(d, weights[f]);
        MAX_UNROLL for (int v = 0; v < kCount; ++v) sum[f][v] = Product::add(sum[f][v], values[v], weight);
      }
    }
  }
  const V low = hn::Set(d, row.low), high = hn::Set(d, row.high);
  HWY_ALIGN float sums[kFilters * kCount * kLanes];
  MAX_UNROLL for (int f = 0; f < kFilters; ++f) MAX_UNROLL for (int v = 0; v < kCount; ++v)
      hn::Store(hn::Min(high, hn::Max(low, sum[f][v])), d, sums + (f * kCount + v) * kLanes);
  storePixels<kFilters, kCount>(row, sums, pixel, count);
}

template <int kFilters>
void runPlanePixels(const StemRow& row) {
  constexpr int kCount = kPlaneVectors<kFilters>, kTile = kCount * kLanes;
  int64_t pixel = 0;
  for (; pixel + kTile <= row.pixels; pixel += kTile) planeTile<ProductOfFloats, kFilters, kCount>(row, pixel, kTile);
  for (; pixel < row.pixels; pixel += kLanes)
    planeTile<ProductOfFloats, kFilters, 1>(row, pixel, std::min<int64_t>(kLanes, row.pixels - pixel));
}

void runPlanes(const StemRow& row) {
  if (kMostOfPlanes > kPlaneFilters && row.filters > kPlaneFilters) return runPlanePixels<2 * kPlaneFilters>(row);
  if (kMostOfPlanes > 0) runPlanePixels<kPlaneFilters>(row);
}

void run(const StemRow& row) {
#if HWY_TARGET == HWY_AVX3
  if (row.narrow) return runBlock(row, row.narrow);
#endif
  runBlock(row, row.out);
}

}  // namespace

extern const StemTable kStem, kStemOfPlanes;
constexpr StemTable kStem = {kVectors * kLanes, kLanes, run, 0, kMostOfPlanes};
constexpr StemTable kStemOfPlanes = {kMostOfPlanes, kPlaneFilters, runPlanes, kLanes, kMostOfPlanes};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#include "ops/cpu/convolution/stem_bf16-inl.h"

#if HWY_ONCE
namespace max {

namespace {

constexpr int64_t kMostChannels = 4, kMostTaps = 768;  // of elements or words
constexpr int64_t kReadsOfCopy = 4;
constexpr int64_t kPixelsAtOnce = 168;  // of all blocks of filters; whole tiles of every target
// Filters that read planes are a fraction of a vector, so that weights of more taps stay in a near cache.
constexpr int64_t kMostTapsOfPlanes = 8192;
constexpr int64_t kMostPlanes = 15;  // channels; vectors of more are multiplied by those of few filters
[[maybe_unused]] constexpr int64_t kMostPlanesOfWords = 64;  // channels, two in a plane
// Filters, or elements of a window; with more, bfloat16 is faster. Functions take as long as so few products, and
// longer a tile at a time.
constexpr int64_t kMostBeforeWords = 32;
constexpr int64_t kMostOfLine = 64;  // filters, or elements of a window, of one axis

// Whether few filters read few channels, often enough to be worth a copy of these: each copied element should be read
// by some pixels.
bool hasPlanes(const Node& node, const Shape& weights, int64_t mostPlanes = kMostPlanes) {
  if (weights[0] > stemTable().mostOfPlanes || weights[1] > mostPlanes) return false;
  const std::vector<readers::Window> axes = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes;
  const readers::Window& last = axes.back();
  if (last.stride * weights[1] == 1) return weights.product(2, weights.rank()) > 1;
  const int64_t down = axes.size() > 1 ? axes[axes.size() - 2].size : 1;
  const int64_t rows = axes.size() > 1 ? std::min(axes[axes.size() - 2].stride, down) : 1;  // that are new to a row
  return down * last.size >= kReadsOfCopy * rows * last.stride;
}

// NULL = none, or not worth it.
const StemTable* wordTable([[maybe_unused]] const Node& node, [[maybe_unused]] const Shape& weights) {
#if HWY_TARGETS & HWY_AVX3
  if (!mayBeNarrow(node) || !bfloat16VectorTable() || gemmTableFor(node).vectors || weights[1] % 2 != 0) return nullptr;
  // Half of such vectors would be empty, as against sums of float32 over many channels.
  if (weights[0] <= N_AVX3::kStemOfWords.lanes / 2 && weights[1] > kMostPlanes) return nullptr;
  const bool isWorthIt = !hasShortRows(node) && hasPlanes(node, weights, kMostPlanesOfWords);
  return isWorthIt ? &N_AVX3::kStemOfWords : nullptr;
#else
  return nullptr;
#endif
}

const StemTable& tableOf(const OpRequest& request) { return stemTableFor(request.node, request.inputs[1].shape); }

BorderedRows::Elements elementsOf(const OpRequest& request) {
  if (tableOf(request).elements == 1) return BorderedRows::Elements::Floats;
  return isNarrow(request.inputs[0]) ? BorderedRows::Elements::Words : BorderedRows::Elements::RoundedFloats;
}

Ref<StemWeights> weightsOf(const OpRequest& request, const StemTable& table) {
  auto* prepared = dynamic_cast<StemWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(table)) return Ref<StemWeights>(prepared);
  return makeRef<StemWeights>(table, *request.inputs[1].constant);
}

class StemOp final : public BorderedRowsOp {
 public:
  explicit StemOp(const OpRequest& request)
      : BorderedRowsOp(request, isNarrow(request.outputs[0]) && makesFloats(request), elementsOf(request),
                       tableOf(request).overread),
        table_(tableOf(request)),
        weights_(weightsOf(request, table_)),
        writesNarrow_(isNarrow(request.outputs[0])),
        makesFloats_(makesFloats(request)) {
    if (table_.hasPlanes()) offsets_ = rows_.planeOffsets();
  }
  bool takesPitch(OperandPlace place) const override {
    if (place.side == OperandPlace::Output) return !writesNarrow_;
    return place.number == 0 && rows_.takesInStep();
  }

 private:
  // Results that are not bfloat16 at first.
  static bool makesFloats(const OpRequest& request) {
    return fusedActivation(request.node).function || tableOf(request).hasPlanes();
  }

  void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float* floats) const override {
    const int64_t at = segment.begin * outStep_, count = segment.pixels * shape_.filters;
    StemRow row{nullptr,
                nullptr,
                segment.count,
                shape_.kernel[2] * shape_.channels / table_.elements,
                shape_.stride[2] * inStep_,
                0,
                0,
                outStep_,
                nullptr,
                nullptr,
                nullptr,
                activation_.low,
                activation_.high,
                offsets_.data()};
    if (!makesFloats_)
      return runBlocks(context, row, segment, writesNarrow_ ? nullptr : context.out<float>() + at,
                       writesNarrow_ ? context.out<uint16_t>() + at : nullptr);
    float* out = writesNarrow_ ? floats : context.out<float>() + at;
    runBlocks(context, row, segment, out, nullptr);
    if (writesNarrow_ && activation_.function)
      bfloat16GemmTable()->narrowFunction(activation_, {out, 0, 1, count, context.out<uint16_t>() + at, 0, {}, 0});
    else if (writesNarrow_)
      bfloat16GemmTable()->narrow(out, count, context.out<uint16_t>() + at);
    else if (activation_.function)
      applyFunction(out, segment.pixels);
  }

  // All filters of some pixels, whose results stay in a near cache until they are whole.
  void runBlocks(const OpContext& context, StemRow row, const BorderedRows::Segment& segment, float* out,
                 uint16_t* narrow) const {
    const float *x[BorderedRows::kMost], *weights[BorderedRows::kMost];
    row.x = x;
    row.weights = weights;
    const int64_t most = shape_.filters > table_.blockFilters ? kPixelsAtOnce : segment.pixels;
    for (int64_t pixel = 0; pixel < segment.pixels; pixel += most) {
      row.pixels = std::min(most, segment.pixels - pixel);
      for (int64_t r = 0; r < row.rows; ++r) x[r] = segment.x[r] + pixel * row.step;
      for (int64_t filter = 0; filter < shape_.filters; filter += table_.blockFilters) {
        const int64_t at = pixel * outStep_ + filter;
        for (int64_t r = 0; r < row.rows; ++r) weights[r] = weights_->row(filter, segment.numbers[r]);
        row.filters = std::min(table_.blockFilters, shape_.filters - filter);
        row.bias = hasBias_ ? context.in<float>(2) + filter : nullptr;
        row.out = out ? out + at : nullptr;
        row.narrow = narrow ? narrow + at : nullptr;
        table_.run(row);
      }
    }
  }

  const StemTable& table_;
  Ref<StemWeights> weights_;
  bool writesNarrow_, makesFloats_;
  std::vector<int64_t> offsets_;  // of taps' planes
};

bool accepts(const OpRequest& request, bool hasWords) {
  const auto* weights = dynamic_cast<const StemWeights*>(request.node.prepared.get());
  return weights && weights->hasWords() == hasWords && !request.has(3) && areFloats(request, narrowStem(request.node));
}

}  // namespace

StemWeights::StemWeights(const StemTable& table, const Tensor& weights)
    : lanes_(table.lanes),
      blockFilters_(table.blockFilters),
      elements_(table.elements),
      filters_(weights.shape()[0]),
      lastFilters_(alignUp(filters_ % std::max<int64_t>(blockFilters_, 1), lanes_)) {
  const Shape& shape = weights.shape();
  const int64_t channels = shape[1], width = shape[shape.rank() - 1], taps = shape.product(2, shape.rank());
  kernelRows_ = taps / width;
  rowTaps_ = width * channels / elements_;
  const DType dtype = hasWords() ? DType::BFloat16 : DType::Float32;
  values_ = Tensor::allocate(dtype, Shape({checkedMultiply(alignUp(filters_, lanes_), taps * channels)}));
  auto* values = static_cast<std::byte*>(values_->mutableData());
  std::fill_n(values, values_->bytes(), std::byte{0});
  const float* from = weights.as<float>();
  for (int64_t filter = 0; filter < filters_; ++filter) {
    const int64_t block = filter / blockFilters_ * blockFilters_;
    const int64_t padded = alignUp(std::min(blockFilters_, filters_ - block), lanes_);
    const int64_t first = block * taps * channels / elements_ + filter - block;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c) {
        const float value = from[(filter * channels + c) * taps + tap];
        const int64_t to = first + (tap * channels + c) / elements_ * padded;
        if (hasWords())
          reinterpret_cast<uint16_t*>(values)[2 * to + c % 2] = bfloat16FromFloat(value);
        else
          reinterpret_cast<float*>(values)[to] = value;
      }
  }
}

const float* StemWeights::row(int64_t filter, int64_t kernelRow) const {
  const int64_t padded = filter + blockFilters_ <= filters_ ? blockFilters_ : lastFilters_;
  return reinterpret_cast<const float*>(values_->data()) + filter * kernelRows_ * rowTaps_ +
         kernelRow * rowTaps_ * padded;
}

const StemTable& stemTable() { return MAX_CHOOSE_TARGET(kStem); }
const StemTable& stemTableFor(const Node& node, const Shape& weights) {
  if (const StemTable* words = wordTable(node, weights)) return *words;
  return hasPlanes(node, weights) ? MAX_CHOOSE_TARGET(kStemOfPlanes) : stemTable();
}

bool isStem(const Node& node, const Tensor& weights) {
  const Shape& shape = weights.shape();
  if (!node.isOwn("Conv") || node.input(3) || readers::readGroups(node.attributes) != 1) return false;
  const StemTable& table = stemTableFor(node, shape);
  const int64_t mostTaps = table.hasPlanes() && table.elements == 1 ? kMostTapsOfPlanes : kMostTaps * table.elements;
  if (shape.product(1, shape.rank()) > mostTaps || !hasBorderedRows(node, shape)) return false;
  // A product of many filters reads long windows of one axis where they are, and needs no tile of pixels.
  if (shape.rank() == 3 && shape[0] > kMostOfLine && shape[1] * shape[2] > kMostOfLine) return false;
  if (table.hasPlanes()) return true;
  if (shape[1] <= kMostChannels)
    return !mayBeNarrow(node) || (std::max(shape[0], shape.product(1, shape.rank())) <= kMostBeforeWords &&
                                  (fusedActivation(node).function || !hasWindows(node, weights)));
  const bool isOneVector = shape[0] > kMostFewFilters && shape[0] <= stemTable().lanes;
  return isOneVector && !mayBeNarrow(node) && winogradSide(node, weights) == 0;
}

Ref<Prepared> prepareStem(const Node& node, const Tensor& weights) {
  return makeRef<StemWeights>(stemTableFor(node, weights.shape()), weights);
}

NarrowOperands narrowStem(const Node& node) {
  const auto* weights = dynamic_cast<const StemWeights*>(node.prepared.get());
  if (!weights || !mayBeNarrow(node)) return {};
  return {weights->hasWords() ? operandBit(0) : 0, operandBit(0)};
}

bool acceptsStem(const OpRequest& request) { return accepts(request, false); }
bool acceptsStemWords(const OpRequest& request) { return accepts(request, true); }

std::unique_ptr<OpKernel> createStem(const OpRequest& request) { return std::make_unique<StemOp>(request); }

}  // namespace max
#endif
