// SPDX-License-Identifier: Apache-2.0
#include "executor/run.h"

#include <algorithm>
#include <utility>

#include "base/fork_lock.h"
#include "base/pages.h"
#include "device/stream.h"
#include "executor/monitor.h"

namespace max {

namespace {

constexpr size_t kMaxPlans = 64;
constexpr size_t kMaxContinuations = 32;             // of one plan
constexpr size_t kMaxBoundContinuations = 8;         // of one context
constexpr size_t kMaxPlanBytes = size_t{128} << 20;  // of a program and the bodies in it
constexpr size_t kMaxIdleContexts = 16;
constexpr size_t kMaxIdleBytes = size_t{64} << 20;
constexpr int kTrimRounds = 4;  // calls of other threads that end meanwhile keep their contexts

bool matches(const std::vector<int64_t>& key, std::span<const TensorArg> inputs, uint32_t settings) {
  const int64_t* at = key.data();
  for (const TensorArg& input : inputs) {
    if (*at++ != static_cast<int64_t>(input.dtype) || *at++ != static_cast<int64_t>(input.dims.size())) return false;
    for (int64_t dim : input.dims)
      if (*at++ != dim) return false;
  }
  return *at == static_cast<int64_t>(settings);
}

std::vector<int64_t> keyOf(std::span<const TensorArg> inputs, uint32_t settings) {
  std::vector<int64_t> key;
  for (const TensorArg& input : inputs) {
    key.push_back(static_cast<int64_t>(input.dtype));
    key.push_back(static_cast<int64_t>(input.dims.size()));
    key.insert(key.end(), input.dims.begin(), input.dims.end());
  }
  key.push_back(settings);
  return key;
}

template <class T>
void moveToFront(std::vector<T>& list, size_t index) {
  std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(index),
              list.begin() + static_cast<std::ptrdiff_t>(index) + 1);
}

template <class T>
T& addInFront(std::vector<T>& list, T item, size_t limit) {
  if (list.size() >= limit) list.pop_back();
  list.insert(list.begin(), std::move(item));
  return list.front();
}

size_t bytesOf(const RunContext& context) {
  size_t bytes = 0;
  std::vector<const RunContext*> contexts{&context};
  while (!contexts.empty()) {
    const RunContext& each = *contexts.back();
    contexts.pop_back();
    bytes += each.plan->arenasBytes();
    for (const auto& continuation : each.continuations) contexts.push_back(continuation.get());
  }
  return bytes;
}

// The loop bodies of a block, including those in branches. (Depths are bounded where programs are made.)
void forEachBody(const Block& block, FunctionRef<void(const PlannedProgram&)> function) {
  for (const NodeInfo& info : block.nodes) {
    if (info.body) function(*info.body);
    if (info.thenBranch) forEachBody(*info.thenBranch, function);
    if (info.elseBranch) forEachBody(*info.elseBranch, function);
  }
}

// Names the model's nodes that a failing step came from.
[[noreturn]] void failInNode(const Error& error, const Node* node) {
  if (!node) throw error;
  std::string text = error.message();
  if (text.rfind("node '", 0) != 0) text = concat(node->description(), ": ", text);
  std::string sources;
  for (const std::string& source : node->sources)
    if (source != node->name) sources += concat(sources.empty() ? "'" : ", '", source, "'");
  if (!sources.empty()) text += concat(" (made from ", sources, ")");
  throw Error(error.status(), std::move(text));
}

void runStepsWatched(const RunContext& context, const ActiveCall& call) {
  size_t i = 0;
  try {
    for (const size_t count = context.steps.size(); i < count; ++i) {
      if (call.interrupt) call.interrupt->check();
      forEachMonitor(&call, [&](RunMonitor& monitor) { monitor.stepBegins(context, i); });
      context.steps[i].kernel->run(context.steps[i].context);
      forEachMonitor(&call, [&](RunMonitor& monitor) { monitor.stepEnds(context, i); });
    }
  } catch (const Error& error) {
    failInNode(error, context.plan->steps[i].node);
  }
}

void runSteps(const RunContext& context, const ActiveCall* call) {
  if (call) return runStepsWatched(context, *call);
  size_t i = 0;
  try {
    for (const size_t count = context.steps.size(); i < count; ++i)
      context.steps[i].kernel->run(context.steps[i].context);
  } catch (const Error& error) {
    failInNode(error, context.plan->steps[i].node);
  }
}

// A call with the memory of earlier ones is one launch of what they recorded. False if the steps must run.
bool runRecorded(RunContext& context, std::span<const TensorArg> inputs) {
  MaxStream& stream = *context.place.stream;
  const ActiveCall* call = activeCall();
  if (!context.repeated || (call && call->monitor) || stream.isCaptured()) return false;
  if (call && call->interrupt) call->interrupt->check();
  const auto record = [&] { return PlannedProgram::record(context); };
  WorkGraph* graph = context.repeated->find(inputs, context.outputs, record);
  if (graph) graph->launch(stream);
  return graph != nullptr;
}

// Callers may pass no memory for tensors without elements, but kernels compute addresses in it.
const void* addressOf(const void* data) {
  alignas(64) static const std::byte nothing[64] = {};
  return data ? data : nothing;
}

void patchTable(const RunContext& first, RunContext& context, std::span<const TensorArg> inputs) {
  for (const Patch& patch : context.patches) {
    void*& entry = context.table[patch.entry];
    if (patch.kind == Location::Input)
      entry = static_cast<std::byte*>(const_cast<void*>(addressOf(inputs[patch.index].data))) + patch.offset;
    else if (patch.kind == Location::Output)
      entry = static_cast<std::byte*>(first.outputs[patch.index]) + patch.offset;
    else
      entry = const_cast<void*>(first.dynamics[patch.index]->data());
  }
}

// The lock of a program. While it is held, the active call must not trim, which takes such locks.
class ProgramLock {
 public:
  explicit ProgramLock(const PlannedProgram& program)
      : lock_(forkSafeMutex(&program)), outer_(activeCall()), scope_(outer_ ? &call_ : nullptr) {
    if (outer_) call_ = *outer_;
    call_.mayTrim = false;
  }

