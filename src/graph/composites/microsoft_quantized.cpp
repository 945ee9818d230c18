// SPDX-License-Identifier: Apache-2.0
// Quantised operators of com.microsoft: between DequantizeLinear and QuantizeLinear,
// or on products of integers.
#include "graph/composites/microsoft.h"
#include "graph/composites/tables.h"

namespace max {

namespace microsoft {

Value* dequantized(Expansion& e, Value* value, Value* scale, Value* zero) {
  Values inputs{value, scale};
  if (zero) inputs.push_back(zero);
  return e.op("DequantizeLinear", std::move(inputs));
}

Value* quantized(Expansion& e, Value* value, Value* scale, Value* zero, DType dtype) {
  return e.op("QuantizeLinear", {value, scale, zero ? zero : e.scalar(dtype, 0)});
}

Value* scaledProduct(Expansion& e, const Values& operands, Value* scale, DType dtype) {
  // Sums of products exceed 16-bit types.
  Value* real = e.mul(e.cast(e.op("MatMulInteger", operands), DType::Float32), e.cast(scale, DType::Float32));
  return e.cast(real, dtype);
}

}  // namespace microsoft

namespace {

using microsoft::channelsFirst;
using microsoft::channelsLast;
using microsoft::dequantized;
using microsoft::kDomain;
using microsoft::quantized;
using microsoft::scaledProduct;

// Three inputs from `at` on: a value, its scale, its zero point.
Value* realInput(Expansion& e, size_t at) { return dequantized(e, e.input(at), e.input(at + 1), e.input(at + 2)); }

void finish(Expansion& e, Value* value, size_t scaleAt) {
  e.setOutput(0, quantized(e, value, e.input(scaleAt), e.input(scaleAt + 1), e.dtype(0)));
}

template <const char* op>
void expandBinary(Expansion& e) {
  finish(e, e.op(op, {realInput(e, 0), realInput(e, 3)}), 6);
}

template <const char* op>
void expandUnary(Expansion& e) {
  finish(e, e.op(op, {realInput(e, 0)}, e.attributes()), 3);
}

constexpr char kAdd[] = "Add", kMul[] = "Mul", kSigmoid[] = "Sigmoid", kLeakyRelu[] = "LeakyRelu";

void expandPool(Expansion& e, std::string_view op) {
  Value* x = realInput(e, 0);
  const bool last = e.flag("channels_last");
  const int rank = e.rank(x);
  if (rank < 3) e.invalid("input 0 has ", rank, " dimensions, not 3 or more");
  Value* y =
      e.op(op, {last ? e.transpose(x, channelsFirst(rank)) : x}, microsoft::attributesWithout(e, {"channels_last"}));
  finish(e, last ? e.transpose(y, channelsLast(rank)) : y, 3);
}

void expandAveragePool(Expansion& e) { expandPool(e, "AveragePool"); }
void expandGlobalAveragePool(Expansion& e) { expandPool(e, "GlobalAveragePool"); }

void expandNhwcMaxPool(Expansion& e) {
  const int rank = e.rank(e.input(0));
  if (rank < 3) e.invalid("input 0 has ", rank, " dimensions, not 3 or more");
  Value* y = e.op("MaxPool", {e.transpose(e.input(0), channelsFirst(rank))}, e.attributes());
  e.setOutput(0, e.transpose(y, channelsLast(rank)));
}

// Inputs like ONNX's QLinearConv, but images may have channels last.
void expandConv(Expansion& e) {
  const bool last = e.flag("channels_last");
  const int rank = e.rank(e.input(0));
  if (rank < 3) e.invalid("input 0 has ", rank, " dimensions, not 3 or more");
  Values inputs = e.node().inputs;
  if (last) inputs[0] = e.transpose(inputs[0], channelsFirst(rank));
  Value* y = e.op("QLinearConv", std::move(inputs), microsoft::attributesWithout(e, {"channels_last"}));
  e.setOutput(0, last ? e.transpose(y, channelsLast(rank)) : y);
}

// Inputs: the result's scale and zero point, then value, scale and zero point of each part.
void expandConcat(Expansion& e) {
  if (e.inputCount() % 3 != 2) e.invalid("has ", e.inputCount(), " inputs; each part has three");
  Values parts;
  for (size_t i = 2; i < e.inputCount(); i += 3) parts.push_back(realInput(e, i));
  Value* joined = e.concat(std::move(parts), e.integer("axis", 0));
  e.setOutput(0, quantized(e, joined, e.input(0), e.input(1), e.dtype(1)));
}

// Before opset 13 softmax is over all axes from `axis` on.
Value* flatSoftmax(Expansion& e, Value* x, int axis) {
  Value* matrix = e.op("Flatten", {x}, attributesOf({{"axis", int64_t{axis}}}));
  return e.reshape(e.softmax(matrix, -1), {Extent(e.op("Shape", {x}))});
}

void expandSoftmax(Expansion& e) {
  Value* x = realInput(e, 0);
  const int axis = e.axis(e.integer("axis", -1), e.rank(x));
  const bool flat = e.integer("opset", 13) < 13 && axis + 1 < e.rank(x);
  finish(e, flat ? flatSoftmax(e, x, axis) : e.softmax(x, axis), 3);
}

void expandWhere(Expansion& e) {
  Value* chosen = e.where(e.input(0), realInput(e, 1), realInput(e, 4));
  e.setOutput(0, quantized(e, chosen, e.input(7), e.input(8), e.dtype(1)));
}

void expandReduceMean(Expansion& e) {
  const std::vector<int64_t> axes = e.attributes().getInts("axes");
  finish(e, e.reduce("ReduceMean", realInput(e, 0), axes, e.flag("keepdims", true)), 3);
}

// Rows of a quantised table, or all of it.
Value* tableRows(Expansion& e, size_t table, size_t scale, size_t zero, Value* rows) {
  Value* some = rows ? e.gather(e.input(table), rows, 0) : e.input(table);
  return dequantized(e, some, e.input(scale), e.input(zero));
}

void expandEmbedLayerNormalization(Expansion& e) {
  Value* positions = e.slice(e.input(3), 0, 0, e.dim(e.input(0), 1));
  Value* sum = e.add(tableRows(e, 2, 8, 13, e.input(0)), dequantized(e, positions, e.input(9), e.input(14)));
  if (e.has(1) && e.has(4)) sum = e.add(sum, tableRows(e, 4, 10, 15, e.input(1)));
  const Attributes attributes = attributesOf({{"axis", int64_t{-1}}, {"epsilon", e.number("epsilon", 1e-12f)}});
  e.setOutput(0, e.op("LayerNormalization", {sum, tableRows(e, 5, 11, 16, nullptr), tableRows(e, 6, 12, 17, nullptr)},
                      attributes));
  if (e.outputCount() > 1) e.setOutput(1, microsoft::maskIndex(e, e.input(7)));
}

void expandMatMulInteger16(Expansion& e) {
  e.setOutput(0, e.matmul(e.cast(e.input(0), DType::Int32), e.cast(e.input(1), DType::Int32)));
}

// The values of bitsandbytes' two 4-bit types, as fractions of the block's largest value.
constexpr float kFp4[] = {0, 0.00520833333f,  0.66666667f,  1,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                          0, -0.00520833333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
constexpr float kNf4[] = {
    -1.0f,       -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0,
    0.07958030f, 0.16093020f,  0.24611229f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,  1.0f};

// All weights dequantised, at load if constant: [N, K].
Value* bnbWeights(Expansion& e) {
  const int64_t rows = e.integerWithin("N", 0, 1, INT32_MAX), depth = e.integerWithin("K", 0, 1, INT32_MAX);
  const int64_t block = e.integerWithin("block_size", 0, 16, 1 << 20), count = checkedMultiply(rows, depth);
  const bool isNf4 = e.integerWithin("quant_type", 0, 0, 1) == 1;
  Value* bytes = e.input(1);
  Value* high = e.op("BitShift", {bytes, e.scalar(DType::UInt8, 4)}, attributesOf({{"direction", "RIGHT"}}));
  Value* low = e.op("BitwiseAnd", {bytes, e.scalar(DType::UInt8, 15)});
  Value* codes = e.reshape(e.concat({e.unsqueeze(high, {1}), e.unsqueeze(low, {1})}, 1), {-1});
  Value* table = e.constant(Tensor::copyOf(DType::Float32, Shape{16}, isNf4 ? kNf4 : kFp4));
  Value* numbers = e.gather(table, e.cast(e.slice(codes, 0, 0, count), DType::Int32), 0);
  const int64_t blocks = count / block + (count % block != 0), missing = blocks * block - count;
  if (missing) numbers = e.op("Pad", {numbers, e.ints({0, missing})});
  Value* scales = e.reshape(e.cast(e.input(2), DType::Float32), {blocks, 1});
  Value* scaled = e.reshape(e.mul(e.reshape(numbers, {blocks, block}), scales), {-1});
  if (missing) scaled = e.slice(scaled, 0, 0, count);
  return e.cast(e.reshape(scaled, {rows, depth}), e.dtype(0));
}

void expandMatMulBnb4(Expansion& e) {
  if (!e.flag("transB", true)) e.unsupported("attribute 'transB' 0 is not supported");
  e.setOutput(0, e.matmul(e.input(0), e.transpose(bnbWeights(e), {1, 0})));
}

void expandGemm(Expansion& e) {
  const auto matrix = [&](size_t i, const char* flag) {
    return e.flag(flag) ? e.transpose(e.input(i), {1, 0}) : e.input(i);
  };
  Value* product = e.op("MatMulInteger", {matrix(0, "transA"), matrix(3, "transB"), e.input(2), e.input(5)});
  if (e.has(6)) product = e.add(product, e.input(6));
  Value* scale = e.mul(e.input(1), e.input(4));
  if (e.number("alpha", 1) != 1) scale = e.mul(scale, e.like(scale, e.number("alpha", 1)));
  Value* real = e.mul(e.cast(product, DType::Float32), scale);
  e.setOutput(0, e.has(7) ? quantized(e, real, e.input(7), e.input(8), e.dtype(0)) : real);
}

void expandMatMulIntegerToFloat(Expansion& e) {
  Value* real =
      scaledProduct(e, {e.input(0), e.input(1), e.input(4), e.input(5)}, e.mul(e.input(2), e.input(3)), e.dtype(2));
  e.setOutput(0, e.has(6) ? e.add(real, e.input(6)) : real);
}

void expandDynamicQuantizeMatMul(Expansion& e) {
  const Values a = e.nodes("", "DynamicQuantizeLinear", {e.input(0)}, {}, 3);
  Value* real = scaledProduct(e, {a[0], e.input(1), a[2], e.input(3)}, e.mul(a[1], e.input(2)), DType::Float32);
  e.setOutput(0, e.has(4) ? e.add(real, e.input(4)) : real);
}

// In the type of A, but for float64.
void expandMatMulNBits(Expansion& e) {
  if (e.has(4)) e.unsupported("input 'g_idx' is not supported");
  if (e.flag("weight_prepacked")) e.unsupported("attribute 'weight_prepacked' is not supported");
  const DType dtype = e.dtype(0);
  const DType inner = dtype == DType::Float64 ? DType::Float32 : dtype;
  Values inputs{e.cast(e.input(0), inner), e.input(1), e.cast(e.input(2), inner)};
  if (e.has(3)) inputs.push_back(e.dtype(3) == DType::UInt8 ? e.input(3) : e.cast(e.input(3), inner));
  Value* result = e.own("MatMulNBits", std::move(inputs),
                        attributesOf({{"K", e.integer("K", 0)},
                                      {"N", e.integer("N", 0)},
                                      {"bits", e.integer("bits", 4)},
                                      {"block_size", e.integer("block_size", 0)},
                                      {"accuracy_level", e.integer("accuracy_level", 0)}}));
  result = e.cast(result, dtype);
  e.setOutput(0, e.has(5) ? e.add(result, e.input(5)) : result);
}

void expandDynamicQuantizeLSTM(Expansion& e) {
  const Values outputs = e.nodes(kMaxDomain, "DynamicQuantizeLSTM", e.node().inputs, e.attributes(), 3);
  for (size_t i = 0; i < 3; ++i) e.setOutput(i, outputs[i]);
}

void expandQuantizeLinear(Expansion& e) { microsoft::forward(e, "QuantizeLinear", e.attributes()); }
void expandDequantizeLinear(Expansion& e) { microsoft::forward(e, "DequantizeLinear", e.attributes()); }

constexpr std::string_view kUnary = "T,float32,T,float32,T->T; T=int8|uint8";
constexpr std::string_view kBinary = "T,float32,T,T,float32,T,float32,T->T; T=int8|uint8";
constexpr std::string_view kPool =
    "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} ceil_mode=i channels_last=i count_include_pad=i dilations=I "
    "kernel_shape=I pads=I strides=I";
constexpr std::string_view kLstm =
    "activation_alpha=F activation_beta=F activations=S clip=f direction=s{forward,reverse,bidirectional} "
    "hidden_size=i input_forget=i";

constexpr OpSchema row(std::string_view name, int minInputs, int maxInputs, int maxOutputs, std::string_view types,
                       std::string_view attributes, uint32_t traits = 0) {
  return {kDomain, name, minInputs, maxInputs, 1, maxOutputs, types, nullptr, traits, 0, attributes};
}

const Composite kRows[] = {
    {row("QLinearAdd", 7, 8, 1, kBinary, ""), expandBinary<kAdd>},
    {row("QLinearMul", 7, 8, 1, kBinary, ""), expandBinary<kMul>},
    {row("QLinearSigmoid", 4, 5, 1, kUnary, ""), expandUnary<kSigmoid>},
    {row("QLinearLeakyRelu", 4, 5, 1, kUnary, "alpha=f"), expandUnary<kLeakyRelu>},
    {row("QLinearAveragePool", 4, 5, 1, kUnary, kPool), expandAveragePool},
    {row("QLinearGlobalAveragePool", 5, 5, 1, kUnary, kPool), expandGlobalAveragePool},
    {row("QLinearConv", 8, 9, 1, "A,float32,A,B,float32,B,float32,Y,int32->Y; A=int8|uint8; B=int8|uint8; Y=int8|uint8",
         "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} channels_last=i dilations=I group=i kernel_shape=I pads=I "
         "strides=I"),
     expandConv},
    {row("QLinearConcat", 5, 0, 1, "float32,T,number...->T; T=int8|uint8", "axis=i", kTraitVariadic), expandConcat},
    {row("QLinearSoftmax", 5, 5, 1, kUnary, "axis=i opset=i"), expandSoftmax},
    {row("QLinearWhere", 9, 9, 1, "bool,T,float32,T,T,float32,T,float32,T->T; T=int8|uint8", ""), expandWhere},
    {row("NhwcMaxPool", 1, 1, 1, "T->T; T=int8|uint8", kPool), expandNhwcMaxPool},
    {row("QGemm", 6, 9, 1, "A,float32,A,B,float32,B,int32,float32,Y->*; A=int8|uint8; B=int8|uint8; Y=int8|uint8",
         "alpha=f transA=i transB=i"),
     expandGemm},
    {row("QLinearReduceMean", 4, 5, 1, kUnary, "axes=I keepdims=i"), expandReduceMean},
    // Segments, their table and the mask are optional.
    {row("QEmbedLayerNormalization", 1, 18, 2,
         "int32,int32,Q,Q,Q,Q,Q,int32,float32,float32,float32,float32,float32,Q,Q,Q,Q,Q->float32,int32; Q=int8|uint8",
         "epsilon=f"),
     expandEmbedLayerNormalization},
    {row("MatMulInteger16", 2, 2, 1, "int16,int16->int32", ""), expandMatMulInteger16},
    {row("MatMulBnb4", 3, 3, 1, "T,uint8,T->T; T=float16|bfloat16|float32",
         "K=i N=i block_size=i quant_type=i training_mode=i transB=i"),
     expandMatMulBnb4},
    {row("MatMulIntegerToFloat", 4, 7, 1, "A,B,S,S,A,B,S->S; A=int8|uint8; B=int8|uint8; S=float", ""),
     expandMatMulIntegerToFloat},
    {row("DynamicQuantizeMatMul", 3, 5, 1, "float32,B,float32,B,float32->float32; B=int8|uint8", ""),
     expandDynamicQuantizeMatMul},
    {row("DynamicQuantizeLSTM", 3, 12, 3,
         "float32,B,B,float32,int32,float32,float32,float32,float32,B,float32,B->float32,float32,float32; "
         "B=int8|uint8",
         kLstm),
     expandDynamicQuantizeLSTM},
    {row("MatMulNBits", 3, 6, 1, "T,uint8,T,Z,int32,T->T; T=float; Z=uint8|float",
         "K=i N=i accuracy_level=i bits=i block_size=i weight_prepacked=i"),
     expandMatMulNBits},
    {row("QuantizeLinear", 2, 3, 1, "any,any,any->*", "axis=i"), expandQuantizeLinear},
    {row("DequantizeLinear", 2, 3, 1, "any,any,any->*", "axis=i"), expandDequantizeLinear},
};

}  // namespace

std::span<const Composite> microsoftQuantizedComposites() { return kRows; }

}  // namespace max
