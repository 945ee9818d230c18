// SPDX-License-Identifier: Apache-2.0
#include "executor/model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/active_call.h"
#include "base/error.h"
#include "base/fork_lock.h"
#include "base/log.h"
#include "executor/small_array.h"

namespace max {

namespace {

Interrupt interruptOf(const CallOptions& options) {
  require(options.timeoutNs >= 0, MAX_STATUS_INVALID_ARGUMENT, "timeoutNs is ", options.timeoutNs,
          "; it must be at least 0");
  return Interrupt(options.cancellation ? &options.cancellation->flag() : nullptr, options.timeoutNs);
}

}  // namespace

}  // namespace max

// Outputs of one call: given buffers, or pooled ones.
class MaxModel::CallOutputs final : public max::OutputProvider {
 public:
  CallOutputs(const MaxModel& model, MaxStream& stream, MaxBuffer* const* given)
      : model_(model), stream_(stream), given_(given), made_(model.outputs().size()) {}

  void* provide(size_t index, max::DType dtype, const max::Shape& shape) override {
    if (max::holdsPointers(dtype)) return provideObject(index, dtype, shape);
    max::Ref<MaxBuffer>& buffer = made_.span()[index];
    if (given_ && given_[index]) {
      max::checkOutputType(model_.outputs()[index], index, *given_[index], dtype, shape);
      buffer = max::Ref<MaxBuffer>(given_[index]);
    } else {
      buffer = allocate(index, dtype, shape);
    }
    return buffer->data();
  }

  std::span<max::Ref<MaxBuffer>> buffers() { return made_.span(); }
  void release() noexcept {
    for (max::Ref<MaxBuffer>& buffer : made_.span()) buffer.reset();
  }
  // What strings and objects point at survives the call then.
  void own() {
    for (size_t i = 0; i < objects_.size(); ++i) {
      if (!objects_[i]) continue;
      objects_[i] = max::selfContained(*objects_[i]);
      if (objects_[i]->dtype() == max::DType::String) made_.span()[i] = MaxBuffer::fromTensor(stream_, *objects_[i]);
    }
  }
  void handOver(std::span<MaxBuffer*> results) {
    for (size_t i = 0; i < objects_.size(); ++i)
      if (objects_[i] && max::isObject(objects_[i]->dtype()))
        max::invalidArgument("Output ", i, " ('", model_.outputs()[i].name(), "') is a ", objects_[i]->dtype(),
                             ", which maxModelExecuteValues returns");
    for (size_t i = 0; i < results.size(); ++i) results[i] = made_.span()[i].detach();
  }
  void handOver(std::span<MaxValue*> results) {
    std::vector<max::Ref<MaxValue>> values;
    for (size_t i = 0; i < results.size(); ++i) {
      const bool isObject = i < objects_.size() && objects_[i];
      values.push_back(isObject ? MaxValue::of(stream_, *objects_[i]) : max::makeRef<MaxValue>(made_.span()[i]));
    }
    for (size_t i = 0; i < results.size(); ++i) results[i] = values[i].detach();
  }

 private:
  // A failure names the output.
  max::Ref<MaxBuffer> allocate(size_t index, max::DType dtype, const max::Shape& shape) {
    try {
      if (&stream_ == &model_.device().defaultStream()) return model_.pools_[index]->take(stream_, dtype, shape);
      return MaxBuffer::allocate(stream_, dtype, shape);
    } catch (const max::Error& error) {
      max::fail(error.status(), "Output '", model_.outputs()[index].name(), "' (", dtype, shape,
                "): ", error.message());
    }
  }

  void* provideObject(size_t index, max::DType dtype, const max::Shape& shape) {
    if (given_ && given_[index])
      max::invalidArgument("Output ", index, " ('", model_.outputs()[index].name(), "') is ", dtype,
                           ", which cannot be written to a given buffer");
    objects_.resize(made_.span().size());
    objects_[index] = max::Tensor::allocate(dtype, shape);
    return objects_[index]->mutableData();
  }

