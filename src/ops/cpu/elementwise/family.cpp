// SPDX-License-Identifier: Apache-2.0
// Operators that run as elementwise programs.
#include <algorithm>
#include <vector>

#include "graph/readers/normalization.h"
#include "ops/cpu/elementwise/op.h"
#include "ops/cpu/elementwise/table.h"
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
  builder.output(builder.append(*request.node.schema, request.node.attributes, operands));
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

bool acceptsFused(const OpRequest& request) {
  const auto* program = static_cast<const ElementwiseProgram*>(request.node.prepared.get());
  return program && program->inputs.size() == request.inputs.size() &&
         program->outputs.size() == request.outputs.size();
}

std::unique_ptr<OpKernel> createFused(const OpRequest& request) {
  Ref<ElementwiseProgram> program(static_cast<ElementwiseProgram*>(request.node.prepared.get()));
  return makeElementwiseOp(std::move(program), request.outputs[0].shape, shapesOf(request), request.lanes);
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

constexpr Implementation kOperator[] = {{"elementwise", acceptsOperator, createOperator}};
constexpr Implementation kFused[] = {{"elementwise", acceptsFused, createFused}};
constexpr Implementation kBatchNormalization[] = {{"elementwise", acceptsBatchNormalization, createBatchNormalization}};

std::vector<OpRow> makeRows() {
  std::vector<OpRow> rows;
  for (const ElementwiseRow& row : elementwiseRows()) rows.push_back({"", row.name, kOperator});
  rows.push_back({"", "BatchNormalization", kBatchNormalization});
  rows.push_back({kMaxDomain, "Elementwise", kFused});
  return rows;
}

}  // namespace

std::span<const OpRow> elementwiseOps() {
  static const std::vector<OpRow> rows = makeRows();
  return rows;
}

}  // namespace max
