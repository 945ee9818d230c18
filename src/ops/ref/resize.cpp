// SPDX-License-Identifier: Apache-2.0
// Resize in one step over all axes: every output element is the weighted sum of a box of pixels.
#include "graph/readers/resize.h"

#include <algorithm>

#include "base/interrupt_point.h"
#include "ops/cpu/resize/resize_axis.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// The taps of all axes; axes that stay have one tap of weight 1.
struct Taps {
  Shape counts;
  std::vector<AxisWeights> axes;

  explicit Taps(const MovementCall& call) {
    const readers::Resize resize = resizeOf(call.request());
    const bool nearest = resize.interpolation == readers::Interpolation::Nearest;
    const std::vector<ResizedAxis> resized = resizedAxes(call, resize);
    for (int axis = 0; axis < call.in().rank(); ++axis) {
      const bool stays =
          std::none_of(resized.begin(), resized.end(), [=](const auto& one) { return one.axis == axis; });
      axes.push_back(stays ? unchanged(call.in()[axis]) : AxisWeights());
    }
    for (const ResizedAxis& axis : resized)
      axes[static_cast<size_t>(axis.axis)] =
          nearest ? nearestWeights(resize, axis) : axisWeights(call.node(), resize, axis);
    for (const AxisWeights& axis : axes) counts.push(axis.taps);
  }

 private:
  static AxisWeights unchanged(int64_t size) {
    AxisWeights result{
        1, {}, WorkVector<double>(static_cast<size_t>(size), 1.0), WorkVector<bool>(static_cast<size_t>(size))};
    WorkCounter work;
    for (int64_t i = 0; i < size; ++i, work.pass(4)) result.index.push_back(i);
    return result;
  }
  static AxisWeights nearestWeights(const readers::Resize& resize, const ResizedAxis& axis) {
    AxisWeights result{1, nearestIndices(resize, axis), {}, {}};
    WorkCounter work;
    for (int64_t& index : result.index) {
      work.pass(4);
      result.isOutside.push_back(index < 0);
      result.weight.push_back(1);
      if (index < 0) index = 0;
    }
    return result;
  }
};

double valueAt(const Taps& taps, const std::vector<double>& x, const Shape& strides, const Shape& position,
               double outside) {
  for (int axis = 0; axis < position.rank(); ++axis)
    if (taps.axes[static_cast<size_t>(axis)].isOutside[static_cast<size_t>(position[axis])]) return outside;
  double sum = 0;
  Shape tap = Shape::filled(position.rank(), 0);
  WorkCounter work;
  do {
    work.pass(16);
    double weight = 1;
    int64_t offset = 0;
    for (int axis = 0; axis < position.rank(); ++axis) {
      const AxisWeights& weights = taps.axes[static_cast<size_t>(axis)];
      const size_t at = static_cast<size_t>(position[axis] * weights.taps + tap[axis]);
      weight *= weights.weight[at];
      offset += weights.index[at] * strides[axis];
    }
    sum += weight * x[static_cast<size_t>(offset)];
  } while (advance(tap, taps.counts));
  return sum;
}

void resize(const Call& call) {
  std::vector<Operand> inputs, outputs;
  std::vector<const void*> data;
  for (const Argument& input : call.inputs) {
    inputs.push_back({input.dtype, input.shape, nullptr});
    data.push_back(input.data);
  }
  for (const Argument& output : call.outputs) outputs.push_back({output.dtype, output.shape, nullptr});
  const OpRequest request{call.node, inputs, outputs, 1};
  std::vector<double> y = repeated<double>(call.out().count());
  if (!y.empty()) {
    if (call.in().count() == 0) call.fail(MAX_STATUS_INVALID_ARGUMENT, "cannot resize ", call.in().shape);
    const Taps taps(MovementCall(request, data.data()));
    const std::vector<double> x = load<double>(call.in());
    const Shape strides = contiguousStrides(call.in().shape);
    Shape position = Shape::filled(call.out().shape.rank(), 0);
    size_t k = 0;
    do
      passWork(64),
          y[k++] = valueAt(taps, x, strides, position,
                           static_cast<double>(readers::Resize(call.node.attributes, call.in().shape.rank()).outside));
    while (advance(position, call.out().shape));
  }
  store(call.out(), y);
}

const OpRow kRows[] = {{"", "Resize", kReference<resize>}};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceResizeOps() { return reference::kRows; }

}  // namespace max