  const MaxModel& model_;
  MaxStream& stream_;
  MaxBuffer* const* given_;
  max::SmallArray<max::Ref<MaxBuffer>> made_;
  std::vector<max::Ref<max::Tensor>> objects_;  // outputs that hold pointers, by position
};

MaxModel::MaxModel(max::Ref<MaxSession> session, Parts parts)
    : session_(std::move(session)),
      parts_(std::move(parts)),
      name_(parts_.graph->name()),
      program_(std::move(parts_.graph), session_->runSettings()),
      usesObjects_(program_.program().usesObjects()) {
  for (size_t i = 0; i < outputs().size(); ++i) pools_.push_back(max::makeRef<max::OutputPool>());
  findEqualDims();
  keptOfDevice_.emplace(device().kept(), *this, *this);
  if (max::MemoryAccount* memory = session_->memory()) keptOfSession_.emplace(memory->kept(), *this, *this);
}

MaxModel::~MaxModel() {
  for (const max::Ref<max::OutputPool>& pool : pools_) pool->close();
}

void MaxModel::findEqualDims() {
  std::map<std::string, std::pair<size_t, int>> first;
  for (size_t i = 0; i < inputs().size(); ++i)
    for (size_t d = 0; d < inputs()[i].dims().size(); ++d) {
      const char* name = inputs()[i].dimName(d);
      if (!name) continue;
      const auto [entry, isNew] = first.try_emplace(name, i, static_cast<int>(d));
      if (!isNew) equalDims_.push_back({entry->second.first, i, entry->second.second, static_cast<int>(d)});
    }
}

MaxStream& MaxModel::streamOf(const max::CallOptions& options) const {
  MaxStream& used = options.stream ? *options.stream : device().defaultStream();
  if (&used.device() != &device())
    max::invalidArgument("Stream belongs to ", used.device().displayName(), ", the model runs on ",
                         device().displayName());
  return used;
}

MaxStream& MaxModel::prepare(std::span<const max::TensorArg> arguments, const max::CallOptions& options,
                             size_t outputCount) const {
  checkOutputCount(outputCount);
  if (options.given) checkGiven(arguments, {options.given, outputs().size()});
  return streamOf(options);
}

namespace {

void addReads(max::AccessScope& access, const MaxBuffer& buffer) { access.reads(buffer); }
void addReads(max::AccessScope& access, const MaxValue& value) { value.addReads(access); }

}  // namespace

template <class Inputs>
void MaxModel::order(max::AccessScope& access, const Inputs& inputs, const max::CallOptions& options,
                     const max::Interrupt& interrupt) const {
  std::optional<max::ActiveCallScope> scope;
  max::ActiveCall call;
  if (!interrupt.isEmpty()) {
    call.interrupt = &interrupt;
    scope.emplace(&call);
  }
  for (const auto* input : inputs) addReads(access, *input);
  for (size_t i = 0; options.given && i < outputs().size(); ++i)
    if (options.given[i]) access.writes(*options.given[i]);
}

void MaxModel::execute(std::span<MaxBuffer* const> buffers, const max::CallOptions& options,
                       std::span<MaxBuffer*> results) const {
  const max::Interrupt interrupt = max::interruptOf(options);
  checkInputCount(buffers.size());
  max::SmallArray<max::TensorArg> arguments(buffers.size());
  readInputs(buffers, arguments.span());
  MaxStream& used = prepare(arguments.span(), options, results.size());
  interrupt.check();
  if (usesObjects()) requireTensorOutputs();
  max::AccessScope access(used);
  order(access, buffers, options, interrupt);
  CallOutputs made(*this, used, options.given);
  if (used.runsInline())
    runHere(interrupt, arguments.span(), made);
  else
    runQueued(used, buffers, arguments.span(), made, options, interrupt);
  made.handOver(results);
}

namespace {

// The wait ends with the call.
void waitFor(MaxStream& stream, const max::Interrupt& interrupt) {
  max::ActiveCall call;
  if (!interrupt.isEmpty()) call.interrupt = &interrupt;
  const max::ActiveCallScope scope(&call);
  stream.waitUntilIdle();
}

}  // namespace

