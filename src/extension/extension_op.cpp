// SPDX-License-Identifier: Apache-2.0
#include "extension/extension_op.h"

#include <memory>
#include <utility>

#include "device/device_registry.h"
#include "extension/extension_call.h"

namespace max {

namespace {

void requireNumbers(const ExtensionOperator& op, const InferContext& context) {
  for (size_t i = 0; i < context.inputCount(); ++i)
    if (holdsPointers(context.dtype(i)))
      context.fail("extension '", op.extension, "': input ", i, " is ", context.input(i).type,
                   "; extension operators only accept tensors of numbers");
}

bool isWanted(const InferContext& context, size_t output) {
  const std::vector<Value*>& outputs = context.node().outputs;
  return output >= outputs.size() || outputs[output];
}

bool isConcrete(const TensorType& type) { return type.ranked && concrete(type.dims).has_value(); }

// All that `infer` may ask for was there.
bool isAllKnown(const ExtensionOperator& op, const InferContext& context) {
  for (size_t i = 0; i < context.inputCount(); ++i) {
    if (!context.has(i)) continue;
    if (context.dtype(i) == DType::Invalid || !isConcrete(context.input(i).type)) return false;
    const bool isNeeded = i < 32 && (op.functions.shapeInputs >> i & 1);
    const Tensor* contents = context.input(i).constant;
    if (isNeeded && !(contents && contents->hasContents())) return false;
  }
  return true;
}

void requireOutputs(const ExtensionOperator& op, const InferContext& context) {
  const bool isLate = op.functions.traits & MAX_OPERATOR_TRAITS_DATA_DEPENDENT;
  const bool isAll = isAllKnown(op, context);
  for (size_t i = 0; i < context.outputCount(); ++i) {
    const TensorType& type = context.outputs()[i].type;
    if (!isWanted(context, i)) continue;
    if (holdsPointers(type.dtype))
      context.fail("extension '", op.extension, "': output ", i, " cannot be ", type.dtype);
    if (isAll && type.dtype == DType::Invalid)
      context.fail("extension '", op.extension, "': infer does not set the type of output ", i);
    if (isAll && !isLate && !isConcrete(type))
      context.fail("extension '", op.extension, "': infer leaves the shape of output ", i,
                   " open, although its inputs are known");
  }
}

Ref<Prepared> prepareExtension(const Node& node, std::span<const Tensor* const> constants) {
  return callPrepare(extensionOperatorOf(node), node, constants);
}

std::vector<const Tensor*> constantsOf(std::span<const Operand> inputs) {
  std::vector<const Tensor*> constants;
  for (const Operand& input : inputs)
    constants.push_back(input.constant && input.constant->hasContents() ? input.constant : nullptr);
  return constants;
}

size_t scratchOf(const ExtensionOperator& op, const OpRequest& request) {
  std::vector<InputType> types(request.inputs.size());
  for (size_t i = 0; i < types.size(); ++i)
    if (const Operand& input = request.inputs[i]; input.present())
      types[i] = {true, TensorType::of(input.dtype, symbolic(input.shape)), input.constant, nullptr};
  InferContext context(request.node, nullptr, types, request.outputs.size());
  MaxShapeContext shapes = shapesOf(op, context);
  callInfer(op, context, shapes);
  return shapes.scratch;
}

class ExtensionOp final : public OpKernel {
 public:
  ExtensionOp(const ExtensionOperator& op, const OpRequest& request)
      : op_(op),
        device_(hostDevice()),
        node_{request.node, request.outputs.size(), device_.get()},
        inputs_(request.inputs),
        outputs_(request.outputs),
        state_(stateOf(op, request.node, constantsOf(request.inputs))),
        call_(callOf(*device_, inputs_, outputs_, scratchOf(op, request))) {}

  void run(const OpContext& context) const override {
    MaxOperatorCall call = call_;
    call.inputs = context.inputs;
    call.outputs = context.outputs;
    call.scratch = call.scratchSize > 0 ? context.scratch : nullptr;
    call.lanes = context.lanes;
    if (context.place) {
      call.device = context.place->device;
      call.stream = context.place->stream;
    }
    callExecute(op_, node_, state_.get(), call);
  }
  size_t scratchBytes() const override { return call_.scratchSize; }

 private:
  const ExtensionOperator& op_;
  const Ref<MaxDevice> device_;
  const MaxOperatorNode node_;
  const Operands inputs_, outputs_;
  const Ref<Prepared> state_;
  const MaxOperatorCall call_;
};

std::unique_ptr<OpKernel> createExtensionOp(const OpRequest& request) {
  return std::make_unique<ExtensionOp>(extensionOperatorOf(request.node), request);
}

constexpr Implementation kImplementations[] = {{"extension", nullptr, createExtensionOp}};

}  // namespace

void inferExtension(InferContext& context) {
  const ExtensionOperator& op = extensionOperatorOf(context.node());
  requireNumbers(op, context);
  MaxShapeContext shapes = shapesOf(op, context);
  callInfer(op, context, shapes);
  requireOutputs(op, context);
  // Whatever `infer` promises, `execute` allocates the outputs, so nothing else must.
  if (op.functions.traits & MAX_OPERATOR_TRAITS_DATA_DEPENDENT)
    for (size_t i = 0; i < context.outputCount(); ++i)
      if (isConcrete(context.outputs()[i].type)) context.setOutput(i, TensorType::unranked(DType::Invalid));
}

OpRow rowOf(const ExtensionOperator& op) {
  const bool makesOutputs = op.functions.traits & MAX_OPERATOR_TRAITS_DATA_DEPENDENT;
  OpRow row{op.domain, op.name, {}, nullptr, nullptr};
  if (makesOutputs)
    row.dynamic = runMaking;
  else
    row.implementations = kImplementations;
  if (op.functions.prepare) row.prepare = prepareExtension;
  return row;
}

}  // namespace max
