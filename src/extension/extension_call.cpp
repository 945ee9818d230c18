// SPDX-License-Identifier: Apache-2.0
#include "extension/extension_call.h"

#include <algorithm>
#include <utility>

#include "device/device_registry.h"

namespace max {

namespace {

// What a thread is doing for an extension.
struct Frame {
  std::string message;
  const MaxOperatorCall* call = nullptr;
  OutputMaker* maker = nullptr;
  Frame* outer = nullptr;
};
thread_local Frame* currentFrame = nullptr;

class FrameScope {
 public:
  explicit FrameScope(const MaxOperatorCall* call = nullptr, OutputMaker* maker = nullptr) {
    frame_.call = call;
    frame_.maker = maker;
    frame_.outer = currentFrame;
    currentFrame = &frame_;
  }
  FrameScope(const FrameScope&) = delete;
  ~FrameScope() { currentFrame = frame_.outer; }

  const std::string& message() const { return frame_.message; }

 private:
  Frame frame_;
};

[[noreturn]] void failIn(const ExtensionOperator& op, const Node& node, const char* function, MaxStatus status,
                         const std::string& message) {
  const bool isStatus = status > MAX_STATUS_OK && status <= MAX_STATUS_DATA_LOSS;
  fail(isStatus ? status : MAX_STATUS_UNKNOWN, node.description(), ", extension '", op.extension, "': ", function,
       message.empty() ? concat(" returned ", isStatus ? statusName(status) : std::to_string(status).c_str())
                       : concat(": ", message));
}

// Made once for a node; its calls share it.
class State final : public Prepared {
 public:
  State(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants) : op_(op) {
    const Ref<MaxDevice> device = hostDevice();
    const MaxOperatorNode view{node, node.outputs.size(), device.get(), constants};
    const FrameScope scope;
    const MaxStatus status = op.functions.prepare(op.functions.userData, &view, &state_);
    if (status == MAX_STATUS_OK) return;
    destroy();
    failIn(op, node, "prepare", status, scope.message());
  }
  ~State() override { destroy(); }

  void* get() const { return state_; }

 private:
  void destroy() {
    if (state_ && op_.functions.destroy) op_.functions.destroy(op_.functions.userData, state_);
  }

  const ExtensionOperator& op_;
  void* state_ = nullptr;
};

void* pointerOf(const Prepared* state) { return state ? static_cast<const State*>(state)->get() : nullptr; }

}  // namespace

Operands::Operands(std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    dtypes.push_back(static_cast<MaxDType>(operand.dtype));
    ranks.push_back(operand.shape.rank());
    shapes.push_back(operand.shape);
    counts.push_back(operand.present() ? operand.shape.count() : 0);
  }
  for (const Shape& shape : shapes) dims.push_back(shape.data());
}

MaxOperatorCall callOf(MaxDevice& device, const Operands& inputs, const Operands& outputs, size_t scratch) {
  MaxOperatorCall call = MAX_OPERATOR_CALL_INIT;
  call.device = &device;
  call.stream = &device.defaultStream();
  call.inputDTypes = inputs.dtypes.data();
  call.inputRanks = inputs.ranks.data();
  call.inputShapes = inputs.dims.data();
  call.inputElementCounts = inputs.counts.data();
  call.inputCount = inputs.count();
  call.outputDTypes = outputs.dtypes.data();
  call.outputRanks = outputs.ranks.data();
  call.outputShapes = outputs.dims.data();
  call.outputElementCounts = outputs.counts.data();
  call.outputCount = outputs.count();
  call.scratchSize = scratch;
  return call;
}

void callInfer(const ExtensionOperator& op, InferContext& context, MaxShapeContext& shapes) {
  const MaxOperatorNode node{context.node(), context.outputCount()};
  const FrameScope scope;
  const MaxStatus status = op.functions.infer(op.functions.userData, &node, &shapes);
  if (status != MAX_STATUS_OK) failIn(op, context.node(), "infer", status, scope.message());
}

MaxShapeContext shapesOf(const ExtensionOperator& op, InferContext& context) {
  const int32_t most = op.functions.maxOutputs;
  return {context, std::max(context.outputCount(), most < 0 ? SIZE_MAX : static_cast<size_t>(most))};
}

Ref<Prepared> callPrepare(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants) {
  return makeRef<State>(op, node, constants);
}

Ref<Prepared> stateOf(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants) {
  if (!op.functions.prepare) return nullptr;
  if (node.prepared) return node.prepared;
  return callPrepare(op, node, constants);
}

void callExecute(const ExtensionOperator& op, const MaxOperatorNode& node, const Prepared* state,
                 const MaxOperatorCall& call, OutputMaker* maker) {
  const FrameScope scope(&call, maker);
  const MaxStatus status = op.functions.execute(op.functions.userData, &node, pointerOf(state), &call);
  if (status != MAX_STATUS_OK) failIn(op, node.node, "execute", status, scope.message());
}

std::string* extensionMessage() noexcept { return currentFrame ? &currentFrame->message : nullptr; }

OutputMaker* outputMakerOf(const MaxOperatorCall* call) noexcept {
  return currentFrame && currentFrame->call == call ? currentFrame->maker : nullptr;
}

}  // namespace max
