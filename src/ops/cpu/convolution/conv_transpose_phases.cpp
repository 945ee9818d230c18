// SPDX-License-Identifier: Apache-2.0
// max.ConvTranspose as the convolutions of its phases: depthwise ones, where each channel has a filter, those in
// groups of which a vector holds some, and products, one for each row of pixels, whose results are where they belong.
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
#include "ops/cpu/grain.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

constexpr int64_t kBlockBytes = 256 << 10;  // of the input, for a second cache
constexpr double kWorthLanes = 100e3;       // products

// Which filters of a transposed convolution a phase has.
class PhaseTaps {
 public:
  PhaseTaps(const Attributes& attributes, const Shape& weights)
      : groups_(readers::readGroups(attributes)), channels_(weights[0] / groups_), filters_(weights[1]) {
    const readers::Transposed reader(attributes, weights.dims().subspan(2));
    const size_t missing = 3 - reader.windows.axes.size();
    for (size_t i = 0; i < reader.windows.axes.size(); ++i) {
      kernel_[missing + i] = reader.windows.axes[i].size;
      stride_[missing + i] = reader.windows.axes[i].stride;
    }
  }

  const Spatial& stride() const { return stride_; }
  // Of the phase with this first tap: the filters of a convolution, with the taps that are strides apart from it, the
  // last one first.
  Shape shapeOf(const Spatial& tap) const {
    Shape shape{filters_ * groups_, channels_};
    for (size_t i = 0; i < 3; ++i) shape.push(ceilDiv(kernel_[i] - tap[i], stride_[i]));
    return shape;
  }
  void order(const float* weights, const Spatial& tap, float* to) const {
    const Shape count = shapeOf(tap);
    const int64_t taps = kernel_[0] * kernel_[1] * kernel_[2];
    WorkCounter work;
    for (int64_t filter = 0; filter < count[0]; ++filter)
      for (int64_t c = 0; c < channels_; ++c, work.pass(taps)) {
        const int64_t channel = filter / filters_ * channels_ + c;
        const float* from = weights + (channel * filters_ + filter % filters_) * taps;
        for (int64_t d = count[2]; d-- > 0;)
          for (int64_t h = count[3]; h-- > 0;)
            for (int64_t w = count[4]; w-- > 0;) {
              const int64_t slice = tap[0] + d * stride_[0], row = tap[1] + h * stride_[1];
              *to++ = from[(slice * kernel_[1] + row) * kernel_[2] + tap[2] + w * stride_[2]];
            }
      }
  }

 private:
  int64_t groups_, channels_, filters_;  // of a group
  Spatial kernel_{1, 1, 1}, stride_{1, 1, 1};
};

// Of a phase.
using PackFilters = FunctionRef<Ref<Prepared>(const Tensor& filters)>;

// The filters of every phase, by its first taps.
class PhasedWeights final : public Prepared {
 public:
  PhasedWeights(const Attributes& attributes, const Tensor& weights, PackFilters pack)
      : taps_(attributes, weights.shape()) {
    const Spatial& stride = taps_.stride();
    Spatial tap;
    for (tap[0] = 0; tap[0] < stride[0]; ++tap[0])
      for (tap[1] = 0; tap[1] < stride[1]; ++tap[1])
        for (tap[2] = 0; tap[2] < stride[2]; ++tap[2]) {
          const Ref<Tensor> filters = Tensor::allocate(DType::Float32, taps_.shapeOf(tap));
          taps_.order(weights.as<float>(), tap, static_cast<float*>(filters->mutableData()));
          phases_.push_back(pack(*filters));
        }
  }

  size_t bytes() const override {
    size_t sum = 0;
    for (const Ref<Prepared>& phase : phases_) sum += phase->bytes();
    return sum;
  }
  bool replaces(size_t input) const override { return input == 1; }
  template <class W>
  W* of(const Spatial& tap) const {
    const int64_t number = (tap[0] * taps_.stride()[1] + tap[1]) * taps_.stride()[2] + tap[2];
    return dynamic_cast<W*>(phases_[static_cast<size_t>(number)].get());
  }

