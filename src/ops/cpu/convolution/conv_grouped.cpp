// SPDX-License-Identifier: Apache-2.0
// max.Conv of float32 in groups of two, three, four or eight channels and as many filters: a vector of input channels
// is multiplied by a vector of weights once for each channel of a group, which is spread to the lanes of its group.
// Groups of one vector of filters spread a channel to all lanes. The same of words of bfloat16 (grouped_bf16-inl.h).
#include "ops/cpu/convolution/conv_grouped.h"

#include <algorithm>

#include "base/align.h"
#include "base/half.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_rows.h"
#include "ops/cpu/narrow.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/conv_grouped.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int kPixels = kLanes >= 16 ? 14 : 6;  // so that their sums are in registers

#if HWY_TARGET != HWY_SCALAR

// For each lane, the first channel of its group of three.
struct FirstOfThree {
  HWY_ALIGN int32_t lanes[kLanes];
  constexpr FirstOfThree() : lanes() {
    for (int32_t i = 0; i < static_cast<int32_t>(kLanes); ++i) lanes[i] = i / 3 * 3;
    if (kLanes % 3 != 0) lanes[kLanes - 1] = 0;  // of no group, where one is left
  }
};
constexpr FirstOfThree kFirstOfThree;

// Channel `kChannel` of each group in all lanes of the group.
template <int kGroup, int kChannel>
HWY_INLINE V spread(V x) {
  if constexpr (kGroup == 2) return kChannel == 0 ? hn::DupEven(x) : hn::DupOdd(x);
  if constexpr (kGroup == 3) {
    const hn::RebindToSigned<D> d;
    const auto from = hn::Add(hn::Load(d, kFirstOfThree.lanes), hn::Set(d, kChannel));
    return hn::TableLookupLanes(x, hn::IndicesFromVec(D(), hn::Min(from, hn::Set(d, kLanes - 1))));
  }
  return hn::Broadcast<kChannel>(x);
}

// The lanes of whole groups.
template <int kGroup>
constexpr int64_t kGroupLanes = kLanes / kGroup* kGroup;

// `kCount` lanes; the others are not accessed.
template <int64_t kCount, class DV>
HWY_INLINE hn::Vec<DV> load(DV d, const float* from) {
  return kCount == static_cast<int64_t>(hn::MaxLanes(d)) ? hn::LoadU(d, from) : loadFirst(d, from, kCount);
}
template <int64_t kCount, class DV>
HWY_INLINE void store(DV d, hn::Vec<DV> v, float* to) {
  kCount == static_cast<int64_t>(hn::MaxLanes(d)) ? hn::StoreU(v, d, to) : storeFirst(d, v, to, kCount);
}

// Adds a tap of kCount pixels: of groups that share a vector,
template <int kGroup>
struct FewChannels {
  static constexpr int64_t kFilters = kGroupLanes<kGroup>;

  template <int kChannel = 0, int kCount>
  HWY_INLINE void operator()(const float* x, int64_t step, const float*& weights, V (&sum)[kCount]) const {
    const D d;
    const V weight = load<kFilters>(d, weights);
    weights += kFilters;
    MAX_UNROLL for (int p = 0; p < kCount; ++p) {
      const V value = spread<kGroup, kChannel>(load<kFilters>(d, x + p * step));
      sum[p] = hn::MulAdd(value, weight, sum[p]);
    }
    if constexpr (kChannel + 1 < kGroup) operator()<kChannel + 1>(x, step, weights, sum);
  }
};

// or of one group, each of whose channels is spread to all lanes.
template <class DV>
struct OneGroup {
  static constexpr int64_t kFilters = hn::MaxLanes(DV());
  int64_t channels;

  template <int kCount>
  HWY_INLINE void operator()(const float* x, int64_t step, const float*& weights, hn::Vec<DV> (&sum)[kCount]) const {
    const DV d;
    for (int64_t c = 0; c < channels; ++c, weights += hn::MaxLanes(d)) {
      const hn::Vec<DV> weight = hn::LoadU(d, weights);
      MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p] = hn::MulAdd(hn::Set(d, x[c + p * step]), weight, sum[p]);
    }
  }
};

// The same of as many channels as lanes, whose weights are in registers while pixels take turns: there are too few
// others for the places of all pixels.
template <class DV>
struct OneSquareGroup {
  static constexpr int64_t kFilters = hn::MaxLanes(DV());

  template <int kCount>
  HWY_INLINE void operator()(const float* x, int64_t step, const float*& weights, hn::Vec<DV> (&sum)[kCount]) const {
    const DV d;
    constexpr int kChannels = hn::MaxLanes(d);
    hn::Vec<DV> weight[kChannels];
    MAX_UNROLL for (int c = 0; c < kChannels; ++c) weight[c] = hn::LoadU(d, weights + c * kChannels);
    weights += kChannels * kChannels;
    MAX_UNROLL for (int p = 0; p < kCount; ++p, x += step) MAX_UNROLL for (int c = 0; c < kChannels; ++c) sum[p] =
        hn::MulAdd(hn::Set(d, x[c]), weight[c], sum[p]);
  }
};

