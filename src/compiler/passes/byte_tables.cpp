// SPDX-License-Identifier: Apache-2.0
// Elementwise operators from DequantizeLinear of one 8-bit tensor to QuantizeLinear become a table of 256 results.
#include <algorithm>
#include <array>

#include "compiler/passes.h"
#include "compiler/passes/quantized.h"
#include "ops/op_kernel.h"

namespace max {

namespace {

// An 8-bit tensor as a function of another one: by a table, or NULL = itself.
struct Bytes {
  Value* source = nullptr;
  Ref<Tensor> table;
};

Bytes bytesOf(Value* value) {
  const Node* map = ownProducer(value, "MapBytes");
  if (!map || !map->input(1)->constant) return {value, nullptr};
  return {map->input(0), map->input(1)->constant};
}

Ref<Tensor> allBytes(DType dtype) {
  Ref<Tensor> bytes = Tensor::allocate(dtype, {256});
  for (int i = 0; i < 256; ++i) static_cast<uint8_t*>(bytes->mutableData())[i] = static_cast<uint8_t>(i);
  return bytes;
}

// What a QuantizeLinear reads, computed for each byte of the tensor that all of it depends on.
class ByteFunction {
 public:
  explicit ByteFunction(Rewriter& rewriter) : rewriter_(rewriter) {}

  Value* source() const { return source_; }

  // Whether `value` is made of elementwise operators on that tensor and scalars.
  bool accepts(Value* value) {
    if (isScalarConstant(value) || std::find(known_.begin(), known_.end(), value) != known_.end()) return true;
    if (known_.size() == kMostValues || value->type.dtype != DType::Float32) return false;
    const auto leaf = dequantized(value);
    Node* node = localProducer(value);
    if (leaf ? !acceptsSource(bytesOf(leaf->value).source) : !acceptsOperands(node)) return false;
    known_.push_back(value);
    return true;
  }

  // The results of a node that reads such values, for all bytes; NULL if it does not give one for each.
  Ref<Tensor> evaluated(const Node& node) {
    std::vector<Value*> inputs;
    for (Value* input : node.inputs) inputs.push_back(input ? operand(input) : nullptr);
    return computed(node, std::move(inputs));
  }

 private:
  static constexpr size_t kMostValues = 32;

  static bool isScalarConstant(const Value* value) {
    return value->constant && value->constant->count() == 1 && !holdsPointers(value->type.dtype);
  }

  bool acceptsSource(Value* source) {
    if (!source_) source_ = source;
    return source == source_ && !source->constant;
  }

  bool acceptsOperands(const Node* node) {
    if (!node || !hasTrait(*node, kTraitElementwise) || hasTrait(*node, kTraitRandom)) return false;
    return node->outputs.size() == 1 && std::all_of(node->inputs.begin(), node->inputs.end(),
                                                    [&](Value* input) { return !input || accepts(input); });
  }

  Value* operand(Value* value) {
    if (isScalarConstant(value)) return rewriter_.constant(value->constant->reshaped({}));
    const auto found = std::find(known_.begin(), known_.end(), value) - known_.begin();
    Value*& result = computed_[static_cast<size_t>(found)];
    if (result) return result;
    const Node& node = *localProducer(value);
    if (!dequantized(value)) return result = rewriter_.constant(evaluated(node));
    const Bytes bytes = bytesOf(node.inputs[0]);
    std::vector<Value*> inputs = node.inputs;
    inputs[0] = rewriter_.constant(bytes.table ? bytes.table : allBytes(bytes.source->type.dtype));
    return result = rewriter_.constant(computed(node, std::move(inputs)));
  }

  Ref<Tensor> computed(const Node& node, std::vector<Value*> inputs) {
    Node* own = rewriter_.add(node.domain(), node.op(), std::move(inputs), node.attributes, {&node});
    std::vector<const Tensor*> contents;
    for (const Value* input : own->inputs) contents.push_back(input ? input->constant.get() : nullptr);
    Ref<Tensor> result = evaluate(*own, contents).front();
    rewriter_.retire(own);
    return result;
  }

  Rewriter& rewriter_;
  Value* source_ = nullptr;
  std::vector<Value*> known_;
  std::array<Value*, kMostValues> computed_{};
};

// Whether each byte stays as it is: exporters multiply by a constant, and the scale of the result has the same factor.
bool keepsBytes(const Tensor& table) {
  const auto* bytes = static_cast<const uint8_t*>(table.data());
  for (int i = 0; i < 256; ++i)
    if (bytes[i] != i) return false;
  return true;
}

bool mapWithTable(Rewriter& rewriter, Node& node) {
  if (!quantized(node) || node.input(0)->constant) return false;
  ByteFunction function(rewriter);
  if (!function.accepts(node.inputs[0]) || !function.source() || !sameDims(function.source(), node.output()))
    return false;
  const Ref<Tensor> table = function.evaluated(node);
  if (keepsBytes(*table) && sameType(function.source(), node.output()))
    return rewriter.replace(&node, function.source());
  Node* map =
      rewriter.add(kMaxDomain, "MapBytes", {function.source(), rewriter.constant(table->reshaped({256}))}, {}, {&node});
  return sameType(map->output(), node.output()) && rewriter.replace(&node, map->output());
}

constexpr Rule kRules[] = {{"", "QuantizeLinear", mapWithTable}};

}  // namespace

void mapBytes(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