namespace max {

namespace {

// Kernels rely on elements at multiples of their size.
std::vector<Ref<Tensor>> alignedCopies(std::span<TensorArg> arguments) {
  std::vector<Ref<Tensor>> copies;
  for (TensorArg& argument : arguments) {
    if (isAlignedFor(argument.dtype, argument.data)) continue;
    copies.push_back(Tensor::copyOf(argument.dtype, Shape(argument.dims), argument.data));
    argument.data = copies.back()->data();
  }
  return copies;
}

}  // namespace

}  // namespace max

void MaxModel::executeValues(std::span<MaxValue* const> values, const max::CallOptions& options,
                             std::span<MaxValue*> results) const {
  const max::Interrupt interrupt = max::interruptOf(options);
  checkInputCount(values.size());
  max::SmallArray<max::TensorArg> arguments(values.size());
  readValues(values, arguments.span());
  MaxStream& used = prepare(arguments.span(), options, results.size());
  interrupt.check();
  max::AccessScope access(used);
  order(access, values, options, interrupt);
  CallOutputs made(*this, used, options.given);
  waitFor(used, interrupt);
  runHere(interrupt, arguments.span(), made);
  made.handOver(results);
}

void MaxModel::executeHost(const max::HostInputs& host, const max::CallOptions& options,
                           std::span<MaxBuffer*> results) const {
  const max::Interrupt interrupt = max::interruptOf(options);
  checkInputCount(host.count);
  max::SmallArray<max::TensorArg> arguments(host.count);
  readHost(host, arguments.span());
  MaxStream& used = prepare(arguments.span(), options, results.size());
  interrupt.check();
  if (usesObjects()) requireTensorOutputs();
  const std::vector<max::Ref<max::Tensor>> copies = max::alignedCopies(arguments.span());
  max::AccessScope access(used);
  order(access, std::span<MaxBuffer* const>(), options, interrupt);
  CallOutputs made(*this, used, options.given);
  if (!used.runsInline()) waitFor(used, interrupt);
  runHere(interrupt, arguments.span(), made);
  made.handOver(results);
}

void MaxModel::runHere(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                       max::RunMonitor* monitor) const {
  if (!usesObjects()) return runPlain(interrupt, arguments, outputs, monitor);
  const max::PoolScope scope;
  runPlain(interrupt, arguments, outputs, monitor);
}

template <class Work>
void MaxModel::withinLimit(CallOutputs& outputs, Work&& work) const {
  if (!session_->memory()) return work();
  try {
    return work();
  } catch (const max::Error& error) {
    if (error.status() != MAX_STATUS_RESOURCE_EXHAUSTED) throw;
    max::logMessage(MAX_LOG_LEVEL_WARNING, "Model '", name_, "': ", error.message(),
                    "; trying again without the plans for other shapes");
  }
  outputs.release();
  trim(max::Kept::All);
  work();
}

void MaxModel::runPlain(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments,
                        CallOutputs& outputs, max::RunMonitor* monitor) const {
  max::RunSetup setup(*session_, name_, interrupt);
  if (monitor) setup.add(*monitor);
  const max::ActiveCallScope scope(setup.call());
  withinLimit(outputs, [&] {
    program_.run(arguments, outputs);
    outputs.own();
  });
}

namespace {

// A call that waits in a stream: everything it needs, held until it is done.
struct QueuedCall final : max::OutputProvider {
  QueuedCall(const MaxModel& callee, const std::string& name, const max::CallOptions& options,
             const max::Interrupt& stop)
      : model(&callee), modelName(name), cancellation(options.cancellation), interrupt(stop) {}
  ~QueuedCall() {
    if (context) model->program().giveBack(std::move(context));
  }

