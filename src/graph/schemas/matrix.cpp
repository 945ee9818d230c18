// SPDX-License-Identifier: Apache-2.0
// Matrix products, determinants and inverses. The compiler makes those of the domain "max".
#include "graph/readers/matrix.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void inferMatMul(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(1)) return;
  context.setShape(0, rules::matrixProduct(context, context.dims(0), context.dims(1)));
}

void inferGemm(InferContext& context) {
  rules::requireRank(context, 0, 2);
  rules::requireRank(context, 1, 2);
  if (!context.ranked(0) || !context.ranked(1)) return;
  const readers::Product product(context.attributes());
  const bool transA = product.transposesA, transB = product.transposesB;
  const SymbolicShape &a = context.dims(0), &b = context.dims(1);
  rules::requireEqual(context, a[transA ? 0 : 1], b[transB ? 1 : 0], "the inner dimensions");
  const SymbolicShape shape = {a[transA ? 1 : 0], b[transB ? 0 : 1]};
  rules::requireBroadcastsTo(context, 2, shape);
  context.setShape(0, shape);
}

// One zero point or scale for the whole operand, or one per row or column. Kernels index them modulo their number.
void requireQuantization(const InferContext& context, size_t input) {
  if (!context.ranked(input)) return;
  for (const Dim& dim : context.dims(input))
    if (dim.is(0)) context.fail("input ", input, " has no elements");
}

// Zero points and scales may be between the operands.
template <size_t b>
void inferQuantizedMatMul(InferContext& context) {
  for (size_t i = 1; i < context.inputCount(); ++i)
    if (i != b) requireQuantization(context, i);
  if (!context.ranked(0) || !context.ranked(b)) return;
  context.setShape(0, rules::matrixProduct(context, context.dims(0), context.dims(b)));
}

// With factors and addends of columns.
void inferScaledMatMul(InferContext& context) {
  for (size_t i : {2, 3}) requireQuantization(context, i);
  if (!context.has(4)) context.fail("input 4, the factor of the sums, is required");
  if (!context.ranked(0) || !context.ranked(1)) return;
  SymbolicShape shape = rules::matrixProduct(context, context.dims(0), context.dims(1));
  const Dim columns = context.rank(1) < 2 ? Dim(1) : context.dims(1).back();
  const bool isOne = context.ranked(4) && (context.rank(4) == 0 || context.dims(4).back().is(1));
  if (isOne)
    rules::requireOneElement(context, 4);
  else
    rules::requireShape(context, 4, {columns});
  rules::requireShape(context, 5, {columns});
  context.setShape(0, std::move(shape));
}

void inferDet(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  rules::requireEqual(context, shape.back(), shape[shape.size() - 2], "rows and columns of the matrices");
  shape.resize(shape.size() - 2);
  context.setShape(0, std::move(shape));
}

void swapLastTwo(SymbolicShape& shape) {
  if (shape.size() >= 2) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
}

void inferFusedMatMul(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(1)) return;
  SymbolicShape a = context.dims(0), b = context.dims(1);
  const readers::Product product(context.attributes());
  if (product.transposesA) swapLastTwo(a);
  if (product.transposesB) swapLastTwo(b);
  SymbolicShape shape = rules::matrixProduct(context, std::move(a), std::move(b));
  // A bias for each column, or one for each column and each matrix along the first axis.
  const bool isOfMatrices = shape.size() > 2 && context.has(2) && context.ranked(2) && context.rank(2) == 2;
  if (isOfMatrices)
    rules::requireShape(context, 2, {shape.front(), shape.back()});
  else if (context.has(2))
    rules::requireShape(context, 2, {shape.empty() ? Dim(1) : shape.back()});
  rules::requireShape(context, 3, shape);
  context.setShape(0, std::move(shape));
}

// The product with one of the matrices along the first axis of B, which a number chooses.
void inferSelectedMatMul(InferContext& context) {
  rules::requireShape(context, 2, {});
  rules::requireRankAtLeast(context, 1, 3);
  if (!context.ranked(0) || !context.ranked(1)) return;
  SymbolicShape b = context.dims(1);
  b.erase(b.begin());
  if (readers::Product(context.attributes()).transposesB) swapLastTwo(b);
  context.setShape(0, rules::matrixProduct(context, context.dims(0), std::move(b)));
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

void inferInverse(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  if (!context.ranked(0)) return;
  const SymbolicShape& dims = context.dims(0);
  rules::requireEqual(context, dims[dims.size() - 2], dims.back(), "the two sides of a matrix");
  context.setOutputLike(0, 0);
}

const OpSchema kSchemas[] = {
    {"", "MatMul", 2, 2, 1, 1, "T,T->T; T=number", inferMatMul, 0, 0, ""},
    {"", "Gemm", 2, 3, 1, 1, "T,T,T->T; T=number", inferGemm, 0, 0, "alpha=f beta=f transA=i transB=i"},
    {"", "Det", 1, 1, 1, 1, "T->T; T=float", inferDet, 0, 0, ""},
    {"", "MatMulInteger", 2, 4, 1, 1, "A,B,A,B->int32; A=int8|uint8; B=int8|uint8", inferQuantizedMatMul<1>, 0, 0, ""},
    {"", "QLinearMatMul", 8, 8, 1, 1,
     "A,S,A,B,S,B,S,Y->Y; A=int8|uint8|float8; B=int8|uint8|float8; Y=int8|uint8|float8; S=float",
     inferQuantizedMatMul<3>, 0, 0, ""},
    {kMaxDomain, "MatMul", 2, 4, 1, 1, "T,T,T,T->T; T=float", inferFusedMatMul, 0, 0,
     "activation=s activation_alpha=f activation_beta=f alpha=f transA=i transB=i"},
    {kMaxDomain, "SelectedMatMul", 3, 3, 1, 1, "T,T,I->T; T=float32; I=int32|int64", inferSelectedMatMul, 0, 0,
     "transB=i"},
    {kMaxDomain, "MatMulInteger", 2, 6, 1, 1, "A,B,A,B,float32,float32->float32; A=int8|uint8; B=int8|uint8",
     inferScaledMatMul, 0, 0, ""},
    {kMaxDomain, "MatMulNBits", 3, 4, 1, 1,
     "T,uint8,T,Z->T; T=float16|bfloat16|float32; Z=uint8|float16|bfloat16|float32", inferMatMulNBits, 0, 0,
     "K=i[1..] N=i[1..] accuracy_level=i bits=i block_size=i"},
    {kMaxDomain, "Inverse", 1, 1, 1, 1, "T->T; T=float", inferInverse, 0, 0, ""},
};

}  // namespace

std::span<const OpSchema> matrixSchemas() { return kSchemas; }

}  // namespace max
