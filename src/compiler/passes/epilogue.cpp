// SPDX-License-Identifier: Apache-2.0
// Fuses bias, residual sum and activation into the preceding product or convolution, where its result is still in
// registers.
#include <algorithm>
#include <cmath>

#include "compiler/passes.h"
#include "compiler/passes/quantized.h"
#include "graph/activations.h"
#include "graph/readers/elementwise.h"
#include "graph/readers/matrix.h"
#include "graph/readers/normalization.h"
#include "graph/readers/quantization.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

constexpr size_t kBias = 2;      // of the products
constexpr size_t kResidual = 3;  // of max.Conv and max.MatMul

Node* productBefore(const Value* value) {
  Node* node = localProducer(value);
  return node && (node->isOwn("Conv") || node->isOwn("ConvTranspose") || node->isOwn("MatMul")) ? node : nullptr;
}

bool takesResidual(const Node& product) { return !product.isOwn("ConvTranspose"); }

bool hasActivation(const Node& product) { return readers::hasActivation(product.attributes); }

bool replaceProduct(Rewriter& rewriter, Node& product, Node& follower, std::vector<Value*> inputs,
                    Attributes attributes) {
  Node* fused = rewriter.add(kMaxDomain, product.op(), std::move(inputs), std::move(attributes), {&follower, &product});
  return rewriter.replace(follower.output(), fused->output());
}

Value* sumOfBiases(Rewriter& rewriter, Value* first, Value* second) {
  if (!first) return second;
  if (!first->constant || first->constant->dtype() != DType::Float32 ||
      !(first->constant->shape() == second->constant->shape()))
    return nullptr;
  Ref<Tensor> sum = Tensor::allocate(DType::Float32, first->constant->shape());
  const Ref<Tensor> a = first->constant->aligned(), b = second->constant->aligned();
  for (int64_t i = 0; i < sum->count(); ++i)
    static_cast<float*>(sum->mutableData())[i] = a->as<float>()[i] + b->as<float>()[i];
  return rewriter.constant(std::move(sum));
}

bool fuseBias(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Node* product = productBefore(node.input(side));
    if (!product || product->input(kResidual) || hasActivation(*product)) continue;
    if (!hasSingleUse(node.input(side)) || !sameType(node.input(side), node.output())) continue;
    Value* bias = asBias(rewriter, node.input(1 - side), node.output());
    if (bias) bias = sumOfBiases(rewriter, product->input(kBias), bias);
    if (!bias) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs.resize(kBias);
    inputs.push_back(bias);
    return replaceProduct(rewriter, *product, node, std::move(inputs), product->attributes);
  }
  return false;
}

// After the activation.
bool takesResidualLast(const Node& product) {
  return product.isOwn("Conv") && product.input(1)->constant && readers::readGroups(product.attributes) == 1;
}

bool fuseResidual(Rewriter& rewriter, Node& node) {
  for (size_t side : {1, 0}) {
    Node* product = productBefore(node.input(side));
    Value* residual = node.input(1 - side);
    if (!product || !takesResidual(*product) || product->input(kResidual)) continue;
    const bool isLast = hasActivation(*product);
    if (isLast && !takesResidualLast(*product)) continue;
    if (!hasSingleUse(node.input(side)) || residual->constant) continue;
    if (!sameType(node.input(side), node.output()) || !sameType(residual, node.output())) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs.resize(kResidual, nullptr);
    inputs.push_back(residual);
    Attributes attributes = product->attributes;
    if (isLast) attributes.set("residual_last", int64_t{1});
    return replaceProduct(rewriter, *product, node, std::move(inputs), std::move(attributes));
  }
  return false;
}

struct Activation {
  std::string_view name;
  float alpha = 0;
  float beta = 0;
};

std::optional<Activation> clipOf(const Node& node) {
  const float low = -INFINITY, high = INFINITY;
  const auto bound = [](const Value* value, float fallback) -> std::optional<float> {
    if (!value) return fallback;
    const auto scalar = scalarOf(value);
    return scalar ? std::optional<float>(static_cast<float>(*scalar)) : std::nullopt;
  };
  const auto minimum = bound(node.input(1), low);
  const auto maximum = bound(node.input(2), high);
  if (!minimum || !maximum) return std::nullopt;
  return Activation{"Clip", *minimum, *maximum};
}

std::optional<Activation> activationOf(const Node& node) {
  if (!node.domain().empty()) return std::nullopt;
  if (node.is("Gelu")) return Activation{readers::readIsApproximate(node.attributes) ? "GeluTanh" : "Gelu"};
  if (node.is("Swish") && readers::Parameters(node).alpha == 1) return Activation{"Silu"};
  if (node.is("Clip")) return clipOf(node);
  const ActivationInfo* info = findActivation(node.op(), ActivationInfo::Epilogues);
  if (!info) return std::nullopt;
  const readers::Parameters parameters(node);
  return Activation{info->name, parameters.alpha, parameters.beta};
}

