// SPDX-License-Identifier: Apache-2.0
// Operators that move elements.
#include "graph/readers/movement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();  // what exporters write for "to the end"

void inferTranspose(InferContext& context) {
  if (!context.ranked(0)) return;
  SymbolicShape shape;
  for (const int axis : readers::readPermutation(context)) shape.push_back(context.dims(0)[static_cast<size_t>(axis)]);
  context.setShape(0, std::move(shape));
}

void joinElements(InferContext& context) {
  std::vector<Dim> joined;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    const auto elements = context.elements(i);
    if (!elements || joined.size() > kMaxElements) return;
    joined.insert(joined.end(), elements->begin(), elements->end());
  }
  context.setElements(0, std::move(joined));
}

void inferConcat(InferContext& context) {
  const auto first = [&]() -> size_t {
    for (size_t i = 0; i < context.inputCount(); ++i)
      if (context.ranked(i)) return i;
    return context.inputCount();
  }();
  if (first == context.inputCount()) return;
  const int rank = context.rank(first);
  const auto axis = static_cast<size_t>(readers::readConcatAxis(context, rank));
  SymbolicShape shape = context.dims(first);
  shape[axis] = 0;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    if (!context.ranked(i)) {
      shape[axis] = context.unknownDim();
      continue;
    }
    rules::requireRank(context, i, rank);
    for (size_t k = 0; k < shape.size(); ++k)
      shape[k] = k == axis ? shape[k] + context.dims(i)[k]
                           : rules::merge(context, shape[k], context.dims(i)[k], "dimensions beside the axis");
  }
  context.setShape(0, std::move(shape));
  if (rank == 1) joinElements(context);
}

void splitElements(InferContext& context, const std::vector<Dim>& sizes) {
  const auto elements = context.elements(0);
  if (!elements) return;
  size_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].isKnown()) return;
    const auto count = static_cast<size_t>(sizes[i].value());
    if (count > elements->size() - at) return;
    context.setElements(
        i, {elements->begin() + static_cast<ptrdiff_t>(at), elements->begin() + static_cast<ptrdiff_t>(at + count)});
    at += count;
  }
}

void inferSplit(InferContext& context) {
  if (!context.ranked(0)) return;
  const readers::Split split = readers::readSplit(context, context.outputCount());
  for (size_t i = 0; i < context.outputCount(); ++i) {
    SymbolicShape shape = context.dims(0);
    shape[static_cast<size_t>(split.axis)] = split.sizes.empty() ? context.unknownDim() : split.sizes[i];
    context.setShape(i, std::move(shape));
  }
  if (context.rank(0) == 1) splitElements(context, split.sizes);
}

// One axis of a Slice. The end is exclusive.
struct Range {
  Dim start, end;
  int64_t step;
};

// A slice's bound, counted from the front, before clamping to the axis.
std::optional<Dim> fromFront(Dim at, Dim size) {
  if (!at.isKnown()) return at.isAtLeast(0) ? std::optional(at) : std::nullopt;
  return at.value() >= 0 ? at : at + size;
}

// Backwards, a start before the front is the first element, and the end -1 is before it.
std::optional<int64_t> slicedKnown(const Range& range, int64_t size) {
  if (!range.start.isKnown() || !range.end.isKnown()) return std::nullopt;
  if (size == 0) return 0;
  const bool forwards = range.step > 0;
  const int64_t first = forwards ? 0 : -1, last = forwards ? size : size - 1;
  const auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, first, last); };
  const int64_t start = std::max<int64_t>(place(range.start.value()), 0);
  const int64_t distance = place(range.end.value()) - start;
  if (distance == 0 || (distance > 0) != forwards) return 0;
  const int64_t step = forwards ? range.step : range.step == INT64_MIN ? INT64_MAX : -range.step;
  return 1 + (std::abs(distance) - 1) / step;
}

std::optional<Dim> sliced(const Range& range, Dim size) {
  if (size.isKnown())
    if (const auto known = slicedKnown(range, size.value())) return Dim(*known);
  if (range.step < 0) {
    const bool whole = range.step > INT64_MIN && range.end.isKnown() && range.end.value() <= -kToTheEnd &&
                       range.start.isKnown() && (range.start.is(-1) || range.start.value() >= kToTheEnd);
    return whole ? std::optional(ceilDivide(size, -range.step)) : std::nullopt;
  }
  const bool toTheEnd = (range.end.isKnown() && range.end.value() >= kToTheEnd) || range.end == size;
  const auto start = fromFront(range.start, size), end = fromFront(range.end, size);
  if (!start || (!toTheEnd && !end)) return std::nullopt;
  if (toTheEnd && range.start.isKnown() && range.start.value() < 0)
    return ceilDivide(minimum(Dim(0) - range.start, size), range.step);
  const Dim length = (toTheEnd ? size : minimum(*end, size)) - maximum(*start, 0);
  return ceilDivide(maximum(length, 0), range.step);
}

