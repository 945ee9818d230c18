// SPDX-License-Identifier: Apache-2.0
// Operators of extensions whose outputs have shapes that are known only after running.
#include <optional>
#include <utility>

#include "base/checked.h"
#include "device/device_registry.h"
#include "executor/monitor.h"
#include "extension/extension_call.h"
#include "extension/extension_op.h"

namespace max {

namespace {

// Checks for writes past the memory of this thread's call; NULL = none.
const RunMonitor* guardian() {
  const RunMonitor* found = nullptr;
  forEachMonitor(activeCall(), [&](const RunMonitor& monitor) {
    if (monitor.wantsGuards()) found = &monitor;
  });
  return found;
}

// One run of an operator that makes its outputs.
class MakingRun final : public OutputMaker {
 public:
  MakingRun(const Node& node, std::span<const Tensor* const> inputs)
      : op_(extensionOperatorOf(node)), node_(node), operands_(operandsOf(inputs)), inputs_(operands_) {
    takeOutputs(inputs);
    outputs_.emplace(openOutputs_);
    for (int32_t& rank : outputs_->ranks) rank = MAX_RANK_DYNAMIC;
    pointers_.resize(types_.size());
    results_.resize(types_.size());
    for (const Tensor* input : inputs) data_.push_back(input ? input->data() : nullptr);
  }

  std::vector<Ref<Tensor>> run() {
    const Ref<Prepared> state = stateOf(op_, node_, constantInputs());
    const Ref<Storage> scratch = allocate(scratch_);
    const Ref<MaxDevice> device = hostDevice();
    MaxOperatorCall call = callOf(*device, inputs_, *outputs_, scratch_);
    call.inputs = data_.data();
    call.outputs = pointers_.data();
    call.scratch = scratch_ > 0 ? scratch->data() : nullptr;
    call.lanes = 1;
    callExecute(op_, {node_, types_.size(), device.get()}, state.get(), call, this);
    for (size_t i = 0; i < results_.size(); ++i)
      require(results_[i] || !isWanted(i), MAX_STATUS_FAILED_PRECONDITION, node_.description(), ", extension '",
              op_.extension, "': execute did not allocate output ", i);
    if (guardian_) checkGuards(*scratch);
    return std::move(results_);
  }

  void* make(size_t output, const Shape& shape) override {
    const bool isOptional = op_.functions.maxOutputs > 0 && output < static_cast<size_t>(op_.functions.maxOutputs);
    require(output < types_.size() || isOptional, MAX_STATUS_OUT_OF_RANGE, "Output ", output,
            " does not exist; there are ", types_.size());
    if (!isWanted(output)) return nullptr;
    require(!results_[output], MAX_STATUS_FAILED_PRECONDITION, "Output ", output, " is already allocated");
    const TensorType& type = types_[output];
    bool fits = !type.ranked || type.rank() == shape.rank();
    for (int i = 0; fits && type.ranked && i < shape.rank(); ++i) {
      const Dim& dim = type.dims[static_cast<size_t>(i)];
      fits = !dim.isKnown() || dim.value() == shape[i];
    }
    if (!fits) invalidArgument("Output ", output, " cannot have the shape ", shape, "; infer set ", type);
    const Ref<Storage> memory = allocate(bytesFor(type.dtype, shape.count()));
    results_[output] = makeRef<Tensor>(type.dtype, shape, memory->data(), memory);
    show(output, *results_[output]);
    return pointers_[output];
  }

 private:
  Ref<Storage> allocate(size_t bytes) const {
    if (!guardian_) return allocateStorage(bytes);
    Ref<Storage> memory = allocateStorage(checkedAdd(bytes, kGuardBytes));
    guardian_->setGuard(static_cast<std::byte*>(memory->data()) + bytes);
    return memory;
  }

  void checkGuards(const Storage& scratch) const {
    guardian_->checkGuard(node_, -1, static_cast<const std::byte*>(scratch.data()) + scratch_);
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i])
        guardian_->checkGuard(node_, static_cast<int>(i),
                              static_cast<const std::byte*>(results_[i]->data()) + results_[i]->bytes());
  }

  static std::vector<Operand> operandsOf(std::span<const Tensor* const> inputs) {
    std::vector<Operand> operands(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) operands[i] = {inputs[i]->dtype(), inputs[i]->shape(), nullptr};
    return operands;
  }

  bool isWanted(size_t output) const { return output < node_.outputs.size() && node_.outputs[output]; }

  void takeOutputs(std::span<const Tensor* const> inputs) {
    std::vector<InputType> types(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i])
        types[i] = {true, TensorType::of(inputs[i]->dtype(), symbolic(inputs[i]->shape())), inputs[i], nullptr};
    for (const InferContext::Output& output : inferNode(node_, nullptr, types)) types_.push_back(output.type);
    InferContext context(node_, nullptr, types, types_.size());
    for (size_t i = 0; i < types_.size(); ++i) context.setDType(i, types_[i].dtype);
    MaxShapeContext shapes = shapesOf(op_, context);
    callInfer(op_, context, shapes);
    scratch_ = shapes.scratch;
    for (size_t i = 0; i < types_.size(); ++i) {
      types_[i] = context.outputs()[i].type;
      openOutputs_.push_back({isWanted(i) ? types_[i].dtype : DType::Invalid, {}, nullptr});
    }
  }

  std::vector<const Tensor*> constantInputs() const {
    std::vector<const Tensor*> constants;
    for (const Value* input : node_.inputs) {
      const bool isKnown = input && input->constant && input->constant->hasContents();
      constants.push_back(isKnown ? input->constant.get() : nullptr);
    }
    return constants;
  }

  // The call sees what was made.
  void show(size_t output, Tensor& tensor) {
    pointers_[output] = tensor.count() > 0 ? tensor.mutableData() : nullptr;
    outputs_->ranks[output] = tensor.shape().rank();
    outputs_->shapes[output] = tensor.shape();
    outputs_->counts[output] = tensor.count();
  }

  const ExtensionOperator& op_;
  const Node& node_;
  const std::vector<Operand> operands_;
  const Operands inputs_;
  std::vector<TensorType> types_;
  std::vector<Operand> openOutputs_;
  std::optional<Operands> outputs_;
  std::vector<const void*> data_;
  std::vector<void*> pointers_;
  std::vector<Ref<Tensor>> results_;
  size_t scratch_ = 0;
  const RunMonitor* const guardian_ = guardian();
};

}  // namespace

std::vector<Ref<Tensor>> runMaking(const Node& node, std::span<const Tensor* const> inputs) {
  return MakingRun(node, inputs).run();
}

}  // namespace max
