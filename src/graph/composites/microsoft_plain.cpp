// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that predate ONNX's own or differ little from them.
#include "graph/composites/microsoft.h"
#include "graph/composites/tables.h"

namespace max {

namespace {

using microsoft::forward;
using microsoft::kDomain;

Value* scalarInput(Expansion& e, size_t i) { return e.reshape(e.input(i), std::vector<Extent>{}); }

// All pairs of rows, by a product: |a|^2 + |b|^2 - 2 a b.
void expandCDist(Expansion& e) {
  const std::string metric = e.text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") e.unsupported("metric '", metric, "' is not supported");
  Value *a = e.input(0), *b = e.input(1);
  Value* product = e.matmul(a, e.transpose(b, {1, 0}));
  Value* sum = e.add(e.reduce("ReduceSumSquare", a, {1}, true), e.unsqueeze(e.reduce("ReduceSumSquare", b, {1}), {0}));
  Value* squares = e.sub(sum, e.mul(product, e.like(product, 2)));
  squares = e.op("Max", {squares, e.like(squares, 0)});
  e.setOutput(0, metric == "euclidean" ? e.op("Sqrt", {squares}) : squares);
}

// The last axis contains real and imaginary parts.
void expandComplexProduct(Expansion& e, bool conjugate) {
  const auto part = [&](size_t input, int64_t i) {
    Value* value = e.input(input);
    const int last = e.rank(value) - 1;
    if (last < 0) e.invalid("input ", input, " has no dimensions");
    return e.slice(value, last, i, i + 1);
  };
  Value *real = part(0, 0), *imaginary = part(0, 1), *otherReal = part(1, 0), *other = part(1, 1);
  Value *straight = e.mul(imaginary, other), *first = e.mul(real, otherReal);
  Value *crossed = e.mul(real, other), *second = e.mul(imaginary, otherReal);
  e.setOutput(0, e.concat({conjugate ? e.add(first, straight) : e.sub(first, straight),
                           conjugate ? e.sub(second, crossed) : e.add(crossed, second)},
                          -1));
}

void expandComplexMul(Expansion& e) { expandComplexProduct(e, false); }
void expandComplexMulConj(Expansion& e) { expandComplexProduct(e, true); }

void checkFourier(Expansion& e) {
  if (e.integer("onesided", 1) != 1) e.unsupported("attribute 'onesided' 0 is not supported");
  microsoft::refuse(e, {"normalized"});
  if (e.integer("signal_ndim", 1) != 1) e.unsupported("attribute 'signal_ndim' above 1 is not supported");
}

void expandRfft(Expansion& e) {
  checkFourier(e);
  Value* x = e.unsqueeze(e.input(0), {-1});
  e.setOutput(0, e.op("DFT", {x, nullptr, e.scalar(DType::Int64, -2)}, attributesOf({{"onesided", int64_t{1}}})));
}

// The second half of the spectrum mirrors the first, with the imaginary part negated.
void expandIrfft(Expansion& e) {
  checkFourier(e);
  Value* half = e.input(0);
  const int rank = e.rank(half);
  if (rank < 2) e.invalid("input 0 has ", rank, " dimensions, not 2 or more");
  const Extent size = e.dim(half, rank - 2);
  Value* mirrored = e.slice(half, rank - 2, e.minus(size, 2), 0, -1);
  const float signs[] = {1, -1};
  Value* sign = e.cast(e.constant(Tensor::copyOf(DType::Float32, Shape{2}, signs)), e.dtype(0));
  Value* whole = e.concat({half, e.mul(mirrored, sign)}, rank - 2);
  Value* y = e.op("DFT", {whole, nullptr, e.scalar(DType::Int64, -2)}, attributesOf({{"inverse", int64_t{1}}}));
  e.setOutput(0, e.gather(y, e.scalar(DType::Int64, 0), -1));
}

void expandExpandDims(Expansion& e) {
  e.setOutput(0, e.op("Unsqueeze", {e.input(0), e.reshape(e.cast(e.input(1), DType::Int64), {1})}));
}

void expandGatherND(Expansion& e) { e.setOutput(0, e.op("GatherND", {e.input(0), e.cast(e.input(1), DType::Int64)})); }

void expandGridSample(Expansion& e) {
  Attributes attributes = e.attributes();
  const std::string mode = e.text("mode", "bilinear");
  attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  forward(e, "GridSample", std::move(attributes));
}

void expandInverse(Expansion& e) { e.setOutput(0, e.own("Inverse", {e.input(0)})); }

void expandPad(Expansion& e) {
  Values inputs{e.input(0), e.reshape(e.input(1), {-1})};
  if (e.has(2)) inputs.push_back(scalarInput(e, 2));
  e.setOutput(0, e.op("Pad", std::move(inputs), e.attributes()));
}

void expandRange(Expansion& e) {
  Value* delta = e.has(2) ? scalarInput(e, 2) : e.like(e.input(0), 1);
  e.setOutput(0, e.op("Range", {scalarInput(e, 0), scalarInput(e, 1), delta}));
}

void expandTorchEmbedding(Expansion& e) { e.setOutput(0, e.gather(e.input(0), e.input(1), 0)); }

// Windows of `size` along an axis, `step` apart, on a new last axis.
void expandUnfoldTensor(Expansion& e) {
  Value* x = e.input(0);
  const int rank = e.rank(x), axis = e.axis(e.integer("dim", -1), rank);
  const int64_t size = e.integerWithin("size", 0, 1, INT32_MAX), step = e.integerWithin("step", 1, 1, INT32_MAX);
  const Extent count = e.plus(e.dividedBy(e.minus(e.dim(x, axis), size), step), 1);
  if (count.isKnown() && count.number < 1) e.invalid("windows of size ", size, " do not fit axis ", axis);
  Value* starts = e.mul(e.unsqueeze(e.range(count), {1}), e.scalar(DType::Int64, static_cast<double>(step)));
  Value* windows = e.gather(x, e.add(starts, e.range(size)), axis);
  std::vector<int64_t> perm;
  for (int i = 0; i <= rank; ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  e.setOutput(0, e.transpose(windows, perm));
}

void expandUnique(Expansion& e) {
  const Values outputs = e.nodes("", "Unique", {e.input(0)}, attributesOf({{"sorted", int64_t{0}}}), 4);
  e.setOutput(0, outputs[0]);
  e.setOutput(1, outputs[2]);
  e.setOutput(2, outputs[3]);
}

constexpr OpSchema row(std::string_view name, int minInputs, int maxInputs, int maxOutputs, std::string_view types,
                       std::string_view attributes) {
  return {kDomain, name, minInputs, maxInputs, 1, maxOutputs, types, nullptr, 0, 0, attributes};
}

const Composite kRows[] = {
    {row("CDist", 2, 2, 1, "T,T->T; T=float32|float64", "metric=s"), expandCDist},
    {row("ComplexMul", 2, 2, 1, "T,T->T; T=float", ""), expandComplexMul},
    {row("ComplexMulConj", 2, 2, 1, "T,T->T; T=float", ""), expandComplexMulConj},
    {row("Rfft", 1, 1, 1, "T->T; T=float", "normalized=i onesided=i signal_ndim=i"), expandRfft},
    {row("Irfft", 1, 1, 1, "T->T; T=float", "normalized=i onesided=i signal_ndim=i"), expandIrfft},
    {row("ExpandDims", 2, 2, 1, "T,int32->T; T=any", ""), expandExpandDims},
    {row("GatherND", 2, 2, 1, "T,I->T; T=any; I=index", ""), expandGatherND},
    {row("GridSample", 2, 2, 1, "T,G->T; T=float; G=float",
         "align_corners=i mode=s{bilinear,nearest,bicubic} padding_mode=s{zeros,border,reflection}"),
     expandGridSample},
    {row("Inverse", 1, 1, 1, "T->T; T=float", ""), expandInverse},
    {row("Pad", 2, 3, 1, "T,int64,T->T; T=float", "mode=s{constant,reflect,edge,wrap}"), expandPad},
    {row("Range", 2, 3, 1, "T,T,T->T; T=number", ""), expandRange},
    {row("TorchEmbedding", 2, 4, 1, "T,int64,int64,bool->T; T=any", ""), expandTorchEmbedding},
    {row("UnfoldTensor", 1, 1, 1, "T->T; T=any", "dim=i size=i step=i"), expandUnfoldTensor},
    {row("Unique", 1, 1, 3, "T->T,int64,int64; T=float", ""), expandUnique},
};

}  // namespace

std::span<const Composite> microsoftPlainComposites() { return kRows; }

}  // namespace max