// The selected elements of a list.
void sliceElements(InferContext& context, const Range& range) {
  const auto elements = context.elements(0);
  if (!elements || !range.start.isKnown() || !range.end.isKnown()) return;
  const auto size = static_cast<int64_t>(elements->size());
  const auto count = slicedKnown(range, size);
  std::vector<Dim> result;
  int64_t at = range.start.value() < 0 ? range.start.value() + size : range.start.value();
  at = std::clamp<int64_t>(at, 0, std::max<int64_t>(range.step > 0 ? size : size - 1, 0));
  for (int64_t i = 0; i < *count; ++i) result.push_back((*elements)[static_cast<size_t>(at + i * range.step)]);
  context.setElements(0, std::move(result));
}

void inferSlice(InferContext& context) {
  if (!context.ranked(0)) return;
  const auto axes = readers::readSlice(context);
  if (!axes) return context.setRank(0, context.rank(0));
  SymbolicShape shape = context.dims(0);
  for (const readers::SlicedAxis& axis : *axes) {
    Dim& dim = shape[static_cast<size_t>(axis.axis)];
    std::optional<Dim> result;
    if (axis.start && axis.end && axis.step && axis.step->isKnown()) {
      const Range range = {*axis.start, *axis.end, axis.step->value()};
      result = sliced(range, dim);
      if (context.rank(0) == 1) sliceElements(context, range);
    }
    dim = result ? *result : context.unknownDim();
  }
  context.setShape(0, std::move(shape));
}

void inferTile(InferContext& context) {
  if (!context.ranked(0)) return;
  const auto repeats = readers::readRepeats(context);
  if (!repeats) return context.setRank(0, context.rank(0));
  SymbolicShape shape = context.dims(0);
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] * (*repeats)[i];
  context.setShape(0, std::move(shape));
}

void inferPad(InferContext& context) {
  rules::requireOneElement(context, 2);
  if (!context.ranked(0)) return;
  const auto padding = readers::readPadding(context);
  if (!padding) return context.setRank(0, context.rank(0));
  SymbolicShape shape = context.dims(0);
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] + padding->before[i] + padding->after[i];
  context.setShape(0, std::move(shape));
}

void inferDepthToSpace(InferContext& context) {
  rules::requireRank(context, 0, 4);
  if (!context.ranked(0)) return;
  const int64_t block = readers::readBlocks(context).size;
  const SymbolicShape& dims = context.dims(0);
  if (dims[1].isKnown() && dims[1].value() % (block * block))
    context.fail(dims[1], " channels are not divisible by ", block, " * ", block);
  context.setShape(0, {dims[0], floorDivide(dims[1], block * block), dims[2] * Dim(block), dims[3] * Dim(block)});
}

void inferSpaceToDepth(InferContext& context) {
  rules::requireRank(context, 0, 4);
  if (!context.ranked(0)) return;
  const int64_t block = readers::readBlocks(context).size;
  const SymbolicShape& dims = context.dims(0);
  for (size_t i : {size_t{2}, size_t{3}})
    if (dims[i].isKnown() && dims[i].value() % block)
      context.fail("dimension ", dims[i], " is not divisible by ", block);
  context.setShape(0,
                   {dims[0], dims[1] * Dim(block * block), floorDivide(dims[2], block), floorDivide(dims[3], block)});
}

void inferReverseSequence(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  rules::sameAsFirst(context);
  if (!context.ranked(0)) return;
  const readers::Reversal reversal = readers::readReversal(context);
  rules::requireShape(context, 1, {context.dims(0)[static_cast<size_t>(reversal.batchAxis)]});
}

const OpSchema kSchemas[] = {
    {"", "Transpose", 1, 1, 1, 1, "T->T; T=any", inferTranspose, 0, 0, "perm=I"},
    {"", "Concat", 1, 0, 1, 1, "T...->T; T=any", inferConcat, kTraitVariadic, 0, "axis=i"},
    {"", "Split", 1, 2, 1, 0, "T,int64->T...; T=any", inferSplit, 0, 1u << 1, "axis=i num_outputs=i"},
    {"", "Slice", 3, 5, 1, 1, "T,I,I,I,I->T; T=any; I=index", inferSlice, 0, 0b11110, ""},
    {"", "Tile", 2, 2, 1, 1, "T,int64->T; T=any", inferTile, 0, 1u << 1, ""},
    {"", "Pad", 2, 4, 1, 1, "T,int64,T,index->T; T=any", inferPad, 0, 0b1010, "mode=s{constant,reflect,edge,wrap}"},
    {"", "DepthToSpace", 1, 1, 1, 1, "T->T; T=any", inferDepthToSpace, 0, 0, "blocksize=i[1..1048576] mode=s{DCR,CRD}"},
    {"", "SpaceToDepth", 1, 1, 1, 1, "T->T; T=any", inferSpaceToDepth, 0, 0, "blocksize=i[1..1048576] mode=s{DCR,CRD}"},
    {"", "ReverseSequence", 2, 2, 1, 1, "T,int64->T; T=any", inferReverseSequence, 0, 0,
     "batch_axis=i[0..1] time_axis=i[0..1]"},
};

}  // namespace

std::span<const OpSchema> movementSchemas() { return kSchemas; }

}  // namespace max
