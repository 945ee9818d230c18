// SPDX-License-Identifier: Apache-2.0
// Layer, RMS, group, instance, mean-variance, Lp and local response normalisation of float32.
#include "ops/cpu/normalization/norm.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/normalization.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/narrow.h"
#include "ops/cpu/reduction/reduce.h"
#include "ops/cpu/streamed.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;  // worth a thread
constexpr int64_t kRowsAtOnce = 8;           // of short ones

// All of them: rows of consecutive elements. Empty rows also have statistics.
class RowOp : public OpKernel {
 public:
  RowOp(const OpRequest& request, int64_t rows, int64_t shortRows = 1)
      : table_(normTable()),
        rows_(rows),
        size_(rows ? request.inputs[0].shape.count() / rows : 0),
        rowsAtOnce_(size_ <= kShortRow ? shortRows : 1),
        epsilon_(readers::readEpsilon(request.node.attributes)),
        writesNarrow_(isNarrow(request.outputs[0])) {}

  int inPlaceInput() const override { return writesNarrow_ ? -1 : 0; }
  void run(const OpContext& context) const override {
    context.parallelFor(rows_, grainOf(kElementsPerPart, {size_}), [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; row += rowsAtOnce_)
        normalise(context, row, std::min(rowsAtOnce_, end - row));
      if (!writesNarrow_ && rows_ * size_ * 4 >= kStreamedBytes) hwy::FlushStream();
    });
  }

 protected:
  // `count`: rows, not more than rowsAtOnce_.
  virtual void normalise(const OpContext& context, int64_t row, int64_t count) const = 0;
  // To rows of the first output.
  void apply(const OpContext& context, int64_t row, int64_t count, const float* x, const Moments* moments,
             const float* scale, const float* bias) const {
    const int64_t first = row * size_;
    if (writesNarrow_)
      return table_.applyNarrow(x, context.out<uint16_t>() + first, count, size_, moments, scale, bias);
    float* y = context.out<float>();
    const auto apply = isStreamed(y, rows_ * size_ * 4, size_ * 4, x - first) ? table_.applyStreamed : table_.apply;
    apply(x, y + first, count, size_, moments, scale, bias);
  }
  const NormTable& table_;
  int64_t rows_, size_, rowsAtOnce_;
  float epsilon_;
  bool writesNarrow_;  // bfloat16
};

// Rows from `axis` on; scale and bias per element of a row.
int axisOf(const OpRequest& request) {
  return readers::LayerNorm(request.node.attributes, request.inputs[0].shape.rank()).axis;
}
int64_t rowsBefore(const OpRequest& request) { return request.inputs[0].shape.product(0, axisOf(request)); }
bool isWanted(const OpRequest& request, size_t output) {
  return output < request.outputs.size() && request.outputs[output].present();
}

// Without a sum that is kept, the result's memory is where it is made.
NarrowOperands narrowOperands(const Node& node) {
  return {0, mayBeNarrow(node) && (node.op() != "AddLayerNormalization" || node.output(1)) ? operandBit(0) : 0};
}

bool perElement(const OpRequest& request, size_t first) {
  const Shape& shape = request.inputs[0].shape;
  if (!areFloats(request, narrowOperands(request.node))) return false;
  const int64_t size = shape.product(axisOf(request), shape.rank());
  for (size_t i = first; i < request.inputs.size(); ++i)
    if (request.has(i) && request.inputs[i].shape.count() != size) return false;
  return request.has(first);
}

class LayerNormalizationOp final : public RowOp {
 public:
  explicit LayerNormalizationOp(const OpRequest& request)
      : RowOp(request, rowsBefore(request), kRowsAtOnce),
        hasBias_(request.has(2)),
        wanted_{isWanted(request, 0), isWanted(request, 1), isWanted(request, 2)} {}