 private:
  const std::lock_guard<std::mutex> lock_;
  const ActiveCall* const outer_;
  ActiveCall call_;
  const ActiveCallScope scope_;
};

// If the session's memory limit stops the work, trims kept memory and retries; impossible while holding a lock.
template <class Work, class MakeRoom>
auto withRoom(Work&& work, MakeRoom&& makeRoom) {
  MemoryAccount* account = activeMemory();
  for (int round = 0; account && activeCall()->mayTrim && round < kTrimRounds; ++round) {
    try {
      return work();
    } catch (const Error& error) {
      if (error.status() != MAX_STATUS_RESOURCE_EXHAUSTED) throw;
      makeRoom();
      account->kept().trim(Kept::All);  // other threads may have taken as much meanwhile
    }
  }
  return work();
}

// If an accelerator's memory is used up, what its models keep for reuse goes first.
template <class Work>
auto withDeviceRoom(const RunSettings& settings, Work&& work) {
  if (settings.accelerator) {
    try {
      return work();
    } catch (const Error& error) {
      if (error.status() != MAX_STATUS_RESOURCE_EXHAUSTED) throw;
      for (const Ref<MaxDevice>& device : settings.devices) device->kept().trim(Kept::Idle);
    }
  }
  return work();
}

void appendBytes(std::string& key, const void* data, size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
}

size_t bytesOf(const ValueState& state) { return bytesFor(state.dtype, state.shape.count()); }

void appendContents(std::string& key, const RunContext& context) {
  const Boundary& boundary = context.plan->boundary;
  for (size_t i = 0; i < boundary.values.size(); ++i)
    if (const size_t bytes = bytesOf(boundary.states[i])) appendBytes(key, context.table[boundary.table + i], bytes);
}

void appendShapes(std::string& key, std::span<const Ref<Tensor>> tensors) {
  for (const Ref<Tensor>& tensor : tensors) {
    const int32_t head[2] = {tensor ? static_cast<int32_t>(tensor->dtype()) : 0, tensor ? tensor->shape().rank() : 0};
    appendBytes(key, head, sizeof head);
    if (tensor) appendBytes(key, tensor->shape().data(), static_cast<size_t>(head[1]) * sizeof(int64_t));
  }
}

std::vector<Ref<Tensor>> runBoundaryNode(const RunContext& context) {
  const Boundary& boundary = context.plan->boundary;
  std::vector<TensorArg> inputs(boundary.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueState& state = boundary.states[i];
    if (state.known) inputs[i] = {state.dtype, state.shape.dims(), context.table[boundary.table + i]};
  }
  const ActiveCall* call = activeCall();
  try {
    if (call && call->interrupt) call->interrupt->check();
    forEachMonitor(call, [&](RunMonitor& monitor) { monitor.nodeBegins(context); });
    std::vector<Ref<Tensor>> results = runDynamicNode(boundary, inputs);
    forEachMonitor(call, [&](RunMonitor& monitor) { monitor.nodeEnds(context, results); });
    return results;
  } catch (const Error& error) {
    failInNode(error, boundary.node->node);
  }
}

std::vector<Ref<Tensor>> contentsOf(const RunContext& context) {
  const Boundary& boundary = context.plan->boundary;
  std::vector<Ref<Tensor>> contents;
  for (size_t i = 0; i < boundary.values.size(); ++i)
    contents.push_back(
        Tensor::copyOf(boundary.states[i].dtype, boundary.states[i].shape, context.table[boundary.table + i]));
  return contents;
}

}  // namespace

