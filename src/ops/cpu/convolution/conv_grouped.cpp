// SPDX-License-Identifier: Apache-2.0
// max.Conv of float32 in groups of two, four or eight channels and as many filters: a vector of input channels is
// multiplied by a vector of weights once for each channel of a group, which is spread to the lanes of its group. Groups
// of one vector of filters spread a channel to all lanes. The same of words of bfloat16 (grouped_bf16-inl.h).
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

// Channel `kChannel` of each group in all lanes of the group.
template <int kGroup, int kChannel>
HWY_INLINE V spread(V x) {
  if constexpr (kGroup == 2) return kChannel == 0 ? hn::DupEven(x) : hn::DupOdd(x);
  if constexpr (kGroup == 4) return hn::Broadcast<kChannel>(x);
  HWY_ALIGN int32_t lanes[kLanes];
  MAX_UNROLL for (int i = 0; i < kLanes; ++i) lanes[i] = i / kGroup * kGroup + kChannel;
  return hn::TableLookupLanes(x, hn::SetTableIndices(D(), lanes));
}

// Adds a tap of kCount pixels: of groups that share a vector,
template <int kGroup>
struct FewChannels {
  template <int kChannel = 0, int kCount>
  HWY_INLINE void operator()(const float* x, int64_t step, const float*& weights, V (&sum)[kCount]) const {
    const D d;
    const V weight = hn::LoadU(d, weights);
    weights += kLanes;
    MAX_UNROLL for (int p = 0; p < kCount; ++p) {
      const V value = spread<kGroup, kChannel>(hn::LoadU(d, x + p * step));
      sum[p] = hn::MulAdd(value, weight, sum[p]);
    }
    if constexpr (kChannel + 1 < kGroup) operator()<kChannel + 1>(x, step, weights, sum);
  }
};

// or of one group, each of whose channels is spread to all lanes.
struct OneGroup {
  int64_t channels;

  template <int kCount>
  HWY_INLINE void operator()(const float* x, int64_t step, const float*& weights, V (&sum)[kCount]) const {
    const D d;
    for (int64_t c = 0; c < channels; ++c, weights += kLanes) {
      const V weight = hn::LoadU(d, weights);
      MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p] = hn::MulAdd(hn::Set(d, x[c + p * step]), weight, sum[p]);
    }
  }
};

template <int kCount, class AddTap>
HWY_INLINE void tile(const GroupedRow& row, AddTap addTap, int64_t pixel) {
  const D d;
  V sum[kCount];
  const V bias = row.bias ? hn::LoadU(d, row.bias) : hn::Zero(d);
  MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p] = bias;
  const int64_t step = row.stride * row.step;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, x += row.step) addTap(x, step, weights, sum);
  }
  const V low = hn::Set(d, row.low), high = hn::Set(d, row.high);
  float* out = row.out + pixel * row.filters;
  MAX_UNROLL for (int p = 0; p < kCount; ++p) hn::StoreU(hn::Min(high, hn::Max(low, sum[p])), d, out + p * row.filters);
}

// The last tile overlaps the one before it.
template <int kCount, class AddTap>
void runTiles(const GroupedRow& row, AddTap addTap) {
  for (int64_t pixel = 0; pixel < row.pixels; pixel += kCount)
    tile<kCount>(row, addTap, std::min(pixel, row.pixels - kCount));
}

template <int kGroup>
void runPixels(const GroupedRow& row) {
  row.pixels >= kPixels ? runTiles<kPixels>(row, FewChannels<kGroup>()) : runTiles<1>(row, FewChannels<kGroup>());
}

void run(const GroupedRow& row, int64_t groupChannels) {
  if (groupChannels == 2) return runPixels<2>(row);
  if (groupChannels == 4) return runPixels<4>(row);
  if constexpr (kLanes > 8) runPixels<8>(row);
}

