// SPDX-License-Identifier: Apache-2.0
// Operators that read or change a shape and keep the order of elements.
#include <algorithm>

#include "graph/readers/generator.h"
#include "graph/readers/movement.h"
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void keepElements(InferContext& context) {
  auto elements = context.elements(0);
  if (elements) context.setElements(0, std::move(*elements));
}

void inferIdentity(InferContext& context) {
  if (isObject(context.dtype(0))) return context.setOutput(0, context.input(0).type);
  rules::sameAsFirst(context);
  keepElements(context);
}

void inferShape(InferContext& context) {
  if (!context.ranked(0)) return context.setRank(0, 1);
  const auto [begin, end] = readers::readDimensionRange(context);
  const SymbolicShape& dims = context.dims(0);
  context.setShape(0, {int64_t{end} - begin});
  context.setElements(0, {dims.begin() + begin, dims.begin() + end});
}

void inferSize(InferContext& context) {
  context.setShape(0, {});
  if (context.ranked(0)) context.setElements(0, {product(context.dims(0))});
}

// The dimension for -1. Equal dimensions cancel first, so that symbols divide.
Dim inferredDim(const InferContext& context, const SymbolicShape& shape, size_t at) {
  SymbolicShape whole = context.dims(0);
  SymbolicShape parts;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == at) continue;
    const auto same = std::find(whole.begin(), whole.end(), shape[i]);
    if (same != whole.end())
      whole.erase(same);
    else
      parts.push_back(shape[i]);
  }
  const Dim total = product(whole), divisor = product(parts);
  if (!divisor.isKnown() || !total.isKnown()) return divisor.is(0) ? context.unknownDim() : floorDivide(total, divisor);
  const bool fits = divisor.value() == 0 ? total.value() == 0 : total.value() % divisor.value() == 0;
  if (!fits)
    context.fail("shape ", context.dims(0), " cannot become ", shape, ": ", total, " elements are not divisible by ",
                 divisor);
  return divisor.value() == 0 ? Dim(0) : Dim(total.value() / divisor.value());
}

Dim copiedDim(const InferContext& context, size_t i) {
  if (!context.ranked(0)) return context.unknownDim();
  if (i >= context.dims(0).size())
    context.fail("the new shape copies dimension ", i, " of an input with ", context.rank(0), " dimensions");
  return context.dims(0)[i];
}

// 0 copies a dimension, -1 is deduced.
SymbolicShape reshaped(const InferContext& context, SymbolicShape shape) {
  const bool allowZero = readers::readKeepsZeros(context.attributes());
  size_t inferred = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is(0) && !allowZero) {
      shape[i] = copiedDim(context, i);
    } else if (shape[i].is(-1)) {
      if (inferred < shape.size()) context.fail("the new shape ", shape, " has two dimensions of -1");
      inferred = i;
    } else if (shape[i].isKnown() && shape[i].value() < 0) {
      context.fail("the new shape ", shape, " has a negative dimension");
    }
  }
  if (inferred < shape.size())
    shape[inferred] = context.ranked(0) ? inferredDim(context, shape, inferred) : context.unknownDim();
  return shape;
}

void inferReshape(InferContext& context) {
  rules::requireRank(context, 1, 1);
  const auto target = context.elements(1);
  if (!target) {
    const auto rank = rules::lengthOf(context, 1);
    if (rank && *rank <= kMaxRank) context.setRank(0, static_cast<int>(*rank));
    return;
  }
  if (target->size() > static_cast<size_t>(kMaxRank))
    context.fail("the new shape has ", target->size(), " dimensions; at most ", kMaxRank, " are supported");
  SymbolicShape shape = reshaped(context, *target);
  if (context.ranked(0)) rules::requireEqual(context, product(context.dims(0)), product(shape), "numbers of elements");
  context.setShape(0, std::move(shape));
  keepElements(context);
}

bool holds(const std::vector<int>& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end();
}

void inferSqueeze(InferContext& context) {
  keepElements(context);
  if (!context.ranked(0)) return;
  const SymbolicShape& dims = context.dims(0);
  const auto axes = context.axes(1, context.rank(0));
  if (!axes) {
    const auto count = rules::lengthOf(context, 1);
    if (count && *count <= context.rank(0)) context.setRank(0, context.rank(0) - static_cast<int>(*count));
    return;
  }
  SymbolicShape shape;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (axes->empty() && !dims[i].isKnown()) return;  // perhaps 1, perhaps not
    const bool removed = axes->empty() ? dims[i].is(1) : holds(*axes, i);
    if (removed && dims[i].isKnown() && !dims[i].is(1)) context.fail("axis ", i, " is ", dims[i], ", not 1");
    if (!removed) shape.push_back(dims[i]);
  }
  context.setShape(0, std::move(shape));
}

