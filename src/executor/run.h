// SPDX-License-Identifier: Apache-2.0
// A program with its plans and execution contexts.
//
// A context holds the state of one run: the arena block and a table of operand pointers. Contexts are reused, so that a
// run with known shapes does not allocate, look anything up or take a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/stream_work.h"
#include "executor/plan.h"
#include "executor/planner.h"
#include "executor/repeated_calls.h"
#include "executor/stash.h"

namespace max {

// Provides memory for the outputs of a run.
class OutputProvider {
 public:
  virtual void* provide(size_t index, DType dtype, const Shape& shape) = 0;

 protected:
  ~OutputProvider() = default;
};

struct BoundStep {
  const OpKernel* kernel;
  OpContext context;
};

// A table entry that changes with each run.
struct Patch {
  uint32_t entry;
  Location::Kind kind;
  uint32_t index;
  size_t offset;  // bytes
};

struct RunContext {
  using Counter = std::vector<std::atomic<size_t>>;  // bytes by memory
  // `block` is used for the arena if it is large enough. `counter` (may be NULL) counts the bytes of all arenas.
  RunContext(Ref<Plan> source, RunContext* before, const RunSettings& settings, Counter* counter = nullptr,
             Ref<Storage> block = nullptr);
  ~RunContext();

  Ref<Plan> plan;
  const Ref<MaxDevice> device;
  OpPlace place;            // of the model; of the first context, also for the others
  const OpPlace hostPlace;  // of steps on the host
  // Of the first context, also for the others: of the further accelerators, by memory less two, if the program uses
  // any. Their default streams begin after the call's stream, which comes after them in the end.
  std::vector<OpPlace> otherPlaces;
  RunContext* parent;       // of the previous plan, NULL for the first
  RunContext* const first;  // of the first plan
  Ref<Storage> arena;
  std::vector<Ref<Storage>> deviceArenas;  // by memory less one
  std::vector<void*> table;
  std::vector<BoundStep> steps;
  std::vector<Patch> patches;
  std::vector<std::unique_ptr<RunContext>> continuations;  // most recent first

  // Only in the first context: shared with its continuations.
  std::vector<void*> outputs;
  std::vector<Ref<Tensor>> dynamics;  // results of nodes with unknown output shapes
  std::string key;
  std::vector<std::byte*> arenas;           // of the running contexts, by depth and memory
  std::unique_ptr<RepeatedCalls> repeated;  // NULL = their steps are few, or not all on an accelerator

  // Continuations find its arenas here.
  void enter();

  // On an accelerator a run begins and ends on its stream; its work may still be queued when the next one begins.
  void begin(MaxStream& stream);
  void end(bool isComplete) noexcept;

 private:
  std::byte* baseOf(Memory memory) const {
    const Ref<Storage>& block = memory == kHostMemory ? arena : deviceArenas[memory - 1u];
    return block ? static_cast<std::byte*>(block->data()) : nullptr;
  }
  const OpPlace& placeOf(Memory memory) const {
    if (memory == kHostMemory) return hostPlace;
    return memory == kMainMemory ? first->place : first->otherPlaces[memory - 2u];
  }
  size_t memories() const { return 1 + plan->deviceBytes.size(); }
  void joinOthers() noexcept;
  void noteOtherUses();
  void* resolve(const Location& location) const;
  void bindSteps(const RunSettings& settings);
  void allocate(Ref<Storage> block);
  void fill();
  void noteUses(MaxStream& stream);

  Counter* counter_;
  // Of the first context: the work of the last run, which may still use the arenas.
  Ref<StreamWork> work_;
  uint64_t position_ = 0;
  bool mustWait_ = false;  // the host's arena, too
};

class PlannedProgram {
 public:
  PlannedProgram(Ref<const Graph> graph, RunSettings settings, int depth = 0, Ref<PlanBytes> planBytes = nullptr);
  PlannedProgram(const PlannedProgram&) = delete;
  ~PlannedProgram();

