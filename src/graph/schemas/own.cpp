// SPDX-License-Identifier: Apache-2.0
// Our own operators, domain "max": fused, channels last. The compiler makes them.
#include <algorithm>

#include "graph/readers/attention.h"
#include "graph/readers/matrix.h"
#include "graph/readers/types.h"
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// X [N, spatial.., C], W [M, C/group, k..], bias [M], residual; output [N, out.., M].
void inferConv(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(1)) return;
  const SymbolicShape &x = context.dims(0), &w = context.dims(1);
  rules::requireRankAtLeast(context, 0, 3);
  rules::requireRank(context, 1, context.rank(0));
  const int64_t group = readers::readGroups(context.attributes());
  if (w[0].isKnown() && w[0].value() % group) context.fail(w[0], " channels in ", group, " groups");
  rules::requireEqual(context, x.back(), w[1] * Dim(group), "channels");
  rules::requireShape(context, 2, {w[0]});
  std::vector<int64_t> sizes;
  for (size_t i = 2; i < w.size(); ++i) sizes.push_back(w[i].isKnown() ? w[i].value() : 1);
  const readers::Windows windows = readers::readWindows(context.attributes(), sizes);
  SymbolicShape shape = {x[0]};
  for (size_t i = 0; i < sizes.size(); ++i)
    shape.push_back(w[i + 2].isKnown() ? rules::windowed(context, x[i + 1], windows, i) : context.unknownDim());
  shape.push_back(w[0]);
  rules::requireShape(context, 3, shape);
  context.setShape(0, std::move(shape));
}

void swapLastTwo(SymbolicShape& shape) {
  if (shape.size() >= 2) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
}

void inferMatMul(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(1)) return;
  SymbolicShape a = context.dims(0), b = context.dims(1);
  const readers::Product product(context.attributes());
  if (product.transposesA) swapLastTwo(a);
  if (product.transposesB) swapLastTwo(b);
  SymbolicShape shape = rules::matrixProduct(context, std::move(a), std::move(b));
  if (context.has(2)) rules::requireShape(context, 2, {shape.empty() ? Dim(1) : shape.back()});
  rules::requireShape(context, 3, shape);
  context.setShape(0, std::move(shape));
}

// The same number of elements, if all sizes are known.
void requireCount(const InferContext& context, size_t input, int64_t count) {
  const std::optional<Shape> shape = context.ranked(input) ? concrete(context.dims(input)) : std::nullopt;
  if (shape && shape->count() != count)
    context.fail("input ", input, " has ", shape->count(), " elements, needs ", count);
}

// A [.., K]; packed weights [N, blocks, bytes], a scale and perhaps a zero point per block.
void inferMatMulNBits(InferContext& context) {
  const readers::PackedProduct product(context.attributes());
  const int64_t n = product.columns, bits = product.bits, blocks = product.blocks(), all = checkedMultiply(n, blocks);
  requireCount(context, 1, checkedMultiply(all, product.block * bits / 8));
  requireCount(context, 2, all);
  const bool packed = context.dtype(3) == DType::UInt8;
  if (context.has(3)) requireCount(context, 3, packed ? checkedMultiply(n, (blocks * bits + 7) / 8) : all);
  if (!context.ranked(0)) return;
  rules::requireRankAtLeast(context, 0, 1);
  SymbolicShape shape = context.dims(0);
  rules::requireEqual(context, shape.back(), Dim(product.depth), "the inner dimensions");
  shape.back() = Dim(n);
  context.setShape(0, std::move(shape));
}

void inferPool(InferContext& context) {
  if (!context.ranked(0)) return;
  rules::requireRankAtLeast(context, 0, 3);
  const SymbolicShape& x = context.dims(0);
  const readers::Pool pool(context.attributes(), x.size() - 2);
  SymbolicShape shape = {x[0]};
  for (size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(rules::windowed(context, x[i + 1], pool.windows, i, pool.roundsUp));
  shape.push_back(x.back());
  context.setShape(0, std::move(shape));
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

void inferAddLayerNormalization(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(1)) return;
  const SymbolicShape shape = context.broadcast(context.dims(0), context.dims(1));
  rules::requireRankAtLeast(context, 0, 1);
  for (size_t i : {size_t{2}, size_t{3}}) rules::requireShape(context, i, {shape.back()});
  context.setShape(0, shape);
  context.setShape(1, shape);
}

void inferInverse(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  if (!context.ranked(0)) return;
  const SymbolicShape& dims = context.dims(0);
  rules::requireEqual(context, dims[dims.size() - 2], dims.back(), "the two sides of a matrix");
  context.setOutputLike(0, 0);
}

// The compiler sets the dtype of a fused chain's result (ONNX's number); default: that of input 0.
void inferElementwise(InferContext& context) {
  rules::broadcastAll(context);
  context.setDType(0, readers::readElementType(context.attributes(), context.dtype(0)));
}

constexpr std::string_view kPool = "T->T; T=float|int8|uint8";

const OpSchema kSchemas[] = {
    {kMaxDomain, "Conv", 2, 4, 1, 1, "T,T,T,T->T; T=float", inferConv, 0, 0,
     "activation=s activation_alpha=f activation_beta=f dilations=I group=i[1..] pads=I strides=I"},
    {kMaxDomain, "MatMul", 2, 4, 1, 1, "T,T,T,T->T; T=float", inferMatMul, 0, 0,
     "activation=s activation_alpha=f activation_beta=f alpha=f transA=i transB=i"},
    {kMaxDomain, "MatMulNBits", 3, 4, 1, 1, "float32,uint8,float32,Z->float32; Z=uint8|float32", inferMatMulNBits, 0, 0,
     "K=i[1..] N=i[1..] bits=i block_size=i"},
    {kMaxDomain, "MaxPool", 1, 1, 1, 1, kPool, inferPool, 0, 0,
     "ceil_mode=i dilations=I kernel_shape=I pads=I strides=I"},
    {kMaxDomain, "AveragePool", 1, 1, 1, 1, kPool, inferPool, 0, 0,
     "ceil_mode=i count_include_pad=i dilations=I kernel_shape=I pads=I strides=I"},
    {kMaxDomain, "Attention", 3, 5, 1, 1, "T,T,T,M,T->T; T=float; M=float|bool", inferAttention, 0, 0,
     "layout_k=s{BHSD,BSHD,BHDS} layout_out=s{BHSD,BSHD,BHDS} layout_q=s{BHSD,BSHD,BHDS} layout_v=s{BHSD,BSHD,BHDS} "
     "scale=f zero_masked=i"},
    {kMaxDomain, "Inverse", 1, 1, 1, 1, "T->T; T=float", inferInverse, 0, 0, ""},
    {kMaxDomain, "AddLayerNormalization", 3, 4, 1, 2, "T,T,T,T->T,T; T=float", inferAddLayerNormalization, 0, 0,
     "axis=i epsilon=f"},
    {kMaxDomain, "Elementwise", 1, 0, 1, 1, "any...->*", inferElementwise, kTraitElementwise | kTraitVariadic, 0,
     "dtype=i"},
};

}  // namespace

std::span<const OpSchema> ownSchemas() { return kSchemas; }

}  // namespace max
