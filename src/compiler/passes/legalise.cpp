// SPDX-License-Identifier: Apache-2.0
// Operators on float16 or bfloat16 that no kernel takes get Casts to float32 around them.
#include <algorithm>
#include <unordered_map>

#include "compiler/passes.h"
#include "ops/kernel.h"

namespace max {

namespace {

bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

bool usesHalf(const Node& node) {
  const auto half = [](const Value* value) { return value && isHalf(value->type.dtype); };
  return std::any_of(node.inputs.begin(), node.inputs.end(), half) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), half);
}

// What a plan might ask for; sizes that are not known do not matter to the choice by dtype.
Operand operandOf(const Value* value) {
  Operand operand;
  if (!value) return operand;
  operand.dtype = value->type.dtype;
  for (const Dim& dim : value->type.dims) operand.shape.push(dim.isKnown() ? dim.value() : 2);
  operand.constant = value->constant.get();
  return operand;
}

bool hasKernel(const Node& node) {
  const OpKernels* kernels = findKernels(node.domain(), node.op());
  if (!kernels) return true;  // views and control flow run without kernels; what is missing is reported at the plan
  if (kernels->dynamic) return true;
  std::vector<Operand> inputs, outputs;
  for (const Value* input : node.inputs) inputs.push_back(operandOf(input));
  for (const Value* output : node.outputs) outputs.push_back(operandOf(output));
  const KernelRequest request{node, inputs, outputs, 1};
  return std::any_of(kernels->implementations.begin(), kernels->implementations.end(),
                     [&](const Implementation& candidate) { return !candidate.accepts || candidate.accepts(request); });
}

class Legaliser {
 public:
  explicit Legaliser(Rewriter& rewriter) : rewriter_(rewriter) {}

  void legalise(Node& node) {
    std::vector<Value*> inputs;
    for (Value* input : node.inputs) inputs.push_back(widened(input, node));
    Node* wide =
        rewriter_.add(node.domain(), node.op(), std::move(inputs), node.attributes, {&node}, node.outputs.size());
    const std::vector<Value*> outputs = node.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      Value* result = wide->outputs[i];
      if (result->type.dtype != outputs[i]->type.dtype) {
        result = cast(result, outputs[i]->type.dtype, node);
        wide_.emplace(result, wide->outputs[i]);
      }
      rewriter_.replace(outputs[i], result);
    }
  }

 private:
  // Between two operators that compute in float32 nothing is rounded.
  Value* widened(Value* value, const Node& node) {
    if (!value || !isHalf(value->type.dtype)) return value;
    const auto known = wide_.find(value);
    if (known != wide_.end()) return known->second;
    Value* result = cast(value, DType::Float32, node);
    wide_.emplace(value, result);
    return result;
  }

  Value* cast(Value* value, DType dtype, const Node& node) {
    Attributes attributes;
    attributes.set("to", onnxFromDType(dtype));
    return rewriter_.add("", "Cast", {value}, std::move(attributes), {&node})->output();
  }

  Rewriter& rewriter_;
  std::unordered_map<const Value*, Value*> wide_;
};

}  // namespace

void legaliseTypes(Rewriter& rewriter) {
  Legaliser legaliser(rewriter);
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  for (Node* node : nodes)
    if (isLive(*node) && usesHalf(*node) && !node->is("Cast") && !hasKernel(*node)) legaliser.legalise(*node);
}

}  // namespace max