  void* provide(size_t index, max::DType, const max::Shape&) override { return outputs[index]->data(); }
  void run() {
    std::vector<max::TensorArg> arguments;
    for (const max::Ref<MaxBuffer>& input : inputs)
      arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
    interrupt.check();
    const max::RunSetup setup(model->session(), modelName, interrupt);
    const max::ActiveCallScope scope(setup.call());
    model->program().execute(*context, arguments, *this);
  }

  max::Ref<const MaxModel> model;
  const std::string& modelName;
  max::Ref<const MaxCancellation> cancellation;  // the interrupt looks at it
  const max::Interrupt interrupt;
  std::vector<max::Ref<MaxBuffer>> inputs, outputs;
  std::unique_ptr<max::RunContext> context;
};

}  // namespace

void MaxModel::runQueued(MaxStream& stream, std::span<MaxBuffer* const> buffers,
                         std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                         const max::CallOptions& options, const max::Interrupt& interrupt) const {
  stream.check();
  const max::RunSetup setup(*session_, name_, interrupt, false);
  const max::ActiveCallScope scope(setup.call());
  auto call = std::make_shared<QueuedCall>(*this, name_, options, interrupt);
  bool runsLater = false;
  withinLimit(outputs, [&] {
    call->context.reset();
    call->context = program_.acquire(arguments);
    const max::Plan& plan = *call->context->plan;
    runsLater = plan.boundary.kind == max::Boundary::End && !usesObjects();
    if (!runsLater) return;
    for (const max::PlannedOutput& output : plan.outputs) outputs.provide(output.index, output.dtype, output.shape);
  });
  if (!runsLater) {
    waitFor(stream, interrupt);
    call.reset();
    return runHere(interrupt, arguments, outputs);
  }
  for (MaxBuffer* buffer : buffers) call->inputs.emplace_back(buffer);
  for (const max::Ref<MaxBuffer>& buffer : outputs.buffers()) call->outputs.push_back(buffer);
  stream.submit([call] { call->run(); });
}

max::Ref<max::CapturedGraph> MaxModel::findCaptured(uint64_t key) const {
  const std::lock_guard lock(max::forkSafeMutex(this));
  const auto entry = captured_.find(key);
  return entry == captured_.end() ? nullptr : entry->second;
}

max::Ref<max::CapturedGraph> MaxModel::requireCaptured(uint64_t key, std::span<MaxBuffer* const> buffers) const {
  max::Ref<max::CapturedGraph> graph = findCaptured(key);
  max::require(static_cast<bool>(graph), MAX_STATUS_NOT_FOUND, "No graph was captured with key ", key);
  graph->checkInputs(buffers, MAX_STATUS_INVALID_ARGUMENT, key);
  return graph;
}

max::Ref<max::CapturedGraph> MaxModel::captureNew(std::span<MaxBuffer* const> buffers,
                                                  const max::CallOptions& options) const {
  std::vector<max::TensorArg> arguments;
  for (const MaxBuffer* buffer : buffers)
    arguments.push_back({buffer->dtype(), buffer->shape().dims(), buffer->data()});
  std::unique_ptr<max::RunContext> context = program_.acquire(arguments);
  const max::Boundary& boundary = context->plan->boundary;
  max::require(boundary.kind == max::Boundary::End, MAX_STATUS_FAILED_PRECONDITION,
               boundary.node ? boundary.node->node->description() : std::string("Model"),
               ": the call cannot be captured, since the following steps depend on values");
  std::vector<max::Ref<MaxBuffer>> inputs, outputs(this->outputs().size());
  for (MaxBuffer* buffer : buffers) inputs.emplace_back(buffer);
  for (const max::PlannedOutput& output : context->plan->outputs) {
    MaxBuffer* given = options.given ? options.given[output.index] : nullptr;
    if (given) max::checkOutputType(this->outputs()[output.index], output.index, *given, output.dtype, output.shape);
    outputs[output.index] =
        given ? max::Ref<MaxBuffer>(given) : MaxBuffer::allocate(device().defaultStream(), output.dtype, output.shape);
  }
  return max::makeRef<max::CapturedGraph>(program_, std::move(context), std::move(inputs), std::move(outputs));
}