template <class DV, int kCount, class AddTap>
HWY_INLINE void tile(const GroupedRow& row, AddTap addTap, int64_t pixel) {
  using Sum = hn::Vec<DV>;
  const DV d;
  Sum sum[kCount];
  constexpr int64_t kFilters = AddTap::kFilters;
  const Sum bias = row.bias ? load<kFilters>(d, row.bias) : hn::Zero(d);
  MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p] = bias;
  const int64_t step = row.stride * row.step;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, x += row.tapStep) addTap(x, step, weights, sum);
  }
  const Sum low = hn::Set(d, row.low), high = hn::Set(d, row.high);
  float* out = row.out + pixel * row.filters;
  MAX_UNROLL for (int p = 0; p < kCount; ++p)
      store<kFilters>(d, hn::Min(high, hn::Max(low, sum[p])), out + p * row.filters);
}

// The last tile overlaps the one before it; it is half as large where that is enough.
template <class DV, class AddTap>
void runTiles(const GroupedRow& row, AddTap addTap) {
  constexpr int kHalf = kPixels / 2;
  int64_t pixel = 0;
  for (; row.pixels - pixel > kHalf && row.pixels >= kPixels; pixel += kPixels) {
    pixel = std::min(pixel, row.pixels - kPixels);
    tile<DV, kPixels>(row, addTap, pixel);
  }
  for (; pixel < row.pixels && row.pixels >= kHalf; pixel += kHalf) {
    pixel = std::min(pixel, row.pixels - kHalf);
    tile<DV, kHalf>(row, addTap, pixel);
  }
  for (; pixel < row.pixels; ++pixel) tile<DV, 1>(row, addTap, pixel);
}

void run(const GroupedRow& row, int64_t groupChannels) {
  groupChannels == 2 ? runTiles<D>(row, FewChannels<2>()) : runTiles<D>(row, FewChannels<4>());
}

void runThree(const GroupedRow& row, int64_t) { runTiles<D>(row, FewChannels<3>()); }

void runOneGroup(const GroupedRow& row, int64_t channels) { runTiles<D>(row, OneGroup<D>{channels}); }

// Half a vector of filters: spreading channels to the lanes of two groups would take as long as their products.
void runHalf(const GroupedRow& row, int64_t) {
  using Half = hn::CappedTag<float, kLanes >= 16 ? kLanes / 2 : kLanes>;
  if constexpr (kLanes >= 16) runTiles<Half>(row, OneSquareGroup<Half>());
}

#else

void run(const GroupedRow&, int64_t) {}
void runThree(const GroupedRow&, int64_t) {}
void runOneGroup(const GroupedRow&, int64_t) {}
void runHalf(const GroupedRow&, int64_t) {}

#endif

}  // namespace

extern const GroupedTable kGrouped, kThreeChannels, kOneGroup, kHalfGroup;
constexpr GroupedTable kGrouped = {kLanes, false, false, run};
constexpr GroupedTable kThreeChannels = {kLanes / 3 * 3, false, false, runThree};
constexpr GroupedTable kOneGroup = {kLanes, false, true, runOneGroup};
constexpr GroupedTable kHalfGroup = {kLanes / 2, false, true, runHalf};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#include "ops/cpu/convolution/grouped_bf16-inl.h"

#if HWY_ONCE
namespace max {

namespace {

using Elements = BorderedRows::Elements;

[[maybe_unused]] constexpr int64_t kFewestInVector = 4;  // filters; others add up vectors of channels
constexpr int64_t kOneGroupFilters = 16;                 // with smaller vectors, a product has tiles of some of them
[[maybe_unused]] constexpr int64_t kFewestChannels = 6;  // with fewer, rounding costs more than products

Ref<GroupedWeights> weightsOf(const OpRequest& request, const GroupedTable& table) {
  auto* prepared = dynamic_cast<GroupedWeights*>(request.node.prepared.get());
  if (prepared && prepared->layout().fits(table)) return Ref<GroupedWeights>(prepared);
  return request.inputs[1].constant ? makeRef<GroupedWeights>(table, *request.inputs[1].constant) : nullptr;
}

const GroupedTable& tableOf(const OpRequest& request) {
  const GroupedTable* table = groupedTableFor(request.node, request.inputs[1].shape);
  return table ? *table : groupedTable();
}

Elements elementsOf(const OpRequest& request) {
  if (!tableOf(request).hasWords) return Elements::Floats;
  return isNarrow(request.inputs[0]) ? Elements::Words : Elements::RoundedFloats;
}

class GroupedOp final : public BorderedRowsOp {
 public:
  explicit GroupedOp(const OpRequest& request)
      : BorderedRowsOp(request, isNarrow(request.outputs[0]) && fusedActivation(request.node).function,
                       elementsOf(request)),
        table_(tableOf(request)),
        weights_(weightsOf(request, table_)),
        layout_(table_, request.inputs[1].shape),
        packedBytes_(weights_ ? 0 : alignUp(checkedMultiply<int64_t>(sizeof(float), layout_.floats()))),
        writesNarrow_(isNarrow(request.outputs[0])) {}