 private:
  void normalise(const OpContext& context, int64_t row, int64_t count) const override {
    const float* x = context.in<float>(0) + row * size_;
    Moments moments[kRowsAtOnce];
    table_.moments(x, count, size_, epsilon_, moments);
    if (wanted_[0])
      apply(context, row, count, x, moments, context.in<float>(1), hasBias_ ? context.in<float>(2) : nullptr);
    for (int64_t i = 0; i < count; ++i) {
      if (wanted_[1]) context.out<float>(1)[row + i] = moments[i].mean;
      if (wanted_[2]) context.out<float>(2)[row + i] = moments[i].inverseDeviation;
    }
  }
  bool hasBias_;
  bool wanted_[3];
};

// X + R first; the sum is the second output, if wanted.
class AddLayerNormalizationOp final : public RowOp {
 public:
  explicit AddLayerNormalizationOp(const OpRequest& request)
      : RowOp(request, rowsBefore(request), kRowsAtOnce),
        hasBias_(request.has(3)),
        wantsResult_(isWanted(request, 0)),
        wantsSum_(isWanted(request, 1)) {}

 private:
  void normalise(const OpContext& context, int64_t row, int64_t count) const override {
    const int64_t first = row * size_;
    float* sum = (wantsSum_ ? context.out<float>(1) : context.out<float>()) + first;
    table_.add(context.in<float>(0) + first, context.in<float>(1) + first, sum, count * size_);
    if (!wantsResult_) return;
    Moments moments[kRowsAtOnce];
    table_.moments(sum, count, size_, epsilon_, moments);
    apply(context, row, count, sum, moments, context.in<float>(2), hasBias_ ? context.in<float>(3) : nullptr);
  }
  bool hasBias_, wantsResult_, wantsSum_;
};

class RmsNormalizationOp final : public RowOp {
 public:
  explicit RmsNormalizationOp(const OpRequest& request) : RowOp(request, rowsBefore(request)) {}

 private:
  void normalise(const OpContext& context, int64_t row, int64_t) const override {
    const float* x = context.in<float>(0) + row * size_;
    const Moments moments{0, table_.inverseRootMeanSquare(x, size_, epsilon_)};
    apply(context, row, 1, x, &moments, context.in<float>(1), nullptr);
  }
};

// A row is a group of channels of one image; scale and bias are per channel.
class GroupNormalizationOp final : public RowOp {
 public:
  GroupNormalizationOp(const OpRequest& request, int64_t groups)
      : RowOp(request, request.inputs[0].shape[0] * groups),
        groups_(groups),
        channels_(request.inputs[0].shape[1] / groups),
        inner_(request.inputs[0].shape.product(2, request.inputs[0].shape.rank())) {}

 private:
  void normalise(const OpContext& context, int64_t row, int64_t) const override {
    const float* x = context.in<float>(0) + row * size_;
    float* y = context.out<float>() + row * size_;
    const int64_t first = row % groups_ * channels_;
    const float *scale = context.in<float>(1) + first, *bias = context.in<float>(2) + first;
    const Moments moments = table_.momentsOf(x, size_, epsilon_);
    WorkCounter work;
    for (int64_t c = 0; c < channels_; ++c, x += inner_, y += inner_, work.pass(inner_ + 4))
      table_.scaleAndShift(x, y, inner_, moments.mean, moments.inverseDeviation * scale[c], bias[c]);
  }
  int64_t groups_, channels_, inner_;
};

// A tensor [outer, kept, inner] of which the outer and inner axes are normalised together.
struct KeptAxes {
  int64_t outer = 1, kept = 1, inner = 1;
  bool isOneBlock = true;

  explicit KeptAxes(const OpRequest& request) {
    const Shape& shape = request.inputs[0].shape;
    std::vector<bool> isReduced(static_cast<size_t>(shape.rank()));
    for (const int axis : readers::readNormalisedAxes(request.node.attributes, shape.rank()))
      isReduced[static_cast<size_t>(axis)] = true;
    int part = 0;  // 0 = outer, 1 = kept, 2 = inner
    for (int i = 0; i < shape.rank(); ++i) {
      if ((part == 1) == isReduced[static_cast<size_t>(i)]) ++part;
      isOneBlock = isOneBlock && part <= 2;
      (part == 0 ? outer : part == 1 ? kept : inner) *= shape[i];
    }
  }
};

