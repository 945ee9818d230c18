// SPDX-License-Identifier: Apache-2.0
#include "executor/planner.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/active_call.h"
#include "base/checked.h"
#include "base/load_budget.h"
#include "executor/draft.h"
#include "executor/run.h"
#include "executor/transfers.h"
#include "graph/schema.h"
#include "ops/agreement.h"
#include "ops/work.h"

namespace max {

namespace {

// Plans that follow each other in one run.
constexpr int kMaxPlanDepth = 1 << 14;

ValueStates statesOf(const Program& program, const Plan* before) {
  const size_t size = program.values().size();
  return before ? ValueStates(size, before->state.values) : ValueStates(size);
}

}  // namespace

Draft::Draft(const Program& source, uint32_t settings, const Plan* before)
    : program(source), values(statesOf(source, before)) {
  claimedOutputs.resize(program.main().outputs.size());
  plan = makeRef<Plan>();
  plan->settings = settings;
  plan->program = Ref<const Program>(&program);
}

ValueState& Draft::state(int value) {
  ValueState& state = values[value];
  if (state.known) return state;
  const Value& source = *program.values()[value];
  require(static_cast<bool>(source.constant), MAX_STATUS_INTERNAL, "Value '", source.name,
          "' is used before it is computed");
  state.known = true;
  state.dtype = source.constant->dtype();
  state.shape = source.constant->shape();
  state.constant = source.constant;
  state.stored = &source;
  state.root = value;
  return state;
}

namespace {

// Nodes with known inputs and small outputs are computed while planning.
constexpr size_t kMaxEvaluatedBytes = 64 << 10;
constexpr size_t kMaxContentBytes = 1 << 20;     // of a list that shapes depend on
constexpr uint64_t kMaxEvaluatedWork = 1 << 20;  // for one, and for all of a plan
constexpr uint64_t kMaxPlanWork = 1 << 24;

class Planner {
 public:
  explicit Planner(Draft& draft) : draft_(draft) {}

  void begin(std::span<const TensorArg> inputs) {
    const std::vector<int>& ids = draft_.program.inputs();
    require(inputs.size() == ids.size(), MAX_STATUS_INTERNAL, "Number of inputs differs from the program's");
    for (size_t i = 0; i < ids.size(); ++i) {
      const Value& declared = *draft_.program.values()[ids[i]];
      require(inputs[i].dtype != DType::Invalid, MAX_STATUS_INVALID_ARGUMENT, "Input '", declared.name, "' of graph '",
              draft_.program.graph().name(), "' is missing");
      if (!isDeclared(declared.type, inputs[i].dtype))
        invalidArgument("Input '", declared.name, "' of graph '", draft_.program.graph().name(), "' is ",
                        inputs[i].dtype, ", the graph takes ", declared.type);
      require(isCountable(Shape(inputs[i].dims)), MAX_STATUS_OUT_OF_RANGE, "Input '", declared.name,
              "': Size overflow: it has the shape ", Shape(inputs[i].dims));
      ValueState& state = define(ids[i], inputs[i].dtype, Shape(inputs[i].dims));
      state.location = {Location::Input, 0, i, nullptr};
      state.memory = draft_.inputMemory(i, inputs[i].dtype);
    }
    // Captured values come last and are checked first: they fix the symbols that the others must match.
    for (size_t i = ids.size(); i-- > 0;)
      if (const Value& declared = *draft_.program.values()[ids[i]]; !takesShape(declared.type, inputs[i].dims))
        invalidArgument("Input '", declared.name, "' of graph '", draft_.program.graph().name(), "' has the shape ",
                        Shape(inputs[i].dims), ", the graph takes ", declared.type);
    draft_.frames.push_back({&draft_.program.main()});
  }

  void resume(const Plan& before, std::span<const Ref<Tensor>> results) {
    draft_.frames = before.state.frames;
    draft_.claimedOutputs = before.state.claimedOutputs;
    draft_.dynamicCount = before.state.dynamicCount;
    draft_.plan->depth = before.depth + 1;
    require(draft_.plan->depth < kMaxPlanDepth, MAX_STATUS_RESOURCE_EXHAUSTED,
            before.boundary.node->node->description(), ": more than ", kMaxPlanDepth,
            " nodes produce shapes that depend on values");
    if (before.boundary.kind == Boundary::Contents)
      for (size_t i = 0; i < results.size(); ++i) {
        ValueState& state = define(before.boundary.values[i], results[i]->dtype(), results[i]->shape());
        state.constant = results[i];
      }
    else
      defineResults(before.boundary, results);
  }

