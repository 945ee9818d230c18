// SPDX-License-Identifier: Apache-2.0
// Reductions, extreme elements, running sums.
#include "graph/readers/reduction.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void inferReduce(InferContext& context) {
  if (!context.ranked(0)) return;
  const int rank = context.rank(0);
  const auto reduction = readers::readReduction(context);
  if (!reduction) {
    const auto count = rules::lengthOf(context, 1);
    if (readers::keepsAxes(context.attributes())) return context.setRank(0, rank);
    if (count && *count > 0 && *count <= rank) context.setRank(0, rank - static_cast<int>(*count));
    return;
  }
  SymbolicShape shape;
  for (size_t i = 0; i < context.dims(0).size(); ++i) {
    if (!reduction->reduced[i]) shape.push_back(context.dims(0)[i]);
    if (reduction->reduced[i] && reduction->keepsAxes) shape.emplace_back(1);
  }
  context.setShape(0, std::move(shape));
}

void inferArg(InferContext& context) {
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  const readers::ArgSearch search = readers::readArgSearch(context);
  if (search.keepsAxis)
    shape[static_cast<size_t>(search.axis)] = 1;
  else
    shape.erase(shape.begin() + search.axis);
  context.setShape(0, std::move(shape));
}

void inferCumulation(InferContext& context) {
  rules::sameAsFirst(context);
  rules::requireRankAtLeast(context, 0, 1);
  rules::requireOneElement(context, 1);
  readers::readCumulation(context);
}

void inferTopK(InferContext& context) {
  rules::requireOneElement(context, 1);
  if (!context.ranked(0)) return;
  const readers::TopK top = readers::readTopK(context);
  SymbolicShape shape = context.dims(0);
  shape[static_cast<size_t>(top.axis)] = top.count ? *top.count : context.unknownDim();
  context.setShape(1, shape);
  context.setShape(0, std::move(shape));
}

constexpr OpSchema reduction(std::string_view name, std::string_view types = "T,int64->T; T=number") {
  return {"", name, 1, 2, 1, 1, types, inferReduce, 0, 1u << 1, "keepdims=i[0..1] noop_with_empty_axes=i"};
}

const OpSchema kSchemas[] = {
    reduction("ReduceL1"),
    reduction("ReduceL2"),
    reduction("ReduceLogSum"),
    reduction("ReduceLogSumExp"),
    reduction("ReduceMax", "T,int64->T; T=number|bool"),
    reduction("ReduceMean"),
    reduction("ReduceMin", "T,int64->T; T=number|bool"),
    reduction("ReduceProd"),
    reduction("ReduceSum"),
    reduction("ReduceSumSquare"),
    {"", "ArgMax", 1, 1, 1, 1, "T->int64; T=number", inferArg, 0, 0, "axis=i keepdims=i[0..1] select_last_index=i"},
    {"", "ArgMin", 1, 1, 1, 1, "T->int64; T=number", inferArg, 0, 0, "axis=i keepdims=i[0..1] select_last_index=i"},
    {"", "TopK", 2, 2, 2, 2, "T,int64->T,int64; T=number", inferTopK, 0, 1u << 1, "axis=i largest=i sorted=i"},
    {"", "CumSum", 2, 2, 1, 1, "T,index->T; T=number", inferCumulation, 0, 0, "exclusive=i reverse=i"},
    {"", "CumProd", 2, 2, 1, 1, "T,index->T; T=number", inferCumulation, 0, 0, "exclusive=i reverse=i"},
};

}  // namespace

std::span<const OpSchema> reductionSchemas() { return kSchemas; }

}  // namespace max
