// SPDX-License-Identifier: Apache-2.0
// Normalisations and softmax: the shape stays.
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// Inputs from..to are lists with one number per channel (axis 1 of input 0).
void checkPerChannel(const InferContext& context, size_t from, size_t to) {
  rules::requireRankAtLeast(context, 0, 1);
  for (size_t i = from; i <= to; ++i)
    rules::requireShape(context, i, {context.rank(0) > 1 ? context.dims(0)[1] : Dim(1)});
}

template <size_t lists>
void inferPerChannel(InferContext& context) {
  rules::sameAsFirst(context);
  if (context.ranked(0)) checkPerChannel(context, 1, lists);
}

void inferBatchNormalization(InferContext& context) {
  inferPerChannel<4>(context);
  if (context.outputCount() > 1 && context.attributes().getInt("training_mode", 0) == 0)
    context.fail("has ", context.outputCount(), " outputs, but without training_mode there is 1");
  context.setOutputLike(1, 3);
  context.setOutputLike(2, 4);
}

void inferAlongAxis(InferContext& context, int64_t fallback) {
  rules::sameAsFirst(context);
  if (!context.ranked(0) || context.rank(0) == 0) return;
  context.axis(context.attributes().getInt("axis", fallback), context.rank(0));
}

void inferSoftmax(InferContext& context) { inferAlongAxis(context, -1); }

// Scale and bias broadcast to the input; mean and deviation keep the axes before `axis`.
void inferLayerNormalization(InferContext& context) {
  inferAlongAxis(context, -1);
  if (!context.ranked(0) || context.rank(0) == 0) return;
  const int axis = context.axis(context.attributes().getInt("axis", -1), context.rank(0));
  for (size_t i : {size_t{1}, size_t{2}}) rules::requireBroadcastsTo(context, i, context.dims(0));
  SymbolicShape statistics = context.dims(0);
  for (size_t k = static_cast<size_t>(axis); k < statistics.size(); ++k) statistics[k] = 1;
  context.setShape(1, statistics);
  context.setShape(2, std::move(statistics));
}

void inferGroupNormalization(InferContext& context) {
  inferPerChannel<2>(context);
  const int64_t groups = context.attributes().getInt("num_groups", 0);
  if (groups < 1) context.fail("attribute 'num_groups' is ", groups);
  rules::requireRankAtLeast(context, 0, 2);
  if (context.ranked(0) && context.dims(0)[1].isKnown() && context.dims(0)[1].value() % groups)
    context.fail(context.dims(0)[1], " channels do not split into ", groups, " groups");
}

void inferMeanVarianceNormalization(InferContext& context) {
  rules::sameAsFirst(context);
  if (context.ranked(0)) context.axesOf(context.attributes().getInts("axes"), context.rank(0));
}

const OpSchema kSchemas[] = {
    {"", "BatchNormalization", 5, 5, 1, 3, "T,S,S,U,U->T,U,U; T=float; S=float; U=float", inferBatchNormalization, 0, 0,
     "epsilon=f momentum=f training_mode=i"},
    {"", "InstanceNormalization", 3, 3, 1, 1, "T,T,T->T; T=float", inferPerChannel<2>, 0, 0, "epsilon=f"},
    {"", "GroupNormalization", 3, 3, 1, 1, "T,T,T->T; T=float", inferGroupNormalization, 0, 0,
     "epsilon=f num_groups=i stash_type=i"},
    {"", "LayerNormalization", 2, 3, 1, 3, "T,T,T->T,float32,float32; T=float", inferLayerNormalization, 0, 0,
     "axis=i epsilon=f stash_type=i"},
    {"", "RMSNormalization", 2, 2, 1, 1, "T,V->V; T=float; V=float", inferLayerNormalization, 0, 0,
     "axis=i epsilon=f stash_type=i"},
    {"", "LpNormalization", 1, 1, 1, 1, "T->T; T=float", inferSoftmax, 0, 0, "axis=i p=i"},
    {"", "LRN", 1, 1, 1, 1, "T->T; T=float", rules::sameAsFirst, 0, 0, "alpha=f beta=f bias=f size=i"},
    {"", "MeanVarianceNormalization", 1, 1, 1, 1, "T->T; T=float", inferMeanVarianceNormalization, 0, 0, "axes=I"},
    {"", "Softmax", 1, 1, 1, 1, "T->T; T=float", inferSoftmax, 0, 0, "axis=i"},
    {"", "LogSoftmax", 1, 1, 1, 1, "T->T; T=float", inferSoftmax, 0, 0, "axis=i"},
    {"", "Hardmax", 1, 1, 1, 1, "T->T; T=float", inferSoftmax, 0, 0, "axis=i"},
};

}  // namespace

std::span<const OpSchema> normalizationSchemas() { return kSchemas; }

}  // namespace max
