// SPDX-License-Identifier: Apache-2.0
// Adds Casts to float32 around float16 and bfloat16 operators that no kernel, or only a slow one, supports.
#include <algorithm>
#include <unordered_map>

#include "compiler/passes.h"

namespace max {

namespace {

bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

bool usesHalf(const Node& node) {
  const auto half = [](const Value* value) { return value && isHalf(value->type.dtype); };
  return std::any_of(node.inputs.begin(), node.inputs.end(), half) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), half);
}

// A request as a plan might make it; unknown sizes do not matter for the choice by dtype.
Operand operandOf(const Value* value, bool widen) {
  Operand operand;
  if (!value) return operand;
  const bool cast = widen && isHalf(value->type.dtype);
  operand.dtype = cast ? DType::Float32 : value->type.dtype;
  for (const Dim& dim : value->type.dims) operand.shape.push(dim.isKnown() ? dim.value() : 2);
  operand.constant = value->constant.get();  // a Cast of it is folded
  return operand;
}

enum class Speed { None, Reference, Fast };

// Which kind of kernel would run the node, with its own types or with float32 for 16-bit ones.
Speed speedOf(const Node& node, const OpRow& row, bool widen) {
  std::vector<Operand> inputs, outputs;
  for (const Value* input : node.inputs) inputs.push_back(operandOf(input, widen));
  for (const Value* output : node.outputs) outputs.push_back(operandOf(output, widen));
  const OpRequest request{node, inputs, outputs, 1};
  for (const Implementation& candidate : row.implementations)
    if (!candidate.accepts || candidate.accepts(request))
      return candidate.name == "reference" ? Speed::Reference : Speed::Fast;
  return Speed::None;
}

// Kernels are chosen by rank; unknown rank does not mean a scalar.
bool hasRanks(const Node& node) {
  const auto isRanked = [](const Value* value) { return !value || value->type.ranked; };
  return std::all_of(node.inputs.begin(), node.inputs.end(), isRanked) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), isRanked);
}

bool needsCasts(const Node& node, const OperatorLibrary& operators) {
  if (!hasRanks(node)) return false;
  const OpRow* row = operators.find(node.domain(), node.op());
  // Views and control flow run without kernels; the plan reports missing ones.
  if (!row || row->dynamic || hasTrait(node, kTraitView)) return false;
  const Speed own = speedOf(node, *row, false);
  return own != Speed::Fast && speedOf(node, *row, true) > own;
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
  // There is no rounding between two operators that compute in float32.
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
    if (isLive(*node) && !node->placed && usesHalf(*node) && !node->is("Cast") &&
        needsCasts(*node, rewriter.options().operators))
      legaliser.legalise(*node);
}

}  // namespace max
