// SPDX-License-Identifier: Apache-2.0
// Canonical form of reductions: kept dimensions followed by a Squeeze (a view, which can merge with others), means as
// ReduceMean, global pools as reductions.
#include "graph/readers/reduction.h"

#include <cmath>
#include <numeric>

#include "compiler/passes.h"
#include "compiler/passes/rules.h"

namespace max {

namespace {

// The number of elements reduced to each result, if known and not 0.
std::optional<int64_t> reducedCount(const Node& reduce) {
  const auto axes = reducedAxes(reduce);
  if (!axes || axes->empty()) return std::nullopt;
  Dim count = 1;
  for (int64_t axis : *axes) count = count * reduce.input(0)->type.dims[static_cast<size_t>(axis)];
  if (!count.isKnown() || count.value() == 0) return std::nullopt;
  return count.value();
}

bool keepDimensions(Rewriter& rewriter, Node& node) {
  if (!isReduce(node) || readers::keepsAxes(node.attributes)) return false;
  const auto axes = reducedAxes(node);
  if (!axes) return false;
  if (axes->empty()) return false;
  Attributes attributes = node.attributes;
  attributes.erase("keepdims");
  Value* axesValue = rewriter.constant(*axes);
  Node* kept = rewriter.add("", node.op(), {node.input(0), axesValue}, std::move(attributes), {&node});
  return rewriter.replace(&node, rewriter.add("", "Squeeze", {kept->output(), axesValue}, {}, {&node})->output());
}

// Reducing dimensions of size 1 has no effect.
bool dropReduce(Rewriter& rewriter, Node& node) {
  const auto axes = reducedAxes(node);
  if (!axes || !sameType(node.input(0), node.output())) return false;
  for (int64_t axis : *axes)
    if (!node.input(0)->type.dims[static_cast<size_t>(axis)].is(1)) return false;
  return rewriter.replace(&node, node.input(0));
}

// x if `value` is x * x without other uses.
Value* squared(const Value* value) {
  const Node* mul = producer(value, "Mul");
  return mul && mul->input(0) == mul->input(1) && hasSingleUse(value) ? mul->input(0) : nullptr;
}

// The same for a view of a square: the view of x.
Value* squaredBelowView(Rewriter& rewriter, const Value* value) {
  if (Value* x = squared(value)) return x;
  const Node* view = localProducer(value);
  if (!view || !hasTrait(*view, kTraitView) || !hasSingleUse(value)) return nullptr;
  Value* x = squared(view->input(0));
  if (!x) return nullptr;
  std::vector<Value*> inputs = view->inputs;
  inputs[0] = x;
  return rewriter.add("", view->op(), std::move(inputs), view->attributes, {view})->output();
}

// The mean of x * x reads x once.
bool meanOfSquares(Rewriter& rewriter, Node& node) {
  const DType dtype = node.output()->type.dtype;
  const auto count = reducedCount(node);
  if (!count || (dtype != DType::Float32 && dtype != DType::Float64)) return false;
  Value* x = squaredBelowView(rewriter, node.input(0));
  if (!x) return false;
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = x;
  Value* sum = rewriter.add("", "ReduceSumSquare", inputs, node.attributes, {&node})->output();
  Value* factor = rewriter.scalar(dtype, 1 / static_cast<double>(*count));
  return rewriter.replace(&node, rewriter.add("", "Mul", {sum, factor}, {}, {&node})->output());
}

// The same view of another value. A Reshape contains its target sizes, so it is rebuilt.
Value* viewLike(Rewriter& rewriter, const Node& view, Value* value, const SymbolicShape& dims) {
  if (!view.is("Squeeze") && !view.is("Unsqueeze")) return rewriter.reshape(value, dims, &view);
  return rewriter.add("", view.op(), {value, view.input(1)}, view.attributes, {&view})->output();
}

// reduce(view(x)) -> view(reduce(x)), where the view only adds or drops dimensions of size 1.
bool sinkUnitView(Rewriter& rewriter, Node& node) {
  Node* view = localProducer(node.input(0));
  if (!view || !hasTrait(*view, kTraitView) || view->is("Identity")) return false;
  const auto axes = reducedAxes(node);
  if (!axes || axes->empty() || !readers::keepsAxes(node.attributes) || !isRanked(view->input(0))) return false;
  const std::vector<int64_t> mapping = unitViewAxes(view->input(0)->type.dims, view->output()->type.dims);
  if (mapping.empty()) return false;
  std::vector<int64_t> mapped;
  for (int64_t axis : *axes) {
    const int64_t source = mapping[static_cast<size_t>(axis)];
    if (source < 0) return false;
    mapped.push_back(source);
  }
  Node* reduced = rewriter.add("", node.op(), {view->input(0), rewriter.constant(mapped)}, node.attributes, {&node});
  Value* result = viewLike(rewriter, *view, reduced->output(), node.output()->type.dims);
  return result && sameType(result, node.output()) && rewriter.replace(&node, result);
}

// ReduceSum(x) * (1 / count) -> ReduceMean(x)
bool meanFromSum(Rewriter& rewriter, Node& node) {
  const ScalarOperand operand = scalarOperand(&node);
  Node* sum = operand && !(operand.left && node.is("Div")) ? producer(operand.value, "ReduceSum") : nullptr;
  if (!sum || !isFloat(node.output()->type.dtype) || !sameType(operand.value, node.output())) return false;
  const auto count = reducedCount(*sum);
  if (!count) return false;
  const double scale = node.is("Div") ? 1 / operand.scalar : operand.scalar;
  if (std::fabs(scale * static_cast<double>(*count) - 1) > 1e-6) return false;
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
    {"", "ReduceSum", dropReduce},
    {"", "ReduceMean", dropReduce},
    {"", "ReduceMax", dropReduce},
    {"", "ReduceMin", dropReduce},
    {"", "ReduceProd", dropReduce},
    {"", "ReduceSum", sinkUnitView},
    {"", "ReduceMean", sinkUnitView},
    {"", "ReduceMax", sinkUnitView},
    {"", "ReduceMin", sinkUnitView},
    {"", "ReduceSumSquare", sinkUnitView},
    {"", "Mul", meanFromSum},
    {"", "Div", meanFromSum},
    {"", "GlobalAveragePool", reduceFromGlobalPool},
    {"", "GlobalMaxPool", reduceFromGlobalPool},
};

constexpr Rule kLateRules[] = {{"", "ReduceMean", meanOfSquares}};

}  // namespace

void joinSquares(Rewriter& rewriter) { applyRules(rewriter, kLateRules); }

std::span<const Rule> reductionRules() { return kRules; }

}  // namespace max