bool fuseActivation(Rewriter& rewriter, Node& node) {
  Node* product = productBefore(node.input(0));
  if (!product || hasActivation(*product) || !hasSingleUse(node.input(0))) return false;
  const auto activation = activationOf(node);
  if (!activation) return false;
  Attributes attributes = product->attributes;
  attributes.set("activation", std::string(activation->name));
  attributes.set("activation_alpha", activation->alpha);
  attributes.set("activation_beta", activation->beta);
  return replaceProduct(rewriter, *product, node, product->inputs, std::move(attributes));
}

// Inputs of max.QLinearConv.
constexpr size_t kQuantizedScale = 6, kQuantizedZero = 7, kQuantizedResidual = 9, kQuantizedSum = 12;

Node* quantizedConvBefore(const Value* value) {
  Node* conv = ownProducer(value, "QLinearConv");
  return conv && hasSingleUse(value) ? conv : nullptr;
}

// Limits on the result of a convolution without any.
bool isUnlimited(const Node& conv) {
  const DType dtype = conv.output()->type.dtype;
  const readers::QuantizedRange own(conv.attributes, dtype), whole(Attributes(), dtype);
  return own.low == whole.low && own.high == whole.high;
}

bool keepsLastAxis(const Node& view) {
  const Value *from = view.input(0), *to = view.output();
  if (!isRanked(from) || !isRanked(to) || rankOf(from) == 0 || rankOf(to) == 0) return false;
  return from->type.dims.back().isKnown() && from->type.dims.back() == to->type.dims.back();
}

Attributes withLimits(Attributes attributes, int64_t low, int64_t high) {
  attributes.set("low", low);
  attributes.set("high", high);
  return attributes;
}

// The inputs that follow the convolution's own: a residual or numbers of the filters, and the sum's scale and zero
// point; empty if `other` is neither.
std::vector<Value*> addedInputs(Rewriter& rewriter, const Node& conv, Value* other, const Value* sum,
                                const QuantizedValue& to) {
  Value* zero = zeroOf(rewriter, to);
  if (const auto residual = dequantized(other)) {
    if (!sameDims(other, sum)) return {};
    return {residual->value, residual->scale, zeroOf(rewriter, *residual), to.scale, zero};
  }
  Value* addends = readers::readGroups(conv.attributes) == 1 ? asBias(rewriter, other, sum) : nullptr;
  if (!addends) return {};
  return {nullptr, nullptr, nullptr, to.scale, zero, addends};
}

// Of one quantised convolution that nobody else reads; `view`: a Reshape between both that keeps the last axis.
struct DequantizedConv {
  Node *conv = nullptr, *view = nullptr;

  explicit operator bool() const { return conv != nullptr; }
};

DequantizedConv dequantizedConv(const Value* value) {
  const auto own = dequantized(value);
  if (!own || !hasSingleUse(value)) return {};
  Node *view = producer(own->value, "Reshape"), *conv = nullptr;
  if (view && hasSingleUse(own->value) && keepsLastAxis(*view))
    conv = quantizedConvBefore(view->input(0));
  else
    conv = quantizedConvBefore(own->value), view = nullptr;
  if (!conv || conv->input(kQuantizedSum) || !isUnlimited(*conv)) return {};
  if (!sameScale(*own, {own->value, conv->input(kQuantizedScale), conv->input(kQuantizedZero)})) return {};
  return {conv, view};
}

// Numbers of the last axis for products or sums of `value` with another operand of its type.
struct ColumnNumbers {
  Value *value = nullptr, *numbers = nullptr;

  ColumnNumbers(Rewriter& rewriter, const Value* result, std::string_view op) {
    const Node* node = producer(result, op);
    for (const size_t side : {size_t{0}, size_t{1}}) {
      if (!node || value || !node->input(1 - side)->constant || !sameType(node->input(side), result)) continue;
      numbers = asBias(rewriter, node->input(1 - side), result);
      if (numbers) value = node->input(side);
    }
  }
};