  size_t scratchBytes() const override { return BorderedRowsOp::scratchBytes() + static_cast<size_t>(packedBytes_); }
  void run(const OpContext& context) const override {
    if (!weights_) layout_.pack(context.in<float>(1), ownFilters(context));
    BorderedRowsOp::run(context);
  }

 private:
  // Of filters that are not known before the call, behind the memory of lanes.
  float* ownFilters(const OpContext& context) const {
    return reinterpret_cast<float*>(context.scratch + BorderedRowsOp::scratchBytes());
  }

  void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float* floats) const override {
    const int64_t at = segment.begin * shape_.filters, count = segment.pixels * shape_.filters;
    uint16_t* narrow = writesNarrow_ ? context.out<uint16_t>() + at : nullptr;
    float* out = writesNarrow_ ? floats : context.out<float>() + at;
    const float* bias = hasBias_ ? context.in<float>(2) : nullptr;
    runGroupedSegment(table_, layout_, weights_ ? weights_->values() : ownFilters(context), shape_,
                      {segment, shape_.filters, bias, out, activation_.function ? nullptr : narrow, activation_.low,
                       activation_.high});
    if (!activation_.function) return;
    if (narrow)
      bfloat16GemmTable()->narrowFunction(activation_, {out, 0, 1, count, narrow, 0, {}, 0});
    else
      applyActivation(activation_, out, count);
  }

  const GroupedTable& table_;
  Ref<GroupedWeights> weights_;  // NULL = each run packs its own
  GroupedLayout layout_;
  int64_t packedBytes_;
  bool writesNarrow_;
};

// Where the kernel of words has the word of a filter, one of `lanes`, counted from the filters' first.
int64_t placeOfWord(int64_t filter, int64_t word, int64_t words, int64_t lanes) {
  const int64_t vector = filter / words % 2, own = filter % words;  // which the kernel multiplies first
  const int64_t turns = (word + words - own) % words;
  return turns * lanes + vector * lanes / 2 + filter / words / 2 * words + own;
}

}  // namespace

GroupedLayout::GroupedLayout(const GroupedTable& table, const Shape& weights)
    : table_(&table), filters_(weights[0]), channels_(weights[1]), taps_(weights.product(2, weights.rank())) {
  const int64_t step = checkedMultiply(table.hasWords ? channels_ / 2 : channels_, table.lanes);
  rowFloats_ = checkedMultiply(weights.back(), step);
  blockFloats_ = checkedMultiply(taps_, step);
}

void GroupedLayout::packFilter(const float* weights, int64_t block, int64_t place, float* values) const {
  const int64_t lanes = table_->lanes, depth = hasWords() ? channels_ / 2 : channels_, step = depth * lanes;
  const float* from = weights + (firstOf(block) + place) * channels_ * taps_;
  float* to = values + block * blockFloats_;
  for (int64_t c = 0; c < channels_; ++c) {
    if (!hasWords()) {
      for (int64_t tap = 0; tap < taps_; ++tap) to[tap * step + c * lanes + place] = *from++;
      continue;
    }
    const int64_t word = table_->isOneGroup ? c / 2 * lanes + place : placeOfWord(place, c / 2, depth, lanes);
    for (int64_t tap = 0; tap < taps_; ++tap)
      reinterpret_cast<uint16_t*>(to)[2 * (tap * step + word) + c % 2] = bfloat16FromFloat(*from++);
  }
}

void GroupedLayout::pack(const float* weights, float* values) const {
  if (filters_ < table_->lanes) std::fill_n(values, floats(), 0.f);
  WorkCounter work;
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t place = 0; place < std::min(table_->lanes, filters_); ++place, work.pass(channels_ * taps_))
      packFilter(weights, block, place, values);
}

int64_t GroupedLayout::blocks() const { return ceilDiv(filters_, table_->lanes); }

int64_t GroupedLayout::firstOf(int64_t block) const {
  return std::max<int64_t>(std::min(block * table_->lanes, filters_ - table_->lanes), 0);
}

GroupedWeights::GroupedWeights(const GroupedTable& table, const Tensor& weights)
    : layout_(table, weights.shape()), values_(Tensor::allocate(DType::Float32, Shape({layout_.floats()}))) {
  layout_.pack(weights.as<float>(), static_cast<float*>(values_->mutableData()));
}