void MaxModel::capture(uint64_t key, std::span<MaxBuffer* const> buffers, const max::CallOptions& options,
                       std::span<MaxBuffer*> results) const {
  max::require(!buffers.empty(), MAX_STATUS_INVALID_ARGUMENT, "A call without inputs cannot be captured");
  max::require(!usesObjects(), MAX_STATUS_UNIMPLEMENTED,
               "Calls of models with strings, sequences or optionals cannot be captured");
  checkInputCount(buffers.size());
  max::SmallArray<max::TensorArg> arguments(buffers.size());
  readInputs(buffers, arguments.span());
  const max::Interrupt interrupt = max::interruptOf(options);
  MaxStream& stream = prepare(arguments.span(), options, results.size());
  max::Ref<max::CapturedGraph> graph = findCaptured(key);
  if (graph) graph->checkInputs(buffers, MAX_STATUS_ALREADY_EXISTS, key);
  max::AccessScope access(stream);
  order(access, buffers, options, interrupt);
  if (graph) graph->addWrites(access);
  waitFor(stream, interrupt);
  {
    const max::RunSetup setup(*session_, name_, interrupt);
    const max::ActiveCallScope scope(setup.call());
    if (!graph) graph = captureNew(buffers, options);
    graph->replay();
  }
  {
    const std::lock_guard lock(max::forkSafeMutex(this));
    const auto [entry, isNew] = captured_.try_emplace(key, graph);
    max::require(isNew || entry->second == graph, MAX_STATUS_ALREADY_EXISTS, "Graph ", key,
                 " was captured by another thread meanwhile");
  }
  for (size_t i = 0; i < results.size(); ++i) results[i] = max::Ref<MaxBuffer>(graph->outputs()[i]).detach();
}

void MaxModel::replay(uint64_t key, std::span<MaxBuffer* const> buffers, const max::CallOptions& options) const {
  const max::Ref<max::CapturedGraph> graph = requireCaptured(key, buffers);
  const max::Interrupt interrupt = max::interruptOf(options);
  MaxStream& stream = streamOf(options);
  max::AccessScope access(stream);
  order(access, buffers, options, interrupt);
  graph->addWrites(access);
  stream.submit([graph, interrupt, model = max::Ref<const MaxModel>(this),
                 cancellation = max::Ref<const MaxCancellation>(options.cancellation)] {
    interrupt.check();
    const max::RunSetup setup(*model->session_, model->name_, interrupt);
    const max::ActiveCallScope scope(setup.call());
    graph->replay();
  });
}

void MaxModel::verifyReplay(uint64_t key, std::span<MaxBuffer* const> buffers, const max::CallOptions& options) const {
  const max::Ref<max::CapturedGraph> graph = requireCaptured(key, buffers);
  const max::Interrupt interrupt = max::interruptOf(options);
  MaxStream& stream = streamOf(options);
  max::AccessScope access(stream);
  order(access, buffers, options, interrupt);
  waitFor(stream, interrupt);
  max::require(graph->plan().program == program_.current(), MAX_STATUS_FAILED_PRECONDITION, "Graph ", key,
               " uses weights that were replaced since it was captured");
  std::vector<max::TensorArg> arguments;
  for (const MaxBuffer* buffer : buffers)
    arguments.push_back({buffer->dtype(), buffer->shape().dims(), buffer->data()});
  max::TraceMonitor trace;
  CallOutputs made(*this, device().defaultStream(), nullptr);
  runHere(interrupt, arguments, made, &trace);
  graph->compare(trace.steps(), key);
}

void MaxModel::forgetCaptured(uint64_t key) const {
  max::Ref<max::CapturedGraph> graph;
  const std::lock_guard lock(max::forkSafeMutex(this));
  const auto entry = captured_.find(key);
  max::require(entry != captured_.end(), MAX_STATUS_NOT_FOUND, "No graph was captured with key ", key);
  graph = std::move(entry->second);
  captured_.erase(entry);
}