 private:
  PhaseTaps taps_;
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

// Whether phases are worth a product for each of their rows: its filters fill vectors, its pixels fill tiles, and the
// next one finds the weights in a near cache.
bool takesProducts(const Node& node, const Shape& weights) {
  constexpr int64_t kFewestPixels = 8, kMostBytes = 512 << 10;
  if (!readers::hasPhases(node.attributes, weights)) return false;
  const int64_t half = std::max(gemmTable().lanes / 2, 1), filters = weights[1];
  if (3 * alignUp(filters, half) > 4 * filters) return false;
  int64_t floats = weights[0] * filters;
  const std::vector<readers::Window> axes = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes;
  for (const readers::Window& axis : axes) floats = checkedMultiply(floats, ceilDiv(axis.size, axis.stride));
  if (floats > kMostBytes / 4) return false;
  const SymbolicShape out = node.outputs.empty() ? SymbolicShape() : node.outputs[0]->type.dims;
  const bool isKnown = out.size() >= 2 && out[out.size() - 2].isKnown();
  return !isKnown || out[out.size() - 2].value() >= kFewestPixels * axes.back().stride;
}

Ref<PackedWeights> packProduct(const Tensor& filters, int64_t groups) {
  const Shape& shape = filters.shape();
  const int64_t rows = shape.product(1, shape.rank()), taps = shape.product(2, shape.rank());
  auto packed = makeRef<PackedWeights>(gemmTable(), groups, rows, shape[0] / groups);
  for (int64_t g = 0; g < groups; ++g) {
    const float* from = filters.as<float>() + g * shape[0] / groups * rows;
    packMatrix(gemmTable(), {from, 1, rows, taps, shape[1], shape[0] / groups}, packed->matrix(g), defaultLanes());
  }
  return packed;
}

Ref<PhasedWeights> packPhases(const Node& node, const Tensor& weights) {
  const GroupedTable* table = groupedPhases(node, weights.shape());
  const bool isByChannel = readers::isPhasedDepthwise(node.attributes, weights.shape());
  return makeRef<PhasedWeights>(node.attributes, weights, [&](const Tensor& filters) -> Ref<Prepared> {
    if (isByChannel) return makeRef<DepthwiseWeights>(filters, false);
    if (table) return makeRef<GroupedWeights>(*table, filters);
    return packProduct(filters, readers::readGroups(node.attributes));
  });
}

Ref<PhasedWeights> weightsOf(const OpRequest& request) {
  if (auto* prepared = dynamic_cast<PhasedWeights*>(request.node.prepared.get())) return Ref<PhasedWeights>(prepared);
  return request.inputs[1].constant ? packPhases(request.node, *request.inputs[1].constant) : nullptr;
}

// The filters of phases in the order of their kernels: those that the load prepared, or those of a call, which it
// orders in its scratch memory.
class PhaseFilters {
 public:
  // In groups, or NULL for one filter of each channel.
  PhaseFilters(const OpRequest& request, const GroupedTable* table)
      : weights_(weightsOf(request)), taps_(request.node.attributes, request.inputs[1].shape), table_(table) {}

  int64_t bytes() const { return weights_ ? 0 : checkedAdd(ordered_, bytesOf(most_)); }
  // The number of a phase, for valuesOf().
  size_t add(const Spatial& firstTap) {
    const Shape shape = taps_.shapeOf(firstTap);
    if (table_) layouts_.emplace_back(*table_, shape);
    phases_.push_back({firstTap, ordered_});
    ordered_ = checkedAdd(ordered_, bytesOf(table_ ? layouts_.back().floats() : shape.count()));
    most_ = std::max(most_, shape.count());
    return phases_.size() - 1;
  }
  const GroupedLayout& layoutOf(size_t phase) const { return layouts_[phase]; }
  void order(const float* weights, std::byte* memory) const {
    if (weights_) return;
    auto* filters = reinterpret_cast<float*>(memory + ordered_);
    for (size_t i = 0; i < phases_.size(); ++i) {
      taps_.order(weights, phases_[i].firstTap, filters);
      const Shape shape = taps_.shapeOf(phases_[i].firstTap);
      auto* to = reinterpret_cast<float*>(memory + phases_[i].at);
      if (table_)
        layouts_[i].pack(filters, to);
      else
        transposeMatrices(filters, 1, shape[0], shape.product(2, shape.rank()), to);
    }
  }
  const float* valuesOf(size_t phase, const std::byte* memory) const {
    const Phase& of = phases_[phase];
    if (!weights_) return reinterpret_cast<const float*>(memory + of.at);
    return table_ ? weights_->of<GroupedWeights>(of.firstTap)->values()
                  : weights_->of<DepthwiseWeights>(of.firstTap)->values();
  }

 private:
  struct Phase {
    Spatial firstTap;
    int64_t at;  // in the memory
  };
  static int64_t bytesOf(int64_t floats) { return alignUp(checkedMultiply<int64_t>(sizeof(float), floats)); }

