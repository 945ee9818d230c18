// SPDX-License-Identifier: Apache-2.0
// Attention as the compiler fuses it (domain "max"), and sequence models with a state of fixed size.
#include "graph/readers/attention.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// The size of one of `heads` equal parts of the last dimension.
Dim headSize(const InferContext& context, size_t input, int64_t heads) {
  rules::requireRank(context, input, 3);
  if (!context.ranked(input)) return context.unknownDim();
  const Dim size = context.dims(input)[2];
  if (size.isKnown() && size.value() % heads)
    context.fail("input ", input, " of shape ", context.dims(input), " does not split into ", heads, " heads");
  return floorDivide(size, heads);
}

// decay and beta must be present exactly if the rule uses them.
void requireGates(const InferContext& context, const readers::LinearAttention& attention) {
  const auto require = [&](size_t input, bool isNeeded, const char* name) {
    if (context.has(input) != isNeeded)
      context.fail("update_rule '", attention.rule, "' ", isNeeded ? "needs" : "takes no", name);
  };
  require(4, attention.isGated, " decay");
  require(5, attention.corrects, " beta");
}

// An input [batch, time, last] whose last dimension has one of two values.
void requireEither(const InferContext& context, size_t input, Dim batch, Dim steps, Dim one, Dim other) {
  rules::requireRank(context, input, 3);
  if (!context.ranked(input)) return;
  const Dim last = context.dims(input)[2];
  const bool fits = !last.isKnown() || !one.isKnown() || !other.isKnown() || last == one || last == other;
  rules::requireShape(context, input, {batch, steps, fits ? last : one});
}

void inferLinearAttention(InferContext& context) {
  const readers::LinearAttention attention(context.attributes());
  const int64_t queryHeads = attention.queryHeads, heads = attention.heads;
  requireGates(context, attention);
  context.setDType(1, context.dtype(context.has(3) ? 3 : 0));
  const Dim queryDepth = headSize(context, 0, queryHeads), keyDepth = headSize(context, 1, heads);
  const Dim depth = rules::merge(context, queryDepth, keyDepth, "sizes of the heads of query and key");
  const Dim width = headSize(context, 2, heads);
  Dim batch = context.unknownDim(), steps = context.unknownDim();
  for (size_t i = 0; i < 3; ++i) {
    if (!context.ranked(i)) continue;
    batch = rules::merge(context, batch, context.dims(i)[0], "batches");
    steps = rules::merge(context, steps, context.dims(i)[1], "lengths");
  }
  rules::requireShape(context, 3, {batch, heads, depth, width});
  requireEither(context, 4, batch, steps, heads, Dim(heads) * depth);
  requireEither(context, 5, batch, steps, heads, 1);
  context.setShape(0, {batch, steps, Dim(queryHeads) * width});
  context.setShape(1, {batch, heads, depth, width});
}

void inferCausalConv(InferContext& context) {
  rules::requireRank(context, 0, 3);
  rules::requireRank(context, 1, 3);
  const bool known = context.ranked(0);
  const Dim batch = known ? context.dims(0)[0] : context.unknownDim();
  Dim channels = known ? context.dims(0)[1] : context.unknownDim(), kernel = context.unknownDim();
  if (context.ranked(1)) {
    rules::requireShape(context, 1, {channels, 1, kernel});
    channels = rules::merge(context, channels, context.dims(1)[0], "channels of the input and the weights");
    kernel = context.dims(1)[2];
    if (kernel.is(0)) context.fail("the kernel has size 0");
  }
  rules::requireShape(context, 2, {channels});
  rules::requireShape(context, 3, {batch, channels, kernel - Dim(1)});
  context.setOutputLike(0, 0);
  context.setShape(1, {batch, channels, kernel - Dim(1)});
}

// Several query heads may share a head of keys and values.
void requireGroups(const InferContext& context, Dim queries, Dim keys) {
  if (!queries.isKnown() || !keys.isKnown() || queries == keys) return;
  if (keys.value() < 1 || queries.value() % keys.value())
    context.fail(queries, " query heads do not split among ", keys, " key heads");
}

