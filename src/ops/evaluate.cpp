// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/object.h"
#include "graph/readers/movement.h"
#include "graph/schema.h"
#include "ops/agreement.h"
#include "ops/operator_library.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

std::vector<Operand> inputOperands(std::span<const Tensor* const> inputs) {
  std::vector<Operand> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) operands[i] = {inputs[i]->dtype(), inputs[i]->shape(), inputs[i]};
  return operands;
}

// A view shares its input's memory, if the input owns any.
bool isView(const Node& node, std::span<const Tensor* const> inputs, std::span<const Operand> outputs) {
  return node.schema->sharesInput() && outputs.size() == 1 && !inputs.empty() && inputs[0] && inputs[0]->storage();
}

// A Slice of leading rows that are not aligned in their file, which all rows would be copied for; NULL if it is not
// one.
Ref<Tensor> unalignedRows(const Node& node, std::span<const Tensor* const> inputs, std::span<const Operand> outputs) {
  const Tensor* const whole = node.is("Slice") ? inputs[0] : nullptr;
  if (!whole || whole->isAligned() || !whole->storage()) return nullptr;
  const RequestInputs request(node, inputs);
  const auto axes = readers::readSlice(*request);
  if (!axes || axes->size() != 1) return nullptr;
  const auto& [axis, start, end, step] = axes->front();
  const Shape& shape = whole->shape();
  if (!start || !start->isKnown() || !step || !step->is(1) || shape.product(0, axis) != 1) return nullptr;
  const int64_t row = start->value() < 0 ? start->value() + shape[axis] : start->value();
  const int64_t first = std::clamp<int64_t>(row, 0, shape[axis]) * shape.product(axis + 1, shape.rank());
  const size_t offset = static_cast<size_t>(first) * sizeOf(whole->dtype());
  return makeRef<Tensor>(whole->dtype(), outputs[0].shape, whole->as<std::byte>() + offset, whole->storage());
}

std::vector<Ref<Tensor>> runOp(const Node& node, std::span<const Tensor* const> inputs,
                               std::span<const Operand> outputs, size_t maxScratch) {
  std::vector<Ref<Tensor>> results(outputs.size());
  std::vector<void*> targets;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].present()) results[i] = Tensor::allocate(outputs[i].dtype, outputs[i].shape);
    targets.push_back(results[i] ? results[i]->mutableData() : nullptr);
  }
  if (isDone(node, outputs)) return results;
  const std::vector<Operand> operands = inputOperands(inputs);
  const OpRequest request{node, operands, outputs, 1};
  const std::unique_ptr<OpKernel> kernel = cpuOperators().create(request);
  std::vector<const void*> sources;
  for (const Tensor* input : inputs) sources.push_back(input ? input->data() : nullptr);
  require(kernel->scratchBytes() <= maxScratch, MAX_STATUS_RESOURCE_EXHAUSTED, node.description(), ": needs ",
          kernel->scratchBytes(), " bytes of working memory");
  const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes());
  kernel->run({sources.data(), targets.data(), static_cast<std::byte*>(scratch->data()), 1});
  return results;
}

// Converts weights from the form in files to the one that kernels expect.
struct AlignedInputs {
  explicit AlignedInputs(std::span<const Tensor* const> inputs) : tensors(inputs.begin(), inputs.end()) {
    for (const Tensor*& tensor : tensors)
      if (tensor && !tensor->isAligned()) tensor = copies.emplace_back(tensor->aligned()).get();
  }
  std::vector<const Tensor*> tensors;
  std::vector<Ref<Tensor>> copies;
};

std::vector<Ref<Tensor>> evaluateInScope(const Node& node, std::span<const Tensor* const> inputs, size_t maxScratch) {
  const Inferred inferred = inferNode(node, nullptr, RequestInputs(node, inputs).types());
  std::vector<Operand> outputs;
  if (agreeOnOutputs(node, inputOperands(inputs), inferred, outputs)) {
    if (isView(node, inputs, outputs)) return {inputs[0]->reshaped(outputs[0].shape)};
    if (Ref<Tensor> rows = unalignedRows(node, inputs, outputs)) return {std::move(rows)};
    return runOp(node, AlignedInputs(inputs).tensors, outputs, maxScratch);
  }
  const OpRow* kernels = cpuOperators().find(node.domain(), node.op());
  require(kernels && kernels->dynamic, MAX_STATUS_UNIMPLEMENTED, node.description(),
          ": the shapes of its outputs are not known from its inputs");
  std::vector<Ref<Tensor>> results = kernels->dynamic(node, AlignedInputs(inputs).tensors);
  requireAgreed(node, inferred, results);
  return results;
}

}  // namespace

std::vector<Ref<Tensor>> evaluate(const Node& node, std::span<const Tensor* const> inputs, size_t maxScratch) {
  const PoolScope scope;
  std::vector<Ref<Tensor>> results = evaluateInScope(node, inputs, maxScratch);
  for (Ref<Tensor>& result : results)
    if (result && holdsPointers(result->dtype())) result = selfContained(*result);
  return results;
}

}  // namespace max