class MeanVarianceOp final : public OpKernel {
 public:
  explicit MeanVarianceOp(const OpRequest& request) : table_(normTable()), axes_(request) {}

  int inPlaceInput() const override { return 0; }
  void run(const OpContext& context) const override {
    const int64_t size = axes_.outer * axes_.inner;
    if (size == 0) return;
    context.parallelFor(axes_.kept, grainOf(kElementsPerPart, {size}), [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) normalise(context.in<float>(0), context.out<float>(), i);
    });
  }

 private:
  void normalise(const float* x, float* y, int64_t kept) const {
    const int64_t inner = axes_.inner, step = axes_.kept * inner, first = kept * inner,
                  last = first + axes_.outer * step;
    const auto count = static_cast<double>(axes_.outer);
    if (axes_.outer == 1) {
      const Moments moments = table_.momentsOf(x + first, inner, 0);
      const double deviation = 1 / static_cast<double>(moments.inverseDeviation);
      return table_.scaleAndShift(x + first, y + first, inner, moments.mean, factorOf(deviation), 0);
    }
    double mean = 0, squares = 0;
    WorkCounter work;
    for (int64_t at = first; at < last; at += step, work.pass(inner + 8))
      mean += static_cast<double>(table_.momentsOf(x + at, inner, 0).mean) / count;
    for (int64_t at = first; at < last; at += step, work.pass(inner + 8)) {
      table_.scaleAndShift(x + at, y + at, inner, static_cast<float>(mean), 1, 0);
      squares += static_cast<double>(table_.sumOfSquares(y + at, inner));
    }
    const float factor = factorOf(std::sqrt(squares / (count * static_cast<double>(inner))));
    for (int64_t at = first; at < last; at += step, work.pass(inner + 8))
      table_.scaleAndShift(y + at, y + at, inner, 0, factor, 0);
  }

  static float factorOf(double deviation) {
    constexpr double kSmallest = 1e-9;  // from the operator's definition
    return static_cast<float>(1 / (deviation + kSmallest));
  }

  const NormTable& table_;
  KeptAxes axes_;
};

bool acceptsKeptAxes(const OpRequest& request) { return areFloats(request) && KeptAxes(request).isOneBlock; }

// Along the last axis.
class LpNormalizationOp final : public RowOp {
 public:
  explicit LpNormalizationOp(const OpRequest& request)
      : RowOp(request, rowsBefore(request)),
        p_(readers::LpNorm(request.node.attributes, request.inputs[0].shape.rank()).p) {}

 private:
  void normalise(const OpContext& context, int64_t row, int64_t) const override {
    const float* x = context.in<float>(0) + row * size_;
    const float norm = p_ == 1 ? table_.sumOfMagnitudes(x, size_) : std::sqrt(table_.sumOfSquares(x, size_));
    table_.scaleAndShift(x, context.out<float>() + row * size_, size_, 0, norm == 0 ? 0 : 1 / norm, 0);
  }
  int64_t p_;
};

// Along another axis, some columns at a time.
class LpColumnsOp final : public OpKernel {
 public:
  explicit LpColumnsOp(const OpRequest& request) {
    const Shape& shape = request.inputs[0].shape;
    const readers::LpNorm norm(request.node.attributes, shape.rank());
    isRoot_ = norm.p == 2;
    fold_ = reduceTable().folds[static_cast<size_t>(isRoot_ ? Fold::SumOfSquares : Fold::SumOfMagnitudes)];
    outer_ = shape.product(0, norm.axis);
    size_ = shape[norm.axis];
    inner_ = shape.product(norm.axis + 1, shape.rank());
    parts_ = ceilDiv(inner_, kPart);
  }