  Ref<Plan> finish() {
    walk();
    bringBoundaryHome();
    layOut(draft_);
    draft_.plan->countBytes();
    return draft_.plan;
  }

 private:
  ValueState& define(int id, DType dtype, const Shape& shape) {
    ValueState& state = draft_.values[id];
    state = {};
    state.known = true;
    state.dtype = dtype;
    state.shape = shape;
    state.root = id;
    return state;
  }

  // The compiler relied on shapes: on numbers, and on names having the same number everywhere.
  bool takesShape(const TensorType& declared, std::span<const int64_t> dims) {
    if (!declared.ranked || isObject(declared.dtype)) return true;
    if (declared.dims.size() != dims.size()) return false;
    for (size_t i = 0; i < dims.size(); ++i) {
      const Dim dim = declared.dims[i];
      if (dim.isKnown() ? dim.value() != dims[i] : !bindSymbol(dim, dims[i])) return false;
    }
    return true;
  }

  bool bindSymbol(Dim dim, int64_t value) {
    if (dim.symbolName().empty() && !dim.isAnonymous()) return true;
    return symbols_.try_emplace(dim.expression(), value).first->second == value;
  }

  void defineResults(const Boundary& boundary, std::span<const Ref<Tensor>> results) {
    const NodeInfo& info = *boundary.node;
    requireAgreed(*info.node, boundary.expected, results);
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      const size_t number = draft_.dynamicCount++;
      if (info.outputs[i] != kNoValue)
        define(info.outputs[i], results[i]->dtype(), results[i]->shape()).location = {Location::Dynamic, 0, number,
                                                                                      nullptr};
    }
  }

  void walk() {
    while (!draft_.frames.empty()) {
      Frame& frame = draft_.frames.back();
      if (frame.next == frame.block->nodes.size())
        leaveBlock();
      else if (!visitNamed(frame.block->nodes[frame.next], frame))
        return;
    }
  }

  // Errors about sizes and memory lack the node's name.
  bool visitNamed(const NodeInfo& info, Frame& frame) {
    try {
      return visit(info, frame);
    } catch (const Error& error) {
      if (isStop(error.status()) || error.message().starts_with("node '")) throw;
      fail(error.status(), info.node->description(), ": ", error.message());
    }
  }

  // The If's outputs are those of the branch that was taken.
  void leaveBlock() {
    const Frame frame = draft_.frames.back();
    draft_.frames.pop_back();
    if (!frame.owner) return;
    for (size_t i = 0; i < frame.owner->outputs.size() && i < frame.block->outputs.size(); ++i) {
      const int output = frame.owner->outputs[i];
      if (output == kNoValue) continue;
      const ValueState& made = draft_.state(frame.block->outputs[i]);
      requireAgreed(*frame.owner->node, i, nullptr, made.dtype, made.shape);
      draft_.values[output] = made;
    }
  }

  // False if the plan ends here.
  bool visit(const NodeInfo& info, Frame& frame) {
    checkInterrupt();
    if (info.thenBranch) return enterBranch(info, frame);
    takeInputs(info);
    Inferred inferred = inferNode(*info.node, nullptr, inputTypes_);
    if (info.body) return stopAndRun(info, frame, std::move(inferred));
    if (!agreeOnOutputs(*info.node, inputs_, inferred, outputs_)) return stop(info, frame, std::move(inferred));
    if (!alias(info) && !evaluateNow(info, inferred)) addStep(info);
    ++frame.next;
    return true;
  }

  bool enterBranch(const NodeInfo& info, Frame& frame) {
    const ValueState& condition = draft_.state(info.inputs.at(0));
    require(condition.dtype == DType::Bool && condition.shape.count() == 1, MAX_STATUS_INVALID_ARGUMENT,
            info.node->description(), ": the condition must be one bool, not ", condition.dtype, condition.shape);
    if (!condition.constant) return stopForContents(info, {info.inputs[0]});
    const bool taken = *condition.constant->as<uint8_t>() != 0;
    ++frame.next;
    draft_.frames.push_back({taken ? info.thenBranch.get() : info.elseBranch.get(), 0, &info});
    return true;
  }