void inferAttention(InferContext& context) {
  for (size_t i = 0; i < 3; ++i) {
    rules::requireRank(context, i, 4);
    if (!context.ranked(i)) return;
  }
  const readers::Attention attention(context.attributes());
  const auto dim = [&](size_t input, int axis) { return context.dims(input)[static_cast<size_t>(axis)]; };
  const readers::HeadLayout &q = attention.queries, &k = attention.keys, &v = attention.values, &out = attention.output;
  rules::requireEqual(context, dim(0, q.size), dim(1, k.size), "head sizes of queries and keys");
  rules::requireEqual(context, dim(1, k.positions), dim(2, v.positions), "keys and values");
  rules::requireEqual(context, dim(0, q.batch), dim(1, k.batch), "queries and keys");
  rules::requireEqual(context, dim(1, k.batch), dim(2, v.batch), "keys and values");
  rules::requireEqual(context, dim(1, k.heads), dim(2, v.heads), "keys and values");
  requireGroups(context, dim(0, q.heads), dim(1, k.heads));
  rules::requireBroadcastsTo(context, 3, {dim(0, q.batch), dim(0, q.heads), dim(0, q.positions), dim(1, k.positions)});
  rules::requireShape(context, 4, {dim(0, q.heads)});
  SymbolicShape shape(4);
  shape[static_cast<size_t>(out.batch)] = dim(0, q.batch);
  shape[static_cast<size_t>(out.heads)] = dim(0, q.heads);
  shape[static_cast<size_t>(out.positions)] = dim(0, q.positions);
  shape[static_cast<size_t>(out.size)] = dim(2, v.size);
  context.setShape(0, std::move(shape));
}

// x, of whose rows an even number of elements is rotated, and the angles of all these, or one for each pair.
void inferRotary(InferContext& context) {
  if (context.ranked(0)) {
    const Dim row = context.dims(0).empty() ? Dim(1) : context.dims(0).back();
    const int64_t rotated = readers::Rotary(context.attributes()).rotated;
    if (row.isKnown() && rotated > row.value()) context.fail("rows of ", row, " elements do not have ", rotated);
    const Dim size = rotated > 0 ? Dim(rotated) : row;
    if (size.isKnown() && size.value() % 2) context.fail("rows of ", size, " elements are no pairs");
    for (size_t i = 1; i < 3; ++i) {
      if (!context.ranked(i) || !size.isKnown()) continue;
      SymbolicShape rows = context.dims(0);
      const bool isHalf = !context.dims(i).empty() && context.dims(i).back().is(size.value() / 2);
      if (!rows.empty()) rows.back() = isHalf ? Dim(size.value() / 2) : size;
      rules::requireBroadcastsTo(context, i, rows);
      if (context.dims(i).empty() || !context.dims(i).back().is(rows.back().value()))
        context.fail("input ", i, " of shape ", context.dims(i), " has no angle for each element or each pair");
    }
  }
  context.setOutputLike(0, 0);
}

const OpSchema kSchemas[] = {
    {"", "LinearAttention", 3, 6, 1, 2, "T,T,T,S,T,T->T,*; T=float16|bfloat16|float32; S=float16|bfloat16|float32",
     inferLinearAttention, 0, 0,
     "chunk_size=i kv_num_heads=i q_num_heads=i scale=f update_rule=s{linear,gated,delta,gated_delta}"},
    {"", "CausalConvWithState", 2, 4, 1, 2, "T,T,T,T->T,T; T=float16|bfloat16|float32", inferCausalConv, 0, 0,
     "activation=s{none,silu,swish}"},
    {kMaxDomain, "Attention", 3, 5, 1, 1, "T,T,T,M,T->T; T=float; M=float|bool", inferAttention, 0, 0,
     "layout_k=s{BHSD,BSHD,BHDS} layout_out=s{BHSD,BSHD,BHDS} layout_q=s{BHSD,BSHD,BHDS} layout_v=s{BHSD,BSHD,BHDS} "
     "scale=f zero_masked=i"},
    {kMaxDomain, "Rotary", 3, 3, 1, 1, "T,T,T->T; T=float32", inferRotary, 0, 0, "interleaved=i rotated=i[0..]"},
};

}  // namespace

std::span<const OpSchema> attentionSchemas() { return kSchemas; }

}  // namespace max