// Q(clamp(D(conv) * m + a)) -> conv with numbers of the filters, of which those of `a` may be missing; a Reshape after
// the convolution comes after the whole
bool fuseQuantizedScale(Rewriter& rewriter, Node& node) {
  const auto to = quantized(node);
  const auto clamped = to ? clampedInput(node) : std::nullopt;
  if (!clamped || !hasSingleUse(clamped->value)) return false;
  const ColumnNumbers sum(rewriter, clamped->value, "Add");
  const Value* product = sum.value ? sum.value : clamped->value;
  const ColumnNumbers scaled(rewriter, product, "Mul");
  const DequantizedConv own = scaled.value && hasSingleUse(product) ? dequantizedConv(scaled.value) : DequantizedConv();
  if (!own || readers::readGroups(own.conv->attributes) != 1) return false;
  Value* addends = sum.numbers;
  if (!addends) {
    Ref<Tensor> zeros = Tensor::allocate(DType::Float32, scaled.numbers->constant->shape());
    std::fill_n(static_cast<float*>(zeros->mutableData()), zeros->count(), 0.f);
    addends = rewriter.constant(std::move(zeros));
  }
  std::vector<Value*> inputs = own.conv->inputs;
  inputs.resize(kQuantizedSum, nullptr);
  inputs.insert(inputs.end(), {to->scale, zeroOf(rewriter, *to), addends, scaled.numbers});
  Value* result = rewriter
                      .add(kMaxDomain, "QLinearConv", std::move(inputs),
                           withLimits(own.conv->attributes, clamped->low, clamped->high), {&node, own.conv})
                      ->output();
  if (own.view)
    result = rewriter.add("", "Reshape", {result, own.view->input(1)}, own.view->attributes, {own.view})->output();
  return sameType(result, node.output()) && rewriter.replace(&node, result);
}

// Q(clamp(D(conv) + D(r))) -> conv with a residual, and the same with a constant of the filters
bool fuseQuantizedSum(Rewriter& rewriter, Node& node) {
  const auto to = quantized(node);
  const auto clamped = to ? clampedInput(node) : std::nullopt;
  Node* add = clamped ? producer(clamped->value, "Add") : nullptr;
  if (!add || !hasSingleUse(clamped->value)) return false;
  for (size_t side : {1, 0}) {
    const DequantizedConv own = dequantizedConv(add->input(side));
    if (!own || own.view || !sameType(add->input(side), add->output())) continue;
    Node* conv = own.conv;
    const std::vector<Value*> added = addedInputs(rewriter, *conv, add->input(1 - side), add->output(), *to);
    if (added.empty()) continue;
    std::vector<Value*> inputs = conv->inputs;
    inputs.resize(kQuantizedResidual, nullptr);
    inputs.insert(inputs.end(), added.begin(), added.end());
    return replaceProduct(rewriter, *conv, node, std::move(inputs),
                          withLimits(conv->attributes, clamped->low, clamped->high));
  }
  return false;
}

bool hasOneElement(const Value* value) {
  return !value || (isRanked(value) && std::all_of(value->type.dims.begin(), value->type.dims.end(),
                                                   [](const Dim& dim) { return dim.is(1); }));
}

// Cast(integer product) * scale -> a product with real results. The scale may differ between the columns.
bool scaleSums(Rewriter& rewriter, Node& node, const Node* (*productOf)(const Value* sums)) {
  for (size_t side : {0, 1}) {
    Value *sums = node.input(side), *scale = node.input(1 - side);
    const Node* cast = producer(sums, "Cast");
    const Node* product = cast && hasSingleUse(sums) ? productOf(cast->input(0)) : nullptr;
    if (!product || !hasSingleUse(cast->input(0)) || !hasOneElement(product->input(2))) continue;
    if (node.output()->type.dtype != DType::Float32 || !sameType(sums, node.output())) continue;
    Value* factor = hasOneElement(scale) ? scale : asBias(rewriter, scale, node.output());
    if (!factor) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs.resize(4, nullptr);
    inputs.push_back(factor);
    Node* scaled =
        rewriter.add(kMaxDomain, product->op(), std::move(inputs), product->attributes, {cast, &node, product});
    return rewriter.replace(&node, scaled->output());
  }
  return false;
}

bool scaleIntegerProduct(Rewriter& rewriter, Node& node) {
  return scaleSums(rewriter, node, [](const Value* sums) -> const Node* { return producer(sums, "MatMulInteger"); });
}

// What its kernel finishes; not depthwise ones.
bool scaleIntegerConv(Rewriter& rewriter, Node& node) {
  return scaleSums(rewriter, node, [](const Value* sums) -> const Node* {
    const Node* conv = ownProducer(sums, "ConvInteger");
    return conv && readers::readGroups(conv->attributes) == 1 ? conv : nullptr;
  });
}

