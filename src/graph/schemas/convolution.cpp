// SPDX-License-Identifier: Apache-2.0
// Convolutions. Layout: ONNX's [batch, channels, spatial...]; that of the compiler's own is [batch, spatial...,
// channels].
#include <algorithm>

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// The kernel's spatial sizes: from the attribute, else from the weights. Empty if unknown.
std::vector<int64_t> kernelSizes(const InferContext& context, size_t weights) {
  std::vector<int64_t> sizes = readers::readKernelShape(context.attributes());
  if (!context.ranked(weights)) return sizes;
  const SymbolicShape& dims = context.dims(weights);
  if (!sizes.empty() && sizes.size() + 2 != dims.size())
    context.fail("attribute 'kernel_shape' has ", sizes.size(), " numbers for weights ", dims);
  for (size_t i = 2; i < dims.size(); ++i) {
    if (sizes.size() + 2 <= i) {
      if (!dims[i].isKnown()) return {};
      sizes.push_back(dims[i].value());
    }
    rules::requireEqual(context, dims[i], sizes[i - 2], "attribute 'kernel_shape' and the weights");
  }
  return sizes;
}

// Parameters of quantised weights: one element, or one per output channel.
void checkQuantization(const InferContext& context, size_t input, Dim channels) {
  if (!context.ranked(input)) return;
  const SymbolicShape& dims = context.dims(input);
  const bool isOne = std::all_of(dims.begin(), dims.end(), [](Dim dim) { return dim.is(1); });
  if (!isOne) rules::requireShape(context, input, {channels});
}

// Scales and zero points of integer convolutions: single for images, possibly several for weights.
void checkQuantizations(const InferContext& context, Dim channels) {
  // The compiler's operators have the names and inputs of ONNX's.
  const bool isPlain = context.node().op() == "ConvInteger";
  if (!isPlain && context.node().op() != "QLinearConv") return;
  const std::vector<size_t> ofImages = isPlain ? std::vector<size_t>{2} : std::vector<size_t>{1, 2, 6, 7};
  const std::vector<size_t> ofWeights = isPlain ? std::vector<size_t>{3} : std::vector<size_t>{4, 5};
  for (size_t i : ofImages) rules::requireOneElement(context, i);
  for (size_t i : ofWeights) checkQuantization(context, i, channels);
}

// Checks ranks and channels; returns false if too little is known about the shapes.
bool checkConvolution(const InferContext& context, size_t weights) {
  rules::requireRankAtLeast(context, 0, 3);
  rules::requireRankAtLeast(context, weights, 3);
  if (!context.ranked(0)) return false;
  if (context.ranked(weights)) rules::requireRank(context, weights, context.rank(0));
  return context.ranked(weights);
}

// Kernels loop over all taps, whose number is not bounded by weights without elements.
void requireTaps(const InferContext& context, const SymbolicShape& weights, int64_t taps) {
  constexpr int64_t kMostOfNothing = 1 << 16;
  if (taps > kMostOfNothing && (weights[0].is(0) || weights[1].is(0)))
    context.fail("weights of shape ", weights, " have no elements");
}

template <size_t weights, size_t bias>
void inferConv(InferContext& context) {
  if (!checkConvolution(context, weights)) return;
  const SymbolicShape &x = context.dims(0), &w = context.dims(weights);
  const int64_t group = readers::readGroups(context.attributes());
  rules::requireEqual(context, x[1], w[1] * Dim(group), "input channels and weights times groups");
  if (w[0].isKnown() && w[0].value() % group)
    context.fail(w[0], " output channels do not split into ", group, " groups");
  rules::requireShape(context, bias, {w[0]});
  checkQuantizations(context, w[0]);
  SymbolicShape shape = {x[0], w[0]};
  const std::vector<int64_t> sizes = kernelSizes(context, weights);
  if (sizes.empty()) return context.setRank(0, context.rank(0));
  const readers::Windows windows = readers::readWindows(context.attributes(), sizes);
  requireTaps(context, w, windows.taps());
  for (size_t i = 0; i < sizes.size(); ++i) shape.push_back(rules::windowed(context, x[i + 2], windows, i));
  context.setShape(0, std::move(shape));
}