  void takeInputs(const NodeInfo& info) {
    inputTypes_.assign(info.inputs.size(), {});
    inputs_.assign(info.inputs.size(), {});
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      if (info.inputs[i] == kNoValue) continue;
      const ValueState& state = draft_.state(info.inputs[i]);
      // To the graph, a narrow value is float32.
      const bool isNarrow = draft_.program.values()[static_cast<size_t>(info.inputs[i])]->isNarrow;
      const DType dtype = isNarrow ? DType::Float32 : state.dtype;
      inputTypes_[i] = {true, TensorType::of(dtype, symbolic(state.shape)), state.constant.get(), nullptr};
      inputs_[i] = {dtype, state.shape, state.constant.get()};
    }
  }

  // The types in memory.
  void takeStoredTypes(const NodeInfo& info) {
    for (size_t i = 0; i < info.inputs.size(); ++i)
      if (info.inputs[i] != kNoValue) inputs_[i].dtype = draft_.state(info.inputs[i]).dtype;
  }

  bool alias(const NodeInfo& info) {
    const Node& node = *info.node;
    if (!node.schema->sharesInput() || node.schema->has(kTraitRandom) || info.outputs.at(0) == kNoValue) return false;
    for (size_t i = 1; i < info.outputs.size(); ++i)
      if (info.outputs[i] != kNoValue) return false;
    const ValueState source = draft_.state(info.inputs.at(0));
    ValueState& state = define(info.outputs[0], source.dtype, outputs_[0].shape);
    state.root = source.root;
    state.memory = source.memory;
    state.stored = source.stored;
    if (source.constant) state.constant = reshaped(*source.constant, state.shape);
    if (info.node->isOwn("Transfer")) moveHome(info);
    return true;
  }

  // The output of a Transfer is a copy of the input on another device, if the input is not there.
  void moveHome(const NodeInfo& info) {
    const RunSettings& settings = draft_.program.settings();
    const Memory memory = settings.memoryOf(info.node->output()->home.get());
    const ValueState& source = draft_.state(info.inputs[0]);
    if (!settings.accelerator || source.constant || source.memory == memory || source.shape.count() == 0 ||
        holdsPointers(source.dtype))
      return;
    const int copy = copyOf(info.inputs[0], memory);
    draft_.values[info.outputs[0]] = ValueState(draft_.values[copy]);
  }

  static Ref<const Tensor> reshaped(const Tensor& tensor, const Shape& shape) {
    if (tensor.shape() == shape) return Ref<const Tensor>(&tensor);
    return tensor.reshaped(shape);
  }

  bool evaluateNow(const NodeInfo& info, const Inferred& inferred) {
    if (info.node->schema->has(kTraitRandom)) return false;
    if (takeElements(info, inferred)) return true;
    size_t bytes = 0;
    for (const Operand& output : outputs_)
      if (output.present() && holdsPointers(output.dtype)) return false;  // of unknown size
    for (const Operand& output : outputs_)
      if (output.present()) bytes += bytesFor(output.dtype, output.shape.count());
    if (bytes > kMaxEvaluatedBytes) return false;
    std::vector<const Tensor*> tensors;
    for (const Operand& input : inputs_) {
      if (input.present() && !(input.constant && input.constant->hasContents())) return false;
      tensors.push_back(input.constant);
    }
    if (!takeWork(*info.node)) return false;
    const std::vector<Ref<Tensor>> results = evaluate(*info.node, tensors);
    for (size_t i = 0; i < info.outputs.size(); ++i)
      if (info.outputs[i] != kNoValue)
        define(info.outputs[i], results.at(i)->dtype(), results[i]->shape()).constant = results[i];
    return true;
  }

  // Long work runs as a step, which can be interrupted and uses all threads.
  bool takeWork(const Node& node) {
    const std::optional<uint64_t> work = estimateWork(node, inputs_, outputs_);
    if (!work || *work > kMaxEvaluatedWork || *work > workLeft_) return false;
    workLeft_ -= *work;
    return true;
  }