  Ref<PhasedWeights> weights_;  // NULL = those of each call
  PhaseTaps taps_;
  const GroupedTable* table_;
  std::vector<Phase> phases_;
  std::vector<GroupedLayout> layouts_;  // of phases in groups
  int64_t ordered_ = 0, most_ = 0;
};

// Blocks of the rows of all phases take turns, so that they find the input in a near cache.
class DepthwisePhasesOp final : public OpKernel {
 public:
  explicit DepthwisePhasesOp(const OpRequest& request)
      : shape_(request, true),
        filters_(request, nullptr),
        hasBias_(request.has(2)),
        inStep_(shape_.channels),
        outStep_(shape_.channels) {
    const int64_t outputs = checkedMultiply(shape_.images, checkedMultiply(shape_.outPixels(), shape_.channels));
    const double work = static_cast<double>(outputs) * static_cast<double>(shape_.taps());
    const int64_t count = shape_.stride[0] * shape_.stride[1] * shape_.stride[2];
    if (work / static_cast<double>(count) >= kWorthLanes) lanes_ = std::max(request.lanes, 1);
    for (int64_t i = 0; i < count; ++i) addPhase(request.node, TransposedPhase(shape_, i));
    if (phases_.empty()) return;
    const int64_t rows = phases_[0]->rowCount;  // no phase has more
    const int64_t fitting = kBlockBytes / std::max<int64_t>(4 * shape_.in[2] * shape_.channels, 1);
    blockRows_ =
        std::clamp(alignUp(fitting, kDepthwiseRowsAtOnce), kDepthwiseRowsAtOnce, phases_[0]->rows.grain(rows, lanes_));
    blocks_ = ceilDiv(rows, blockRows_);
    setOutSteps();
  }

  size_t scratchBytes() const override { return static_cast<size_t>(filters_.bytes()); }
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
    filters_.order(context.in<float>(1), context.scratch);
    parallelFor(std::min(lanes_, context.lanes), blocks_ * count, count, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) {
        const Phase& phase = *phases_[static_cast<size_t>(task % count)];
        const int64_t first = task / count * blockRows_, last = std::min(first + blockRows_, phase.rowCount);
        const DepthwiseRows::Operands operands{hasBias_ ? context.in<float>(2) : nullptr, nullptr,
                                               reinterpret_cast<std::byte*>(context.out<float>() + phase.place),
                                               filters_.valuesOf(phase.filters, context.scratch)};
        if (first < last) phase.rows.run(first, last, input, operands, nullptr);
      }
    });
  }

 private:
  struct Phase {
    Spatial first;
    int64_t rowCount;  // of all images
    size_t filters;    // their number
    DepthwiseRows rows;
    int64_t place = 0;  // of its first pixel in the output, in elements
  };

  void addPhase(const Node& node, const TransposedPhase& phase) {
    const ConvShape& shape = phase.convolution;
    if (shape.images * shape.pixels() == 0) return;
    // The first one brings the input to the cache.
    const bool readsFar = phases_.empty() && isFar(shape);
    const int64_t rowCount = shape.images * shape.out[0] * shape.out[1];
    DepthwiseRows rows(node, shape, nullptr, false, false, readsFar);
    phases_.push_back(
        std::make_unique<Phase>(Phase{phase.first, rowCount, filters_.add(phase.firstTap), std::move(rows)}));
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
  PhaseFilters filters_;
  bool hasBias_;
  int64_t inStep_, outStep_;  // from one pixel to the next
  int lanes_ = 1;
  std::vector<std::unique_ptr<Phase>> phases_;
  int64_t blockRows_ = 1, blocks_ = 0;
};

class GroupedPhasesOp final : public OpKernel {
 public:
  explicit GroupedPhasesOp(const OpRequest& request)
      : shape_(request, true),
        table_(*groupedPhases(request.node, request.inputs[1].shape)),
        filters_(request, &table_),
        activation_(fusedActivation(request.node)),
        hasBias_(request.has(2)),
        lanes_(std::max(request.lanes, 1)) {
    const int64_t count = shape_.stride[0] * shape_.stride[1] * shape_.stride[2];
    for (int64_t i = 0; i < count; ++i) {
      const TransposedPhase phase(shape_, i);
      phases_.push_back({phase, filters_.add(phase.firstTap), BorderedRows(phase.convolution)});
      laneBytes_ = std::max(laneBytes_, phases_.back().rows.scratchBytes());
    }
  }

  size_t scratchBytes() const override { return static_cast<size_t>(checkedAdd(filtersAt(), filters_.bytes())); }