Dim transposedSize(Dim in, const readers::Transposed& reader, size_t axis) {
  const readers::Window& window = reader.windows.axes[axis];
  if (!reader.shape.empty()) return reader.shape[axis];
  if (reader.windows.isSame()) return in * Dim(window.stride);
  return Dim(window.stride) * (in - Dim(1)) + Dim(reader.extra[axis]) + Dim(window.extent()) - Dim(window.padBegin) -
         Dim(window.padEnd);
}

void inferConvTranspose(InferContext& context) {
  if (!checkConvolution(context, 1)) return;
  const SymbolicShape &x = context.dims(0), &w = context.dims(1);
  const int64_t group = readers::readGroups(context.attributes());
  rules::requireEqual(context, x[1], w[0], "input channels and weights");
  if (w[0].isKnown() && w[0].value() % group)
    context.fail(w[0], " input channels do not split into ", group, " groups");
  SymbolicShape shape = {x[0], w[1] * Dim(group)};
  rules::requireShape(context, 2, {shape[1]});
  const std::vector<int64_t> sizes = kernelSizes(context, 1);
  if (sizes.empty()) return context.setRank(0, context.rank(0));
  const readers::Transposed reader(context.attributes(), sizes);
  requireTaps(context, w, reader.windows.taps());
  for (size_t i = 0; i < sizes.size(); ++i) shape.push_back(transposedSize(x[i + 2], reader, i));
  context.setShape(0, std::move(shape));
}

// The compiler's, channels last: X [N, spatial.., C], W and bias as ONNX's; output [N, out.., M].
void inferFusedConvTranspose(InferContext& context) {
  if (!checkConvolution(context, 1)) return;
  const SymbolicShape &x = context.dims(0), &w = context.dims(1);
  const int64_t group = readers::readGroups(context.attributes());
  rules::requireEqual(context, x.back(), w[0], "channels");
  if (w[0].isKnown() && w[0].value() % group) context.fail(w[0], " channels in ", group, " groups");
  const Dim filters = w[1] * Dim(group);
  rules::requireShape(context, 2, {filters});
  const std::vector<int64_t> sizes = kernelSizes(context, 1);
  if (sizes.empty()) return context.setRank(0, context.rank(0));
  const readers::Transposed reader(context.attributes(), sizes);
  requireTaps(context, w, reader.windows.taps());
  SymbolicShape shape = {x[0]};
  for (size_t i = 0; i < sizes.size(); ++i) shape.push_back(transposedSize(x[i + 1], reader, i));
  shape.push_back(filters);
  context.setShape(0, std::move(shape));
}

// A convolution whose taps are moved by offsets: [N, offset groups * taps * axes, out..], with as many masks.
void inferDeformConv(InferContext& context) {
  inferConv<1, 3>(context);
  const int64_t offsetGroups = readers::readOffsetGroups(context.attributes());
  for (size_t i : {size_t{2}, size_t{4}})
    if (context.ranked(0)) rules::requireRank(context, i, context.rank(0));
  const std::vector<int64_t> sizes = kernelSizes(context, 1);
  if (!context.ranked(0) || !context.ranked(1) || sizes.empty()) return;
  const SymbolicShape& x = context.dims(0);
  if (x[1].isKnown() && x[1].value() % offsetGroups)
    context.fail(x[1], " channels do not split into ", offsetGroups, " offset groups");
  Dim taps = offsetGroups;
  for (const int64_t size : sizes) taps = taps * Dim(size);
  SymbolicShape shape = context.outputs()[0].type.dims;
  shape[1] = taps;
  rules::requireShape(context, 4, shape);
  shape[1] = taps * Dim(static_cast<int64_t>(sizes.size()));
  rules::requireShape(context, 2, shape);
}