  // Contents that inference knows: of Shape, Size and values computed from them.
  bool takeElements(const NodeInfo& info, const Inferred& inferred) {
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      if (info.outputs[i] == kNoValue) continue;
      const auto& elements = inferred[i].elements;
      if (outputs_[i].dtype != DType::Int64 || !elements) return false;
      if (static_cast<int64_t>(elements->size()) != outputs_[i].shape.count()) return false;
      for (const Dim& dim : *elements)
        if (!dim.isKnown()) return false;
    }
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      if (info.outputs[i] == kNoValue) continue;
      Ref<Tensor> tensor = Tensor::allocate(DType::Int64, outputs_[i].shape);
      int64_t* values = static_cast<int64_t*>(tensor->mutableData());
      for (const Dim& dim : *inferred[i].elements) *values++ = dim.value();
      define(info.outputs[i], DType::Int64, outputs_[i].shape).constant = std::move(tensor);
    }
    return true;
  }

  // Values that are too large fail before their kernel allocates tables.
  void requireRoom() const {
    size_t bytes = 0;
    for (const Operand& output : outputs_)
      if (output.present()) bytes = checkedAdd(bytes, bytesFor(output.dtype, output.shape.count()));
    const MemoryLease lease(activeMemory(), bytes);
  }

  // Values that may lie in memory as bfloat16, if a fast kernel makes them.
  void narrowOutputs(const NodeInfo& info) {
    const auto isNarrow = [](const Value* value) { return value && value->isNarrow; };
    if (std::none_of(info.node->outputs.begin(), info.node->outputs.end(), isNarrow)) return;
    std::vector<Operand> narrow = outputs_;
    for (size_t i = 0; i < narrow.size(); ++i)
      if (isNarrow(info.node->output(i))) narrow[i].dtype = DType::BFloat16;
    if (draft_.program.settings().operators->isFast(requestOf(info, narrow))) outputs_ = std::move(narrow);
  }

  OpRequest requestOf(const NodeInfo& info, std::span<const Operand> outputs) const {
    return {*info.node, inputs_, outputs, draft_.program.lanes(), PlanSettings::of(draft_.plan->settings).kernels};
  }

  void addStep(const NodeInfo& info) {
    takeStoredTypes(info);
    narrowOutputs(info);
    const RunSettings& settings = draft_.program.settings();
    const bool onDevice = settings.accelerator && info.node->placed;
    const Memory memory = onDevice ? settings.memoryOf(info.node->home) : kHostMemory;
    for (size_t i = 0; i < info.outputs.size(); ++i)
      if (info.outputs[i] != kNoValue) define(info.outputs[i], outputs_[i].dtype, outputs_[i].shape).memory = memory;
    if (isDone(*info.node, outputs_)) return;
    requireRoom();
    const OpRequest request = requestOf(info, outputs_);
    std::unique_ptr<OpKernel> kernel =
        onDevice ? settings.accelerator->create(request) : settings.operators->create(request);
    std::vector<int> inputs = info.inputs;
    for (size_t i = 0; onDevice && i < inputs.size(); ++i)
      if (!settings.accelerator->reads(*info.node, i)) inputs[i] = kNoValue;
    if (settings.accelerator) inputs = broughtTo(memory, std::move(inputs));
    draft_.steps.push_back({std::move(kernel), info.node, std::move(inputs), info.outputs, info.place, memory});
  }

  // The values, or copies of them that steps make first, in one memory.
  std::vector<int> broughtTo(Memory memory, std::vector<int> values) {
    std::set<Memory> awaited;
    for (int& value : values) {
      if (value == kNoValue) continue;
      const ValueState& state = draft_.state(value);
      const bool isThere =
          state.constant ? memory == kHostMemory || draft_.copyIn(memory, state) : state.memory == memory;
      if (!isThere && state.shape.count() > 0) value = copyOf(value, memory);
      if (memory != kHostMemory) continue;
      const auto arriving = arriving_.find(draft_.values[value].root);
      if (arriving != arriving_.end()) awaited.insert(arriving->second);
    }
    for (const Memory from : awaited) awaitCopiesOf(from);
    return values;
  }

  void awaitCopiesOf(Memory from) {
    draft_.steps.push_back({makeWait(), nullptr, {}, {}, 0, from});
    std::erase_if(arriving_, [from](const auto& entry) { return entry.second == from; });
  }

  // One for all that need it in this plan. Views of one value have copies that are views of one.
  int copyOf(int value, Memory memory) {
    const auto [known, isNew] = copies_.try_emplace({value, memory}, kNoValue);
    if (!isNew) return known->second;
    ValueState copy = draft_.values[value];
    const Memory from = copy.memory;
    const Ref<const Tensor> constant = std::move(copy.constant);
    const int number = known->second = static_cast<int>(draft_.values.size());
    const auto [base, isFirst] = rootCopies_.try_emplace({constant ? value : copy.root, memory}, number);
    copy.root = base->second;
    copy.location = {};
    copy.memory = memory;
    copy.stored = nullptr;
    if (constant)
      draft_.fills.push_back({constant, number});
    else if (isFirst)
      addCopyStep(value, number, copy, from);
    draft_.values.push_back(std::move(copy));
    return number;
  }

  void addCopyStep(int from, int to, const ValueState& copy, Memory source) {
    if (copy.memory == kHostMemory) arriving_.insert({to, source});
    const size_t bytes = bytesFor(copy.dtype, copy.shape.count());
    const Memory runner = copy.memory == kHostMemory ? source : copy.memory;
    draft_.steps.push_back({makeCopy(bytes, source, copy.memory), nullptr, {from}, {to}, 0, runner, source});
  }

  // What decides how the run goes on is read on the host, and what a Transfer brought there may be read later.
  void bringBoundaryHome() {
    const Boundary& boundary = draft_.plan->boundary;
    const bool isOnHost = !draft_.program.settings().accelerator || boundary.kind == Boundary::End;
    draft_.boundaryValues = isOnHost ? boundary.values : broughtTo(kHostMemory, boundary.values);
    while (!arriving_.empty()) awaitCopiesOf(arriving_.begin()->second);
  }

  // Output shapes are unknown: contents are missing, or the node must run first.
  bool stop(const NodeInfo& info, Frame& frame, Inferred inferred) {
    if (!info.node->schema->has(kTraitDataDependent)) {
      std::vector<int> missing;
      for (size_t i = 0; i < inputs_.size() && i < 32; ++i)
        if ((info.node->schema->shapeInputs >> i & 1) && inputs_[i].present() && !inputs_[i].constant) {
          requireShort(*info.node, i);
          missing.push_back(info.inputs[i]);
        }
      if (!missing.empty()) return stopForContents(info, std::move(missing));
    }
    const OpRow* row = draft_.program.settings().operators->find(info.node->domain(), info.node->op());
    require(row && row->dynamic, MAX_STATUS_UNIMPLEMENTED, info.node->description(),
            ": output shapes that depend on values are not supported");
    draft_.plan->boundary.dynamic = row->dynamic;
    return stopAndRun(info, frame, std::move(inferred));
  }

  // Contents that shapes depend on distinguish plans, so each plan keeps its own.
  void requireShort(const Node& node, size_t input) const {
    const size_t bytes = bytesFor(inputs_[input].dtype, inputs_[input].shape.count());
    require(bytes <= kMaxContentBytes, MAX_STATUS_RESOURCE_EXHAUSTED, node.description(),
            ": its shapes depend on the contents of input ", input, ", which takes ", bytes, " bytes; at most ",
            kMaxContentBytes);
  }

  bool stopForContents(const NodeInfo& info, std::vector<int> values) {
    Boundary& boundary = draft_.plan->boundary;
    boundary.kind = Boundary::Contents;
    boundary.node = &info;
    boundary.values = std::move(values);
    return false;
  }

  bool stopAndRun(const NodeInfo& info, Frame& frame, Inferred inferred) {
    Boundary& boundary = draft_.plan->boundary;
    boundary.kind = Boundary::Node;
    boundary.node = &info;
    boundary.expected = std::move(inferred);
    boundary.values = info.inputs;
    boundary.values.insert(boundary.values.end(), info.captured.begin(), info.captured.end());
    for (int value : boundary.values)
      if (value != kNoValue) draft_.state(value);
    ++frame.next;
    return false;
  }

  Draft& draft_;
  std::vector<InputType> inputTypes_;
  std::vector<Operand> inputs_, outputs_;
  uint64_t workLeft_ = kMaxPlanWork;
  std::unordered_map<const DimExpression*, int64_t> symbols_;  // of the program's inputs
  std::map<std::pair<int, Memory>, int> copies_;               // by value: its copy in another memory
  std::map<std::pair<int, Memory>, int> rootCopies_;           // by the value whose memory was copied
  std::unordered_map<int, Memory> arriving_;  // roots of copies on the host that were not waited for: where from
};

}  // namespace

Ref<Plan> makePlan(const Program& program, std::span<const TensorArg> inputs, uint32_t settings) {
  Draft draft(program, settings);
  Planner planner(draft);
  planner.begin(inputs);
  return planner.finish();
}

Ref<Plan> continuePlan(const Program& program, const Plan& before, std::span<const Ref<Tensor>> results) {
  Draft draft(program, before.settings, &before);
  Planner planner(draft);
  planner.resume(before, results);
  return planner.finish();
}

}  // namespace max
