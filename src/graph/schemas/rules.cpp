// SPDX-License-Identifier: Apache-2.0
#include "graph/schemas/rules.h"

#include "base/number_access.h"

namespace max::rules {

void sameAsFirst(InferContext& context) { context.setOutputLike(0, 0); }

void broadcastAll(InferContext& context) {
  SymbolicShape shape;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    if (!context.has(i)) continue;
    if (!context.ranked(i)) return;
    shape = i == 0 ? context.dims(0) : context.broadcast(shape, context.dims(i));
  }
  context.setShape(0, std::move(shape));
}

void requireEqual(const NodeInputs& context, Dim a, Dim b, const char* what) {
  if (a.isKnown() && b.isKnown() && a != b) context.fail(what, " disagree: ", a, " and ", b);
}

Dim merge(const NodeInputs& context, Dim a, Dim b, const char* what) {
  requireEqual(context, a, b, what);
  if (a.isKnown()) return a;
  return b.isKnown() || a.isAnonymous() ? b : a;
}

void requireRank(const NodeInputs& context, size_t input, int rank) {
  if (context.ranked(input) && context.rank(input) != rank)
    context.fail("input ", input, " must have ", rank, " dimensions, not ", context.rank(input));
}

void requireRankAtLeast(const NodeInputs& context, size_t input, int rank) {
  if (context.ranked(input) && context.rank(input) < rank)
    context.fail("input ", input, " must have at least ", rank, " dimensions, not ", context.rank(input));
}

void requireShape(const NodeInputs& context, size_t input, const SymbolicShape& shape) {
  if (!context.ranked(input)) return;
  const SymbolicShape& dims = context.dims(input);
  bool fits = dims.size() == shape.size();
  for (size_t i = 0; fits && i < dims.size(); ++i)
    fits = !(dims[i].isKnown() && shape[i].isKnown()) || dims[i] == shape[i];
  if (!fits) context.fail("input ", input, " has the shape ", dims, ", needs ", shape);
}

void requireOneElement(const NodeInputs& context, size_t input) {
  if (!context.ranked(input)) return;
  for (const Dim& dim : context.dims(input))
    if (dim.isKnown() && !dim.is(1))
      context.fail("input ", input, " has the shape ", context.dims(input), ", needs one element");
}

void requireBroadcastsTo(const NodeInputs& context, size_t input, const SymbolicShape& shape) {
  if (!context.ranked(input)) return;
  const SymbolicShape& dims = context.dims(input);
  bool fits = dims.size() <= shape.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const Dim own = dims[i], target = shape[shape.size() - dims.size() + i];
    fits = own.is(1) || !(own.isKnown() && target.isKnown()) || own == target;
  }
  if (!fits) context.fail("input ", input, " of shape ", dims, " does not broadcast to ", shape);
}

std::optional<int64_t> lengthOf(const NodeInputs& context, size_t input) {
  if (!context.ranked(input)) return std::nullopt;
  if (context.rank(input) == 0) return 1;
  requireRank(context, input, 1);
  const Dim length = context.dims(input)[0];
  return length.isKnown() ? std::optional(length.value()) : std::nullopt;
}

std::optional<double> scalarOf(const NodeInputs& context, size_t input) {
  const Tensor* tensor = context.contents(input);
  if (!tensor || tensor->count() != 1) return std::nullopt;
  return isNumeric(tensor->dtype()) ? std::optional(numberAt(tensor->dtype(), tensor->data(), 0)) : std::nullopt;
}

// A one-dimensional operand gets a dimension of 1, which is removed from the result.
SymbolicShape matrixProduct(const InferContext& context, SymbolicShape a, SymbolicShape b) {
  if (a.empty() || b.empty()) context.fail("a matrix product needs at least one dimension on both sides");
  const bool rowVector = a.size() == 1, columnVector = b.size() == 1;
  if (rowVector) a.insert(a.begin(), 1);
  if (columnVector) b.emplace_back(1);
  requireEqual(context, a.back(), b[b.size() - 2], "the inner dimensions");
  const Dim rows = a[a.size() - 2], columns = b.back();
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  SymbolicShape result = context.broadcast(a, b);
  if (!rowVector) result.push_back(rows);
  if (!columnVector) result.push_back(columns);
  return result;
}

Dim windowed(const InferContext& context, Dim in, const readers::Windows& windows, size_t axis, bool roundsUp) {
  const readers::Window& window = windows.axes[axis];
  if (windows.isSame()) return ceilDivide(in, window.stride);
  const Dim room = in + Dim(window.padBegin) + Dim(window.padEnd) - Dim(window.extent());
  // Rounding up includes a window that extends past the end by less than the stride.
  if (room.isKnown() && room.value() <= (roundsUp ? -window.stride : -1))
    context.fail("the kernel (", window.extent(), " with dilation) is larger than the padded input (", in, " + ",
                 window.padBegin, " + ", window.padEnd, ")");
  if (!roundsUp) return floorDivide(room, window.stride) + Dim(1);
  // The last window must start inside the input or the padding before it.
  const Dim last = floorDivide(in + Dim(window.padBegin - 1), window.stride);
  return minimum(ceilDivide(room, window.stride), last) + Dim(1);
}

}  // namespace max::rules
