// SPDX-License-Identifier: Apache-2.0
// A program with its plans and the contexts they run in.
//
// A context is what one run needs at a time: the arena block and a table of operand pointers.
// Contexts are reused, so that a run with shapes seen before allocates nothing, looks up nothing
// and takes no lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/plan.h"
#include "executor/planner.h"
#include "executor/stash.h"

namespace max {

// Gives memory for the outputs of a run.
class OutputProvider {
 public:
  virtual void* provide(size_t index, DType dtype, const Shape& shape) = 0;

 protected:
  ~OutputProvider() = default;
};

struct BoundStep {
  const Kernel* kernel;
  KernelContext context;
};

// An entry of the table that changes with each run.
struct Patch {
  uint32_t entry;
  Location::Kind kind;
  uint32_t index;
};

struct RunContext {
  // `block` is used for the arena if it is large enough.
  RunContext(Ref<Plan> source, RunContext* before, int lanes, Ref<Storage> block = nullptr);

  Ref<Plan> plan;
  RunContext* parent;  // of the plan before, NULL for the first
  Ref<Storage> arena;
  std::vector<void*> table;
  std::vector<BoundStep> steps;
  std::vector<Patch> patches;
  std::vector<std::unique_ptr<RunContext>> continuations;  // most recent first

  // Of the first context only: what its continuations share.
  std::vector<void*> outputs;
  std::vector<Ref<Tensor>> dynamics;  // results of nodes with unknown output shapes
  std::string key;

 private:
  void* resolve(const Location& location) const;
};

class PlannedProgram {
 public:
  PlannedProgram(Ref<const Graph> graph, int lanes, int depth = 0);
  PlannedProgram(const PlannedProgram&) = delete;
  ~PlannedProgram();

  const Program& program() const { return program_; }
  size_t planCount() const;     // first plans in the cache
  size_t contextBytes() const;  // of idle contexts that wait for their shapes to come back

  // Thread-safe. Errors of kernels name their node.
  void run(std::span<const TensorArg> inputs, OutputProvider& outputs) const;

  // The same in parts. A context that was acquired must be given back.
  std::unique_ptr<RunContext> acquire(std::span<const TensorArg> inputs) const;
  void execute(RunContext& context, std::span<const TensorArg> inputs, OutputProvider& outputs) const;
  void giveBack(std::unique_ptr<RunContext> context) const noexcept;

 private:
  std::unique_ptr<RunContext> acquireSlowly(std::unique_ptr<RunContext> other, std::span<const TensorArg> inputs) const;
  Ref<Plan> findPlan(std::span<const TensorArg> inputs) const;
  std::unique_ptr<RunContext> takeIdle(std::span<const TensorArg> inputs) const;
  void keepIdle(std::unique_ptr<RunContext> context) const;
  RunContext& next(RunContext& first, RunContext& current) const;
  Ref<Plan> findContinuation(RunContext& first, RunContext& current) const;

  static constexpr size_t kStashed = 16;
  Program program_;
  mutable Stash<RunContext, kStashed> stash_;
  // Guarded by the fork-safe lock of this object, most recent first.
  mutable std::vector<Ref<Plan>> plans_;
  mutable std::vector<std::unique_ptr<RunContext>> idle_;
  mutable Ref<Storage> spareArena_;  // of a context that had to go
};

// Runs a node whose output shapes are known only afterwards. `inputs`: the node's, then the captured values.
std::vector<Ref<Tensor>> runDynamicNode(const NodeInfo& info, std::span<const TensorArg> inputs);
std::vector<Ref<Tensor>> runLoop(const NodeInfo& info, std::span<const TensorArg> inputs);
std::vector<Ref<Tensor>> runScan(const NodeInfo& info, std::span<const TensorArg> inputs);

}  // namespace max