void runOneGroup(const GroupedRow& row, int64_t channels) {
  const OneGroup group{channels};
  if (row.pixels >= kPixels) return runTiles<kPixels>(row, group);
  row.pixels >= kPixels / 2 ? runTiles<kPixels / 2>(row, group) : runTiles<1>(row, group);
}

#else

void run(const GroupedRow&, int64_t) {}
void runOneGroup(const GroupedRow&, int64_t) {}

#endif

}  // namespace

extern const GroupedTable kGrouped, kOneGroup;
constexpr GroupedTable kGrouped = {kLanes, false, false, run};
constexpr GroupedTable kOneGroup = {kLanes, false, true, runOneGroup};

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
  if (prepared && prepared->fits(table)) return Ref<GroupedWeights>(prepared);
  return makeRef<GroupedWeights>(table, *request.inputs[1].constant);
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
        writesNarrow_(isNarrow(request.outputs[0])) {}

 private:
  void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float* floats) const override {
    const int64_t at = segment.begin * shape_.filters, count = segment.pixels * shape_.filters;
    uint16_t* narrow = writesNarrow_ ? context.out<uint16_t>() + at : nullptr;
    float* out = writesNarrow_ ? floats : context.out<float>() + at;
    const float* bias = hasBias_ ? context.in<float>(2) : nullptr;
    runGroupedSegment(table_, *weights_, shape_,
                      {segment, shape_.filters, bias, out, activation_.function ? nullptr : narrow, activation_.low,
                       activation_.high});
    if (!activation_.function) return;
    if (narrow)
      bfloat16GemmTable()->narrowFunction(activation_, {out, 0, 1, count, narrow, 0, {}, 0});
    else
      applyActivation(activation_, out, count);
  }

  const GroupedTable& table_;
  Ref<GroupedWeights> weights_;
  bool writesNarrow_;
};

// Where the kernel of words has the word of a filter, one of `lanes`, counted from the filters' first.
int64_t placeOfWord(int64_t filter, int64_t word, int64_t words, int64_t lanes) {
  const int64_t vector = filter / words % 2, own = filter % words;  // which the kernel multiplies first
  const int64_t turns = (word + words - own) % words;
  return turns * lanes + vector * lanes / 2 + filter / words / 2 * words + own;
}

}  // namespace

GroupedWeights::GroupedWeights(const GroupedTable& table, const Tensor& weights)
    : lanes_(table.lanes), filters_(weights.shape()[0]), hasWords_(table.hasWords) {
  const Shape& shape = weights.shape();
  const int64_t channels = shape[1], taps = shape.product(2, shape.rank());
  const int64_t elements = hasWords_ ? 2 : 1, depth = channels / elements;
  rowFloats_ = shape[shape.rank() - 1] * depth * lanes_;
  blockFloats_ = taps * depth * lanes_;
  const DType dtype = hasWords_ ? DType::BFloat16 : DType::Float32;
  values_ = Tensor::allocate(dtype, Shape({checkedMultiply(blocks() * lanes_, taps * channels)}));
  auto* values = static_cast<std::byte*>(values_->mutableData());
  std::fill_n(values, values_->bytes(), std::byte{0});
  const auto add = [&](int64_t block, int64_t place) {
    const float* from = weights.as<float>() + (firstOf(block) + place) * channels * taps;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap, ++from) {
        const int64_t to = block * blockFloats_ + tap * depth * lanes_;
        const int64_t words = table.isOneGroup ? c / 2 * lanes_ + place : placeOfWord(place, c / 2, depth, lanes_);
        if (hasWords_)
          reinterpret_cast<uint16_t*>(values)[2 * (to + words) + c % 2] = bfloat16FromFloat(*from);
        else
          reinterpret_cast<float*>(values)[to + c * lanes_ + place] = *from;
      }
  };
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t place = 0; place < std::min(lanes_, filters_); ++place) add(block, place);
}

int64_t GroupedWeights::blocks() const { return ceilDiv(filters_, lanes_); }

