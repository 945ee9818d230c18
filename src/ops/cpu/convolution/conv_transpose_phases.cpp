// SPDX-License-Identifier: Apache-2.0
// max.ConvTranspose as the convolutions of its phases: depthwise ones, where each channel has a filter, and those in
// groups of which a vector holds some.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/align.h"
#include "base/function_ref.h"
#include "graph/readers/transposed.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_grouped.h"
#include "ops/cpu/convolution/conv_rows.h"
#include "ops/cpu/convolution/conv_transpose.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

constexpr int64_t kBlockBytes = 256 << 10;  // of the input, for a second cache
constexpr double kWorthLanes = 100e3;       // products

// Of a phase.
using PackFilters = FunctionRef<Ref<Prepared>(const Tensor& filters)>;

// The filters of every phase, by its first taps.
class PhasedWeights final : public Prepared {
 public:
  PhasedWeights(const Attributes& attributes, const Tensor& weights, PackFilters pack)
      : groups_(readers::readGroups(attributes)) {
    const Shape& shape = weights.shape();
    const readers::Transposed reader(attributes, shape.dims().subspan(2));
    const size_t missing = 3 - reader.windows.axes.size();
    for (size_t i = 0; i < reader.windows.axes.size(); ++i) {
      kernel_[missing + i] = reader.windows.axes[i].size;
      stride_[missing + i] = reader.windows.axes[i].stride;
    }
    Spatial tap;
    for (tap[0] = 0; tap[0] < stride_[0]; ++tap[0])
      for (tap[1] = 0; tap[1] < stride_[1]; ++tap[1])
        for (tap[2] = 0; tap[2] < stride_[2]; ++tap[2]) phases_.push_back(pack(*filtersOf(weights, tap)));
  }

  size_t bytes() const override {
    size_t sum = 0;
    for (const Ref<Prepared>& phase : phases_) sum += phase->bytes();
    return sum;
  }
  bool replaces(size_t input) const override { return input == 1; }
  template <class W>
  W* of(const Spatial& tap) const {
    const int64_t number = (tap[0] * stride_[1] + tap[1]) * stride_[2] + tap[2];
    return dynamic_cast<W*>(phases_[static_cast<size_t>(number)].get());
  }

 private:
  // Those of a convolution, with the taps that are strides apart from this one, the last one first.
  Ref<Tensor> filtersOf(const Tensor& weights, const Spatial& tap) const {
    Spatial count;
    for (size_t i = 0; i < 3; ++i) count[i] = ceilDiv(kernel_[i] - tap[i], stride_[i]);
    const int64_t channels = weights.shape()[0] / groups_, filters = weights.shape()[1];
    const int64_t taps = kernel_[0] * kernel_[1] * kernel_[2];
    Ref<Tensor> result = Tensor::allocate(DType::Float32, {filters * groups_, channels, count[0], count[1], count[2]});
    auto* to = static_cast<float*>(result->mutableData());
    for (int64_t filter = 0; filter < filters * groups_; ++filter)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t channel = filter / filters * channels + c;
        const float* from = weights.as<float>() + (channel * filters + filter % filters) * taps;
        for (int64_t d = count[0]; d-- > 0;)
          for (int64_t h = count[1]; h-- > 0;)
            for (int64_t w = count[2]; w-- > 0;) {
              const int64_t slice = tap[0] + d * stride_[0], row = tap[1] + h * stride_[1];
              *to++ = from[(slice * kernel_[1] + row) * kernel_[2] + tap[2] + w * stride_[2]];
            }
      }
    return result;
  }

  int64_t groups_;
  Spatial kernel_{1, 1, 1}, stride_{1, 1, 1};
  std::vector<Ref<Prepared>> phases_;
};

// Of floats, for groups of which a vector holds some; NULL = none.
const GroupedTable* groupedPhases(const Node& node, const Shape& weights) {
  Shape filters = weights;
  filters[0] = weights[1] * readers::readGroups(node.attributes);
  filters[1] = weights[0] / readers::readGroups(node.attributes);
  const GroupedTable* table = readers::hasPhases(node.attributes, weights) ? groupedTableFor(node, filters) : nullptr;
  return table && !table->hasWords ? table : nullptr;
}

Ref<PhasedWeights> packPhases(const Node& node, const Tensor& weights) {
  const GroupedTable* table = groupedPhases(node, weights.shape());
  return makeRef<PhasedWeights>(node.attributes, weights, [&](const Tensor& filters) -> Ref<Prepared> {
    if (table) return makeRef<GroupedWeights>(*table, filters);
    return makeRef<DepthwiseWeights>(filters, false);
  });
}

