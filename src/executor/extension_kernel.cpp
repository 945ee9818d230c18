// SPDX-License-Identifier: Apache-2.0
#include "executor/extension_kernel.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

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

void infer(const ExtensionOperator& op, InferContext& context, MaxShapeContext& shapes) {
  const MaxOperatorNode node{context.node(), context.outputCount()};
  const FrameScope scope;
  const MaxStatus status = op.functions.infer(op.functions.userData, &node, &shapes);
  if (status != MAX_STATUS_OK) failIn(op, context.node(), "infer", status, scope.message());
}

MaxShapeContext shapesOf(const ExtensionOperator& op, InferContext& context) {
  const int32_t most = op.functions.maxOutputs;
  return {context, std::max(context.outputCount(), most < 0 ? SIZE_MAX : static_cast<size_t>(most))};
}

void requireNumbers(const ExtensionOperator& op, const InferContext& context) {
  for (size_t i = 0; i < context.inputCount(); ++i)
    if (holdsPointers(context.dtype(i)))
      context.fail("extension '", op.extension, "': input ", i, " is ", context.input(i).type,
                   "; operators of extensions work on tensors of numbers");
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
      context.fail("extension '", op.extension, "': infer does not tell the type of output ", i);
    if (isAll && !isLate && !isConcrete(type))
      context.fail("extension '", op.extension, "': infer leaves the shape of output ", i,
                   " open, though all that it needs is known");
  }
}