void inferUnsqueeze(InferContext& context) {
  keepElements(context);
  const auto count = rules::lengthOf(context, 1);
  if (!context.ranked(0) || !count) return;
  if (*count > kMaxRank) context.fail("axes are ", *count, " numbers; at most ", kMaxRank, " dimensions are supported");
  const int rank = context.rank(0) + static_cast<int>(*count);
  const auto axes = context.axes(1, rank);
  if (!axes) return context.setRank(0, rank);
  SymbolicShape shape;
  size_t next = 0;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i)
    shape.push_back(holds(*axes, i) ? Dim(1) : context.dims(0)[next++]);
  context.setShape(0, std::move(shape));
}

void inferFlatten(InferContext& context) {
  if (!context.ranked(0)) return context.setRank(0, 2);
  const auto split = static_cast<size_t>(readers::readFlattenAxis(context));
  const SymbolicShape& dims = context.dims(0);
  context.setShape(0, {product(dims, 0, split), product(dims, split, dims.size())});
  keepElements(context);
}

void inferExpand(InferContext& context) {
  rules::requireRank(context, 1, 1);
  if (!context.ranked(0)) return;
  const auto target = context.elements(1);
  if (!target) {
    const auto rank = rules::lengthOf(context, 1);
    if (rank && *rank <= kMaxRank) context.setRank(0, std::max(context.rank(0), static_cast<int>(*rank)));
    return;
  }
  for (const Dim& dim : *target)
    if (dim.isKnown() && dim.value() < 0) context.fail("the new shape ", *target, " has a negative dimension");
  context.setShape(0, context.broadcast(context.dims(0), *target));
  const auto elements = context.elements(0);
  const SymbolicShape& shape = context.outputs()[0].type.dims;
  const bool repeats = elements && elements->size() == 1 && shape.size() == 1 && shape[0].isKnown();
  if (repeats && shape[0].value() <= static_cast<int64_t>(kMaxElements))
    context.setElements(0, std::vector<Dim>(static_cast<size_t>(shape[0].value()), (*elements)[0]));
}

// Dimension `i` of an input that must be this: -1 is any, perhaps named from now on.
Dim promisedDim(const InferContext& context, size_t i, Dim promised, const readers::Promise& promise) {
  const Dim given = context.ranked(0) ? context.dims(0)[i] : context.unknownDim();
  const bool isNamed = i < promise.names.size() && !promise.names[i].empty();
  if (promised.is(-1)) return given.isKnown() || !isNamed ? given : context.symbol(promise.names[i]);
  if (promised.isKnown() && (promised.value() < 0 || (given.isKnown() && given != promised)))
    context.fail("dimension ", i, " is ", given, ", expected ", promised, promise.message.empty() ? "" : ": ",
                 promise.message);
  return given.isKnown() ? given : promised;
}

void inferRebind(InferContext& context) {
  rules::requireRank(context, 1, 1);
  const auto promised = context.elements(1);
  const std::optional<int64_t> rank = rules::lengthOf(context, 1);
  if (!rank || *rank > kMaxRank) return;
  rules::requireRank(context, 0, static_cast<int>(*rank));
  if (!promised) return context.setRank(0, static_cast<int>(*rank));
  const readers::Promise promise = readers::readPromise(context.attributes());
  SymbolicShape shape = *promised;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = promisedDim(context, i, shape[i], promise);
  context.setShape(0, std::move(shape));
  keepElements(context);
}

const OpSchema kSchemas[] = {
    {"", "Identity", 1, 1, 1, 1, "T->T; T=value", inferIdentity, kTraitView | kTraitElementwise, 0, ""},
    {"", "Shape", 1, 1, 1, 1, "any->int64", inferShape, kTraitShapeOnly, 0, "start=i end=i"},
    {"", "Size", 1, 1, 1, 1, "any->int64", inferSize, kTraitShapeOnly, 0, ""},
    {"", "Reshape", 2, 2, 1, 1, "T,int64->T; T=any", inferReshape, kTraitView, 1u << 1, "allowzero=i"},
    {"", "Squeeze", 1, 2, 1, 1, "T,int64->T; T=any", inferSqueeze, kTraitView, 1u << 1, ""},
    {"", "Unsqueeze", 2, 2, 1, 1, "T,int64->T; T=any", inferUnsqueeze, kTraitView, 1u << 1, ""},
    {"", "Flatten", 1, 1, 1, 1, "T->T; T=any", inferFlatten, kTraitView, 0, "axis=i"},
    {"", "Expand", 2, 2, 1, 1, "T,int64->T; T=any", inferExpand, 0, 1u << 1, ""},
    {kMaxDomain, "Rebind", 2, 2, 1, 1, "T,int64->T; T=any", inferRebind, kTraitGuard, 1u << 1, "message=s names=S"},
    {kMaxDomain, "Transfer", 1, 1, 1, 1, "T->T; T=any", inferIdentity, kTraitGuard, 0, "device=s"},
};

}  // namespace

std::span<const OpSchema> shapeSchemas() { return kSchemas; }

}  // namespace max
