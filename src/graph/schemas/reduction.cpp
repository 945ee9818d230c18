// SPDX-License-Identifier: Apache-2.0
// Reductions, searches for extreme elements, running sums.
#include <algorithm>

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// The axes are input 1, the newest form; an absent or empty list means all of them.
void inferReduce(InferContext& context) {
  if (!context.ranked(0)) return;
  const int rank = context.rank(0);
  const bool keep = context.attributes().getInt("keepdims", 1) != 0;
  const auto axes = context.axes(1, rank);
  if (!axes) {
    const auto count = rules::lengthOf(context, 1);
    if (keep) return context.setRank(0, rank);
    if (count && *count > 0 && *count <= rank) context.setRank(0, rank - static_cast<int>(*count));
    return;
  }
  if (axes->empty() && context.attributes().getInt("noop_with_empty_axes", 0)) return context.setOutputLike(0, 0);
  SymbolicShape shape;
  for (int i = 0; i < rank; ++i) {
    const bool reduced = axes->empty() || std::find(axes->begin(), axes->end(), i) != axes->end();
    if (!reduced) shape.push_back(context.dims(0)[static_cast<size_t>(i)]);
    if (reduced && keep) shape.emplace_back(1);
  }
  context.setShape(0, std::move(shape));
}

void inferArg(InferContext& context) {
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  const int axis = context.axis(context.attributes().getInt("axis", 0), context.rank(0));
  if (context.attributes().getInt("keepdims", 1))
    shape[static_cast<size_t>(axis)] = 1;
  else
    shape.erase(shape.begin() + axis);
  context.setShape(0, std::move(shape));
}

void inferCumSum(InferContext& context) {
  rules::sameAsFirst(context);
  rules::requireRankAtLeast(context, 0, 1);
  rules::requireOneElement(context, 1);
}

void inferTopK(InferContext& context) {
  rules::requireOneElement(context, 1);
  if (!context.ranked(0)) return;
  const auto axis = static_cast<size_t>(context.axis(context.attributes().getInt("axis", -1), context.rank(0)));
  SymbolicShape shape = context.dims(0);
  const auto k = context.elements(1);
  if (k && k->size() != 1) context.fail("K has ", k->size(), " elements, needs 1");
  if (k && (*k)[0].isKnown() && (*k)[0].value() < 0) context.fail("K is ", (*k)[0]);
  if (k && (*k)[0].isKnown() && shape[axis].isKnown() && (*k)[0].value() > shape[axis].value())
    context.fail("K is ", (*k)[0], " but axis ", axis, " has ", shape[axis], " elements");
  shape[axis] = k ? (*k)[0] : context.unknownDim();
  context.setShape(1, shape);
  context.setShape(0, std::move(shape));
}

constexpr OpSchema reduction(std::string_view name, std::string_view types = "T,int64->T; T=number") {
  return {"", name, 1, 2, 1, 1, types, inferReduce, 0, 1u << 1, "keepdims=i noop_with_empty_axes=i"};
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
    {"", "ArgMax", 1, 1, 1, 1, "T->int64; T=number", inferArg, 0, 0, "axis=i keepdims=i select_last_index=i"},
    {"", "ArgMin", 1, 1, 1, 1, "T->int64; T=number", inferArg, 0, 0, "axis=i keepdims=i select_last_index=i"},
    {"", "TopK", 2, 2, 2, 2, "T,int64->T,int64; T=number", inferTopK, 0, 1u << 1, "axis=i largest=i sorted=i"},
    {"", "CumSum", 2, 2, 1, 1, "T,index->T; T=number", inferCumSum, 0, 0, "exclusive=i reverse=i"},
    {"", "CumProd", 2, 2, 1, 1, "T,index->T; T=number", inferCumSum, 0, 0, "exclusive=i reverse=i"},
};

}  // namespace

std::span<const OpSchema> reductionSchemas() { return kSchemas; }

}  // namespace max