int64_t GroupedWeights::firstOf(int64_t block) const {
  return std::max<int64_t>(std::min(block * lanes_, filters_ - lanes_), 0);
}

void runGroupedSegment(const GroupedTable& table, const GroupedWeights& weights, const ConvShape& shape,
                       const GroupedSegment& segment) {
  const int64_t elements = table.hasWords ? 2 : 1, count = segment.rows.count;
  const float *x[BorderedRows::kMost], *values[BorderedRows::kMost];
  GroupedRow row{x,
                 values,
                 count,
                 shape.kernel[2],
                 shape.channels / elements,
                 shape.stride[2],
                 segment.rows.pixels,
                 segment.pixelStep,
                 std::min(table.lanes, shape.filters),
                 nullptr,
                 nullptr,
                 nullptr,
                 segment.low,
                 segment.high};
  for (int64_t block = 0; block < weights.blocks(); ++block) {
    const int64_t filter = weights.firstOf(block);
    for (int64_t r = 0; r < count; ++r) {
      x[r] = segment.rows.x[r] + filter / shape.groupFilters() * shape.groupChannels() / elements;
      values[r] = weights.row(block, segment.rows.numbers[r]);
    }
    row.bias = segment.bias ? segment.bias + filter : nullptr;
    row.out = segment.narrow ? nullptr : segment.out + filter;
    row.narrow = segment.narrow ? segment.narrow + filter : nullptr;
    table.run(row, shape.groupChannels());
  }
}

const GroupedTable& groupedTable() { return MAX_CHOOSE_TARGET(kGrouped); }

const GroupedTable* groupedTableFor(const Node& node, const Shape& weights) {
  if (node.input(3) || !hasBorderedRows(node, weights)) return nullptr;
  const GroupedTable& floats = groupedTable();
  const int64_t groups = readers::readGroups(node.attributes), channels = weights[1], filters = weights[0] / groups;
  const bool areFew = filters == channels && (channels == 2 || channels == 4 || channels == 8);
#if HWY_TARGETS & HWY_AVX3
  const GroupedTable &few = N_AVX3::kGroupedWords, &one = N_AVX3::kOneGroupOfWords;
  if (mayBeNarrow(node) && bfloat16VectorTable()) {
    if (areFew && weights[0] >= few.lanes) return &few;
    const bool isOne = filters == one.lanes || (groups == 1 && filters > kFewestInVector && filters < one.lanes);
    const bool isWorthIt = channels >= kFewestChannels && weights.product(2, weights.rank()) > 1 && !hasShortRows(node);
    if (isOne && isWorthIt && channels % 2 == 0 && !gemmTableFor(node).vectors) return &one;
  }
#endif
  const bool fits = areFew && channels < floats.lanes && weights[0] >= floats.lanes;
  if (fits) return &floats;
  const bool isOne = groups > 1 && filters == floats.lanes && filters >= kOneGroupFilters;
  return isOne && !mayBeNarrow(node) ? &MAX_CHOOSE_TARGET(kOneGroup) : nullptr;
}

NarrowOperands narrowGroups(const Node& node) {
  const auto* weights = dynamic_cast<const GroupedWeights*>(node.prepared.get());
  return weights && weights->hasWords() ? NarrowOperands{operandBit(0), operandBit(0)} : NarrowOperands();
}

bool acceptsGrouped(const OpRequest& request) {
  const auto* weights = dynamic_cast<const GroupedWeights*>(request.node.prepared.get());
  return weights && !weights->hasWords() && !request.has(3) && areFloats(request);
}

bool acceptsGroupedWords(const OpRequest& request) {
  const auto* weights = dynamic_cast<const GroupedWeights*>(request.node.prepared.get());
  return weights && weights->hasWords() && !request.has(3) && areFloats(request, narrowGroups(request.node));
}

std::unique_ptr<OpKernel> createGrouped(const OpRequest& request) { return std::make_unique<GroupedOp>(request); }

}  // namespace max
#endif
