// SPDX-License-Identifier: Apache-2.0
// Calls that are captured under a key, to be replayed.
#include "base/fork_lock.h"
#include "executor/model_call.h"

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

max::Ref<max::CapturedGraph> MaxModel::captureNew(std::span<MaxBuffer* const> buffers, const max::CallOptions& options,
                                                  MaxStream& stream) const {
  std::vector<max::TensorArg> arguments;
  for (const MaxBuffer* buffer : buffers)
    arguments.push_back({buffer->dtype(), buffer->shape().dims(), buffer->data()});
  std::unique_ptr<max::RunContext> context = program_.acquire(arguments);
  std::vector<max::Ref<MaxBuffer>> inputs, outputs(this->outputs().size());
  for (MaxBuffer* buffer : buffers) inputs.emplace_back(buffer);
  for (const max::PlannedOutput& output : context->plan->outputs) {
    MaxBuffer* given = options.given ? options.given[output.index] : nullptr;
    if (given) max::checkOutputType(this->outputs()[output.index], output.index, *given, output.dtype, output.shape);
    outputs[output.index] =
        given ? max::Ref<MaxBuffer>(given)
              : MaxBuffer::allocate(onHost_ ? device().defaultStream() : stream, output.dtype, output.shape);
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
  if (onHost_) max::waitFor(stream, interrupt);
  {
    const max::RunSetup setup(*session_, name_, interrupt);
    const max::RunScope scope(setup.call());
    if (!graph) graph = captureNew(buffers, options, stream);
    onHost_ ? graph->replay() : graph->launch(stream);
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
  if (!onHost_) {
    interrupt.check();
    return graph->launch(stream);
  }
  stream.submit([graph, interrupt, model = max::Ref<const MaxModel>(this),
                 cancellation = max::Ref<const MaxCancellation>(options.cancellation)] {
    interrupt.check();
    const max::RunSetup setup(*model->session_, model->name_, interrupt);
    const max::RunScope scope(setup.call());
    graph->replay();
  });
}

void MaxModel::verifyReplay(uint64_t key, std::span<MaxBuffer* const> buffers, const max::CallOptions& options) const {
  const max::Ref<max::CapturedGraph> graph = requireCaptured(key, buffers);
  const max::Interrupt interrupt = max::interruptOf(options);
  MaxStream& stream = streamOf(options);
  max::AccessScope access(stream);
  order(access, buffers, options, interrupt);
  max::waitFor(stream, interrupt);
  max::require(graph->plan().program == program_.current(), MAX_STATUS_FAILED_PRECONDITION, "Graph ", key,
               " uses weights that were replaced since it was captured");
  std::vector<max::TensorArg> arguments;
  for (const MaxBuffer* buffer : buffers)
    arguments.push_back({buffer->dtype(), buffer->shape().dims(), buffer->data()});
  max::TraceMonitor trace;
  CallOutputs made(*this, device().defaultStream(), nullptr);
  if (onHost_)
    runHere(interrupt, arguments, made, &trace);
  else
    runWaiting(interrupt, arguments, made, &trace);
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
