// SPDX-License-Identifier: Apache-2.0
#include "executor/model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/active_call.h"
#include "base/error.h"
#include "base/log.h"
#include "executor/model_call.h"

MaxModel::MaxModel(max::Ref<MaxSession> session, Parts parts)
    : session_(std::move(session)),
      parts_(std::move(parts)),
      name_(parts_.graph->name()),
      program_(std::move(parts_.graph), session_->runSettings()),
      usesObjects_(program_.program().usesObjects()),
      onHost_(device().isHost()),
      host_(onHost_ ? max::Ref<MaxDevice>(&device()) : max::hostDevice()) {
  for (size_t i = 0; i < outputs().size(); ++i) pools_.push_back(max::makeRef<max::OutputPool>());
  findEqualDims();
  const max::Graph& graph = program_.program().graph();
  for (size_t i = 0; i < inputs().size(); ++i)
    inputDevices_.push_back(&deviceOf(inputs()[i], graph.inputs()[i]->home.get()));
  for (size_t i = 0; i < outputs().size(); ++i) outputDevices_.push_back(&deviceOf(outputs()[i], graph.outputHome(i)));
  kept_.emplace_back(device().kept(), *this, *this);
  for (const max::Memory memory : program_.program().otherMemories())
    kept_.emplace_back(program_.program().settings().deviceOf(memory).kept(), *this, *this);
  if (max::MemoryAccount* memory = session_->memory()) kept_.emplace_back(memory->kept(), *this, *this);
}

MaxDevice& MaxModel::deviceOf(const max::TensorInfo& info, const max::RefCounted* home) const {
  if (!info.isTensor() || max::holdsPointers(info.dtype())) return *host_;
  if (onHost_) return device();
  const max::RunSettings& settings = program_.program().settings();
  return settings.deviceOf(settings.memoryOf(home));
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
  else if (onHost_)
    runQueued(used, buffers, arguments.span(), made, options, interrupt);
  else
    runQueuing(buffers, arguments.span(), made, interrupt);
  made.handOver(results);
}

namespace max {

namespace {

// Kernels rely on aligned elements.
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
  max::waitFor(used, interrupt);
  if (onHost_)
    runHere(interrupt, arguments.span(), made);
  else
    runWaiting(interrupt, arguments.span(), made);
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
  max::AccessScope access(used);
  order(access, std::span<MaxBuffer* const>(), options, interrupt);
  CallOutputs made(*this, used, options.given);
  if (!onHost_) {
    const std::vector<max::Ref<MaxBuffer>> inputs = uploaded(arguments.span(), used);
    max::SmallArray<MaxBuffer*> buffers(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) buffers[i] = inputs[i].get();
    runQueuing(buffers.span(), arguments.span(), made, interrupt);
    max::waitFor(used, interrupt);
    return made.handOver(results);
  }
  const std::vector<max::Ref<max::Tensor>> copies = max::alignedCopies(arguments.span());
  if (!used.runsInline()) max::waitFor(used, interrupt);
  runHere(interrupt, arguments.span(), made);
  made.handOver(results);
}

void MaxModel::runHere(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                       max::RunMonitor* monitor) const {
  if (!usesObjects()) return runPlain(interrupt, arguments, outputs, monitor);
  const max::PoolScope scope;
  runPlain(interrupt, arguments, outputs, monitor);
}

void MaxModel::runPlain(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments,
                        CallOutputs& outputs, max::RunMonitor* monitor) const {
  max::RunSetup setup(*session_, name_, interrupt);
  if (monitor) setup.add(*monitor);
  const max::RunScope scope(setup.call());
  withinLimit(outputs, [&] {
    if (onHost_)
      program_.run(arguments, outputs);
    else
      program_.runOn(outputs.stream(), arguments, outputs);
    outputs.own();
  });
}
