// SPDX-License-Identifier: Apache-2.0
// Constant folding: evaluates nodes with constant inputs, and values whose contents shape inference knows.
#include <algorithm>

#include "base/active_call.h"
#include "compiler/passes.h"
#include "compiler/passes/quantized.h"
#include "compiler/passes/rules.h"
#include "compiler/widened_weights.h"
#include "ops/op_kernel.h"
#include "ops/work.h"

namespace max {

namespace {

// The most elements that an output can have; nullopt if they are not known.
std::optional<Shape> largestShape(const Node& node, const Value& output) {
  if (node.is("NonZero")) {
    const Shape& shape = node.input(0)->constant->shape();
    return Shape{std::max(shape.rank(), 1), shape.count()};
  }
  return output.type.ranked ? concrete(output.type.dims) : std::nullopt;
}

// Bytes of all outputs, at most; nullopt if they are not known or overflow.
std::optional<size_t> producedBytes(const Node& node) {
  size_t bytes = 0;
  for (const Value* output : node.outputs) {
    if (!output) continue;
    if (output->type.dtype == DType::Invalid) return std::nullopt;
    const auto shape = largestShape(node, *output);
    if (!shape) return std::nullopt;
    bytes = checkedAdd(bytes, bytesFor(output->type.dtype, shape->count()));
  }
  return bytes;
}

bool isFoldable(const Node& node) {
  if (hasTrait(node, kTraitRandom) || hasTrait(node, kTraitControlFlow)) return false;
  // Exporters write the numbers from zero on as the places of ones.
  if (hasTrait(node, kTraitDataDependent) && !node.is("NonZero")) return false;
  for (const Value* output : node.outputs)
    if (output && holdsPointers(output->type.dtype)) return false;  // their size does not follow from the types
  for (const Value* input : node.inputs)
    if (input && holdsPointers(input->type.dtype)) return false;  // nor is the work
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const Value* input) { return !input || input->constant; });
}

// Whether a sum that is quantised again reads the numbers of a node, beside such of the sum's dimensions.
bool isAddedToBytes(const Value* numbers) {
  if (numbers->uses.empty() || numbers->isOutput()) return false;
  return std::all_of(numbers->uses.begin(), numbers->uses.end(), [&](const Use& use) {
    const Node& add = *use.node;
    if (add.graph != numbers->graph || !add.is("Add") || !hasSingleUse(add.output())) return false;
    const Value* other = otherOperand(add, numbers);
    const Node* quantize = singleUser(add.output());
    return dequantized(other) && !other->producer->input(0)->constant && sameDims(other, add.output()) && quantize &&
           quantize->is("QuantizeLinear") && quantized(*quantize);
  });
}

// Bytes are less to read than the numbers that they mean, where those are many and the host adds them to others.
bool staysBytes(Rewriter& rewriter, const Node& node) {
  constexpr int64_t kMany = 4096;
  if (rewriter.options().accelerator || !node.is("DequantizeLinear") || !dequantized(node.output())) return false;
  const Tensor& bytes = *node.input(0)->constant;
  return bytes.count() >= kMany && isAddedToBytes(node.output()) && !isUniform(rewriter, bytes);
}

// Scratch memory that a kernel may need besides its outputs.
constexpr size_t kMaxScratch = size_t{16} << 20;

std::vector<Ref<Tensor>> evaluateNode(const Node& node) {
  std::vector<const Tensor*> inputs;
  for (const Value* input : node.inputs) inputs.push_back(input ? input->constant.get() : nullptr);
  std::vector<Ref<Tensor>> results = evaluate(node, inputs, kMaxScratch);
  for (const Tensor* input : inputs)
    if (input) input->dropPages();
  return results;
}

class Folder {
 public:
  // `stays`: whether a node stays as it is.
  explicit Folder(Rewriter& rewriter, bool (*stays)(const Node& node) = nullptr)
      : rewriter_(rewriter), budget_(*rewriter.options().budget), stays_(stays) {}

