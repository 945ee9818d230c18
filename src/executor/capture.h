// SPDX-License-Identifier: Apache-2.0
// A captured call: a plan bound to buffers, run again without any lookup. On an accelerator its steps are recorded by
// the driver, which repeats them.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/memory_use.h"
#include "executor/monitor.h"
#include "executor/run.h"

namespace max {

// The steps of a call, in order.
class TraceMonitor final : public RunMonitor {
 public:
  void stepEnds(const RunContext& context, size_t step) override { steps_.push_back(textOf(*context.plan, step)); }
  const std::vector<std::string>& steps() const { return steps_; }

  // Node, operator, implementation and types.
  static std::string textOf(const Plan& plan, size_t step);

 private:
  std::vector<std::string> steps_;
};

class CapturedGraph : public RefCounted {
 public:
  // FAILED_PRECONDITION naming the node if the context's plan is not the whole model, or the host would have to run a
  // step of an accelerator's.
  CapturedGraph(const PlannedProgram& program, std::unique_ptr<RunContext> context, std::vector<Ref<MaxBuffer>> inputs,
                std::vector<Ref<MaxBuffer>> outputs);

  // Throws the given status, INVALID_ARGUMENT or ALREADY_EXISTS, naming the first input that is not the captured one.
  void checkInputs(std::span<MaxBuffer* const> inputs, MaxStatus status, uint64_t key) const;
  // On the host, or queued on an accelerator's stream. One at a time: FAILED_PRECONDITION while another thread replays.
  void replay();
  void launch(MaxStream& stream);
  // FAILED_PRECONDITION naming the first step that differs from those that ran.
  void compare(const std::vector<std::string>& ran, uint64_t key) const;
  const Plan& plan() const { return *context_->plan; }
  const std::vector<Ref<MaxBuffer>>& outputs() const { return outputs_; }
  void addWrites(AccessScope& access) const {
    for (const Ref<MaxBuffer>& output : outputs_) access.writes(*output);
  }

 private:
  void requireRepeatable() const;
  void keepMemory(MaxStream& stream) const;

  std::unique_ptr<RunContext> context_;
  Ref<WorkGraph> graph_;  // NULL = on the host
  std::vector<Ref<MaxBuffer>> inputs_, outputs_;
  std::vector<std::string> trace_;
  std::atomic<bool> isBusy_{false};
};

}  // namespace max
