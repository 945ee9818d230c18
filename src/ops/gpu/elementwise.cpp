// SPDX-License-Identifier: Apache-2.0
// Elementwise operators and fused chains of them.
#include <algorithm>

#include "base/error.h"
#include "graph/schema.h"
#include "ops/cpu/elementwise/lower.h"
#include "ops/cpu/elementwise/table.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/launch.h"

namespace max {

namespace {

// The kernel's first parameter.
struct ElementwiseLayout {
  int64_t count = 1;
  int64_t rank = 1;
  int64_t dims[kMaxRank] = {};
  int64_t strides[kMaxGpuInputs][kMaxRank] = {};
};

// Of an input that broadcasts to the output, by the output's axes; 0 where it repeats.
Shape stridesOf(const Shape& input, const Shape& output) {
  Shape strides;
  for (int i = 0; i < output.rank(); ++i) strides.push(0);
  int64_t stride = 1;
  for (int i = input.rank() - 1, at = output.rank() - 1; i >= 0; stride *= input[i--], --at)
    if (input[i] != 1) strides[at] = stride;
  return strides;
}

class LayoutMaker {
 public:
  explicit LayoutMaker(const OpRequest& request) : output_(request.outputs[0].shape) {
    for (const Operand& input : request.inputs) strides_.push_back(stridesOf(input.shape, output_));
  }

  // Axes that all inputs go through as one become one.
  ElementwiseLayout run() {
    layout_.count = output_.count();
    layout_.dims[0] = 1;
    bool isFirst = true;
    for (int axis = 0; axis < output_.rank(); ++axis) {
      if (output_[axis] == 1) continue;
      if (!isFirst && !joins(axis)) ++layout_.rank;
      const bool extends = !isFirst && at_ == layout_.rank - 1;
      at_ = layout_.rank - 1;
      layout_.dims[at_] = (extends ? layout_.dims[at_] : 1) * output_[axis];
      for (size_t k = 0; k < strides_.size(); ++k) layout_.strides[k][at_] = strides_[k][axis];
      isFirst = false;
    }
    return layout_;
  }

 private:
  bool joins(int axis) const {
    for (size_t k = 0; k < strides_.size(); ++k)
      if (layout_.strides[k][at_] != strides_[k][axis] * output_[axis]) return false;
    return true;
  }

  const Shape& output_;
  std::vector<Shape> strides_;
  ElementwiseLayout layout_;
  int64_t at_ = 0;
};

class PlacedElementwise final : public Placed {
 public:
  PlacedElementwise(std::string source, Ref<ElementwiseProgram> program, std::vector<size_t> inputs)
      : Placed(std::move(source), "gpu_elementwise"),
        values_(elementwiseValues(*program)),
        inputs_(std::move(inputs)) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    std::vector<Operand> used;
    for (const size_t input : inputs_) used.push_back(request.inputs[input]);
    const OpRequest own{request.node, used, request.outputs, request.lanes, request.settings};
    auto op = std::make_unique<LaunchOp>(*this);
    op->addFirst(LayoutMaker(own).run());
    for (const size_t input : inputs_) op->addInput(input);
    op->addOutput(0);
    for (const uint64_t value : values_) op->addValue(value);
    op->coverElements(request.outputs[0].shape.count());
    return op;
  }

 private:
  std::vector<uint64_t> values_;
  std::vector<size_t> inputs_;  // those that the node has, by their number
};

// An expression of the one operator.
Ref<Expression> expressionOf(const Node& node) {
  using Operand = Expression::Operand;
  auto expression = makeRef<Expression>();
  std::vector<Operand> operands;
  for (const Value* input : node.inputs) {
    if (input) expression->inputs.push_back(input->type.dtype);
    operands.push_back(input ? Operand{Operand::Input, static_cast<uint16_t>(expression->inputs.size() - 1)}
                             : Operand{});
  }
  expression->steps.push_back({node.schema, node.attributes, std::move(operands)});
  return expression;
}

Ref<Placed> placeExpression(const Node& node, const Expression& expression) {
  Ref<ElementwiseProgram> program = lowerElementwise(expression);
  if (!program || node.outputs.size() != 1 || program->outputs[0] != node.output()->type.dtype) return nullptr;
  std::optional<std::string> source = elementwiseSource(*program);
  if (!source) return nullptr;
  std::vector<size_t> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i]) inputs.push_back(i);
  return makeRef<PlacedElementwise>(std::move(*source), std::move(program), std::move(inputs));
}

Ref<Placed> placeOperator(const Node& node) {
  return canFuseElementwise(node) ? placeExpression(node, *expressionOf(node)) : nullptr;
}

Ref<Placed> placeFused(const Node& node) { return node.expression ? placeExpression(node, *node.expression) : nullptr; }

std::vector<PlaceRow> makeRows() {
  std::vector<PlaceRow> rows{{kMaxDomain, "Elementwise", placeFused}};
  for (const ElementwiseRow& row : elementwiseRows()) rows.push_back({"", row.name, placeOperator});
  return rows;
}

}  // namespace

std::span<const PlaceRow> gpuElementwise() {
  static const std::vector<PlaceRow> rows = makeRows();
  return rows;
}

}  // namespace max