  const Program& program() const { return *current_.load(std::memory_order_acquire); }
  // Like program(), but stays alive when it is replaced. Thread-safe.
  Ref<const Program> current() const;
  // Later runs use this graph, which has the same interface; runs in progress keep theirs.
  void replace(Ref<const Graph> graph);
  size_t planCount() const;     // first plans in the cache
  size_t contextBytes() const;  // of idle contexts kept for reuse
  // Of all contexts, including running ones and those of loop bodies.
  size_t arenaBytes() const;
  size_t arenaBytes(Memory memory) const;
  size_t planBytes() const;  // of the cached plans, approximately
  // Frees the memory of idle contexts, including those of loop bodies, and drops plans.
  void trim(Kept which) const;

  // Thread-safe. Errors of kernels name their node.
  void run(std::span<const TensorArg> inputs, OutputProvider& outputs) const;
  // On a stream of an accelerator, where inputs and outputs are; what it queues may not be done when it returns.
  void runOn(MaxStream& stream, std::span<const TensorArg> inputs, OutputProvider& outputs) const;

  // The same in parts. An acquired context must be released.
  std::unique_ptr<RunContext> acquire(std::span<const TensorArg> inputs) const;
  void execute(RunContext& context, std::span<const TensorArg> inputs, OutputProvider& outputs) const;
  void giveBack(std::unique_ptr<RunContext> context) const noexcept;

  // Makes the plan for such inputs, whose data is not read, and keeps a context with its memory for the first run. NULL
  // if that would take more than `most` bytes: then there is only the plan.
  Ref<const Plan> makeReady(std::span<const TensorArg> inputs, size_t most) const;

  // For contexts without continuations: binds one to permanent memory, so that runPlan can run it repeatedly.
  void bind(RunContext& context, std::span<const TensorArg> inputs, std::span<void* const> outputs) const;
  static void runPlan(const RunContext& context);
  // The same as work of the accelerator's driver; all steps of the plan run there.
  static Ref<WorkGraph> record(RunContext& context);

 private:
  bool isCurrent(const RunContext& context) const;
  std::unique_ptr<RunContext> acquireSlowly(std::unique_ptr<RunContext> other, std::span<const TensorArg> inputs) const;
  std::unique_ptr<RunContext> acquireNew(std::unique_ptr<RunContext> other, std::span<const TensorArg> inputs) const;
  Ref<Plan> findPlan(std::span<const TensorArg> inputs, bool& isNew) const;
  std::unique_ptr<RunContext> takeIdle(std::span<const TensorArg> inputs) const;
  void keepIdle(std::unique_ptr<RunContext> context) const;
  bool hasTooManyPlans() const;
  void forgetPlans() const;
  void forgetOthers(RunContext& running) const;
  RunContext& next(RunContext& first, RunContext& current) const;
  std::unique_ptr<RunContext> makeNext(RunContext& first, RunContext& current) const;
  Ref<Plan> findContinuation(RunContext& first, RunContext& current, bool& isNew) const;

  static constexpr size_t kStashed = 16;
  const RunSettings settings_;
  const Ref<PlanBytes> planBytes_;
  mutable RunContext::Counter arenaBytes_;
  Ref<const Program> program_;           // guarded by the lock below
  std::atomic<const Program*> current_;  // the same
  mutable Stash<RunContext, kStashed> stash_;
  // Guarded by the fork-safe lock of this object, most recent first.
  mutable std::vector<Ref<Plan>> plans_;
  mutable std::vector<std::unique_ptr<RunContext>> idle_;
  mutable Ref<Storage> spareArena_;  // of a context that was evicted
};

// Waits for the stream after a failure, which is what the caller gets to know.
void finishQuietly(MaxStream& stream) noexcept;

// Runs the node that a plan ends with, whose output shapes are only known afterwards. `inputs`: the node's, then the
// captured values.
std::vector<Ref<Tensor>> runDynamicNode(const Boundary& boundary, std::span<const TensorArg> inputs);
std::vector<Ref<Tensor>> runLoop(const NodeInfo& info, std::span<const TensorArg> inputs);
std::vector<Ref<Tensor>> runScan(const NodeInfo& info, std::span<const TensorArg> inputs);
std::vector<Ref<Tensor>> runSequenceMap(const NodeInfo& info, std::span<const TensorArg> inputs);

}  // namespace max