PlannedProgram::PlannedProgram(Ref<const Graph> graph, RunSettings settings, int depth, Ref<PlanBytes> planBytes)
    : settings_(settings),
      planBytes_(planBytes ? std::move(planBytes) : makeRef<PlanBytes>()),
      arenaBytes_(settings.devices.size() + 1),
      program_(makeRef<Program>(std::move(graph), settings, depth, planBytes_)),
      current_(program_.get()) {}

PlannedProgram::~PlannedProgram() = default;

// A context holds its plan, which holds its program, so a running call needs no
// lock to stay alive. A context that returns late is dropped on its next use.
void PlannedProgram::replace(Ref<const Graph> graph) {
  Ref<const Program> program = makeRef<Program>(std::move(graph), settings_, 0, planBytes_);
  std::vector<Ref<Plan>> plans;
  std::vector<std::unique_ptr<RunContext>> idle;
  {
    const std::lock_guard lock(forkSafeMutex(this));
    std::swap(program_, program);
    current_.store(program_.get(), std::memory_order_release);
    plans.swap(plans_);
    idle.swap(idle_);
  }
  while (stash_.take()) {
  }
}

Ref<const Program> PlannedProgram::current() const {
  const std::lock_guard lock(forkSafeMutex(this));
  return program_;
}

bool PlannedProgram::isCurrent(const RunContext& context) const {
  return context.plan->program.get() == current_.load(std::memory_order_acquire);
}

size_t PlannedProgram::planCount() const {
  const std::lock_guard lock(forkSafeMutex(this));
  return plans_.size();
}

size_t PlannedProgram::arenaBytes(Memory memory) const {
  size_t bytes = arenaBytes_[memory].load(std::memory_order_relaxed);
  const Ref<const Program> program = current();
  if (memory == kHostMemory)
    forEachBody(program->main(), [&](const PlannedProgram& body) { bytes += body.arenaBytes(kHostMemory); });
  return bytes;
}

size_t PlannedProgram::arenaBytes() const {
  size_t bytes = 0;
  for (size_t i = 0; i < arenaBytes_.size(); ++i) bytes += arenaBytes(static_cast<Memory>(i));
  return bytes;
}

size_t PlannedProgram::planBytes() const {
  size_t bytes = 0;
  {
    const std::lock_guard lock(forkSafeMutex(this));
    for (const Ref<Plan>& plan : plans_) bytes += plan->bytes();
  }
  const Ref<const Program> program = current();
  forEachBody(program->main(), [&](const PlannedProgram& body) { bytes += body.planBytes(); });
  return bytes;
}

void PlannedProgram::trim(Kept which) const {
  std::vector<std::unique_ptr<RunContext>> idle;
  std::vector<Ref<Plan>> plans;
  Ref<Storage> spare;
  {
    const std::lock_guard lock(forkSafeMutex(this));
    idle.swap(idle_);
    spare = std::move(spareArena_);
    if (which == Kept::All) {
      // Running ones are held by their contexts and no longer need to list their successors.
      for (const Ref<Plan>& plan : plans_) plan->continuations.clear();
      plans.swap(plans_);
    }
  }
  while (stash_.take()) {
  }
  const Ref<const Program> program = current();
  forEachBody(program->main(), [which](const PlannedProgram& body) { body.trim(which); });
}

size_t PlannedProgram::contextBytes() const {
  const std::lock_guard lock(forkSafeMutex(this));
  size_t bytes = 0;
  for (const auto& context : idle_) bytes += bytesOf(*context);
  return bytes;
}

void PlannedProgram::run(std::span<const TensorArg> inputs, OutputProvider& outputs) const {
  std::unique_ptr<RunContext> context = acquire(inputs);
  try {
    execute(*context, inputs, outputs);
  } catch (...) {
    giveBack(std::move(context));
    throw;
  }
  giveBack(std::move(context));
}

