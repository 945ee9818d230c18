// SPDX-License-Identifier: Apache-2.0
// Operators that read or write at indices.
#include "graph/readers/indexing.h"

#include <algorithm>

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void gatherElementsOfList(InferContext& context) {
  const auto elements = context.elements(0);
  const auto indices = context.integers(1);
  if (!elements || !indices) return;
  const auto size = static_cast<int64_t>(elements->size());
  std::vector<Dim> result;
  for (int64_t index : *indices) {
    if (index < -size || index >= size)
      context.fail("index ", index, " is out of range [", -size, ", ", size - 1, "] of axis 0");
    result.push_back((*elements)[static_cast<size_t>(index < 0 ? index + size : index)]);
  }
  context.setElements(0, std::move(result));
}

void inferGather(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 1);
  if (!context.ranked(0) || !context.ranked(1)) return;
  const int axis = readers::readGatherAxis(context);
  SymbolicShape shape = context.dims(0);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, context.dims(1).begin(), context.dims(1).end());
  context.setShape(0, std::move(shape));
  if (context.rank(0) == 1) gatherElementsOfList(context);
}

// Indices replace the coordinate along the axis; the other coordinates stay.
void checkIndices(const InferContext& context, int axis) {
  rules::requireRank(context, 1, context.rank(0));
  if (!context.ranked(1)) return;
  for (int i = 0; i < context.rank(0); ++i) {
    const Dim size = context.dims(0)[static_cast<size_t>(i)], count = context.dims(1)[static_cast<size_t>(i)];
    if (i != axis && size.isKnown() && count.isKnown() && count.value() > size.value())
      context.fail("indices ", context.dims(1), " are larger than the data ", context.dims(0), " beside axis ", axis);
  }
}

void inferGatherElements(InferContext& context) {
  context.setOutputLike(0, 1);
  if (!context.ranked(0) || !context.ranked(1)) return;
  checkIndices(context, readers::readGatherAxis(context));
}

void inferGatherND(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 1);
  rules::requireRankAtLeast(context, 1, 1);
  if (!context.ranked(0) || !context.ranked(1)) return;
  const SymbolicShape &data = context.dims(0), &indices = context.dims(1);
  const int batch = readers::readBatchDims(context);
  if (!indices.back().isKnown()) return;
  const int64_t depth = indices.back().value();
  if (depth < 0 || depth > context.rank(0) - batch)
    context.fail("indices have ", depth, " coordinates for ", context.rank(0) - batch, " dimensions");
  SymbolicShape shape(indices.begin(), indices.end() - 1);
  for (int64_t i = 0; i < batch; ++i) {
    const auto at = static_cast<size_t>(i);
    shape[at] = rules::merge(context, shape[at], data[at], "batch dimensions");
  }
  shape.insert(shape.end(), data.begin() + batch + depth, data.end());
  context.setShape(0, std::move(shape));
}

void inferScatterElements(InferContext& context) {
  rules::sameAsFirst(context);
  if (!context.ranked(0)) return;
  checkIndices(context, readers::readGatherAxis(context));
  if (context.ranked(1)) rules::requireShape(context, 2, context.dims(1));
}

void inferScatterND(InferContext& context) {
  rules::sameAsFirst(context);
  rules::requireRankAtLeast(context, 1, 1);
  if (!context.ranked(0) || !context.ranked(1) || !context.dims(1).back().isKnown()) return;
  const int64_t depth = context.dims(1).back().value();
  if (depth < 0 || depth > context.rank(0))
    context.fail("indices have ", depth, " coordinates for ", context.rank(0), " dimensions");
  SymbolicShape updates(context.dims(1).begin(), context.dims(1).end() - 1);
  updates.insert(updates.end(), context.dims(0).begin() + depth, context.dims(0).end());
  rules::requireShape(context, 2, updates);
}

// A cache with its rows along the axis, from write_indices on, replaced by the update.
void inferTensorScatter(InferContext& context) {
  rules::sameAsFirst(context);
  rules::requireRankAtLeast(context, 0, 2);
  if (!context.ranked(0)) return;
  const int axis = readers::readTensorScatter(context).axis;
  rules::requireShape(context, 2, {context.dims(0)[0]});
  if (!context.ranked(1)) return;
  rules::requireRank(context, 1, context.rank(0));
  SymbolicShape shape = context.dims(0);
  const auto at = static_cast<size_t>(axis);
  const Dim rows = shape[at], update = context.dims(1)[at];
  if (rows.isKnown() && update.isKnown() && update.value() > rows.value())
    context.fail("an update of ", update, " rows does not fit into ", rows);
  shape[at] = update;
  rules::requireShape(context, 1, shape);
}