bool addToIntegerProduct(Rewriter& rewriter, Node& node) {
  constexpr size_t kFactor = 4, kAddend = 5;
  for (size_t side : {0, 1}) {
    Node* product = localProducer(node.input(side));
    if (!product || !(product->isOwn("MatMulInteger") || product->isOwn("ConvInteger"))) continue;
    if (!product->input(kFactor) || product->input(kAddend) || !hasSingleUse(node.input(side))) continue;
    if (!sameType(node.input(side), node.output())) continue;
    Value* addend = asBias(rewriter, node.input(1 - side), node.output());
    if (!addend) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs.push_back(addend);
    return replaceProduct(rewriter, *product, node, std::move(inputs), product->attributes);
  }
  return false;
}

bool fuseQuantizedClip(Rewriter& rewriter, Node& node) {
  Node* conv = quantizedConvBefore(node.input(0));
  const auto low = scalarOf(node.input(1)), high = scalarOf(node.input(2));
  if (!conv || !low || !high || !isUnlimited(*conv)) return false;
  return replaceProduct(rewriter, *conv, node, conv->inputs,
                        withLimits(conv->attributes, static_cast<int64_t>(*low), static_cast<int64_t>(*high)));
}

// LayerNormalization(X + R) over the last dimension; the sum becomes an output if it has other users.
bool fuseAddNorm(Rewriter& rewriter, Node& node) {
  Node* add = producer(node.input(0), "Add");
  if (!add || !sameType(add->input(0), add->input(1)) || !sameType(add->input(0), add->output())) return false;
  if (add->input(0)->constant || add->input(1)->constant || add->output()->type.dtype != DType::Float32) return false;
  if (!isRanked(add->output()) || rankOf(add->output()) == 0) return false;
  const readers::LayerNorm norm(node.attributes, rankOf(add->output()));
  if (norm.axis != rankOf(add->output()) - 1) return false;
  if (node.output(1) || node.output(2)) return false;
  Attributes attributes;
  attributes.set("axis", int64_t{-1});
  attributes.set("epsilon", norm.epsilon);
  std::vector<Value*> inputs{add->input(0), add->input(1)};
  inputs.insert(inputs.end(), node.inputs.begin() + 1, node.inputs.end());
  const bool sumUsed = !hasSingleUse(add->output());
  Node* fused = rewriter.add(kMaxDomain, "AddLayerNormalization", std::move(inputs), std::move(attributes),
                             {add, &node}, sumUsed ? 2 : 1);
  if (!rewriter.replace(node.output(), fused->output(0))) return false;
  return !sumUsed || rewriter.replace(add->output(), fused->output(1));
}

constexpr Rule kRules[] = {
    {"", "Add", fuseBias},
    {"", "Add", fuseResidual},
    {"", "Mul", scaleIntegerProduct},
    {"", "Add", addToIntegerProduct},
    {"", "Relu", fuseActivation},
    {"", "Sigmoid", fuseActivation},
    {"", "Tanh", fuseActivation},
    {"", "HardSwish", fuseActivation},
    {"", "LeakyRelu", fuseActivation},
    {"", "HardSigmoid", fuseActivation},
    {"", "Gelu", fuseActivation},
    {"", "Swish", fuseActivation},
    {"", "Clip", fuseActivation},
    {"", "Clip", fuseQuantizedClip},
    {"", "QuantizeLinear", fuseQuantizedSum},
    {"", "QuantizeLinear", fuseQuantizedScale},
    {"", "LayerNormalization", fuseAddNorm},
};

// Q(Softmax(D(x))) along the last axis
bool quantizeSoftmax(Rewriter& rewriter, Node& node) {
  const auto to = quantized(node);
  const Node* softmax = to ? producer(node.input(0), "Softmax") : nullptr;
  const auto from = softmax && hasSingleUse(node.input(0)) ? dequantized(softmax->input(0)) : std::nullopt;
  if (!from || !isRanked(from->value) || rankOf(from->value) == 0) return false;
  const int rank = rankOf(from->value);
  if (readers::readAxis(softmax->attributes, -1, rank) != rank - 1) return false;
  Node* bytes = rewriter.add(kMaxDomain, "QLinearSoftmax",
                             {from->value, from->scale, zeroOf(rewriter, *from), to->scale, zeroOf(rewriter, *to)}, {},
                             {softmax, &node});
  return sameType(bytes->output(), node.output()) && rewriter.replace(&node, bytes->output());
}

constexpr Rule kHostRules[] = {
    {"", "Mul", scaleIntegerConv}, {"", "Add", addToIntegerProduct}, {"", "QuantizeLinear", quantizeSoftmax}};

}  // namespace

bool canFuseActivation(const Node& node) { return activationOf(node).has_value(); }

void fuseEpilogues(Rewriter& rewriter) { applyRules(rewriter, kRules); }

void scaleConvolutions(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) applyRules(rewriter, kHostRules);
}

}  // namespace max
