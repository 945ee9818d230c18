// SPDX-License-Identifier: Apache-2.0
// Simplifies arithmetic: neutral elements, powers, casts, consecutive scales.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/passes/quantized.h"
#include "compiler/passes/rules.h"

namespace max {

namespace {

// The scalar that leaves the other operand unchanged; `leftToo`: on either side.
struct Neutral {
  std::string_view op;
  double scalar;
  bool leftToo;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Neutral kNeutral[] = {
    {"Add", 0, true},  {"Sub", 0, false},         {"Mul", 1, true},         {"Div", 1, false},
    {"Pow", 1, false}, {"Max", -kInfinity, true}, {"Min", kInfinity, true},
};

bool isNeutral(const Node& node, double scalar, bool isLeft) {
  return std::any_of(std::begin(kNeutral), std::end(kNeutral), [&](const Neutral& row) {
    return row.op == node.op() && row.scalar == scalar && (row.leftToo || !isLeft);
  });
}

bool dropNeutral(Rewriter& rewriter, Node& node) {
  const ScalarOperand operand = scalarOperand(&node);
  return operand && sameType(operand.value, node.output()) && isNeutral(node, operand.scalar, operand.left) &&
         rewriter.replace(&node, operand.value);
}

// A constant that is neutral in each element.
bool dropNeutralTensor(Rewriter& rewriter, Node& node) {
  for (const size_t side : {size_t{1}, size_t{0}}) {
    const Value *constant = node.input(side), *rest = node.input(1 - side);
    if (!constant || !constant->constant || !sameType(rest, node.output())) continue;
    const Tensor& tensor = *constant->constant;
    if (tensor.count() > 1 && isNeutral(node, elementOf(tensor, 0), side == 0) && isUniform(rewriter, tensor))
      return rewriter.replace(&node, node.input(1 - side));
  }
  return false;
}

bool isZero(Rewriter& rewriter, const Value* value) {
  if (!value || !value->constant || value->constant->count() == 0 || elementOf(*value->constant, 0) != 0) return false;
  return value->constant->count() == 1 || isUniform(rewriter, *value->constant);
}

// What bytes mean is finite: times zeros it is zeros, whose sign QuantizeLinear does not see. Branches of networks that
// begin training with a factor of zero vanish so.
bool makeZeros(Rewriter& rewriter, Node& node) {
  constexpr double kMostScale = 1e30;  // a byte times it is finite
  const Node* user = singleUser(node.output());
  const auto shape = isRanked(node.output()) ? concrete(node.output()->type.dims) : std::nullopt;
  if (!user || !user->is("QuantizeLinear") || user->input(0) != node.output() || !shape ||
      node.output()->type.dtype != DType::Float32)
    return false;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const auto bytes = dequantized(node.input(side));
    if (!bytes || bytes->scaleNumber() > kMostScale || !isZero(rewriter, node.input(1 - side))) continue;
    const auto size = static_cast<size_t>(shape->count()) * sizeof(float);
    if (!rewriter.options().budget->tryTakeFolded(size)) return false;
    return rewriter.replace(&node, rewriter.constant(Tensor::allocate(DType::Float32, *shape, true)));
  }
  return false;
}

bool simplifyPow(Rewriter& rewriter, Node& node) {
  const ScalarOperand operand = scalarOperand(&node);
  if (!operand || operand.left || !sameType(operand.value, node.output())) return false;
  Value* x = operand.value;
  if (operand.scalar == 2) return rewriter.replace(&node, rewriter.add("", "Mul", {x, x}, {}, {&node})->output());
  if (!isFloat(x->type.dtype)) return false;
  if (operand.scalar == 0.5) return rewriter.replace(&node, rewriter.add("", "Sqrt", {x}, {}, {&node})->output());
  if (operand.scalar != -0.5) return false;
  Value* root = rewriter.add("", "Sqrt", {x}, {}, {&node})->output();
  return rewriter.replace(&node, rewriter.add("", "Reciprocal", {root}, {}, {&node})->output());
}

// Whether `wide` can represent every value of `narrow`.
bool holds(DType wide, DType narrow) {
  if (wide == narrow || narrow == DType::Bool) return true;
  if (isInteger(wide) && isInteger(narrow))
    return isSigned(wide) == isSigned(narrow) ? bitsOf(wide) >= bitsOf(narrow)
                                              : isSigned(wide) && bitsOf(wide) > bitsOf(narrow);
  if (wide == DType::Float64) return narrow == DType::Float32 || narrow == DType::Float16 || narrow == DType::BFloat16;
  return wide == DType::Float32 && (narrow == DType::Float16 || narrow == DType::BFloat16);
}

bool dropCast(Rewriter& rewriter, Node& node) {
  return node.input(0)->type.dtype == node.output()->type.dtype && rewriter.replace(&node, node.input(0));
}

bool joinCasts(Rewriter& rewriter, Node& node) {
  Node* first = producer(node.input(0), "Cast");
  if (!first) return false;
  const DType source = first->input(0)->type.dtype;
  if (source == DType::Invalid || !holds(first->output()->type.dtype, source)) return false;
  return rewriter.replace(&node, rewriter.add("", "Cast", {first->input(0)}, node.attributes, {&node})->output());
}

// x / c -> x * (1 / c), (x * a) * b -> x * (a * b): for floating point, within rounding.
std::optional<double> factorOf(const Node& node, const ScalarOperand& operand) {
  if (!operand || !std::isfinite(operand.scalar)) return std::nullopt;
  if (node.is("Mul")) return operand.scalar;
  if (node.is("Div") && !operand.left && std::isnormal(1 / operand.scalar)) return 1 / operand.scalar;
  return std::nullopt;
}

bool joinFactors(Rewriter& rewriter, Node& node) {
  const DType dtype = node.output()->type.dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return false;
  const ScalarOperand outer = scalarOperand(&node);
  const auto factor = factorOf(node, outer);
  if (!factor || !sameDims(outer.value, node.output())) return false;
  Value* x = outer.value;
  double product = *factor;
  Node* first = localProducer(x);
  const ScalarOperand inner = first && (first->is("Mul") || first->is("Div")) ? scalarOperand(first) : ScalarOperand();
  const auto innerFactor = first ? factorOf(*first, inner) : std::nullopt;
  if (innerFactor && std::isnormal(product * *innerFactor) && sameDims(inner.value, x)) {
    x = inner.value;
    product *= *innerFactor;
  } else if (node.is("Mul")) {
    return false;
  }
  if (dtype == DType::Float32 && !std::isnormal(static_cast<float>(product))) return false;
  return rewriter.replace(&node, rewriter.add("", "Mul", {x, rewriter.scalar(dtype, product)}, {}, {&node})->output());
}

// x * (r * c) -> (x * r) * c, where r broadcasts and c is constant: the form that the norm pass recognises.
bool reassociate(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Value* x = node.input(1 - side);
    Node* inner = producer(node.input(side), "Mul");
    if (!inner || !hasSingleUse(inner->output()) || !sameType(x, node.output()) || x->constant) continue;
    const size_t constant = inner->input(0)->constant ? 0 : 1;
    Value* c = inner->input(constant);
    Value* r = inner->input(1 - constant);
    if (!c->constant || c->constant->count() == 1 || r->constant || !sameRank(r, x) || sameDims(r, x)) continue;
    Value* product = rewriter.add("", "Mul", {x, r}, {}, {inner})->output();
    Value* result = rewriter.add("", "Mul", {product, c}, {}, {&node})->output();
    if (sameType(result, node.output())) return rewriter.replace(&node, result);
  }
  return false;
}

bool reluFromMax(Rewriter& rewriter, Node& node) {
  const ScalarOperand operand = scalarOperand(&node);
  if (!operand || operand.scalar != 0 || !sameType(operand.value, node.output())) return false;
  if (!isFloat(node.output()->type.dtype)) return false;
  return rewriter.replace(&node, rewriter.add("", "Relu", {operand.value}, {}, {&node})->output());
}

// Of float elements, none of which is below zero. `left`: how many more values may be looked at.
bool isNonNegative(const Value* value, int& left) {
  const Node* node = localProducer(value);
  if (!node || --left < 0) return false;
  constexpr std::string_view kResults[] = {"Relu", "Sigmoid", "Abs", "Sqrt", "Exp", "Softmax"};
  if (std::any_of(std::begin(kResults), std::end(kResults), [&](std::string_view op) { return node->is(op); }))
    return true;
  const bool isPair = node->is("Add") || node->is("Mul");
  return isPair && isNonNegative(node->input(0), left) && isNonNegative(node->input(1), left);
}

// Of what is not negative: the sum of a block, after its own Relu, and of what another one has left.
bool dropRelu(Rewriter& rewriter, Node& node) {
  int left = 64;
  return isFloat(node.output()->type.dtype) && isNonNegative(node.input(0), left) &&
         rewriter.replace(&node, node.input(0));
}

constexpr Rule kRules[] = {
    {"", "Add", dropNeutral},       {"", "Sub", dropNeutral},       {"", "Mul", dropNeutral},
    {"", "Div", dropNeutral},       {"", "Pow", dropNeutral},       {"", "Max", dropNeutral},
    {"", "Min", dropNeutral},       {"", "Pow", simplifyPow},       {"", "Cast", dropCast},
    {"", "Cast", joinCasts},        {"", "Mul", joinFactors},       {"", "Div", joinFactors},
    {"", "Max", reluFromMax},       {"", "Mul", reassociate},       {"", "Mul", makeZeros},
    {"", "Add", dropNeutralTensor}, {"", "Sub", dropNeutralTensor}, {"", "Mul", dropNeutralTensor},
    {"", "Div", dropNeutralTensor}, {"", "Relu", dropRelu},
};

}  // namespace

bool isUniform(Rewriter& rewriter, const Tensor& tensor) {
  const auto* bytes = static_cast<const std::byte*>(tensor.data());
  const size_t size = sizeOf(tensor.dtype()), all = tensor.bytes();
  const auto areEqual = [&](size_t count) { return std::memcmp(bytes, bytes + size, count) == 0; };
  if (size == 0 || all <= size || !areEqual(size)) return false;
  return rewriter.options().budget->load.tryTakeWork(all) && areEqual(all - size);
}

std::span<const Rule> arithmeticRules() { return kRules; }

}  // namespace max
