// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/movement.h"

#include <numeric>

namespace max::readers {

namespace {

// Far beyond any size, so that adding a position does not overflow.
constexpr int64_t kLargestPad = int64_t{1} << 60;

// The number of entries of a list, if it is known.
std::optional<size_t> lengthOf(const NodeInputs& inputs, size_t i) {
  if (!inputs.ranked(i)) return std::nullopt;
  if (inputs.rank(i) > 1) inputs.fail("input ", i, " must have 1 dimensions, not ", inputs.rank(i));
  const Dim length = inputs.rank(i) == 0 ? Dim(1) : inputs.dims(i)[0];
  return length.isKnown() ? std::optional(static_cast<size_t>(length.value())) : std::nullopt;
}

std::vector<int> firstAxes(size_t count) {
  std::vector<int> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::optional<Dim> entry(const std::optional<std::vector<Dim>>& list, size_t i) {
  return list ? std::optional((*list)[i]) : std::nullopt;
}

}  // namespace

std::vector<int> readPermutation(const NodeInputs& inputs) {
  const auto rank = static_cast<size_t>(inputs.rank(0));
  if (!inputs.attributes().has("perm")) {
    const std::vector<int> axes = firstAxes(rank);
    return {axes.rbegin(), axes.rend()};
  }
  const std::vector<int64_t> order = readOrder(inputs.attributes());
  if (order.size() != rank) inputs.fail("attribute 'perm' has ", order.size(), " numbers for ", rank, " dimensions");
  return inputs.axesOf(order, inputs.rank(0));
}

std::vector<int64_t> readOrder(const Attributes& attributes) { return attributes.getInts("perm"); }

int readConcatAxis(const NodeInputs& inputs, int rank) {
  if (!inputs.attributes().has("axis")) inputs.fail("attribute 'axis' is missing");
  return inputs.axisAttribute("axis", 0, rank);
}

// The sizes of the parts: given, or equal except perhaps the last.
Split readSplit(const NodeInputs& inputs, size_t outputCount) {
  Split split{inputs.axisAttribute("axis", 0, inputs.rank(0)), {}};
  const Dim whole = inputs.dims(0)[static_cast<size_t>(split.axis)];
  if (inputs.has(1)) {
    const auto sizes = inputs.elements(1);
    if (!sizes) return split;
    if (sizes->size() != outputCount) inputs.fail("split has ", sizes->size(), " sizes for ", outputCount, " outputs");
    Dim sum = 0;
    for (const Dim& size : *sizes) {
      if (size.isKnown() && size.value() < 0) inputs.fail("split has the size ", size);
      sum = sum + size;
    }
    if (sum.isKnown() && whole.isKnown() && sum != whole)
      inputs.fail("the sum of the parts and the axis disagree: ", sum, " and ", whole);
    split.sizes = *sizes;
    return split;
  }
  const int64_t parts = inputs.attributes().getInt("num_outputs", static_cast<int64_t>(outputCount));
  if (parts != static_cast<int64_t>(outputCount))
    inputs.fail("attribute 'num_outputs' is ", parts, " for ", outputCount, " outputs");
  const Dim size = ceilDivide(whole, parts);
  for (int64_t i = 0; i < parts; ++i) split.sizes.push_back(maximum(minimum(size, whole - Dim(i) * size), 0));
  return split;
}

std::optional<std::vector<SlicedAxis>> readSlice(const NodeInputs& inputs) {
  const int rank = inputs.rank(0);
  const auto length = lengthOf(inputs, 1);
  if (!length) return std::nullopt;
  if (*length > static_cast<size_t>(rank)) inputs.fail(*length, " starts for ", rank, " dimensions");
  for (size_t i = 2; i <= 4; ++i)
    if (const auto count = inputs.has(i) ? lengthOf(inputs, i) : std::nullopt; count && *count != *length)
      inputs.fail("input ", i, " has ", *count, " numbers, the starts are ", *length);
  const auto axes = inputs.has(3) ? inputs.axes(3, rank) : std::optional(firstAxes(*length));
  if (!axes) return std::nullopt;
  const auto starts = inputs.elements(1), ends = inputs.elements(2);
  const auto steps = inputs.has(4) ? inputs.elements(4) : std::optional(std::vector<Dim>(*length, Dim(1)));
  std::vector<SlicedAxis> result;
  for (size_t i = 0; i < *length; ++i) {
    result.push_back({(*axes)[i], entry(starts, i), entry(ends, i), entry(steps, i)});
    if (result.back().step && result.back().step->is(0)) inputs.fail("the step of axis ", (*axes)[i], " is 0");
  }
  return result;
}

Promise readPromise(const Attributes& attributes) {
  return {attributes.getStrings("names"), attributes.getString("message", "")};
}

bool readKeepsZeros(const Attributes& attributes) { return attributes.getInt("allowzero", 0) != 0; }

std::optional<std::vector<Dim>> readRepeats(const NodeInputs& inputs) {
  const auto repeats = inputs.elements(1);
  if (repeats && repeats->size() != inputs.dims(0).size())
    inputs.fail("repeats are ", repeats->size(), " numbers for ", inputs.dims(0));
  return repeats;
}

PadMode readPadMode(const Attributes& attributes) {
  const std::string mode = attributes.getString("mode", "constant");
  if (mode == "edge") return PadMode::Edge;
  if (mode == "reflect") return PadMode::Reflect;
  return mode == "wrap" ? PadMode::Wrap : PadMode::Constant;
}

namespace {

// The pads are for the axes in a list, or for all without one.
std::optional<std::vector<int>> paddedAxes(const NodeInputs& inputs) {
  return inputs.has(3) ? inputs.axes(3, inputs.rank(0)) : firstAxes(static_cast<size_t>(inputs.rank(0)));
}

}  // namespace

std::optional<Padding> readPadding(const NodeInputs& inputs) {
  const auto pads = inputs.elements(1);
  const auto axes = paddedAxes(inputs);
  if (!pads || !axes) return std::nullopt;
  if (pads->size() != 2 * axes->size()) inputs.fail("pads are ", pads->size(), " numbers for ", axes->size(), " axes");
  for (const Dim& pad : *pads)
    if (pad.isKnown() && (pad.value() > kLargestPad || pad.value() < -kLargestPad))
      inputs.fail("pads contain ", pad, "; allowed are ", -kLargestPad, " to ", kLargestPad);
  const std::vector<Dim> none(inputs.dims(0).size(), Dim(0));
  Padding padding{readPadMode(inputs.attributes()), none, none};
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>((*axes)[i]);
    padding.before[axis] = (*pads)[i];
    padding.after[axis] = (*pads)[axes->size() + i];
    const Dim size = inputs.dims(0)[axis], grown = size + padding.before[axis] + padding.after[axis];
    if (padding.mode != PadMode::Constant && size.is(0) && grown.isKnown() && grown.value() > 0)
      inputs.fail("axis ", axis, " of ", inputs.dims(0), " has nothing to pad with");
  }
  return padding;
}

Blocks readBlocks(const NodeInputs& inputs) {
  const int64_t size = inputs.attributes().getInt("blocksize", 0);
  if (size < 1) inputs.fail("attribute 'blocksize' is missing");
  return {size, inputs.attributes().getString("mode", "DCR") == "CRD"};
}

Reversal readReversal(const NodeInputs& inputs) {
  const Reversal reversal{inputs.axisAttribute("batch_axis", 1, inputs.rank(0)),
                          inputs.axisAttribute("time_axis", 0, inputs.rank(0))};
  if (reversal.batchAxis == reversal.timeAxis) inputs.fail("batch_axis and time_axis are both ", reversal.batchAxis);
  return reversal;
}

}  // namespace max::readers