Ref<PhasedWeights> weightsOf(const OpRequest& request) {
  if (auto* prepared = dynamic_cast<PhasedWeights*>(request.node.prepared.get())) return Ref<PhasedWeights>(prepared);
  return packPhases(request.node, *request.inputs[1].constant);
}

// Blocks of the rows of all phases take turns, so that they find the input in a near cache.
class DepthwisePhasesOp final : public OpKernel {
 public:
  explicit DepthwisePhasesOp(const OpRequest& request)
      : shape_(request), hasBias_(request.has(2)), inStep_(shape_.channels), outStep_(shape_.channels) {
    const int64_t outputs = checkedMultiply(shape_.images, checkedMultiply(shape_.outPixels(), shape_.channels));
    const double work = static_cast<double>(outputs) * static_cast<double>(shape_.taps());
    const Ref<PhasedWeights> weights = weightsOf(request);
    const int64_t count = shape_.stride[0] * shape_.stride[1] * shape_.stride[2];
    if (work / static_cast<double>(count) >= kWorthLanes) lanes_ = std::max(request.lanes, 1);
    for (int64_t i = 0; i < count; ++i) addPhase(request.node, TransposedPhase(shape_, i), *weights);
    if (phases_.empty()) return;
    const int64_t rows = phases_[0]->rowCount;  // no phase has more
    const int64_t fitting = kBlockBytes / std::max<int64_t>(4 * shape_.in[2] * shape_.channels, 1);
    blockRows_ =
        std::clamp(alignUp(fitting, kDepthwiseRowsAtOnce), kDepthwiseRowsAtOnce, phases_[0]->rows.grain(rows, lanes_));
    blocks_ = ceilDiv(rows, blockRows_);
    setOutSteps();
  }

  bool takesPitch(OperandPlace place) const override { return place.number == 0; }
  void setPitch(OperandPlace place, size_t bytes) override {
    const auto floats = static_cast<int64_t>(bytes / sizeof(float));
    if (place.side == OperandPlace::Output) {
      outStep_ = floats;
      return setOutSteps();
    }
    inStep_ = floats;
    for (const std::unique_ptr<Phase>& phase : phases_) phase->rows.setInStep(floats);
  }

  void run(const OpContext& context) const override {
    const auto input = [&](int64_t image, int64_t d, int64_t h) -> const void* {
      return context.in<float>(0) + ((image * shape_.in[0] + d) * shape_.in[1] + h) * shape_.in[2] * inStep_;
    };
    const auto count = static_cast<int64_t>(phases_.size());
    parallelFor(std::min(lanes_, context.lanes), blocks_ * count, count, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) {
        const Phase& phase = *phases_[static_cast<size_t>(task % count)];
        const int64_t first = task / count * blockRows_, last = std::min(first + blockRows_, phase.rowCount);
        const DepthwiseRows::Operands operands{hasBias_ ? context.in<float>(2) : nullptr, nullptr,
                                               reinterpret_cast<std::byte*>(context.out<float>() + phase.place)};
        if (first < last) phase.rows.run(first, last, input, operands, nullptr);
      }
    });
  }

 private:
  struct Phase {
    Spatial first;
    int64_t rowCount;  // of all images
    DepthwiseRows rows;
    int64_t place = 0;  // of its first pixel in the output, in elements
  };

  void addPhase(const Node& node, const TransposedPhase& phase, const PhasedWeights& weights) {
    const ConvShape& shape = phase.convolution;
    if (shape.images * shape.pixels() == 0) return;
    // The first one brings the input to the cache.
    const bool readsFar = phases_.empty() && isFar(shape);
    const int64_t rowCount = shape.images * shape.out[0] * shape.out[1];
    DepthwiseRows rows(node, shape, Ref(weights.of<DepthwiseWeights>(phase.firstTap)), false, false, readsFar);
    phases_.push_back(std::make_unique<Phase>(Phase{phase.first, rowCount, std::move(rows)}));
  }

  void setOutSteps() {
    const int64_t row = shape_.out[2] * outStep_, frame = shape_.out[1] * row;
    const DepthwiseRows::OutSteps steps{shape_.stride[2] * outStep_, shape_.stride[1] * row, shape_.stride[0] * frame,
                                        shape_.out[0] * frame};
    for (const std::unique_ptr<Phase>& phase : phases_) {
      phase->place = phase->first[0] * frame + phase->first[1] * row + phase->first[2] * outStep_;
      phase->rows.setOutSteps(steps);
    }
  }

  TransposedShape shape_;
  bool hasBias_;
  int64_t inStep_, outStep_;  // from one pixel to the next
  int lanes_ = 1;
  std::vector<std::unique_ptr<Phase>> phases_;
  int64_t blockRows_ = 1, blocks_ = 0;
};

