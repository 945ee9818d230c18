// SPDX-License-Identifier: Apache-2.0
// Operators between DequantizeLinear and QuantizeLinear become operators on 8-bit integers.
#include <algorithm>

#include "compiler/passes.h"
#include "compiler/passes/quantized.h"
#include "graph/readers/matrix.h"
#include "graph/readers/resize.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

bool lowerConv(Rewriter& rewriter, Node& node) {
  const auto product = quantizedProduct(rewriter, node, "Conv", 0);
  if (!product) return false;
  Value* result = integerConv(rewriter, *product, product->node->attributes, node);
  return sameType(result, node.output()) && rewriter.replace(&node, result);
}

// [K, N] to [N, K, 1..], of this rank: by a node that the next pass folds.
Value* filtersOf(Rewriter& rewriter, const Node* node, const Tensor& matrix, bool isTransposed, int rank) {
  Shape shape = matrix.shape();
  std::vector<int64_t> perm{1, 0};
  while (shape.rank() < rank) {
    perm.push_back(shape.rank());
    shape.push(1);
  }
  Value* filters = rewriter.constant(matrix.reshaped(shape));
  return isTransposed ? filters : rewriter.transpose(filters, perm, node);
}

// A product with a constant matrix is a convolution with one tap, without spatial axes or with the rows as such.
bool lowerProduct(Rewriter& rewriter, Node& node, std::string_view op, bool isTransposed) {
  constexpr int kMostRank = 5;
  const auto product = quantizedProduct(rewriter, node, op, isTransposed ? 0 : 1);
  if (!product || product->w.values->shape().rank() != 2 || !isRanked(product->x.value)) return false;
  const int rank = rankOf(product->x.value);
  if (rank < 2 || rank > kMostRank) return false;
  Value* weights = filtersOf(rewriter, product->node, *product->w.values, isTransposed, rank);
  Attributes attributes;
  attributes.set("low", product->clamped.low);
  attributes.set("high", product->clamped.high);
  Node* conv = rewriter.add(kMaxDomain, "QLinearConv", convInputs(rewriter, *product, weights), std::move(attributes),
                            {product->node, &node});
  return sameType(conv->output(), node.output()) && rewriter.replace(&node, conv->output());
}

bool lowerMatMul(Rewriter& rewriter, Node& node) { return lowerProduct(rewriter, node, "MatMul", false); }

bool lowerGemm(Rewriter& rewriter, Node& node) {
  const auto clamped = clampedInput(node);
  const Node* gemm = clamped ? producer(clamped->value, "Gemm") : nullptr;
  if (!gemm) return false;
  const readers::Product reader(gemm->attributes);
  if (reader.alpha != 1 || reader.transposesA || (gemm->input(2) && reader.beta != 1)) return false;
  return lowerProduct(rewriter, node, "Gemm", reader.transposesB);
}

// A product of two matrices that come at run time.
bool lowerDynamicMatMul(Rewriter& rewriter, Node& node) {
  const auto y = quantized(node);
  const Node* product = y ? producer(node.input(0), "MatMul") : nullptr;
  if (!product || !hasSingleUse(node.input(0))) return false;
  const auto a = dequantized(product->input(0)), b = dequantized(product->input(1));
  if (!a || !b) return false;
  Node* integers = rewriter.add("", "QLinearMatMul",
                                {a->value, a->scale, zeroOf(rewriter, *a), b->value, b->scale, zeroOf(rewriter, *b),
                                 y->scale, zeroOf(rewriter, *y)},
                                {}, {product, &node});
  return sameType(integers->output(), node.output()) && rewriter.replace(&node, integers->output());
}

bool isNearest(const Node& node) {
  const readers::Resize resize(node.attributes, rankOf(node.output()));
  return resize.interpolation == readers::Interpolation::Nearest && !resize.crops();
}

// Whether elements of the result are elements of input 0, or the greatest of some.
bool movesElements(const Node& node) {
  constexpr std::string_view kOperators[] = {"Identity", "Reshape", "Flatten",      "Squeeze",      "Unsqueeze",
                                             "Slice",    "Tile",    "DepthToSpace", "SpaceToDepth", "Transpose",
                                             "Expand",   "Gather",  "MaxPool",      "Resize"};
  if (!node.domain().empty() || node.outputs.size() != 1) return false;
  if (std::find(std::begin(kOperators), std::end(kOperators), node.op()) == std::end(kOperators)) return false;
  return !node.is("Resize") || (isRanked(node.output()) && isNearest(node));
}

// Q(D(x)) -> x, and Q(move(D(x))) -> move(x), where both have one scale.
bool moveIntegers(Rewriter& rewriter, Node& node) {
  const auto to = quantized(node);
  if (!to) return false;
  if (const auto from = dequantized(node.input(0)))
    return sameScale(*from, *to) && sameType(from->value, node.output()) && rewriter.replace(&node, from->value);
  const Node* move = localProducer(node.input(0));
  if (!move || !hasSingleUse(node.input(0)) || !movesElements(*move)) return false;
  const auto from = dequantized(move->input(0));
  if (!from || !sameScale(*from, *to)) return false;
  std::vector<Value*> inputs = move->inputs;
  inputs[0] = from->value;
  Node* moved = rewriter.add("", move->op(), std::move(inputs), move->attributes, {move, &node});
  return sameType(moved->output(), node.output()) && rewriter.replace(&node, moved->output());
}

