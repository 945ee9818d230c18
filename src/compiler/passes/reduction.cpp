// SPDX-License-Identifier: Apache-2.0
// Reductions in one form: kept dimensions followed by a Squeeze (a view, which
// then meets others), means as ReduceMean, global pools as reductions.
#include <cmath>
#include <numeric>

#include "compiler/passes/rules.h"

namespace max {

namespace {

bool keepDimensions(Rewriter& rewriter, Node& node) {
  if (!isReduce(node) || node.attributes.getInt("keepdims", 1) == 1) return false;
  const auto axes = reducedAxes(node);
  if (!axes) return false;
  if (axes->empty()) return false;
  Attributes attributes = node.attributes;
  attributes.erase("keepdims");
  Value* axesValue = rewriter.constant(*axes);
  Node* kept = rewriter.add("", node.op(), {node.input(0), axesValue}, std::move(attributes), {&node});
  return rewriter.replace(&node, rewriter.add("", "Squeeze", {kept->output(), axesValue}, {}, {&node})->output());
}

// ReduceSum(x) * (1 / count) -> ReduceMean(x)
bool meanFromSum(Rewriter& rewriter, Node& node) {
  const ScalarOperand operand = scalarOperand(&node);
  Node* sum = operand && !(operand.left && node.is("Div")) ? producer(operand.value, "ReduceSum") : nullptr;
  if (!sum || !isFloat(node.output()->type.dtype) || !sameType(operand.value, node.output())) return false;
  const auto axes = reducedAxes(*sum);
  if (!axes || axes->empty()) return false;
  Dim count = 1;
  for (int64_t axis : *axes) count = count * sum->input(0)->type.dims[static_cast<size_t>(axis)];
  if (!count.isKnown() || count.value() == 0) return false;
  const double scale = node.is("Div") ? 1 / operand.scalar : operand.scalar;
  if (std::fabs(scale * static_cast<double>(count.value()) - 1) > 1e-6) return false;
  return rewriter.replace(&node, rewriter.add("", "ReduceMean", sum->inputs, sum->attributes, {sum, &node})->output());
}

// Over every axis from the third.
bool reduceFromGlobalPool(Rewriter& rewriter, Node& node) {
  if (!isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  std::vector<int64_t> axes(static_cast<size_t>(rankOf(node.input(0)) - 2));
  std::iota(axes.begin(), axes.end(), 2);
  const std::string_view op = node.is("GlobalMaxPool") ? "ReduceMax" : "ReduceMean";
  return rewriter.replace(&node, rewriter.add("", op, {node.input(0), rewriter.constant(axes)}, {}, {&node})->output());
}

constexpr Rule kRules[] = {
    {"", "ReduceSum", keepDimensions},
    {"", "ReduceMean", keepDimensions},
    {"", "ReduceMax", keepDimensions},
    {"", "ReduceMin", keepDimensions},
    {"", "ReduceProd", keepDimensions},
    {"", "ReduceSumSquare", keepDimensions},
    {"", "ReduceL1", keepDimensions},
    {"", "ReduceL2", keepDimensions},
    {"", "ReduceLogSum", keepDimensions},
    {"", "ReduceLogSumExp", keepDimensions},
    {"", "Mul", meanFromSum},
    {"", "Div", meanFromSum},
    {"", "GlobalAveragePool", reduceFromGlobalPool},
    {"", "GlobalMaxPool", reduceFromGlobalPool},
};

}  // namespace

std::span<const Rule> reductionRules() { return kRules; }

}  // namespace max