class GroupedPhasesOp final : public OpKernel {
 public:
  explicit GroupedPhasesOp(const OpRequest& request)
      : shape_(request),
        table_(*groupedPhases(request.node, request.inputs[1].shape)),
        weights_(weightsOf(request)),
        activation_(fusedActivation(request.node)),
        hasBias_(request.has(2)),
        lanes_(std::max(request.lanes, 1)) {
    const int64_t count = shape_.stride[0] * shape_.stride[1] * shape_.stride[2];
    for (int64_t i = 0; i < count; ++i) {
      const TransposedPhase phase(shape_, i);
      phases_.push_back({phase, BorderedRows(phase.convolution)});
      laneBytes_ = std::max(laneBytes_, phases_.back().rows.scratchBytes());
    }
  }

  size_t scratchBytes() const override { return static_cast<size_t>(checkedMultiply<int64_t>(laneBytes_, lanes_)); }

  void run(const OpContext& context) const override {
    for (const Phase& phase : phases_) {
      const ConvShape& shape = phase.places.convolution;
      const int64_t steps = shape.taps() * shape.groupChannels() * shape.out[2] * shape.filters / 8;
      phase.rows.forEach(context, laneBytes_, steps, [&](const BorderedRows::Segment& segment, std::byte*) {
        runSegment(context, phase, segment);
      });
    }
  }

 private:
  struct Phase {
    TransposedPhase places;
    BorderedRows rows;
  };

  void runSegment(const OpContext& context, const Phase& phase, const BorderedRows::Segment& segment) const {
    const int64_t step = shape_.stride[2] * shape_.filters;
    float* out = context.out<float>() + placeOf(phase, segment.begin) * shape_.filters;
    runGroupedSegment(
        table_, *weights_->of<GroupedWeights>(phase.places.firstTap), phase.places.convolution,
        {segment, step, hasBias_ ? context.in<float>(2) : nullptr, out, nullptr, activation_.low, activation_.high});
    if (!activation_.function) return;
    for (int64_t i = 0; i < segment.pixels; ++i) applyActivation(activation_, out + i * step, shape_.filters);
  }

  // The pixel of the output that is this one of a phase.
  int64_t placeOf(const Phase& phase, int64_t pixel) const {
    Spatial at;
    for (size_t i = 3; i-- > 0; pixel /= phase.places.convolution.out[i])
      at[i] = pixel % phase.places.convolution.out[i] * shape_.stride[i] + phase.places.first[i];
    return ((pixel * shape_.out[0] + at[0]) * shape_.out[1] + at[1]) * shape_.out[2] + at[2];
  }

  TransposedShape shape_;
  const GroupedTable& table_;
  Ref<PhasedWeights> weights_;
  Activation activation_;
  bool hasBias_;
  int lanes_;
  std::vector<Phase> phases_;
  int64_t laneBytes_ = 0;
};

}  // namespace

TransposedPhase::TransposedPhase(const TransposedShape& shape, int64_t number) {
  convolution.images = shape.images;
  convolution.channels = shape.channels;
  convolution.filters = shape.filters;
  convolution.groups = shape.groups;
  convolution.in = shape.in;
  for (size_t i = 3; i-- > 0;) {
    const int64_t stride = shape.stride[i];
    first[i] = number % stride;
    number /= stride;
    const int64_t at = first[i] + shape.before[i];
    firstTap[i] = (at % stride + stride) % stride;
    const int64_t taps = ceilDiv(shape.kernel[i] - firstTap[i], stride);
    const int64_t lastTap = firstTap[i] + (taps - 1) * stride;
    convolution.kernel[i] = taps;
    convolution.before[i] = (lastTap - at) / stride;
    convolution.out[i] = ceilDiv(std::max<int64_t>(shape.out[i] - first[i], 0), stride);
    convolution.after[i] = convolution.out[i] + taps - 1 - convolution.before[i] - shape.in[i];
  }
}

bool takesPhases(const Node& node, const Shape& weights) {
  if (!node.isOwn("ConvTranspose")) return false;
  return readers::isPhasedDepthwise(node.attributes, weights) || groupedPhases(node, weights);
}

std::unique_ptr<OpKernel> createPhases(const OpRequest& request) {
  if (groupedPhases(request.node, request.inputs[1].shape)) return std::make_unique<GroupedPhasesOp>(request);
  return std::make_unique<DepthwisePhasesOp>(request);
}

Ref<Prepared> preparePhases(const Node& node, const Tensor& weights) { return packPhases(node, weights); }

}  // namespace max
