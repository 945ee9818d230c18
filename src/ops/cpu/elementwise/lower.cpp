// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/elementwise/lower.h"

#include "graph/schema.h"
#include "ops/cpu/elementwise/table.h"

namespace max {

namespace {

using Id = ElementwiseBuilder::Id;

class Lowering {
 public:
  explicit Lowering(const Expression& expression) : expression_(expression) {
    for (const DType dtype : expression.inputs) inputs_.push_back(builder_.input(dtype));
    for (const Ref<const Tensor>& constant : expression.constants) constants_.push_back(builder_.constant(*constant));
  }

  Ref<ElementwiseProgram> run(DType stored) {
    for (const Expression::Step& step : expression_.steps) {
      std::vector<Id> operands;
      for (const Expression::Operand operand : step.operands) operands.push_back(idOf(operand));
      steps_.push_back(builder_.append(*step.schema, step.attributes, operands));
    }
    addElementwiseOutput(builder_, steps_.back(), stored);
    return builder_.instructionCount() <= kMaxElementwiseInstructions ? builder_.finish() : nullptr;
  }

 private:
  Id idOf(Expression::Operand operand) const {
    switch (operand.kind) {
      case Expression::Operand::Input:
        return inputs_.at(operand.index);
      case Expression::Operand::Constant:
        return constants_.at(operand.index);
      case Expression::Operand::Step:
        return steps_.at(operand.index);
      case Expression::Operand::Omitted:
        break;
    }
    return Id::Omitted;
  }

  const Expression& expression_;
  ElementwiseBuilder builder_;
  std::vector<Id> inputs_, constants_, steps_;
};

}  // namespace

bool canFuseElementwise(const Node& node) {
  if (node.outputs.size() > 1 || node.inputs.size() > kMaxElementwiseInputs) return false;
  if (!findElementwiseRow(*node.schema)) return false;
  try {
    ElementwiseBuilder builder;
    std::vector<Id> operands;
    for (const Value* input : node.inputs) {
      if (input && !isCastable(input->type.dtype)) return false;
      const bool isNumber = input && input->constant && input->constant->count() == 1;
      operands.push_back(!input     ? Id::Omitted
                         : isNumber ? builder.constant(*input->constant)
                                    : builder.input(input->type.dtype));
    }
    builder.append(*node.schema, node.attributes, operands);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void addElementwiseOutput(ElementwiseBuilder& builder, Id result, DType stored) {
  const bool isRounded = builder.dtype(result) == DType::Float32 && stored == DType::BFloat16;
  builder.output(isRounded ? builder.cast(result, stored) : result);
}

Ref<ElementwiseProgram> lowerElementwise(const Expression& expression, DType stored) {
  return Lowering(expression).run(stored);
}

}  // namespace max
