// SPDX-License-Identifier: Apache-2.0
// Operators that run as elementwise programs.
#include <algorithm>
#include <vector>

#include "graph/readers/normalization.h"
#include "ops/cpu/elementwise/lower.h"
#include "ops/cpu/elementwise/op.h"
#include "ops/cpu/elementwise/table.h"
#include "ops/cpu/narrow.h"
#include "ops/families.h"

namespace max {

namespace {

using Id = ElementwiseBuilder::Id;

std::vector<Shape> shapesOf(const OpRequest& request) {
  std::vector<Shape> shapes;
  for (const Operand& input : request.inputs) shapes.push_back(input.shape);
  return shapes;
}

// A program of one operator. Omitted inputs keep their index; one-element constants move into the program.
Ref<ElementwiseProgram> programOf(const OpRequest& request) {
  ElementwiseBuilder builder;
  std::vector<Id> operands;
  for (const Operand& input : request.inputs) {
    operands.push_back(builder.input(input.present() ? input.dtype : DType::Bool));
    if (!input.present()) operands.back() = Id::Omitted;
    if (input.constant && input.constant->count() == 1) operands.back() = builder.constant(*input.constant);
  }
  const Id result = builder.append(*request.node.schema, request.node.attributes, operands);
  addElementwiseOutput(builder, result, request.outputs[0].dtype);
  return builder.finish();
}

bool acceptsOperator(const OpRequest& request) {
  if (request.outputs.size() != 1 || request.inputs.size() > kMaxElementwiseInputs) return false;
  for (const Operand& input : request.inputs)
    if (input.present() && !isCastable(input.dtype)) return false;
  try {
    const auto program = programOf(request);
    return program->outputs[0] == request.outputs[0].dtype;
  } catch (const Error&) {
    return false;
  }
}

std::unique_ptr<OpKernel> createOperator(const OpRequest& request) {
  return makeElementwiseOp(programOf(request), request.outputs[0].shape, shapesOf(request), request.lanes);
}

// The node's own program, or one that rounds its result.
Ref<ElementwiseProgram> fusedProgram(const OpRequest& request) {
  auto* program = static_cast<ElementwiseProgram*>(request.node.prepared.get());
  if (program && request.node.expression && request.outputs[0].dtype != program->outputs[0])
    return lowerElementwise(*request.node.expression, request.outputs[0].dtype);
  return Ref<ElementwiseProgram>(program);
}

bool acceptsFused(const OpRequest& request) {
  const Ref<ElementwiseProgram> program = fusedProgram(request);
  return program && program->inputs.size() == request.inputs.size() &&
         program->outputs.size() == request.outputs.size() && program->outputs[0] == request.outputs[0].dtype;
}

std::unique_ptr<OpKernel> createFused(const OpRequest& request) {
  return makeElementwiseOp(fusedProgram(request), request.outputs[0].shape, shapesOf(request), request.lanes);
}

// (X - mean) * (scale / sqrt(variance + epsilon)) + bias, parameters along axis 1.
std::unique_ptr<OpKernel> createBatchNormalization(const OpRequest& request) {
  ElementwiseBuilder builder;
  std::vector<Id> in;
  for (const Operand& input : request.inputs) in.push_back(builder.input(input.dtype));
  const DType dtype = request.inputs[0].dtype;
  const auto emit = [&](ElementOp op, std::initializer_list<Id> sources, float alpha = 0, float beta = 0) {
    return builder.emit(op, dtype, dtype, sources, alpha, beta);
  };
  const auto parameter = [&](size_t i) { return builder.cast(in[i], dtype); };
  const float epsilon = readers::BatchNorm(request.node.attributes).epsilon;
  const Id inverse = emit(ElementOp::Rsqrt, {emit(ElementOp::Scale, {parameter(4)}, 1.f, epsilon)});
  const Id factor = emit(ElementOp::Mul, {parameter(1), inverse});
  builder.output(emit(ElementOp::MulAdd, {emit(ElementOp::Sub, {in[0], parameter(3)}), factor, parameter(2)}));
  std::vector<Shape> shapes = shapesOf(request);
  for (size_t i = 1; i < shapes.size(); ++i)
    for (int k = 2; k < shapes[0].rank(); ++k) shapes[i].push(1);
  return makeElementwiseOp(builder.finish(), request.outputs[0].shape, shapes, request.lanes);
}

bool acceptsBatchNormalization(const OpRequest& request) {
  const auto isComputable = [](const Operand& input) { return isFloat(input.dtype) && isCastable(input.dtype); };
  return request.outputs.size() == 1 && request.inputs.size() == 5 &&
         !readers::BatchNorm(request.node.attributes).isTraining &&
         std::all_of(request.inputs.begin(), request.inputs.end(), isComputable);
}

// Results may be bfloat16 in memory.
NarrowOperands narrowOperands(const Node& node) {
  return {0, mayBeNarrow(node) && node.outputs.size() == 1 ? operandBit(0) : 0};
}

constexpr Implementation kOperator[] = {{"elementwise", acceptsOperator, createOperator}};
constexpr Implementation kFused[] = {{"elementwise", acceptsFused, createFused}};
constexpr Implementation kBatchNormalization[] = {{"elementwise", acceptsBatchNormalization, createBatchNormalization}};

std::vector<OpRow> makeRows() {
  std::vector<OpRow> rows;
  for (const ElementwiseRow& row : elementwiseRows())
    rows.push_back({"", row.name, kOperator, nullptr, nullptr, narrowOperands});
  rows.push_back({"", "BatchNormalization", kBatchNormalization});
  rows.push_back({kMaxDomain, "Elementwise", kFused, nullptr, nullptr, narrowOperands});
  return rows;
}

}  // namespace

std::span<const OpRow> elementwiseOps() {
  static const std::vector<OpRow> rows = makeRows();
  return rows;
}

}  // namespace max