  void run() {
    const std::vector<Node*> nodes = rewriter_.graph().nodes();
    for (Node* node : nodes) {
      checkInterrupt();
      if (!isLive(*node) || hasTrait(*node, kTraitControlFlow) || dropIdentity(*node)) continue;
      foldElements(*node);
      if (isLive(*node) && !(stays_ && stays_(*node)) && isFoldable(*node) && !staysBytes(rewriter_, *node))
        foldNode(*node);
    }
  }

 private:
  // Exporters write one for each further reader of a weight: a copy would hide that nodes are equal.
  bool dropIdentity(Node& node) {
    return node.is("Identity") && node.input(0)->constant && rewriter_.replace(&node, node.input(0));
  }

  // Contents that shape inference knows ("Shape -> Gather" of a fixed dimension).
  void foldElements(Node& node) {
    for (Value* output : node.outputs) {
      if (!output || !output->elements || (output->uses.empty() && !output->isOutput())) continue;
      if (Ref<Tensor> tensor = knownElements(*output)) rewriter_.replace(output, rewriter_.constant(std::move(tensor)));
    }
  }

  static Ref<Tensor> knownElements(const Value& value) {
    const auto shape = value.type.ranked ? concrete(value.type.dims) : std::nullopt;
    const auto& elements = *value.elements;
    if (!shape || shape->count() != static_cast<int64_t>(elements.size())) return nullptr;
    if (value.type.dtype != DType::Int64 && value.type.dtype != DType::Int32) return nullptr;
    Ref<Tensor> tensor = Tensor::allocate(value.type.dtype, *shape);
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!elements[i].isKnown()) return nullptr;
      if (value.type.dtype == DType::Int64)
        static_cast<int64_t*>(tensor->mutableData())[i] = elements[i].value();
      else
        static_cast<int32_t*>(tensor->mutableData())[i] = static_cast<int32_t>(elements[i].value());
    }
    return tensor;
  }

  void foldNode(Node& node) {
    try {
      const auto bytes = producedBytes(node);
      if (!bytes || *bytes > budget_.folded || !isAffordable(node)) return;
      const std::vector<Ref<Tensor>> results = evaluateNode(node);
      budget_.folded -= *bytes;
      for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
        if (node.outputs[i] && results[i]) rewriter_.replace(node.outputs[i], rewriter_.constant(results[i]));
    } catch (const Error& error) {
      if (endsCompilation(error)) throw;
      // Failures here (an index out of range, an operator without a kernel) are reported when the node runs, if it ever
      // does.
    }
  }

  // Failed work counts too.
  bool isAffordable(const Node& node) {
    std::vector<Operand> inputs(node.inputs.size()), outputs(node.outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const Value* value = node.inputs[i]) inputs[i] = {value->type.dtype, value->constant->shape(), nullptr};
    for (size_t i = 0; i < outputs.size(); ++i)
      if (const Value* value = node.outputs[i]) outputs[i] = {value->type.dtype, *largestShape(node, *value), nullptr};
    const std::optional<uint64_t> work = estimateWork(node, inputs, outputs);
    return work && budget_.load.tryTakeWork(*work);
  }

  Rewriter& rewriter_;
  CompileBudget& budget_;
  bool (*stays_)(const Node& node);
};

}  // namespace

void foldConstants(Rewriter& rewriter) { Folder(rewriter).run(); }

void foldQuantized(Rewriter& rewriter) {
  Folder(rewriter, [](const Node& node) { return node.is("DequantizeLinear"); }).run();
}

// The weights of an accelerator are constants of its own.
void foldUnpacked(Rewriter& rewriter) {
  Folder(rewriter, rewriter.options().accelerator ? nullptr : widensWeights).run();
}

void inferTypes(Rewriter& rewriter) { rewriter.graph().inferTypes(); }

}  // namespace max