// Columns [N, C * taps, positions] to images [N, C, image_shape..].
void inferCol2Im(InferContext& context) {
  rules::requireRank(context, 0, 3);
  const auto image = context.elements(1);
  const auto block = context.integers(2);
  for (size_t i : {size_t{1}, size_t{2}}) rules::requireRank(context, i, 1);
  if (!image) {
    const auto rank = rules::lengthOf(context, 1);
    return rank && *rank + 2 <= kMaxRank ? context.setRank(0, static_cast<int>(*rank) + 2) : void();
  }
  SymbolicShape shape = {context.ranked(0) ? context.dims(0)[0] : context.unknownDim(), context.unknownDim()};
  if (block) {
    if (block->size() != image->size() || block->empty())
      context.fail("block_shape has ", block->size(), " numbers for images of ", image->size());
    const readers::Windows windows = readers::readWindows(context.attributes(), *block);
    const int64_t taps = windows.taps();
    Dim positions = 1;
    for (size_t i = 0; i < block->size(); ++i)
      positions = positions * rules::windowed(context, (*image)[i], windows, i);
    if (context.ranked(0)) {
      const SymbolicShape& x = context.dims(0);
      rules::requireEqual(context, x[2], positions, "columns of the input and positions of the block");
      if (x[1].isKnown() && x[1].value() % taps)
        context.fail(x[1], " rows do not split into blocks of ", taps, " elements");
      shape[1] = floorDivide(x[1], taps);
    }
  }
  shape.insert(shape.end(), image->begin(), image->end());
  context.setShape(0, std::move(shape));
}

// The compiler's, channels last: X [N, spatial.., C], W [M, C/group, k..], bias [M], residual; output [N, out.., M].
template <size_t weights, size_t bias, size_t residual, int leastRank>
void inferFusedConv(InferContext& context) {
  if (!context.ranked(0) || !context.ranked(weights)) return;
  const SymbolicShape &x = context.dims(0), &w = context.dims(weights);
  rules::requireRankAtLeast(context, 0, leastRank);
  rules::requireRank(context, weights, context.rank(0));
  const int64_t group = readers::readGroups(context.attributes());
  if (w[0].isKnown() && w[0].value() % group) context.fail(w[0], " channels in ", group, " groups");
  rules::requireEqual(context, x.back(), w[1] * Dim(group), "channels");
  rules::requireShape(context, bias, {w[0]});
  checkQuantizations(context, w[0]);
  std::vector<int64_t> sizes;
  for (size_t i = 2; i < w.size(); ++i) sizes.push_back(w[i].isKnown() ? w[i].value() : 1);
  const readers::Windows windows = readers::readWindows(context.attributes(), sizes);
  SymbolicShape shape = {x[0]};
  for (size_t i = 0; i < sizes.size(); ++i)
    shape.push_back(w[i + 2].isKnown() ? rules::windowed(context, x[i + 1], windows, i) : context.unknownDim());
  shape.push_back(w[0]);
  rules::requireShape(context, residual, shape);
  context.setShape(0, std::move(shape));
}

// Two of the compiler's in one: pointwise with weights 1 and bias 3, then depthwise with weights 2 and bias 4.
void inferExpandConv(InferContext& context) {
  for (size_t i : {size_t{0}, size_t{1}, size_t{2}}) {
    if (!context.ranked(i)) return;
    rules::requireRankAtLeast(context, i, 3);
    rules::requireRank(context, i, context.rank(0));
  }
  const SymbolicShape &x = context.dims(0), &expand = context.dims(1), &w = context.dims(2);
  rules::requireEqual(context, x.back(), expand[1], "channels");
  rules::requireEqual(context, expand[0], w[0], "filters");
  rules::requireEqual(context, w[0], readers::readGroups(context.attributes()), "filters and groups");
  rules::requireEqual(context, w[1], 1, "channels of a group");
  std::vector<int64_t> sizes;
  for (size_t i = 2; i < w.size(); ++i) {
    rules::requireEqual(context, expand[i], 1, "sizes of a pointwise kernel");
    sizes.push_back(w[i].isKnown() ? w[i].value() : 1);
  }
  rules::requireShape(context, 3, {w[0]});
  rules::requireShape(context, 4, {w[0]});
  const readers::Windows windows = readers::readWindows(context.attributes(), sizes);
  SymbolicShape shape = {x[0]};
  for (size_t i = 0; i < sizes.size(); ++i)
    shape.push_back(w[i + 2].isKnown() ? rules::windowed(context, x[i + 1], windows, i) : context.unknownDim());
  shape.push_back(w[0]);
  context.setShape(0, std::move(shape));
}

// After the inputs of ONNX's ConvInteger: a factor for all sums or for each filter, which makes them float32, and a
// number for each filter that is added then.
void inferScaledConv(InferContext& context) {
  inferFusedConv<1, 5, SIZE_MAX, 2>(context);
  if (context.has(5) && !context.has(4)) context.fail("numbers are added to results without a factor");
  if (context.ranked(1)) checkQuantization(context, 4, context.dims(1)[0]);
  context.setDType(0, context.has(4) ? DType::Float32 : DType::Int32);
}