void inferNonZero(InferContext& context) {
  const Dim rank = context.ranked(0) ? Dim(std::max(context.rank(0), 1)) : context.unknownDim();
  context.setShape(0, {rank, context.unknownDim()});
}

// All places that there may be; the second output is the number of those that are not zero, which come first.
void inferCountedNonZero(InferContext& context) {
  context.setShape(1, {1});
  if (!context.ranked(0)) return context.setRank(0, 2);
  context.setShape(0, {Dim(std::max(context.rank(0), 1)), product(context.dims(0))});
}

void inferUnique(InferContext& context) {
  const Dim count = context.unknownDim();
  for (size_t i : {size_t{1}, size_t{3}}) context.setShape(i, {count});
  if (!readers::hasSelectionAxis(context)) {
    context.setShape(0, {count});
    context.setShape(2, {context.ranked(0) ? product(context.dims(0)) : context.unknownDim()});
    return;
  }
  context.setRank(2, 1);
  if (!context.ranked(0)) return;
  const auto axis = static_cast<size_t>(readers::readSelectionAxis(context).value());
  SymbolicShape shape = context.dims(0);
  context.setShape(2, {shape[axis]});
  shape[axis] = count;
  context.setShape(0, std::move(shape));
}

void inferCompress(InferContext& context) {
  rules::requireRank(context, 1, 1);
  if (!readers::hasSelectionAxis(context)) return context.setRank(0, 1);
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  shape[static_cast<size_t>(readers::readSelectionAxis(context).value())] = context.unknownDim();
  context.setShape(0, std::move(shape));
}

void inferNonMaxSuppression(InferContext& context) {
  rules::requireShape(context, 0, {context.unknownDim(), context.unknownDim(), 4});
  rules::requireRank(context, 1, 3);
  if (context.ranked(0) && context.ranked(1)) {
    rules::requireEqual(context, context.dims(0)[0], context.dims(1)[0], "batches of boxes and scores");
    rules::requireEqual(context, context.dims(0)[1], context.dims(1)[2], "numbers of boxes and scores");
  }
  for (size_t i : {size_t{2}, size_t{3}, size_t{4}}) rules::requireOneElement(context, i);
  context.setShape(0, {context.unknownDim(), 3});
}

const OpSchema kSchemas[] = {
    {"", "Gather", 2, 2, 1, 1, "T,index->T; T=any", inferGather, 0, 0, "axis=i"},
    {"", "GatherElements", 2, 2, 1, 1, "T,index->T; T=any", inferGatherElements, 0, 0, "axis=i"},
    {"", "GatherND", 2, 2, 1, 1, "T,int64->T; T=any", inferGatherND, 0, 0, "batch_dims=i"},
    {"", "ScatterElements", 3, 3, 1, 1, "T,index,T->T; T=any", inferScatterElements, 0, 0,
     "axis=i reduction=s{none,add,mul,max,min}"},
    {"", "ScatterND", 3, 3, 1, 1, "T,int64,T->T; T=any", inferScatterND, 0, 0, "reduction=s{none,add,mul,max,min}"},
    {"", "TensorScatter", 2, 3, 1, 1, "T,T,int64->T; T=any", inferTensorScatter, 0, 0,
     "axis=i mode=s{linear,circular}"},
    {"", "NonZero", 1, 1, 1, 1, "any->int64", inferNonZero, kTraitDataDependent, 0, ""},
    {"", "Unique", 1, 1, 1, 4, "T->T,int64,int64,int64; T=any", inferUnique, kTraitDataDependent, 0, "axis=i sorted=i"},
    {"", "Compress", 2, 2, 1, 1, "T,bool->T; T=any", inferCompress, kTraitDataDependent, 0, "axis=i"},
    {"", "NonMaxSuppression", 2, 5, 1, 1, "float32,float32,int64,float32,float32->int64", inferNonMaxSuppression,
     kTraitDataDependent, 0, "center_point_box=i"},
    {kMaxDomain, "CountedNonZero", 1, 1, 2, 2, "number|bool->int64,int64", inferCountedNonZero, 0, 0, ""},
};

}  // namespace

std::span<const OpSchema> indexingSchemas() { return kSchemas; }

}  // namespace max