// Q(Concat(a, b)) -> Concat(Q(a), Q(b)): parts of one scale stay as they are, others go through a table.
bool joinIntegers(Rewriter& rewriter, Node& node) {
  const auto to = quantized(node);
  const Node* concat = to ? producer(node.input(0), "Concat") : nullptr;
  if (!concat || !hasSingleUse(node.input(0))) return false;
  std::vector<Value*> inputs;
  for (Value* part : concat->inputs) {
    const auto from = dequantized(part);
    if (from && sameScale(*from, *to))
      inputs.push_back(from->value);
    else if (part->constant)
      return false;
    else
      inputs.push_back(
          rewriter.add("", node.op(), {part, node.input(1), node.input(2)}, node.attributes, {&node})->output());
  }
  Node* joined = rewriter.add("", "Concat", std::move(inputs), concat->attributes, {concat, &node});
  return sameType(joined->output(), node.output()) && rewriter.replace(&node, joined->output());
}

// Whether an operator moves elements, or finds the greatest or least of some, without making more of them.
bool onlyMoves(const Node& node) {
  const bool grows = node.is("Tile") || node.is("Expand") || node.is("Resize");
  const bool selects = node.is("Split") || node.is("ReduceMax") || node.is("ReduceMin");
  return (selects && node.domain().empty()) || (movesElements(node) && !grows);
}

// move(D(x)) -> D(move(x)): a quarter of the bytes, and closer to a QuantizeLinear.
bool sinkDequantize(Rewriter& rewriter, Node& node) {
  const auto from = onlyMoves(node) && isRanked(node.input(0)) ? dequantized(node.input(0)) : std::nullopt;
  if (!from || (from->value->constant && !node.is("Gather"))) return false;
  const Node& dequantize = *node.input(0)->producer;
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = from->value;
  const std::vector<Value*> outputs = node.outputs;
  Node* moved = rewriter.add("", node.op(), std::move(inputs), node.attributes, {&node}, outputs.size());
  Attributes attributes = dequantize.attributes;
  attributes.erase("axis");
  bool isReplaced = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    Value* real = rewriter
                      .add("", dequantize.op(), {moved->outputs[i], dequantize.input(1), dequantize.input(2)},
                           attributes, {&dequantize})
                      ->output();
    isReplaced = (sameType(real, outputs[i]) && rewriter.replace(outputs[i], real)) || isReplaced;
  }
  return isReplaced;
}

// Whether `to`, quantised, is what some integers are already.
bool isQuantizedBefore(const Node& quantize, const QuantizedValue& to) {
  const Node* move = localProducer(quantize.input(0));
  if (!move) return false;
  const Value* real = movesElements(*move) ? move->input(0) : quantize.input(0);
  const auto from = dequantized(real);
  return from && sameScale(*from, to);
}

// The same node with a zero point of uint8.
Value* withoutSign(Rewriter& rewriter, const Node& node, Value* first, const QuantizedValue& own) {
  Ref<Tensor> zero = Tensor::allocate(DType::UInt8, own.scale->constant->shape());
  *static_cast<uint8_t*>(zero->mutableData()) = static_cast<uint8_t>(own.zeroNumber() + 128);
  Attributes attributes = node.attributes;
  if (node.is("QuantizeLinear")) attributes.erase("output_dtype");
  return rewriter
      .add("", node.op(), {first, node.input(1), rewriter.constant(std::move(zero))}, std::move(attributes), {&node})
      ->output();
}

// Values of int8 that are only dequantised become uint8: products of bytes take one factor without sign.
bool dropSign(Rewriter& rewriter, Node& node) {
  const auto to = quantized(node);
  const Value* old = node.output();
  if (!to || to->dtype() != DType::Int8 || old->isOutput() || isQuantizedBefore(node, *to)) return false;
  const UseList uses = old->uses;
  for (const Use& use : uses)
    if (use.node->graph != old->graph || use.index != 0 || !dequantized(use.node->output())) return false;
  Value* numbers = withoutSign(rewriter, node, node.input(0), *to);
  for (const Use& use : uses) {
    Value* real = withoutSign(rewriter, *use.node, numbers, *dequantized(use.node->output()));
    if (!rewriter.replace(use.node, real)) return false;
  }
  return true;
}

// A vector over axis `axis` of the results, whose last one is 0.
Value* alongAxis(Rewriter& rewriter, const std::vector<float>& numbers, int axis) {
  Shape shape{static_cast<int64_t>(numbers.size())};
  for (int i = 0; i < axis; ++i) shape.push(1);
  Ref<Tensor> result = Tensor::allocate(DType::Float32, shape);
  std::copy(numbers.begin(), numbers.end(), static_cast<float*>(result->mutableData()));
  return rewriter.constant(std::move(result));
}