// After the inputs of ONNX's QLinearConv: a residual with its scale and zero point; the scale and zero point of the
// sum; instead of a residual a number for each filter, and what results are multiplied by before that is added.
void inferFusedQuantizedConv(InferContext& context) {
  inferFusedConv<3, 8, 9, 2>(context);
  const bool hasResidual = context.has(9), hasSum = hasResidual || context.has(14);
  if (hasResidual && context.has(14)) context.fail("there is a residual and a number for each filter");
  for (size_t i = 10; i < 14; ++i) {
    if (context.has(i) != (i < 12 ? hasResidual : hasSum))
      context.fail("a residual needs its scale and zero point, and the result's");
    rules::requireOneElement(context, i);
  }
  if (context.has(15) && !context.has(14)) context.fail("results are multiplied, but no numbers are added");
  for (const size_t i : {14, 15})
    if (context.ranked(3)) rules::requireShape(context, i, {context.dims(3)[0]});
  context.setDType(0, context.dtype(hasSum ? 13 : 7));
}

const OpSchema kSchemas[] = {
    {"", "Conv", 2, 3, 1, 1, "T,T,T->T; T=float", inferConv<1, 2>, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I group=i kernel_shape=I pads=I strides=I"},
    {"", "ConvInteger", 2, 4, 1, 1, "A,B,A,B->int32; A=int8|uint8; B=int8|uint8", inferConv<1, SIZE_MAX>, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I group=i kernel_shape=I pads=I strides=I"},
    {"", "QLinearConv", 8, 9, 1, 1,
     "A,float32,A,B,float32,B,float32,Y,int32->Y; A=int8|uint8; B=int8|uint8; Y=int8|uint8", inferConv<3, 8>, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I group=i kernel_shape=I pads=I strides=I"},
    {"", "ConvTranspose", 2, 3, 1, 1, "T,T,T->T; T=float", inferConvTranspose, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I group=i kernel_shape=I output_padding=I "
     "output_shape=I pads=I strides=I"},
    {"", "DeformConv", 3, 5, 1, 1, "T,T,T,T,T->T; T=float", inferDeformConv, 0, 0,
     "dilations=I group=i kernel_shape=I offset_group=i pads=I strides=I"},
    {"", "Col2Im", 3, 3, 1, 1, "T,int64,int64->T; T=number|bool", inferCol2Im, 0, 1u << 1 | 1u << 2,
     "dilations=I pads=I strides=I"},
    {kMaxDomain, "Conv", 2, 4, 1, 1, "T,T,T,T->T; T=float", inferFusedConv<1, 2, 3, 3>, 0, 0,
     "activation=s activation_alpha=f activation_beta=f dilations=I group=i[1..] pads=I residual_last=i[0..1] "
     "strides=I"},
    {kMaxDomain, "ExpandConv", 3, 5, 1, 1, "T,T,T,T,T->T; T=float", inferExpandConv, 0, 0,
     "activation=s activation_alpha=f activation_beta=f dilations=I expand_activation=s expand_activation_alpha=f "
     "expand_activation_beta=f group=i[1..] pads=I strides=I"},
    {kMaxDomain, "ConvTranspose", 2, 3, 1, 1, "T,T,T->T; T=float", inferFusedConvTranspose, 0, 0,
     "activation=s activation_alpha=f activation_beta=f auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I "
     "group=i[1..] kernel_shape=I output_padding=I output_shape=I pads=I strides=I"},
    {kMaxDomain, "ConvInteger", 2, 6, 1, 1, "A,B,A,B,float32,float32->*; A=int8|uint8; B=int8|uint8", inferScaledConv,
     0, 0, "dilations=I group=i[1..] pads=I strides=I"},
    {kMaxDomain, "QLinearConv", 8, 16, 1, 1,
     "A,float32,A,B,float32,B,float32,Y,int32,R,float32,R,float32,Z,float32,float32->*; A=int8|uint8; B=int8|uint8; "
     "Y=int8|uint8; R=int8|uint8; Z=int8|uint8",
     inferFusedQuantizedConv, 0, 0, "dilations=I group=i[1..] high=i low=i pads=I strides=I"},
};

}  // namespace

std::span<const OpSchema> convolutionSchemas() { return kSchemas; }

}  // namespace max