void PlannedProgram::runOn(MaxStream& stream, std::span<const TensorArg> inputs, OutputProvider& outputs) const {
  std::unique_ptr<RunContext> context = acquire(inputs);
  try {
    context->begin(stream);
    execute(*context, inputs, outputs);
    // What a node made lies in memory that the stream's copies may still read.
    if (!context->dynamics.empty()) stream.waitUntilIdle();
  } catch (...) {
    context->end(false);
    if (!context->dynamics.empty()) finishQuietly(stream);
    giveBack(std::move(context));
    throw;
  }
  context->end(true);
  giveBack(std::move(context));
}

std::unique_ptr<RunContext> PlannedProgram::acquire(std::span<const TensorArg> inputs) const {
  std::unique_ptr<RunContext> context = stash_.take();
  if (context && !isCurrent(*context)) context.reset();
  if (context && matches(context->plan->inputKey, inputs, settings_.planWord())) return context;
  return acquireSlowly(std::move(context), inputs);
}

std::unique_ptr<RunContext> PlannedProgram::acquireSlowly(std::unique_ptr<RunContext> other,
                                                          std::span<const TensorArg> inputs) const {
  const auto make = [&] { return acquireNew(std::move(other), inputs); };
  return withRoom([&] { return withDeviceRoom(settings_, make); }, [] {});
}

std::unique_ptr<RunContext> PlannedProgram::acquireNew(std::unique_ptr<RunContext> other,
                                                       std::span<const TensorArg> inputs) const {
  Ref<Plan> plan;
  Ref<Storage> block;
  bool isNew = false;
  {
    const ProgramLock lock(*this);
    if (other && isCurrent(*other)) keepIdle(std::move(other));
    if (std::unique_ptr<RunContext> idle = takeIdle(inputs)) return idle;
    plan = findPlan(inputs, isNew);
    block = std::move(spareArena_);
  }
  if (isNew) logPlan(*plan, settings_);
  auto context = std::make_unique<RunContext>(std::move(plan), nullptr, settings_, &arenaBytes_, std::move(block));
  context->outputs.resize(context->plan->program->main().outputs.size());
  return context;
}

std::unique_ptr<RunContext> PlannedProgram::takeIdle(std::span<const TensorArg> inputs) const {
  for (size_t i = 0; i < idle_.size(); ++i) {
    if (!matches(idle_[i]->plan->inputKey, inputs, settings_.planWord())) continue;
    std::unique_ptr<RunContext> context = std::move(idle_[i]);
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    return context;
  }
  return nullptr;
}

void PlannedProgram::keepIdle(std::unique_ptr<RunContext> context) const {
  idle_.insert(idle_.begin(), std::move(context));
  size_t bytes = 0, kept = 0;
  while (kept < std::min(idle_.size(), kMaxIdleContexts) &&
         (kept == 0 || bytes + bytesOf(*idle_[kept]) <= kMaxIdleBytes))
    bytes += bytesOf(*idle_[kept++]);
  for (; idle_.size() > kept; idle_.pop_back())
    if (settings_.device->isHost()) spareArena_ = std::move(idle_.back()->arena);
}

Ref<Plan> PlannedProgram::findPlan(std::span<const TensorArg> inputs, bool& isNew) const {
  const uint32_t settings = settings_.planWord();
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (!matches(plans_[i]->inputKey, inputs, settings)) continue;
    moveToFront(plans_, i);
    return plans_.front();
  }
  isNew = true;
  if (hasTooManyPlans()) forgetPlans();
  Ref<Plan> plan = makePlan(*program_, inputs, settings);
  plan->inputKey = keyOf(inputs, settings);
  return addInFront(plans_, std::move(plan), kMaxPlans);
}

// For this program, the bodies in it and the enclosing program. (Each keeps running ones.)
bool PlannedProgram::hasTooManyPlans() const {
  return planBytes_->count.load(std::memory_order_relaxed) > kMaxPlanBytes;
}

// Under the lock.
void PlannedProgram::forgetPlans() const {
  plans_.clear();
  idle_.clear();
  while (stash_.take()) {
  }
}

void PlannedProgram::giveBack(std::unique_ptr<RunContext> context) const noexcept {
  context->dynamics.clear();
  if (!isCurrent(*context)) return;
  stash_.put(std::move(context));  // without room it is freed
}