void runGroupedSegment(const GroupedTable& table, const GroupedLayout& layout, const float* filters,
                       const ConvShape& shape, const GroupedSegment& segment) {
  const int64_t elements = table.hasWords ? 2 : 1, count = segment.rows.count;
  const float *x[BorderedRows::kMost], *values[BorderedRows::kMost];
  GroupedRow row{x,
                 values,
                 count,
                 shape.kernel[2],
                 shape.channels / elements,
                 shape.dilation[2] * shape.channels / elements,
                 shape.stride[2],
                 segment.rows.pixels,
                 segment.pixelStep,
                 std::min(table.lanes, shape.filters),
                 nullptr,
                 nullptr,
                 nullptr,
                 segment.low,
                 segment.high};
  for (int64_t block = 0; block < layout.blocks(); ++block) {
    const int64_t filter = layout.firstOf(block);
    for (int64_t r = 0; r < count; ++r) {
      x[r] = segment.rows.x[r] + filter / shape.groupFilters() * shape.groupChannels() / elements;
      values[r] = layout.row(filters, block, segment.rows.numbers[r]);
    }
    row.bias = segment.bias ? segment.bias + filter : nullptr;
    row.out = segment.narrow ? nullptr : segment.out + filter;
    row.narrow = segment.narrow ? segment.narrow + filter : nullptr;
    table.run(row, shape.groupChannels());
  }
}

const GroupedTable& groupedTable() { return MAX_CHOOSE_TARGET(kGrouped); }

const GroupedTable* groupedTableFor(const Node& node, const Shape& weights) {
  const GroupedTable& floats = groupedTable();
  const int64_t groups = readers::readGroups(node.attributes), channels = weights[1], filters = weights[0] / groups;
  const bool areThree = groups > 1 && filters == 3 && channels == 3;
  const bool areFew = filters == channels && (channels == 2 || channels == 4 || channels == 8);
  // Where a tap is one vector of filters, a product is as fast with dilations.
  if (node.input(3) || !hasBorderedRows(node, weights, areFew || areThree ? groups : 0)) return nullptr;
#if HWY_TARGETS & HWY_AVX3
  const GroupedTable &few = N_AVX3::kGroupedWords, &one = N_AVX3::kOneGroupOfWords;
  if (mayBeNarrow(node) && bfloat16VectorTable()) {
    if (areFew && weights[0] >= few.lanes) return &few;
    const bool isOne = filters == one.lanes || (groups == 1 && filters > kFewestInVector && filters < one.lanes);
    const bool isWorthIt = channels >= kFewestChannels && weights.product(2, weights.rank()) > 1 && !hasShortRows(node);
    if (isOne && isWorthIt && channels % 2 == 0 && !gemmTableFor(node).vectors) return &one;
  }
#endif
  const GroupedTable& three = MAX_CHOOSE_TARGET(kThreeChannels);
  if (areThree && floats.lanes > 1 && weights[0] >= three.lanes) return &three;
  const bool fits = areFew && channels < floats.lanes && weights[0] >= floats.lanes;
  if (fits) return 2 * channels == floats.lanes && channels == 8 ? &MAX_CHOOSE_TARGET(kHalfGroup) : &floats;
  const bool isOne = groups > 1 && filters == floats.lanes && filters >= kOneGroupFilters;
  return isOne && !mayBeNarrow(node) ? &MAX_CHOOSE_TARGET(kOneGroup) : nullptr;
}

NarrowOperands narrowGroups(const Node& node) {
  const auto* weights = dynamic_cast<const GroupedWeights*>(node.prepared.get());
  return weights && weights->layout().hasWords() ? NarrowOperands{operandBit(0), operandBit(0)} : NarrowOperands();
}

bool acceptsGrouped(const OpRequest& request) {
  const auto* weights = dynamic_cast<const GroupedWeights*>(request.node.prepared.get());
  if (request.has(3) || !areFloats(request)) return false;
  if (request.node.prepared) return weights && !weights->layout().hasWords();
  const Shape& shape = request.inputs[1].shape;
  // A product packs filters of a whole vector as fast, and gains nothing from them.
  if (request.inputs[1].constant || shape.rank() > 5 || shape[1] >= kOneGroupFilters) return false;
  const GroupedTable* table = groupedTableFor(request.node, shape);
  return table && !table->hasWords;
}

bool acceptsGroupedWords(const OpRequest& request) {
  const auto* weights = dynamic_cast<const GroupedWeights*>(request.node.prepared.get());
  return weights && weights->layout().hasWords() && !request.has(3) && areFloats(request, narrowGroups(request.node));
}

std::unique_ptr<OpKernel> createGrouped(const OpRequest& request) { return std::make_unique<GroupedOp>(request); }

}  // namespace max
#endif
