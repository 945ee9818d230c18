// SPDX-License-Identifier: Apache-2.0
// Activations that exporters write out become one operator: Gelu (erf and tanh
// forms), Swish, HardSwish, Softmax.
#include <array>
#include <cmath>
#include <initializer_list>

#include "compiler/passes.h"
#include "graph/readers/elementwise.h"
#include "graph/readers/reduction.h"

namespace max {

namespace {

// The factors of a product of up to four values, without regard to order (a cube is three); scalars are multiplied
// together.
struct Product {
  std::array<Value*, 4> factors{};
  size_t count = 0;
  double scalar = 1;
};

// `depth` limits how many Mul nodes below `value` are expanded; only values without other uses are.
bool collectFactors(Value* value, int depth, Product& product, bool mayOpen) {
  if (const auto scalar = scalarOf(value)) {
    product.scalar *= *scalar;
    return true;
  }
  Node* mul = producer(value, "Mul");
  Node* div = producer(value, "Div");
  const bool open = depth > 0 && (mayOpen || hasSingleUse(value));
  if (mul && open)
    return collectFactors(mul->input(0), depth - 1, product, false) &&
           collectFactors(mul->input(1), depth - 1, product, false);
  const auto divisor = div && open ? scalarOf(div->input(1)) : std::nullopt;
  if (divisor) {
    product.scalar /= *divisor;
    return collectFactors(div->input(0), depth - 1, product, false);
  }
  Node* pow = producer(value, "Pow");
  const bool cube = pow && open && isScalar(pow->input(1), 3);
  for (int i = 0; i < (cube ? 3 : 1); ++i) {
    if (product.count == product.factors.size()) return false;
    product.factors[product.count++] = cube ? pow->input(0) : value;
  }
  return true;
}

Product factorsOf(Value* value, int depth) {
  Product product;
  if (!collectFactors(value, depth, product, true)) product.count = 0;
  return product;
}

bool isClose(double a, double b) { return std::fabs(a - b) <= 1e-3 * std::fabs(b); }

// x if `value` is x * scalar (or x itself, for 1).
Value* scaled(Value* value, double scalar) {
  const Product product = factorsOf(value, 3);
  return product.count == 1 && isClose(product.scalar, scalar) ? product.factors[0] : nullptr;
}

// x if `value` is sqrt(2 / pi) * (x + 0.044715 * x^3), in one of its spellings.
Value* geluTanhArgument(Value* value) {
  constexpr double kRootTwoOverPi = 0.7978845608028654;
  constexpr double kCubic = 0.044715;
  const Product outer = factorsOf(value, 3);
  if (!isClose(outer.scalar, kRootTwoOverPi)) return nullptr;
  const auto matchSum = [](Value* sum, Value* x) {
    Node* add = producer(sum, "Add");
    if (!add) return false;
    for (size_t side : {0, 1}) {
      if (add->input(side) != x) continue;
      const Product cube = factorsOf(add->input(1 - side), 4);
      if (cube.count == 3 && cube.factors[0] == x && cube.factors[1] == x && cube.factors[2] == x &&
          isClose(cube.scalar, kCubic))
        return true;
    }
    return false;
  };
  if (outer.count == 1)
    if (Node* add = producer(outer.factors[0], "Add"))
      for (Value* x : add->inputs)
        if (matchSum(outer.factors[0], x)) return x;
  // sqrt(2 / pi) * x * (1 + 0.044715 * x * x)
  if (outer.count != 2) return nullptr;
  for (size_t side : {0, 1}) {
    Value* x = outer.factors[side];
    const ScalarOperand one = scalarOperand(producer(outer.factors[1 - side], "Add"));
    if (!one || one.scalar != 1) continue;
    const Product square = factorsOf(one.value, 4);
    if (square.count == 2 && square.factors[0] == x && square.factors[1] == x && isClose(square.scalar, kCubic))
      return x;
  }
  return nullptr;
}

// x and the kind if `value` is 1 + erf(x / sqrt(2)) or 1 + tanh(...).
struct GeluInner {
  Value* x = nullptr;
  bool tanh = false;
};

GeluInner matchOnePlus(Value* value) {
  const ScalarOperand one = scalarOperand(producer(value, "Add"));
  if (!one || one.scalar != 1) return {};
  if (Node* erf = producer(one.value, "Erf")) return {scaled(erf->input(0), 0.7071067811865476), false};
  if (Node* tanh = producer(one.value, "Tanh")) return {geluTanhArgument(tanh->input(0)), true};
  return {};
}

// 0.5 * x * (1 + erf(x / sqrt(2))) in any order of the factors
bool geluFromErf(Rewriter& rewriter, Node& node) {
  const Product product = factorsOf(node.output(), 4);
  if (product.count != 2 || !isClose(product.scalar, 0.5)) return false;
  for (size_t side : {0, 1}) {
    const GeluInner inner = matchOnePlus(product.factors[side]);
    Value* x = product.factors[1 - side];
    if (!inner.x || inner.x != x || !sameType(x, node.output())) continue;
    Attributes attributes;
    attributes.set("approximate", std::string(inner.tanh ? "tanh" : "none"));
    return rewriter.replace(&node, rewriter.add("", "Gelu", {x}, std::move(attributes), {&node})->output());
  }
  return false;
}

// x * sigmoid(x), x * sigmoid(alpha * x), x * hardsigmoid(x)
bool swishFromSigmoid(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Value* x = node.input(side);
    Value* gate = node.input(1 - side);
    if (!sameType(x, node.output()) || !sameType(x, gate)) continue;
    Attributes attributes;
    if (Node* sigmoid = producer(gate, "Sigmoid")) {
      if (sigmoid->input(0) != x) {
        const ScalarOperand scale = scalarOperand(producer(sigmoid->input(0), "Mul"));
        if (!scale || scale.value != x) continue;
        attributes.set("alpha", static_cast<float>(scale.scalar));
      }
      return rewriter.replace(&node, rewriter.add("", "Swish", {x}, std::move(attributes), {&node})->output());
    }
    Node* hard = producer(gate, "HardSigmoid");
    if (!hard || hard->input(0) != x) continue;
    const readers::Parameters parameters(*hard);
    if (!isClose(parameters.alpha, 1.0 / 6) || parameters.beta != 0.5f) continue;
    return rewriter.replace(&node, rewriter.add("", "HardSwish", {x}, {}, {&node})->output());
  }
  return false;
}

bool isClipTo(const Node* clip, double low, double high) {
  return clip && isScalar(clip->input(1), low) && isScalar(clip->input(2), high);
}

// clip(x + 3, 0, 6) / 6 -> hardsigmoid(x)
bool hardSigmoidFromClip(Rewriter& rewriter, Node& node) {
  const ScalarOperand scale = scalarOperand(&node);
  if (!scale || scale.left || !isClose(node.is("Div") ? 1 / scale.scalar : scale.scalar, 1.0 / 6)) return false;
  Node* clip = producer(scale.value, "Clip");
  const ScalarOperand shift = clip ? scalarOperand(producer(clip->input(0), "Add")) : ScalarOperand();
  if (!shift || shift.scalar != 3 || !isClipTo(clip, 0, 6) || !sameType(shift.value, node.output())) return false;
  Attributes attributes;
  attributes.set("alpha", 1.0f / 6);
  attributes.set("beta", 0.5f);
  return rewriter.replace(&node,
                          rewriter.add("", "HardSigmoid", {shift.value}, std::move(attributes), {&node})->output());
}

// x * clip(x + 3, 0, 6) * (1 / 6) with the scale last
bool hardSwishFromClip(Rewriter& rewriter, Node& node) {
  const Product product = factorsOf(node.output(), 3);
  if (product.count != 2 || !isClose(product.scalar, 1.0 / 6)) return false;
  for (size_t side : {0, 1}) {
    Value* x = product.factors[side];
    Node* clip = producer(product.factors[1 - side], "Clip");
    const ScalarOperand shift = clip ? scalarOperand(producer(clip->input(0), "Add")) : ScalarOperand();
    if (!shift || shift.value != x || shift.scalar != 3 || !isClipTo(clip, 0, 6) || !sameType(x, node.output()))
      continue;
    return rewriter.replace(&node, rewriter.add("", "HardSwish", {x}, {}, {&node})->output());
  }
  return false;
}

std::optional<int64_t> singleAxis(const Node* reduce) {
  if (!reduce || !readers::keepsAxes(reduce->attributes)) return std::nullopt;
  const auto axes = reducedAxes(*reduce);
  if (!axes || axes->size() != 1) return std::nullopt;
  return axes->front();
}

// exp(x - max(x)) / sum(exp(x - max(x))) over one axis
bool softmaxFromExp(Rewriter& rewriter, Node& node) {
  Node* exp = producer(node.input(0), "Exp");
  Node* sum = producer(node.input(1), "ReduceSum");
  Node* sub = exp ? producer(exp->input(0), "Sub") : nullptr;
  Node* maximum = sub ? producer(sub->input(1), "ReduceMax") : nullptr;
  if (!sum || !maximum || sum->input(0) != exp->output() || maximum->input(0) != sub->input(0)) return false;
  const auto axis = singleAxis(sum);
  if (!axis || singleAxis(maximum) != axis || !sameType(sub->input(0), node.output())) return false;
  Attributes attributes;
  attributes.set("axis", *axis);
  return rewriter.replace(&node,
                          rewriter.add("", "Softmax", {sub->input(0)}, std::move(attributes), {&node})->output());
}

constexpr Rule kRules[] = {
    {"", "Mul", geluFromErf},         {"", "Div", geluFromErf},         {"", "Mul", swishFromSigmoid},
    {"", "Div", hardSigmoidFromClip}, {"", "Mul", hardSigmoidFromClip}, {"", "Mul", hardSwishFromClip},
    {"", "Div", hardSwishFromClip},   {"", "Div", softmaxFromExp},
};

}  // namespace

void recogniseActivations(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