  void run(const OpContext& context) const override {
    context.parallelFor(outer_ * parts_, grainOf(kElementsPerPart, {size_, std::min(kPart, inner_)}),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t first = i % parts_ * kPart;
                            normalise(context, i / parts_ * size_ * inner_ + first, std::min(kPart, inner_ - first));
                          }
                        });
  }

 private:
  static constexpr int64_t kPart = 256;

  void normalise(const OpContext& context, int64_t first, int64_t width) const {
    alignas(kSplatBytes) float factors[kPart];
    fold_.start(factors, width);
    fold_.columns(context.in<float>(0) + first, size_, inner_, width, factors, nullptr);
    for (int64_t i = 0; i < width; ++i) {
      const float norm = isRoot_ ? std::sqrt(factors[i]) : factors[i];
      factors[i] = norm == 0 ? 0 : 1 / norm;
    }
    WorkCounter work;
    for (int64_t k = 0; k < size_; ++k, first += inner_, work.pass(8 + width / 4))
      multiply_(
          {context.out<float>() + first, {context.in<float>(0) + first, factors, nullptr}, {1, 1, 0}, width, 0, 0});
  }

  TileFunction multiply_ = findTileFunction(ElementOp::Mul, DType::Float32, DType::Float32);
  FoldFunctions fold_{};
  int64_t outer_, size_, inner_, parts_;
  bool isRoot_;
};

// Some pixels of all channels at a time: the neighbours that a channel's sums read stay in a first cache.
class LocalResponseOp final : public OpKernel {
 public:
  explicit LocalResponseOp(const OpRequest& request)
      : reader_(request.node.attributes),
        images_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        pixels_(request.inputs[0].shape.product(2, request.inputs[0].shape.rank())),
        parts_(ceilDiv(pixels_, kPart)) {}

  void run(const OpContext& context) const override {
    context.parallelFor(images_ * parts_, grainOf(kElementsPerPart, {channels_, std::min(kPart, pixels_)}),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t first = i % parts_ * kPart;
                            normalise(context, i / parts_ * channels_ * pixels_ + first,
                                      std::min(kPart, pixels_ - first));
                          }
                        });
  }

 private:
  static constexpr int64_t kPart = 256;

  static TileFunction function(ElementOp op) { return findTileFunction(op, DType::Float32, DType::Float32); }

  void normalise(const OpContext& context, int64_t first, int64_t count) const {
    alignas(kSplatBytes) float sums[kPart];
    WorkCounter work;
    for (int64_t c = 0; c < channels_; ++c, work.pass(count * 4)) {
      const float* x = context.in<float>(0) + first + c * pixels_;
      std::fill_n(sums, count, 0.f);
      const int64_t last = std::min(channels_ - 1 - c, reader_.size / 2);
      for (int64_t k = -std::min(c, (reader_.size - 1) / 2); k <= last; ++k, work.pass(count / 4 + 8)) {
        const float* neighbour = x + k * pixels_;
        square_({sums, {neighbour, neighbour, sums}, {1, 1, 1}, count, 0, 0});
      }
      scale_({sums,
              {sums, nullptr, nullptr},
              {1, 0, 0},
              count,
              reader_.alpha / static_cast<float>(reader_.size),
              reader_.bias});
      raise(sums, count);
      divide_({context.out<float>() + first + c * pixels_, {x, sums, nullptr}, {1, 1, 0}, count, 0, 0});
    }
  }

  // To the power beta, which for most networks is three quarters.
  void raise(float* sums, int64_t count) const {
    alignas(kSplatBytes) float roots[kPart];
    if (reader_.beta == 0.75f) {
      root_({sums, {sums, nullptr, nullptr}, {1, 0, 0}, count, 0, 0});
      root_({roots, {sums, nullptr, nullptr}, {1, 0, 0}, count, 0, 0});
      return multiply_({sums, {sums, roots, nullptr}, {1, 1, 0}, count, 0, 0});
    }
    std::fill_n(roots, kSplatBytes / sizeof(float), reader_.beta);
    power_({sums, {sums, roots, nullptr}, {1, 0, 0}, count, 0, 0});
  }

  readers::LocalResponse reader_;
  int64_t images_, channels_, pixels_, parts_;
  TileFunction square_ = function(ElementOp::MulAdd), scale_ = function(ElementOp::Scale),
               root_ = function(ElementOp::Sqrt), multiply_ = function(ElementOp::Mul),
               power_ = function(ElementOp::Pow), divide_ = function(ElementOp::Div);
};