Ref<const Plan> PlannedProgram::makeReady(std::span<const TensorArg> inputs, size_t most) const {
  Ref<Plan> plan;
  bool isNew = false;
  {
    const ProgramLock lock(*this);
    plan = findPlan(inputs, isNew);
  }
  if (isNew) logPlan(*plan, settings_);
  if (plan->arenasBytes() > most) return nullptr;
  std::unique_ptr<RunContext> context = acquire(inputs);
  if (context->arena) populateForWriting(context->arena->data(), context->arena->size(), settings_.lanes);
  giveBack(std::move(context));
  return plan;
}

void PlannedProgram::execute(RunContext& first, std::span<const TensorArg> inputs, OutputProvider& outputs) const {
  for (RunContext* current = &first;; current = &next(first, *current)) {
    for (const PlannedOutput& output : current->plan->outputs)
      first.outputs[output.index] = outputs.provide(output.index, output.dtype, output.shape);
    patchTable(first, *current, inputs);
    if (!runRecorded(*current, inputs)) runPlan(*current);
    if (current->plan->boundary.kind == Boundary::End) return;
  }
}

void PlannedProgram::bind(RunContext& context, std::span<const TensorArg> inputs,
                          std::span<void* const> outputs) const {
  context.outputs.assign(outputs.begin(), outputs.end());
  patchTable(context, context, inputs);
}

void PlannedProgram::runPlan(const RunContext& context) {
  const ActiveCall* call = activeCall();
  forEachMonitor(call, [&](RunMonitor& monitor) { monitor.planBegins(context); });
  runSteps(context, call);
  forEachMonitor(call, [&](RunMonitor& monitor) { monitor.planEnds(context); });
}

Ref<WorkGraph> PlannedProgram::record(RunContext& context) {
  const ActiveCallScope unwatched(nullptr);
  MaxStream* const before = context.place.stream;
  const auto queue = [&](MaxStream& recording) {
    context.place.stream = &recording;
    runSteps(context, nullptr);
  };
  try {
    Ref<WorkGraph> graph = context.device->record(queue);
    context.place.stream = before;
    return graph;
  } catch (...) {
    context.place.stream = before;
    throw;
  }
}

RunContext& PlannedProgram::next(RunContext& first, RunContext& current) const {
  first.key.clear();
  if (current.plan->boundary.kind == Boundary::Contents) {
    appendContents(first.key, current);
  } else {
    const std::vector<Ref<Tensor>> results = runBoundaryNode(current);
    appendShapes(first.key, results);
    first.dynamics.insert(first.dynamics.end(), results.begin(), results.end());
  }
  auto& bound = current.continuations;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (bound[i]->plan->continuationKey != first.key) continue;
    if (i > 0) moveToFront(bound, i);
    bound.front()->enter();
    return *bound.front();
  }
  if (hasTooManyPlans()) bound.clear();
  const auto make = [&] { return makeNext(first, current); };
  auto context = withRoom([&] { return withDeviceRoom(settings_, make); }, [&] { forgetOthers(current); });
  return *addInFront(bound, std::move(context), kMaxBoundContinuations);
}

std::unique_ptr<RunContext> PlannedProgram::makeNext(RunContext& first, RunContext& current) const {
  bool isNew = false;
  Ref<Plan> plan = findContinuation(first, current, isNew);
  if (isNew) logPlan(*plan, settings_);
  return std::make_unique<RunContext>(std::move(plan), &current, settings_, &arenaBytes_);
}

// Successors of the contexts of a run, except those that follow each other now.
void PlannedProgram::forgetOthers(RunContext& running) const {
  running.continuations.clear();
  for (RunContext* at = running.parent; at; at = at->parent) at->continuations.resize(1);
  const std::lock_guard lock(forkSafeMutex(this));
  for (RunContext* at = &running; at; at = at->parent) at->plan->continuations.clear();
}

Ref<Plan> PlannedProgram::findContinuation(RunContext& first, RunContext& current, bool& isNew) const {
  const ProgramLock lock(*this);
  std::vector<Ref<Plan>>& list = current.plan->continuations;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i]->continuationKey != first.key) continue;
    moveToFront(list, i);
    return list.front();
  }
  isNew = true;
  if (hasTooManyPlans()) list.clear();
  std::vector<Ref<Tensor>> results;
  if (current.plan->boundary.kind == Boundary::Contents) {
    results = contentsOf(current);
  } else {
    const size_t count = current.plan->boundary.node->outputs.size();
    results.assign(first.dynamics.end() - static_cast<std::ptrdiff_t>(count), first.dynamics.end());
  }
  Ref<Plan> plan = continuePlan(*current.plan->program, *current.plan, results);
  plan->continuationKey = first.key;
  return addInFront(list, std::move(plan), kMaxContinuations);
}

}  // namespace max
