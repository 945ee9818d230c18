// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/pooling/pool_rows.h"

#include <algorithm>
#include <cmath>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "base/work_vector.h"
#include "graph/readers/pool_rows.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/pooling/pool.h"
#include "ops/cpu/pooling/pool_axis.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;  // reads worth a thread
constexpr int64_t kMostLanes = 16;
constexpr int64_t kRowsAtOnce = 8;
constexpr int64_t kFloatsAtOnce = 4096;  // of whole planes, read again for each vector across

class PoolRowsOp final : public OpKernel {
 public:
  PoolRowsOp(const OpRequest& request, bool isMean)
      : table_(poolTable()),
        isMean_(isMean),
        planes_(request.inputs[0].shape.product(0, 2)),
        lanes_(std::max(request.lanes, 1)) {
    const readers::Pool pool = poolOf(request);
    includesPads_ = pool.includesPads;
    readPoolAxes(request, pool, 2, axes_);
    const PoolAxis& across = axes_[2];
    const int64_t last = alignUp(std::max<int64_t>(across.output, 1), kMostLanes) * across.stride;
    const int64_t read = checkedAdd(last, across.kernel * across.dilation + 4 * kMostLanes);
    joinedFloats_ = alignUp(std::max(read, checkedAdd(across.padBegin, across.input)), kMostLanes);
    laneBytes_ = checkedMultiply<int64_t>(sizeof(float), checkedMultiply(kRowsAtOnce, joinedFloats_));
    if (planes_ == 0) return;
    WorkCounter work;
    for (int64_t i = 0; i < axes_[1].output; ++i, work.pass(8))
      rows_.push_back({axes_[1].start(i) + axes_[1].firstTap(i, 0) * axes_[1].dilation, axes_[1].seen(i), share(1, i)});
    for (int64_t i = 0; isMean_ && i < across.output; ++i, work.pass(8)) shares_.push_back(share(2, i));
    choosePlanes();
  }

  size_t scratchBytes() const override { return static_cast<size_t>(checkedMultiply<int64_t>(laneBytes_, lanes_)); }

  void run(const OpContext& context) const override {
    if (wholePlanes_) return runPlanes(context);
    const int64_t taps = axes_[0].kernel * axes_[1].kernel * axes_[2].kernel;
    const int64_t parts = ceilDiv(axes_[1].output, kRowsAtOnce), slices = planes_ * axes_[0].output;
    const int64_t grain = grainOf(kElementsPerPart, {kRowsAtOnce, axes_[2].output, taps});
    context.parallelFor(slices * parts, grain, [&](int64_t begin, int64_t end, int lane) {
      auto* joined = reinterpret_cast<float*>(context.scratch + lane * laneBytes_);
      std::fill_n(joined, kRowsAtOnce * joinedFloats_, isMean_ ? 0.f : -HUGE_VALF);
      for (int64_t i = begin; i < end; ++i, passWork(kRowsAtOnce * taps * axes_[2].output / 4))
        runPart(context, i / parts, i % parts * kRowsAtOnce, joined);
    });
  }

 private:
  // Planes of few rows are pooled as a whole.
  void choosePlanes() {
    const PoolAxis &slices = axes_[0], &down = axes_[1], &across = axes_[2];
    const bool isFlat = slices.kernel == 1 && slices.stride == 1 && slices.input == slices.output;
    if (isFlat && down.input <= kMostPlaneRows && across.dilation == 1)
      wholePlanes_ = poolPlanesOf(isMean_, across.kernel, across.stride, across.output);
  }

  void runPlanes(const OpContext& context) const {
    const PoolAxis &down = axes_[1], &across = axes_[2];
    const int64_t in = down.input * across.input, out = down.output * across.output;
    const int64_t steps = (in + out) / 2 + 8;
    context.parallelFor(planes_ * axes_[0].output, grainOf(kElementsPerPart, {steps}),
                        [&](int64_t begin, int64_t end, int) {
                          const int64_t part = std::max<int64_t>(1, kFloatsAtOnce / std::max<int64_t>(in, 1));
                          for (int64_t first = begin; first < end; first += part) {
                            const int64_t last = std::min(first + part, end);
                            wholePlanes_({context.in<float>(0) + first * in, last - first, down.input, across.input,
                                          rows_.data(), down.output, down.dilation, across.padBegin, shares_.data(),
                                          across.output, context.out<float>() + first * out});
                            passWork((last - first) * steps);
                          }
                        });
  }

  // Of a sum along one axis.
  float share(size_t axis, int64_t position) const {
    const int64_t taps = includesPads_ ? axes_[axis].seenWithPads(position) : axes_[axis].seen(position);
    return taps > 0 ? 1 / static_cast<float>(taps) : 0;
  }

  // Some rows of a slice of the output, counted over all planes.
  void runPart(const OpContext& context, int64_t slice, int64_t first, float* joined) const {
    const int64_t plane = slice / axes_[0].output, position = slice % axes_[0].output;
    const int64_t row = axes_[2].input, size = axes_[1].input * row;
    const int64_t depth = axes_[0].start(position) + axes_[0].firstTap(position, 0) * axes_[0].dilation;
    PoolRows rows{};
    rows.slices = axes_[0].seen(position);
    rows.x = context.in<float>(0) + (plane * axes_[0].input + (rows.slices > 0 ? depth : 0)) * size;
    rows.sliceStep = axes_[0].dilation * size;
    rows.rows = rows_.data() + first;
    rows.count = std::min(kRowsAtOnce, axes_[1].output - first);
    rows.width = row;
    rows.rowStep = axes_[1].dilation * row;
    rows.taps = axes_[2].kernel;
    rows.dilation = axes_[2].dilation;
    rows.stride = axes_[2].stride;
    rows.joined = joined;
    rows.before = axes_[2].padBegin;
    rows.joinedStep = joinedFloats_;
    rows.share = share(0, position);
    rows.shares = shares_.data();
    rows.outWidth = axes_[2].output;
    rows.out = context.out<float>() + (slice * axes_[1].output + first) * axes_[2].output;
    (isMean_ ? table_.meansOfRows : table_.greatestOfRows)(rows);
  }

  const PoolTable& table_;
  bool isMean_;
  int64_t planes_;
  int64_t lanes_;
  bool includesPads_ = false;
  PoolAxis axes_[3];
  int64_t joinedFloats_, laneBytes_;
  WorkVector<PoolSpan> rows_;
  WorkVector<float> shares_;
  PoolPlanesFunction wholePlanes_ = nullptr;
};

}  // namespace

bool acceptsPoolRows(const OpRequest& request) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::Float32 || x.rank() < 3 || x.rank() > 5) return false;
  if (!request.outputs[0].present() || (request.outputs.size() > 1 && request.outputs[1].present())) return false;
  return readers::fitsPoolRows(poolOf(request).windows);
}

std::unique_ptr<OpKernel> createMaxPoolRows(const OpRequest& request) {
  return std::make_unique<PoolRowsOp>(request, false);
}
std::unique_ptr<OpKernel> createAveragePoolRows(const OpRequest& request) {
  return std::make_unique<PoolRowsOp>(request, true);
}

}  // namespace max