// Made once for a node; its calls share it.
class State final : public Prepared {
 public:
  State(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants) : op_(op) {
    const MaxOperatorNode view{node, node.outputs.size(), constants};
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

Ref<Prepared> prepareExtension(const Node& node, std::span<const Tensor* const> constants) {
  return makeRef<State>(extensionOperatorOf(node), node, constants);
}

// The node's, or one for this kernel alone: loads prepare no more than fits.
Ref<Prepared> stateOf(const ExtensionOperator& op, const Node& node, std::span<const Tensor* const> constants) {
  if (!op.functions.prepare) return nullptr;
  if (node.prepared) return node.prepared;
  return makeRef<State>(op, node, constants);
}

void* pointerOf(const Ref<Prepared>& state) { return state ? static_cast<const State&>(*state).get() : nullptr; }

std::vector<const Tensor*> constantsOf(std::span<const Operand> inputs) {
  std::vector<const Tensor*> constants;
  for (const Operand& input : inputs)
    constants.push_back(input.constant && input.constant->hasContents() ? input.constant : nullptr);
  return constants;
}

// Types and shapes of a call's inputs or outputs, in the form that C sees.
struct Operands {
  std::vector<MaxDType> dtypes;
  std::vector<int32_t> ranks;
  std::vector<Shape> shapes;
  std::vector<const int64_t*> dims;
  std::vector<int64_t> counts;

  explicit Operands(std::span<const Operand> operands) {
    for (const Operand& operand : operands) {
      dtypes.push_back(static_cast<MaxDType>(operand.dtype));
      ranks.push_back(operand.shape.rank());
      shapes.push_back(operand.shape);
      counts.push_back(operand.present() ? operand.shape.count() : 0);
    }
    for (const Shape& shape : shapes) dims.push_back(shape.data());
  }
  int32_t count() const { return static_cast<int32_t>(dtypes.size()); }
};

MaxOperatorCall callOf(const Operands& inputs, const Operands& outputs, size_t scratch) {
  MaxOperatorCall call = MAX_OPERATOR_CALL_INIT;
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

void execute(const ExtensionOperator& op, const MaxOperatorNode& node, void* state, const MaxOperatorCall& call,
             OutputMaker* maker = nullptr) {
  const FrameScope scope(&call, maker);
  const MaxStatus status = op.functions.execute(op.functions.userData, &node, state, &call);
  if (status != MAX_STATUS_OK) failIn(op, node.node, "execute", status, scope.message());
}

size_t scratchOf(const ExtensionOperator& op, const KernelRequest& request) {
  std::vector<InputType> types(request.inputs.size());
  for (size_t i = 0; i < types.size(); ++i)
    if (const Operand& input = request.inputs[i]; input.present())
      types[i] = {true, TensorType::of(input.dtype, symbolic(input.shape)), input.constant, nullptr};
  InferContext context(request.node, nullptr, types, request.outputs.size());
  MaxShapeContext shapes = shapesOf(op, context);
  infer(op, context, shapes);
  return shapes.scratch;
}

class ExtensionKernel final : public Kernel {
 public:
  ExtensionKernel(const ExtensionOperator& op, const KernelRequest& request)
      : op_(op),
        node_{request.node, request.outputs.size()},
        inputs_(request.inputs),
        outputs_(request.outputs),
        state_(stateOf(op, request.node, constantsOf(request.inputs))),
        call_(callOf(inputs_, outputs_, scratchOf(op, request))) {}

  void run(const KernelContext& context) const override {
    MaxOperatorCall call = call_;
    call.inputs = context.inputs;
    call.outputs = context.outputs;
    call.scratch = call.scratchSize > 0 ? context.scratch : nullptr;
    call.lanes = context.lanes;
    execute(op_, node_, pointerOf(state_), call);
  }
  size_t scratchBytes() const override { return call_.scratchSize; }

 private:
  const ExtensionOperator& op_;
  const MaxOperatorNode node_;
  const Operands inputs_, outputs_;
  const Ref<Prepared> state_;
  const MaxOperatorCall call_;
};

std::unique_ptr<Kernel> createExtensionKernel(const KernelRequest& request) {
  return std::make_unique<ExtensionKernel>(extensionOperatorOf(request.node), request);
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
    const Ref<Storage> scratch = allocateStorage(scratch_);
    MaxOperatorCall call = callOf(inputs_, *outputs_, scratch_);
    call.inputs = data_.data();
    call.outputs = pointers_.data();
    call.scratch = scratch_ > 0 ? scratch->data() : nullptr;
    call.lanes = 1;
    execute(op_, {node_, types_.size()}, pointerOf(state), call, this);
    for (size_t i = 0; i < results_.size(); ++i)
      require(results_[i] || !isWanted(i), MAX_STATUS_INTERNAL, node_.description(), ", extension '", op_.extension,
              "': execute has not made output ", i);
    return std::move(results_);
  }

  void* make(size_t output, const Shape& shape) override {
    const bool isOptional = op_.functions.maxOutputs > 0 && output < static_cast<size_t>(op_.functions.maxOutputs);
    require(output < types_.size() || isOptional, MAX_STATUS_OUT_OF_RANGE, "Output ", output,
            " does not exist; there are ", types_.size());
    if (!isWanted(output)) return nullptr;
    require(!results_[output], MAX_STATUS_FAILED_PRECONDITION, "Output ", output, " has been made already");
    const TensorType& type = types_[output];
    bool fits = !type.ranked || type.rank() == shape.rank();
    for (int i = 0; fits && type.ranked && i < shape.rank(); ++i) {
      const Dim& dim = type.dims[static_cast<size_t>(i)];
      fits = !dim.isKnown() || dim.value() == shape[i];
    }
    if (!fits) invalidArgument("Output ", output, " cannot have the shape ", shape, "; infer told ", type);
    results_[output] = Tensor::allocate(type.dtype, shape);
    show(output, *results_[output]);
    return pointers_[output];
  }

 private:
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
    infer(op_, context, shapes);
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
};

std::vector<Ref<Tensor>> runMaking(const Node& node, std::span<const Tensor* const> inputs) {
  return MakingRun(node, inputs).run();
}

constexpr Implementation kImplementations[] = {{"extension", nullptr, createExtensionKernel}};

}  // namespace

void inferExtension(InferContext& context) {
  const ExtensionOperator& op = extensionOperatorOf(context.node());
  requireNumbers(op, context);
  MaxShapeContext shapes = shapesOf(op, context);
  infer(op, context, shapes);
  requireOutputs(op, context);
  // Whatever `infer` promises, `execute` makes the outputs, so that nobody may make them for it.
  if (op.functions.traits & MAX_OPERATOR_TRAITS_DATA_DEPENDENT)
    for (size_t i = 0; i < context.outputCount(); ++i)
      if (isConcrete(context.outputs()[i].type)) context.setOutput(i, TensorType::unranked(DType::Invalid));
}

OpKernels kernelsOf(const ExtensionOperator& op) {
  const bool makesOutputs = op.functions.traits & MAX_OPERATOR_TRAITS_DATA_DEPENDENT;
  OpKernels kernels{op.domain, op.name, {}, nullptr, nullptr};
  if (makesOutputs)
    kernels.dynamic = runMaking;
  else
    kernels.implementations = kImplementations;
  if (op.functions.prepare) kernels.prepare = prepareExtension;
  return kernels;
}

std::string* extensionMessage() noexcept { return currentFrame ? &currentFrame->message : nullptr; }

OutputMaker* outputMakerOf(const MaxOperatorCall* call) noexcept {
  return currentFrame && currentFrame->call == call ? currentFrame->maker : nullptr;
}

}  // namespace max
