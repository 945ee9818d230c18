// SPDX-License-Identifier: Apache-2.0
// A product with a one-hot matrix selects rows: it becomes a Gather, and elementwise operators after a Gather from a
// constant table are applied to the table.
#include <algorithm>
#include <cstring>

#include "compiler/passes.h"
#include "graph/readers/normalization.h"
#include "ops/op_kernel.h"

namespace max {

namespace {

// cast(x == [0, 1, .., n - 1]) with x of one column: returns x, else NULL.
Value* oneHotIndex(const Value* value, int64_t rows) {
  Node* cast = producer(value, "Cast");
  Node* equal = cast ? producer(cast->input(0), "Equal") : nullptr;
  if (!equal) return nullptr;
  for (size_t side : {0, 1}) {
    Value* x = equal->input(side);
    const auto numbers = integersOf(equal->input(1 - side));
    if (!numbers || static_cast<int64_t>(numbers->size()) != rows || !isRanked(x) || rankOf(x) == 0) continue;
    if (equal->input(1 - side)->constant->shape().rank() == 0 ||
        equal->input(1 - side)->constant->shape().back() != rows)
      continue;
    bool counts = true;
    for (size_t i = 0; i < numbers->size(); ++i) counts &= (*numbers)[i] == static_cast<int64_t>(i);
    if (counts && x->type.dims.back().is(1) && rankOf(x) == rankOf(value)) return x;
  }
  return nullptr;
}

// The rows of a table, plus one of zeros for indices without a row.
Ref<Tensor> withZeroRow(const Tensor& table) {
  const int64_t rows = table.shape()[0], columns = table.shape()[1];
  Ref<Tensor> result = Tensor::allocate(table.dtype(), {rows + 1, columns}, true);
  std::memcpy(result->mutableData(), table.data(), table.bytes());
  return result;
}

bool gatherFromOneHot(Rewriter& rewriter, Node& node) {
  const Value* table = node.input(1);
  if (!table->constant || table->constant->shape().rank() != 2 || table->constant->dtype() != DType::Float32)
    return false;
  const int64_t rows = table->constant->shape()[0];
  Value* x = oneHotIndex(node.input(0), rows);
  if (!x || rows == 0) return false;
  const DType dtype = x->type.dtype;
  // Outside the table, -1 and `rows` both select the last row, of zeros.
  Value* clipped =
      rewriter
          .add("", "Clip", {x, rewriter.scalar(dtype, -1), rewriter.scalar(dtype, static_cast<double>(rows))}, {},
               {&node})
          ->output();
  Value* axis = rewriter.constant(std::vector<int64_t>{-1});
  Value* index = rewriter.add("", "Squeeze", {clipped, axis}, {}, {&node})->output();
  Attributes attributes;
  attributes.set("axis", int64_t{0});
  Value* rowsTable = rewriter.constant(withZeroRow(*table->constant));
  Value* gathered = rewriter.add("", "Gather", {rowsTable, index}, std::move(attributes), {&node})->output();
  return sameType(gathered, node.output()) && rewriter.replace(&node, gathered);
}

// A Gather from a constant table with at most as many rows as it selects.
Node* tableGather(const Value* value) {
  Node* gather = producer(value, "Gather");
  if (!gather || !hasSingleUse(value) || !gather->input(0)->constant ||
      readers::readAxis(gather->attributes, 0, gather->input(0)->constant->shape().rank()) != 0)
    return nullptr;
  const Shape& table = gather->input(0)->constant->shape();
  if (!isRanked(gather->input(1)) || table.rank() < 2) return nullptr;
  int64_t picked = 1;
  for (const Dim& dim : gather->input(1)->type.dims)
    if (dim.isKnown()) picked *= dim.value();
  return table[0] <= picked ? gather : nullptr;
}

// An operand that is the same for every row: it only varies along the table's other dimensions.
bool appliesToRows(const Value* operand, int columns) {
  if (!operand) return true;
  if (!operand->constant) return false;
  const Shape& shape = operand->constant->shape();
  for (int i = 0; i < shape.rank() - columns; ++i)
    if (shape[i] != 1) return false;
  return true;
}

// As an operand of the table, with its rank or less.
Ref<Tensor> rowOperand(const Tensor& tensor, int columns) {
  Shape shape = tensor.shape();
  while (shape.rank() > columns) shape.erase(0);
  return tensor.reshaped(shape);
}

// f(gather(table, i), constant) -> gather(f(table, constant), i)
bool sinkGather(Rewriter& rewriter, Node& node) {
  if (!hasTrait(node, kTraitElementwise) || node.outputs.size() != 1) return false;
  Node* gather = nullptr;
  for (const Value* input : node.inputs)
    if (Node* found = tableGather(input)) gather = found;
  if (!gather || !sameDims(gather->output(), node.output())) return false;
  const int columns = gather->input(0)->constant->shape().rank() - 1;
  std::vector<Value*> inputs;
  for (Value* input : node.inputs) {
    if (input == gather->output()) {
      inputs.push_back(gather->input(0));
      continue;
    }
    if (!appliesToRows(input, columns)) return false;
    inputs.push_back(input ? rewriter.constant(rowOperand(*input->constant, columns)) : nullptr);
  }
  Node* table = rewriter.add(node.domain(), node.op(), std::move(inputs), node.attributes, {&node});
  std::vector<const Tensor*> contents;
  for (const Value* input : table->inputs) contents.push_back(input ? input->constant.get() : nullptr);
  Value* computed = rewriter.constant(evaluate(*table, contents).front());
  rewriter.retire(table);
  Node* result = rewriter.add("", "Gather", {computed, gather->input(1)}, gather->attributes, {gather, &node});
  return sameType(result->output(), node.output()) && rewriter.replace(&node, result->output());
}

constexpr Rule kRules[] = {
    {"", "MatMul", gatherFromOneHot},
    {"", "", sinkGather},
};

}  // namespace

void gatherOneHot(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
