// SPDX-License-Identifier: Apache-2.0
// max.Conv of float32 in groups of two, four or eight channels and as many filters: a vector of input channels is
// multiplied by a vector of weights once for each channel of a group, which is spread to the lanes of its group.
#include "ops/cpu/convolution/conv_grouped.h"

#include <algorithm>

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

template <int kGroup, int kChannel, int kCount>
HWY_INLINE void addChannel(const float* x, int64_t step, const float* weights, V (&sum)[kCount]) {
  const D d;
  const V weight = hn::LoadU(d, weights + kChannel * kLanes);
  MAX_UNROLL for (int p = 0; p < kCount; ++p) {
    const V value = spread<kGroup, kChannel>(hn::LoadU(d, x + p * step));
    sum[p] = hn::MulAdd(value, weight, sum[p]);
  }
  if constexpr (kChannel + 1 < kGroup) addChannel<kGroup, kChannel + 1>(x, step, weights, sum);
}

template <int kGroup, int kCount>
HWY_INLINE void tile(const GroupedRow& row, int64_t pixel) {
  const D d;
  V sum[kCount];
  const V bias = row.bias ? hn::LoadU(d, row.bias) : hn::Zero(d);
  MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p] = bias;
  const int64_t step = row.stride * row.channels;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, x += row.channels, weights += kGroup * kLanes)
      addChannel<kGroup, 0>(x, step, weights, sum);
  }
  const V low = hn::Set(d, row.low), high = hn::Set(d, row.high);
  float* out = row.out + pixel * row.channels;
  MAX_UNROLL for (int p = 0; p < kCount; ++p)
      hn::StoreU(hn::Min(high, hn::Max(low, sum[p])), d, out + p * row.channels);
}

// The last tile overlaps the one before it.
template <int kGroup>
void runPixels(const GroupedRow& row) {
  int64_t pixel = 0;
  for (; pixel + kPixels <= row.pixels; pixel += kPixels) tile<kGroup, kPixels>(row, pixel);
  if (pixel < row.pixels && row.pixels >= kPixels) return tile<kGroup, kPixels>(row, row.pixels - kPixels);
  for (; pixel < row.pixels; ++pixel) tile<kGroup, 1>(row, pixel);
}

void run(const GroupedRow& row, int64_t groupChannels) {
  if (groupChannels == 2) return runPixels<2>(row);
  if (groupChannels == 4) return runPixels<4>(row);
  if constexpr (kLanes > 8) runPixels<8>(row);
}

#else

void run(const GroupedRow&, int64_t) {}

#endif

}  // namespace

extern const GroupedTable kGrouped;
constexpr GroupedTable kGrouped = {kLanes, run};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

namespace {

Ref<GroupedWeights> weightsOf(const OpRequest& request, const GroupedTable& table) {
  auto* prepared = dynamic_cast<GroupedWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(table)) return Ref<GroupedWeights>(prepared);
  return makeRef<GroupedWeights>(table, *request.inputs[1].constant);
}

class GroupedOp final : public BorderedRowsOp {
 public:
  explicit GroupedOp(const OpRequest& request)
      : BorderedRowsOp(request), table_(groupedTable()), weights_(weightsOf(request, table_)) {}

 private:
  void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float*) const override {
    const float *x[BorderedRows::kMost], *weights[BorderedRows::kMost];
    float* out = context.out<float>() + segment.begin * shape_.filters;
    GroupedRow row{
        x,       weights, segment.count,   shape_.kernel[2], shape_.channels, shape_.stride[2], segment.pixels,
        nullptr, nullptr, activation_.low, activation_.high};
    for (int64_t filter = 0; filter < shape_.filters; filter += table_.lanes) {
      for (int64_t r = 0; r < segment.count; ++r) {
        x[r] = segment.x[r] + filter;
        weights[r] = weights_->row(filter, segment.numbers[r]);
      }
      row.bias = hasBias_ ? context.in<float>(2) + filter : nullptr;
      row.out = out + filter;
      table_.run(row, shape_.groupChannels());
    }
    if (activation_.function) applyActivation(activation_, out, segment.pixels * shape_.filters);
  }

  const GroupedTable& table_;
  Ref<GroupedWeights> weights_;
};

}  // namespace

GroupedWeights::GroupedWeights(const GroupedTable& table, const Tensor& weights) : lanes_(table.lanes) {
  const Shape& shape = weights.shape();
  const int64_t filters = shape[0], channels = shape[1], taps = shape.product(2, shape.rank());
  filterFloats_ = taps * channels;
  rowFloats_ = shape[shape.rank() - 1] * channels * lanes_;
  values_ = Tensor::allocate(DType::Float32, Shape({weights.count()}));
  auto* values = static_cast<float*>(values_->mutableData());
  const float* from = weights.as<float>();
  for (int64_t filter = 0; filter < filters; ++filter) {
    float* to = values + filter / lanes_ * lanes_ * filterFloats_ + filter % lanes_;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c)
        to[(tap * channels + c) * lanes_] = from[(filter * channels + c) * taps + tap];
  }
}

const GroupedTable& groupedTable() { return MAX_CHOOSE_TARGET(kGrouped); }

bool hasFewInGroups(const Node& node, const Tensor& weights) {
  const Shape& shape = weights.shape();
  const int64_t groups = readers::readGroups(node.attributes), channels = shape[1], lanes = groupedTable().lanes;
  if (!node.isOwn("Conv") || node.input(3) || shape[0] != groups * channels) return false;
  if ((channels != 2 && channels != 4 && channels != 8) || channels >= lanes || shape[0] % lanes != 0) return false;
  return hasBorderedRows(node, shape);
}

bool acceptsGrouped(const OpRequest& request) {
  return dynamic_cast<const GroupedWeights*>(request.node.prepared.get()) && !request.has(3) && areFloats(request);
}

std::unique_ptr<OpKernel> createGrouped(const OpRequest& request) { return std::make_unique<GroupedOp>(request); }

}  // namespace max
#endif