bool acceptsChannels(const OpRequest& request) { return areFloats(request) && request.inputs[0].shape.rank() >= 2; }

template <size_t kFirst>
bool acceptsPerElement(const OpRequest& request) {
  return perElement(request, kFirst);
}
bool acceptsAdd(const OpRequest& request) {
  return perElement(request, 2) && request.inputs[1].shape == request.inputs[0].shape;
}

int64_t groupsOf(const OpRequest& request) { return readers::GroupNorm(request.node.attributes).groups; }
bool perChannel(const OpRequest& request, int64_t groups) {
  const Shape& shape = request.inputs[0].shape;
  return areFloats(request) && shape.rank() >= 2 && groups > 0 && shape[1] % groups == 0 && shape[1] > 0 &&
         request.inputs[1].shape.count() == shape[1] && request.inputs[2].shape.count() == shape[1];
}
bool acceptsGroups(const OpRequest& request) { return perChannel(request, groupsOf(request)); }
bool acceptsInstances(const OpRequest& request) {
  return request.inputs[0].shape.rank() >= 2 && perChannel(request, request.inputs[0].shape[1]);
}
std::unique_ptr<OpKernel> createGroups(const OpRequest& request) {
  return std::make_unique<GroupNormalizationOp>(request, groupsOf(request));
}
std::unique_ptr<OpKernel> createInstances(const OpRequest& request) {
  return std::make_unique<GroupNormalizationOp>(request, request.inputs[0].shape[1]);
}

bool acceptsLastAxis(const OpRequest& request) {
  const int rank = request.inputs[0].shape.rank();
  return areFloats(request) && readers::LpNorm(request.node.attributes, rank).axis == rank - 1;
}

bool acceptsFloats(const OpRequest& request) { return areFloats(request); }

template <class K>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kLayer[] = {{"norm", acceptsPerElement<1>, create<LayerNormalizationOp>}};
constexpr Implementation kAddLayer[] = {{"norm", acceptsAdd, create<AddLayerNormalizationOp>}};
constexpr Implementation kRms[] = {{"norm", acceptsPerElement<1>, create<RmsNormalizationOp>}};
constexpr Implementation kGroup[] = {{"norm", acceptsGroups, createGroups}};
constexpr Implementation kInstance[] = {{"norm", acceptsInstances, createInstances}};
constexpr Implementation kMeanVariance[] = {{"norm", acceptsKeptAxes, create<MeanVarianceOp>}};
constexpr Implementation kLp[] = {{"norm", acceptsLastAxis, create<LpNormalizationOp>},
                                  {"columns", acceptsFloats, create<LpColumnsOp>}};
constexpr Implementation kLocal[] = {{"norm", acceptsChannels, create<LocalResponseOp>}};
constexpr OpRow kRows[] = {
    {"", "LayerNormalization", kLayer, nullptr, nullptr, narrowOperands},
    {kMaxDomain, "AddLayerNormalization", kAddLayer, nullptr, nullptr, narrowOperands},
    {"", "RMSNormalization", kRms, nullptr, nullptr, narrowOperands},
    {"", "GroupNormalization", kGroup},
    {"", "InstanceNormalization", kInstance},
    {"", "LpNormalization", kLp},
    {"", "LRN", kLocal},
    {"", "MeanVarianceNormalization", kMeanVariance},
};

}  // namespace

std::span<const OpRow> normOps() { return kRows; }

}  // namespace max
