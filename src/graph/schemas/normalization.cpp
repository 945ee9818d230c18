// SPDX-License-Identifier: Apache-2.0
// Normalisations and softmax, which keep the shape.
#include "graph/readers/normalization.h"

#include <algorithm>

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// Inputs from..to have one number per channel (axis 1 of input 0).
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
  if (context.outputCount() > 1 && !readers::BatchNorm(context.attributes()).isTraining)
    context.fail("has ", context.outputCount(), " outputs, but without training_mode there is 1");
  context.setOutputLike(1, 3);
  context.setOutputLike(2, 4);
}

void inferAlongAxis(InferContext& context) {
  rules::sameAsFirst(context);
  if (context.ranked(0)) readers::readAxis(context.attributes(), -1, context.rank(0));
}

// Bytes along the last axis: x, its scale and zero point, and those of the result.
void inferQuantizedSoftmax(InferContext& context) {
  rules::sameAsFirst(context);
  rules::requireRankAtLeast(context, 0, 1);
  for (size_t i = 1; i < 5; ++i) rules::requireOneElement(context, i);
  context.setDType(0, context.dtype(4));
}

void inferLpNormalization(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 1);
  rules::sameAsFirst(context);
  if (context.ranked(0)) readers::LpNorm(context.attributes(), context.rank(0));
}

// Scale and bias broadcast to the input; mean and deviation keep the axes before `axis`.
void inferLayerNormalization(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 1);
  rules::sameAsFirst(context);
  if (!context.ranked(0)) return;
  const readers::LayerNorm reader(context.attributes(), context.rank(0));
  for (size_t i : {size_t{1}, size_t{2}}) rules::requireBroadcastsTo(context, i, context.dims(0));
  SymbolicShape statistics = context.dims(0);
  std::fill(statistics.begin() + reader.axis, statistics.end(), Dim(1));
  context.setShape(1, statistics);
  context.setShape(2, std::move(statistics));
}

void inferInstanceNormalization(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  inferPerChannel<2>(context);
}

void inferGroupNormalization(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  inferPerChannel<2>(context);
  const int64_t groups = readers::GroupNorm(context.attributes()).groups;
  if (context.ranked(0) && context.dims(0)[1].isKnown() && context.dims(0)[1].value() % groups)
    context.fail(context.dims(0)[1], " channels do not split into ", groups, " groups");
}

void inferResponse(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  rules::sameAsFirst(context);
  readers::LocalResponse(context.attributes());
}

void inferMeanVarianceNormalization(InferContext& context) {
  rules::sameAsFirst(context);
  if (context.ranked(0)) readers::readNormalisedAxes(context.attributes(), context.rank(0));
}

void inferAddLayerNormalization(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(1)) return;
  const SymbolicShape shape = context.broadcast(context.dims(0), context.dims(1));
  rules::requireRankAtLeast(context, 0, 1);
  for (size_t i : {size_t{2}, size_t{3}}) rules::requireShape(context, i, {shape.back()});
  context.setShape(0, shape);
  context.setShape(1, shape);
}

const OpSchema kSchemas[] = {
    {"", "BatchNormalization", 5, 5, 1, 3, "T,S,S,U,U->T,U,U; T=float; S=float; U=float", inferBatchNormalization, 0, 0,
     "epsilon=f momentum=f training_mode=i"},
    {"", "InstanceNormalization", 3, 3, 1, 1, "T,T,T->T; T=float", inferInstanceNormalization, 0, 0, "epsilon=f"},
    {"", "GroupNormalization", 3, 3, 1, 1, "T,T,T->T; T=float", inferGroupNormalization, 0, 0,
     "epsilon=f num_groups=i[1..] stash_type=i"},
    {"", "LayerNormalization", 2, 3, 1, 3, "T,T,T->T,float32,float32; T=float", inferLayerNormalization, 0, 0,
     "axis=i epsilon=f stash_type=i"},
    {"", "RMSNormalization", 2, 2, 1, 1, "T,V->V; T=float; V=float", inferLayerNormalization, 0, 0,
     "axis=i epsilon=f stash_type=i"},
    {"", "LpNormalization", 1, 1, 1, 1, "T->T; T=float", inferLpNormalization, 0, 0, "axis=i p=i[1..2]"},
    {"", "LRN", 1, 1, 1, 1, "T->T; T=float", inferResponse, 0, 0, "alpha=f beta=f bias=f size=i[1..]"},
    {"", "MeanVarianceNormalization", 1, 1, 1, 1, "T->T; T=float", inferMeanVarianceNormalization, 0, 0, "axes=I"},
    {"", "Softmax", 1, 1, 1, 1, "T->T; T=float", inferAlongAxis, 0, 0, "axis=i"},
    {"", "LogSoftmax", 1, 1, 1, 1, "T->T; T=float", inferAlongAxis, 0, 0, "axis=i"},
    {"", "Hardmax", 1, 1, 1, 1, "T->T; T=float", inferAlongAxis, 0, 0, "axis=i"},
    {kMaxDomain, "QLinearSoftmax", 5, 5, 1, 1, "A,float32,A,float32,B->B; A=int8|uint8; B=int8|uint8",
     inferQuantizedSoftmax, 0, 0, ""},
    {kMaxDomain, "AddLayerNormalization", 3, 4, 1, 2, "T,T,T,T->T,T; T=float", inferAddLayerNormalization, 0, 0,
     "axis=i epsilon=f"},
};

}  // namespace

std::span<const OpSchema> normalizationSchemas() { return kSchemas; }

}  // namespace max