  void run(const OpContext& context) const override {
    filters_.order(context.in<float>(1), context.scratch + filtersAt());
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
    size_t filters;  // their number
    BorderedRows rows;
  };

  // Behind the memory of lanes.
  int64_t filtersAt() const { return checkedMultiply<int64_t>(laneBytes_, lanes_); }

  void runSegment(const OpContext& context, const Phase& phase, const BorderedRows::Segment& segment) const {
    const int64_t step = shape_.stride[2] * shape_.filters;
    float* out = context.out<float>() + placeOf(phase, segment.begin) * shape_.filters;
    runGroupedSegment(
        table_, filters_.layoutOf(phase.filters), filters_.valuesOf(phase.filters, context.scratch + filtersAt()),
        phase.places.convolution,
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
  PhaseFilters filters_;
  Activation activation_;
  bool hasBias_;
  int lanes_;
  std::vector<Phase> phases_;
  int64_t laneBytes_ = 0;
};

// Each row of a phase is a product of its own, whose rows are pixels of a copy of the input with borders.
class ProductPhasesOp final : public OpKernel {
 public:
  explicit ProductPhasesOp(const OpRequest& request)
      : shape_(request, true), weights_(weightsOf(request)), hasBias_(request.has(2)), padded_(shape_.in) {
    const int64_t count = shape_.stride[0] * shape_.stride[1] * shape_.stride[2];
    std::vector<TransposedPhase> places;
    for (int64_t i = 0; i < count; ++i) places.emplace_back(shape_, i);
    for (const TransposedPhase& phase : places) findBorders(phase.convolution);
    if (padded_ != shape_.in)
      copyBytes_ = alignUp(checkedMultiply<int64_t>(sizeof(float), checkedMultiply(shape_.images, paddedFloats())));
    for (const TransposedPhase& phase : places) addPhase(request, phase);
  }

  size_t scratchBytes() const override {
    size_t most = 0;
    for (const std::unique_ptr<Phase>& phase : phases_) most = std::max(most, phase->gemm.scratchBytes());
    return static_cast<size_t>(copyBytes_) + most;
  }

  void run(const OpContext& context) const override {
    const float* x = copyBytes_ > 0 ? withBorders(context) : context.in<float>(0);
    for (const std::unique_ptr<Phase>& phase : phases_) {
      const Source source{x, shape_.channels, &phase->taps};
      GemmOperands operands;
      operands.a = x;
      operands.lda = shape_.channels;
      operands.rowFunction = findRows;
      operands.rowSource = &source;
      operands.b = phase->weights->data();
      operands.c = context.out<float>();
      operands.ldc = shape_.stride[2] * shape_.filters;
      operands.bias = hasBias_ ? context.in<float>(2) : nullptr;
      phase->gemm.run(operands, context.scratch + copyBytes_, context.lanes);
    }
  }

 private:
  struct Phase {
    std::vector<int64_t> taps;  // where they lie from the first
    PackedWeights* weights;
    Gemm gemm;
  };
  struct Source {
    const float* x;
    int64_t pixelFloats;
    const std::vector<int64_t>* taps;
  };

  static void findRows(const void* from, int64_t first, int64_t count, int tileRows, const float** table) {
    const auto& source = *static_cast<const Source*>(from);
    const float* x = source.x + first * source.pixelFloats;
    for (const int64_t tap : *source.taps) {
      for (int64_t i = 0; i < count; ++i) table[i] = x + tap + i * source.pixelFloats;
      table += tileRows;
    }
  }

  void findBorders(const ConvShape& phase) {
    if (phase.pixels() == 0) return;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t after = padded_[i] - shape_.in[i] - borders_[i];
      borders_[i] = std::max(borders_[i], phase.before[i]);
      padded_[i] = shape_.in[i] + borders_[i] + std::max(after, phase.after[i]);
    }
  }

  int64_t paddedFloats() const {
    return checkedMultiply(checkedMultiply(checkedMultiply(padded_[0], padded_[1]), padded_[2]), shape_.channels);
  }

  int64_t placeOf(int64_t image, int64_t d, int64_t h, int64_t w) const {
    return (((image * padded_[0] + d) * padded_[1] + h) * padded_[2] + w) * shape_.channels;
  }

  void addPhase(const OpRequest& request, const TransposedPhase& phase) {
    const ConvShape& shape = phase.convolution;
    if (shape.images * shape.pixels() == 0) return;
    auto* weights = weights_->of<PackedWeights>(phase.firstTap);
    const bool joins = shape.groups == 1;  // taps of a row, which follow each other in the copy
    std::vector<int64_t> taps;
    for (int64_t d = 0; d < shape.kernel[0]; ++d)
      for (int64_t h = 0; h < shape.kernel[1]; ++h)
        for (int64_t w = 0; w < (joins ? 1 : shape.kernel[2]); ++w) taps.push_back(placeOf(0, d, h, w));
    const auto count = static_cast<int64_t>(taps.size());
    Gemm gemm(shape.out[2], shape.groupFilters(), count, shape.taps() / count * shape.groupChannels(),
              Epilogue{1, fusedActivation(request.node)}, request.lanes, productsOf(phase, weights->stride()));
    phases_.push_back(std::make_unique<Phase>(Phase{std::move(taps), weights, std::move(gemm)}));
  }

  // One for each row and group.
  WorkVector<GemmOffsets> productsOf(const TransposedPhase& phase, int64_t weightsStride) const {
    const ConvShape& shape = phase.convolution;
    const int64_t rows = shape.images * shape.out[0] * shape.out[1];
    WorkVector<GemmOffsets> result(static_cast<size_t>(checkedMultiply(rows, shape.groups)));
    for (int64_t i = 0; i < rows * shape.groups; ++i) {
      const int64_t row = i / shape.groups, group = i % shape.groups, h = row % shape.out[1];
      const int64_t d = row / shape.out[1] % shape.out[0], image = row / shape.out[1] / shape.out[0];
      const int64_t outRow = (image * shape_.out[0] + d * shape_.stride[0] + phase.first[0]) * shape_.out[1] +
                             h * shape_.stride[1] + phase.first[1];
      GemmOffsets& at = result[static_cast<size_t>(i)];
      at.a = placeOf(image, d + borders_[0] - shape.before[0], h + borders_[1] - shape.before[1],
                     borders_[2] - shape.before[2]) +
             group * shape.groupChannels();
      at.b = group * weightsStride;
      at.bias = group * shape.groupFilters();
      at.c = (outRow * shape_.out[2] + phase.first[2]) * shape_.filters + at.bias;
    }
    return result;
  }

  const float* withBorders(const OpContext& context) const {
    const int64_t floats = padded_[2] * shape_.channels, before = borders_[2] * shape_.channels;
    const int64_t inside = shape_.in[2] * shape_.channels;
    auto* copy = reinterpret_cast<float*>(context.scratch);
    const int64_t grain = grainOf(kBlockBytes / 16, {floats});
    context.parallelFor(shape_.images * padded_[0] * padded_[1], grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t slice = row / padded_[1], h = row % padded_[1] - borders_[1];
        const int64_t d = slice % padded_[0] - borders_[0], image = slice / padded_[0];
        float* to = copy + row * floats;
        passWork(floats / 4);
        if (h < 0 || h >= shape_.in[1] || d < 0 || d >= shape_.in[0]) {
          std::fill_n(to, floats, 0.f);
          continue;
        }
        const float* from = context.in<float>(0) + ((image * shape_.in[0] + d) * shape_.in[1] + h) * inside;
        std::fill_n(to, before, 0.f);
        std::copy_n(from, inside, to + before);
        std::fill(to + before + inside, to + floats, 0.f);
      }
    });
    return copy;
  }

  TransposedShape shape_;
  Ref<PhasedWeights> weights_;
  bool hasBias_;
  Spatial borders_{0, 0, 0}, padded_;  // before the image, and its size with those behind it
  int64_t copyBytes_ = 0;              // 0 = no borders
  std::vector<std::unique_ptr<Phase>> phases_;
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
  return readers::isPhasedDepthwise(node.attributes, weights) || groupedPhases(node, weights) ||
         takesProducts(node, weights);
}

bool takesPhasesOfCall(const OpRequest& request) {
  const Shape& weights = request.inputs[1].shape;
  if (request.inputs[1].constant || request.node.prepared) return false;
  return readers::isPhasedDepthwise(request.node.attributes, weights) || groupedPhases(request.node, weights);
}

std::unique_ptr<OpKernel> createPhases(const OpRequest& request) {
  const Shape& weights = request.inputs[1].shape;
  if (readers::isPhasedDepthwise(request.node.attributes, weights)) return std::make_unique<DepthwisePhasesOp>(request);
  if (groupedPhases(request.node, weights)) return std::make_unique<GroupedPhasesOp>(request);
  return std::make_unique<ProductPhasesOp>(request);
}

Ref<Prepared> preparePhases(const Node& node, const Tensor& weights) { return packPhases(node, weights); }

}  // namespace max