// Integer sums times their unit, and the bias. `axis` of the results, from the last one on, is that of the filters.
bool finishSums(Rewriter& rewriter, Node& node, Value* sums, const QuantizedValue& x, const Tensor& scales,
                const std::vector<double>* bias, int axis) {
  std::vector<float> units(static_cast<size_t>(scales.count()));
  for (size_t i = 0; i < units.size(); ++i)
    units[i] = static_cast<float>(x.scaleNumber()) * static_cast<float>(elementOf(scales, static_cast<int64_t>(i)));
  Attributes attributes;
  attributes.set("to", onnxFromDType(DType::Float32));
  Value* real = rewriter.add("", "Cast", {sums}, std::move(attributes), {&node})->output();
  real = rewriter.add("", "Mul", {real, alongAxis(rewriter, units, axis)}, {}, {&node})->output();
  if (bias) {
    const std::vector<float> numbers(bias->begin(), bias->end());
    real = rewriter.add("", "Add", {real, alongAxis(rewriter, numbers, axis)}, {}, {&node})->output();
  }
  return sameType(real, node.output()) && rewriter.replace(&node, real);
}

// Products whose results stay real numbers.
bool lowerRealConv(Rewriter& rewriter, Node& node) {
  const auto x = dequantized(node.input(0));
  const auto w = x ? quantizedWeights(rewriter, node.input(1), 0) : std::nullopt;
  const auto bias = w ? quantizedBias(node.input(2), w->filters) : std::nullopt;
  if (!bias || readers::readGroups(node.attributes) != 1 || w->values->shape().rank() < 3) return false;
  Node* conv = rewriter.add("", "ConvInteger", {x->value, rewriter.constant(w->values), zeroOf(rewriter, *x), w->zero},
                            node.attributes, {&node});
  return finishSums(rewriter, node, conv->output(), *x, *w->scale->constant, node.input(2) ? &*bias : nullptr,
                    w->values->shape().rank() - 2);
}

bool lowerRealProduct(Rewriter& rewriter, Node& node, bool isTransposed, Value* addend) {
  const auto x = dequantized(node.input(0));
  const auto w = x ? quantizedWeights(rewriter, node.input(1), isTransposed ? 0 : 1) : std::nullopt;
  const auto bias = w ? quantizedBias(addend, w->filters) : std::nullopt;
  if (!bias || w->values->shape().rank() != 2) return false;
  Value* matrix = filtersOf(rewriter, &node, *w->values, !isTransposed, 2);
  Node* product = rewriter.add("", "MatMulInteger", {x->value, matrix, zeroOf(rewriter, *x), w->zero}, {}, {&node});
  return finishSums(rewriter, node, product->output(), *x, *w->scale->constant, addend ? &*bias : nullptr, 0);
}

bool lowerRealMatMul(Rewriter& rewriter, Node& node) {
  if (lowerRealProduct(rewriter, node, false, nullptr)) return true;
  const auto a = dequantized(node.input(0)), b = dequantized(node.input(1));
  if (!a || !b || b->value->constant) return false;
  Node* product =
      rewriter.add("", "MatMulInteger", {a->value, b->value, zeroOf(rewriter, *a), zeroOf(rewriter, *b)}, {}, {&node});
  return finishSums(rewriter, node, product->output(), *a, *b->scale->constant, nullptr, 0);
}

bool lowerRealGemm(Rewriter& rewriter, Node& node) {
  const readers::Product reader(node.attributes);
  if (reader.alpha != 1 || reader.transposesA || (node.input(2) && reader.beta != 1)) return false;
  return lowerRealProduct(rewriter, node, reader.transposesB, node.input(2));
}

constexpr Rule kFirstRules[] = {{"", "QuantizeLinear", dropSign}};

constexpr Rule kRules[] = {
    {"", "QuantizeLinear", splitTransposedConv}, {"", "QuantizeLinear", lowerConv},
    {"", "QuantizeLinear", lowerMatMul},         {"", "QuantizeLinear", lowerGemm},
    {"", "QuantizeLinear", lowerDynamicMatMul},  {"", "QuantizeLinear", moveIntegers},
    {"", "QuantizeLinear", joinIntegers},
};

// What remains of values that are moved and quantised again, or not.
constexpr Rule kSinkRules[] = {{"", "", sinkDequantize}, {"", "QuantizeLinear", moveIntegers}};

// What no QuantizeLinear follows.
constexpr Rule kRealRules[] = {{"", "Conv", lowerRealConv},
                               {"", "MatMul", lowerRealMatMul},
                               {"", "Gemm", lowerRealGemm},
                               {"", "MatMul", keepBlocks}};

}  // namespace

void computeInIntegers(Rewriter& rewriter) {
  applyRules(rewriter, kFirstRules);
  applyRules(rewriter, kSinkRules, 64);
  applyRules(rewriter, kRules);
  applyRules(rewriter, kRealRules);
}

}  // namespace max
